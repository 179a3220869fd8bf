/* `gess reproduce --verify DIR`: a reviewer's check of a folder of results, without running a sampler. Each page is
 * made again, in memory, from the stored cells with the options that the page names; claims, verdicts, tables and data
 * must be those of the page. */
#include "reproduce/reproduce.h"

#include "base/sha256.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct check {
    const char *directory;
    FILE *out;
    size_t pages, claims, faults;
} check;

static void complain(check *c, const char *name, const char *what)
{
    fprintf(c->out, "%s: %s\n", name, what);
    c->faults++;
}

/* ---- pages ---- */

/* The options that a page was made with. */
static void read_options(gess__reproduction *r, const json_t *page, const char *directory)
{
    const json_t *x = json_object_get(page, "reproduction"), *budgets = json_object_get(x, "budgets");
    *r = (gess__reproduction){.directory = directory,
                              .only = json_string_value(json_object_get(x, "only")),
                              .scale = gess__json_real(x, "scale"),
                              .trials = gess__json_count(x, "trials"),
                              .seed = gess__json_count(x, "seed"),
                              .jobs = 1,
                              .quick = json_is_true(json_object_get(x, "quick")),
                              .version = gess__json_text(x, "version"),
                              .partial = json_is_true(json_object_get(x, "partial")),
                              .verify = 1};
    const json_t *iterations = json_object_get(x, "iterations");
    for (size_t i = 0; i < json_array_size(iterations) && i < GESS__REPRODUCE_BUDGETS; i++)
        r->iterations[r->iteration_counts++] = (uint64_t)json_integer_value(json_array_get(iterations, i));
    for (size_t i = 0; i < json_array_size(budgets) && i < GESS__REPRODUCE_BUDGETS; i++)
        r->budget[r->budgets++] = json_number_value(json_array_get(budgets, i));
}

/* Whether the stored CSV is that of the page. */
static int same_csv(const char *directory, const char *name, const json_t *page)
{
    char path[4400], *text = NULL, *stored = NULL;
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s.csv", directory, name);
    FILE *memory = open_memstream(&text, &size), *in = fopen(path, "re");
    int same = 0;
    if (memory != NULL && in != NULL) {
        gess__page_csv(memory, page);
        fflush(memory);
        stored = malloc(size + 1);
        same = stored != NULL && fread(stored, 1, size + 1, in) == size && memcmp(stored, text, size) == 0;
    }
    if (memory != NULL) fclose(memory);
    if (in != NULL) fclose(in);
    free(text);
    free(stored);
    return same;
}

static void compare(check *c, const char *name, const json_t *stored, const json_t *made)
{
    static const char *const parts[] = {"claims", "tables", "data", "setup", "paper", "missing"};
    size_t before = c->faults, i;
    const json_t *plot;
    char text[160], path[4400];
    for (i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (json_equal(json_object_get(stored, parts[i]), json_object_get(made, parts[i]))) continue;
        snprintf(text, sizeof text, "its %s are not those that the cells give", parts[i]);
        complain(c, name, text);
    }
    if (!same_csv(c->directory, name, made)) complain(c, name, "its CSV is not that of the cells");
    json_array_foreach(json_object_get(stored, "plots"), i, plot)
    {
        snprintf(path, sizeof path, "%s/%s.svg", c->directory, gess__json_text(plot, "file"));
        if (access(path, R_OK) != 0) complain(c, name, "a plot is missing");
    }
    size_t claims = json_array_size(json_object_get(made, "claims"));
    c->pages++;
    c->claims += claims;
    if (c->faults == before)
        fprintf(c->out, "%s: %zu claim%s, tables and data are those of the cells\n", name, claims,
                claims == 1 ? "" : "s");
}

