/* Plans the cells of the chosen figures, has them computed (cells.c) and makes their pages; it also has the table of
 * figures and the helpers that they share. command.c parses the arguments. */
#include "reproduce/reproduce.h"

#include "base/mem.h"
#include "base/suggest.h"
#include "run/directory.h"
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define GESS_FIGURE(name) extern const gess__figure gess__figure_##name;
#include "reproduce/figures.def"
#undef GESS_FIGURE

static const gess__figure *const table[] = {
#define GESS_FIGURE(name) &gess__figure_##name,
#include "reproduce/figures.def"
#undef GESS_FIGURE
};

const gess__figure *gess__figure_row(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i] : NULL;
}

uint64_t gess__scaled(const gess__reproduction *r, uint64_t n, uint64_t min)
{
    double scaled = round((double)n * r->scale);
    if (min > n) min = n;
    return scaled < (double)min ? min : (uint64_t)scaled;
}

/* ---- helpers ---- */

double gess__json_real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

uint64_t gess__json_count(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

const char *gess__json_text(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

void gess__mean_and_error(size_t n, const double *values, double *mean, double *error)
{
    double sum = 0.0, square = 0.0;
    for (size_t i = 0; i < n; i++) sum += values[i];
    *mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) square += (values[i] - *mean) * (values[i] - *mean);
    *error = n > 1 ? sqrt(square / (double)(n - 1) / (double)n) : NAN;
}

int gess__store_file(const gess__reproduction *r, const char *name, gess__put_fn *put, const void *what,
                     gess_error *err)
{
    char path[4096], temporary[4200];
    if (snprintf(path, sizeof path, "%s/%s", r->directory, name) >= (int)sizeof path)
        return gess__fail(err, GESS_ERR_USAGE, "the path of the folder is too long: %.200s", r->directory);
    snprintf(temporary, sizeof temporary, "%s.%ld.tmp", path, (long)getpid());
    FILE *out = fopen(temporary, "we");
    if (out == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", temporary, strerror(errno));
    put(out, what);
    int bad = fflush(out) != 0 || ferror(out), reason = errno;
    if (fclose(out) != 0 && !bad) {
        bad = 1;
        reason = errno;
    }
    if (!bad && rename(temporary, path) == 0) return GESS_OK;
    if (!bad) reason = errno;
    unlink(temporary);
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(reason));
}

static void put_json(FILE *out, const void *what)
{
    json_dumpf(what, out, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    fputc('\n', out);
}

int gess__store_json(const gess__reproduction *r, const char *name, const json_t *root, gess_error *err)
{
    if (root == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for %s", name);
    return gess__store_file(r, name, put_json, root, err);
}

/* ---- the command ---- */

/* Makes DIR/cells, with the folders above it. */
static int make_folders(const char *directory, gess_error *err)
{
    char path[4096];
    GESS_TRY(gess__directory_path(directory, "cells", path, sizeof path, err));
    return gess__make_folders(path, err);
}

/* Refuses a second process in the folder. The lock ends with the process. */
static int lock_folder(const char *directory, int *lock, gess_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/cells/lock", directory);
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (*lock < 0) return gess__fail(err, GESS_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
    if (flock(*lock, LOCK_EX | LOCK_NB) == 0) return GESS_OK;
    close(*lock);
    *lock = -1;
    return gess__fail(err, GESS_ERR_USAGE, "another gess is at work in %s; wait for it, or choose another with -o",
                      directory);
}

int gess__figure_page(const gess__figure *figure, const gess__reproduction *r, size_t count, const gess__cell *cells,
                      json_t **page, gess_error *err)
{
    gess__cell *done = NULL;
    size_t n = 0;
    *page = NULL;
    GESS_TRY(gess__alloc_bytes(&done, count + 1, sizeof *done, "cells", err));
    for (size_t i = 0; i < count; i++)
        if (cells[i].result != NULL) done[n++] = cells[i];
    int status = GESS_OK;
    if (n > 0) {
        *page = gess__page_new(figure, r);
        if (*page == NULL)
            status = gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the page of %s", figure->name);
        if (status == GESS_OK) {
            gess__page_missing(*page, count, cells);
            gess__page_making(*page, n, done);
            status = figure->make(r, n, done, *page, err);
        }
    }
    free(done);
    return status;
}

static int make_page(const gess__figure *figure, const gess__reproduction *r, size_t count, const gess__cell *cells,
                     gess_error *err)
{
    json_t *page = NULL;
    int status = gess__figure_page(figure, r, count, cells, &page, err);
    if (status == GESS_OK && page != NULL) status = gess__page_store(r, figure, page, err);
    json_decref(page);
    return status;
}

/* The cells of a figure are consecutive. */
static int make_figures(const char *name, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    size_t first = 0, made = 0, done = 0;
    for (size_t i = 0; i < cells->count; i++) done += cells->cell[i].result != NULL;
    gess__estimate_show(cells, r);
    if (r->partial && done == 0 && cells->count > 0)
        return gess__fail(err, GESS_ERR_USAGE, "none of the %zu cells has been computed with these settings",
                          cells->count);
    for (size_t i = 0; gess__figure_row(i) != NULL; i++) {
        const gess__figure *figure = gess__figure_row(i);
        size_t end = first;
        if (strcmp(name, "all") != 0 && strcmp(name, figure->name) != 0) continue;
        while (end < cells->count && cells->cell[end].figure == figure) end++;
        if (end > first) {
            int status = r->partial ? GESS_OK : gess__cells_run(cells, first, end - first, r, err);
            if (status == GESS_ERR_STOPPED) GESS_TRY(gess__cells_archive_store(cells, r, err)); /* what there is */
            GESS_TRY(status);
            if (r->shards == 0) GESS_TRY(make_page(figure, r, end - first, cells->cell + first, err));
            made++;
        }
        first = end;
    }
    if (made == 0) return gess__fail(err, GESS_ERR_USAGE, "--only %s leaves no cell", r->only);
    if (r->shards == 0) GESS_TRY(gess__page_index(r, err));
    GESS_TRY(gess__cells_archive_store(cells, r, err));
    return r->shards == 0 ? gess__manifest_store(r, err) : GESS_OK;
}

static int plan_figures(const char *name, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    size_t found = 0;
    for (size_t i = 0; gess__figure_row(i) != NULL; i++) {
        const gess__figure *figure = gess__figure_row(i);
        if (strcmp(name, "all") != 0 && strcmp(name, figure->name) != 0) continue;
        GESS_TRY(figure->plan(figure, r, cells, err));
        found++;
    }
    if (found > 0) return GESS_OK;
    gess__nearest nearest = {.word = name};
    char hint[128];
    for (size_t i = 0; gess__figure_row(i) != NULL; i++) gess__nearest_offer(&nearest, gess__figure_row(i)->name);
    return gess__fail(err, GESS_ERR_USAGE,
                      "there is no `%.100s` to reproduce%s; `gess reproduce --help` lists what there is", name,
                      gess__did_you_mean(&nearest, hint));
}

/* Blocks the signals that gess__cells_run() waits for. */
static int run(const char *name, const gess__reproduction *r, gess__cells *cells, gess_error *err)
{
    sigset_t caught, before;
    sigemptyset(&caught);
    sigaddset(&caught, SIGINT);
    sigaddset(&caught, SIGTERM);
    sigaddset(&caught, SIGCHLD);
    sigprocmask(SIG_BLOCK, &caught, &before);
    int status = gess__cells_load(cells, r, err);
    if (status == GESS_OK) status = make_figures(name, r, cells, err);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

int gess__reproduce(const char *name, const gess__reproduction *r, gess_error *err)
{
    gess__cells cells = {0};
    int lock = -1;
    int status = plan_figures(name, r, &cells, err);
    if (status == GESS_OK) status = make_folders(r->directory, err);
    if (status == GESS_OK) status = lock_folder(r->directory, &lock, err);
    gess__reproduction locked = *r;
    locked.lock = lock;
    if (status == GESS_OK) status = run(name, &locked, &cells, err);
    if (lock >= 0) close(lock);
    gess__cells_free(&cells);
    if (status == GESS_OK && r->shards == 0 && !gess__plot_found())
        status = gess__fail(err, GESS_ERR_FILE,
                            "pages and data are in %s, but there are no plots: gnuplot is not installed (Debian: "
                            "gnuplot-nox). With it, the same command draws them; nothing is computed again",
                            r->directory);
    return status;
}