/* Makes the page again from its cells. */
static int check_page(check *c, const gess__figure *figure, const json_t *stored, gess_error *err)
{
    gess__reproduction r;
    gess__cells cells = {0};
    json_t *made = NULL;
    size_t missing = 0;
    read_options(&r, stored, c->directory);
    if (r.trials == 0 || !(r.scale > 0.0)) {
        complain(c, figure->name, "the page does not say with which options it was made");
        return GESS_OK;
    }
    int status = figure->plan(figure, &r, &cells, err);
    if (status == GESS_OK) status = gess__cells_load(&cells, &r, err);
    for (size_t i = 0; i < cells.count; i++) missing += cells.cell[i].result == NULL;
    if (status == GESS_OK && ((missing > 0 && !r.partial) || missing == cells.count)) {
        char text[160];
        snprintf(text, sizeof text, "%zu of %zu cells are missing (in " GESS__CELLS_ARCHIVE " and cells/)", missing,
                 cells.count);
        complain(c, figure->name, text);
    } else if (status == GESS_OK) {
        status = gess__figure_page(figure, &r, cells.count, cells.cell, &made, err);
        if (status == GESS_OK) compare(c, figure->name, stored, made);
    }
    json_decref(made);
    gess__cells_free(&cells);
    return status;
}

/* ---- files ---- */

/* Scripts and bitmaps of plots, which a folder of results can do without. */
static int is_dispensable(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL && (strcmp(dot, ".gp") == 0 || strcmp(dot, ".png") == 0);
}

static int check_files(check *c, gess_error *err)
{
    char path[4400], digest[GESS__SHA256_TEXT];
    const char *name;
    const json_t *value;
    size_t before = c->faults, absent = 0;
    snprintf(path, sizeof path, "%s/manifest.json", c->directory);
    json_t *manifest = json_load_file(path, 0, NULL), *files = json_object_get(manifest, "files");
    if (files == NULL) complain(c, "manifest.json", "there is none, so files are not compared with their checksums");
    json_object_foreach(files, name, value)
    {
        snprintf(path, sizeof path, "%s/%.255s", c->directory, name);
        if (strchr(name, '/') == NULL && access(path, F_OK) != 0 && is_dispensable(name)) {
            absent++;
        } else if (strchr(name, '/') != NULL || access(path, R_OK) != 0) {
            complain(c, name, "the file is missing");
        } else {
            int status = gess__sha256_file(path, digest, err);
            if (status != GESS_OK) {
                json_decref(manifest);
                return status;
            }
            if (strcmp(digest, json_string_value(value)) != 0) complain(c, name, "it is not the file of manifest.json");
        }
    }
    if (c->faults == before) {
        fprintf(c->out, "manifest.json: %zu files have its checksums", json_object_size(files) - absent);
        if (absent > 0) fprintf(c->out, "; %zu scripts and bitmaps of plots are not here", absent);
        fputs("\n", c->out);
    }
    json_decref(manifest);
    return GESS_OK;
}

int gess__reproduce_verify(const char *directory, FILE *out, gess_error *err)
{
    check c = {.directory = directory, .out = out};
    char path[4400];
    if (access(directory, R_OK | X_OK) != 0)
        return gess__fail(err, GESS_ERR_FILE, "cannot read the folder %s: %s", directory, strerror(errno));
    for (size_t i = 0; gess__figure_row(i) != NULL; i++) {
        snprintf(path, sizeof path, "%s/%s.json", directory, gess__figure_row(i)->name);
        if (access(path, F_OK) != 0) continue;
        json_t *page = json_load_file(path, 0, NULL);
        int status = GESS_OK;
        if (page == NULL)
            complain(&c, gess__figure_row(i)->name, "its JSON file is damaged");
        else
            status = check_page(&c, gess__figure_row(i), page, err);
        json_decref(page);
        if (status != GESS_OK) return status;
    }
    if (c.pages == 0 && c.faults == 0)
        return gess__fail(err, GESS_ERR_FILE, "%s has no page of `gess reproduce`", directory);
    GESS_TRY(check_files(&c, err));
    if (c.faults > 0)
        return gess__fail(err, GESS_ERR_NOT_CONVERGED, "%zu thing%s in %s cannot be confirmed; they are listed above",
                          c.faults, c.faults == 1 ? "" : "s", directory);
    fprintf(out, "%zu page%s, %zu claims: confirmed\n", c.pages, c.pages == 1 ? "" : "s", c.claims);
    return GESS_OK;
}
