/* Reads one CSV file per chain into memory: leaves out warm-up rows, by CmdStan's comments, and the columns of the
 * sampler, and requires that all files have the same columns and as many draws. */
#include "draws/csv_chains.h"

#include "base/assert.h"
#include "base/csv.h"
#include "base/mem.h"
#include "draws/circles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- CmdStan's comments ---- */

typedef struct comments {
    unsigned long long save_warmup, num_warmup, thin;
} comments;

/* The value in a line such as "#     thin = 2" or "# save_warmup = true". */
static void take_comment(comments *c, const char *line)
{
    const struct {
        const char *key;
        unsigned long long *value;
    } fields[] = {{"save_warmup", &c->save_warmup}, {"num_warmup", &c->num_warmup}, {"thin", &c->thin}};
    line += strspn(line, "# \t");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        size_t length = strlen(fields[i].key);
        if (strncmp(line, fields[i].key, length) != 0) continue;
        const char *value = line + length + strspn(line + length, " \t");
        if (*value != '=') continue;
        value += 1 + strspn(value + 1, " \t");
        *fields[i].value = strncmp(value, "true", 4) == 0 ? 1 : strtoull(value, NULL, 10);
    }
}

/* The number of warm-up rows in the file, by the comments in front of its header. */
static size_t warmup_rows(const char *path)
{
    comments c = {.thin = 1};
    FILE *file = fopen(path, "r");
    char line[512];
    bool start = true; /* of a line */
    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (start && line[0] != '#' && line[strspn(line, " \t\r\n")] != '\0') break;
        if (start) take_comment(&c, line);
        start = strchr(line, '\n') != NULL;
    }
    fclose(file);
    if (c.save_warmup == 0 || c.num_warmup == 0) return 0;
    if (c.thin == 0) c.thin = 1;
    return (size_t)((c.num_warmup - 1) / c.thin + 1);
}

/* Takes the periodic parameters from the comments in front of the header: of a parameter's number, counted from 1, if
 * the first column is lp__, as in exported files. */
static int take_circles(gess__draws *d, const char *path, gess_error *err)
{
    char line[512];
    gess__circle circle;
    if (strcmp(d->names[0], "lp__") != 0) return GESS_OK;
    FILE *file = fopen(path, "r");
    int status = GESS_OK;
    while (status == GESS_OK && file != NULL && fgets(line, sizeof line, file) != NULL && line[0] == '#') {
        size_t column = gess__circle_of_comment(line, &circle);
        if (column == 0 || column >= d->columns) continue;
        if (d->circle == NULL) status = gess__alloc_bytes(&d->circle, d->columns, sizeof circle, "circles", err);
        if (status == GESS_OK) d->circle[column] = circle;
    }
    if (file != NULL) fclose(file);
    return status;
}

/* ---- columns ---- */

/* A column of the sampler, such as stepsize__ and treedepth__. */
static bool is_internal(const char *name)
{
    size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, "__") == 0 && strcmp(name, "lp__") != 0;
}

/* The name without the apostrophe that export/csv.c puts in front of a formula. */
static const char *plain_name(const char *name)
{
    const char *rest = name + strspn(name, "'");
    return rest > name && *rest != '\0' && strchr("=+-@\t\r", *rest) != NULL ? name + 1 : name;
}

/* Moves *at to the next column, from *at on, that is a quantity of the model or lp__; false if there is none. */
static bool next_column(const gess__table *t, size_t *at)
{
    while (*at < t->columns && is_internal(t->names[*at])) ++*at;
    return *at < t->columns;
}

/* ---- tables ---- */

/* Takes columns, names and number of draws from the first file. */
static int take_shape(gess__draws *d, const gess__table *t, size_t rows, const char *path, size_t files,
                      gess_error *err)
{
    d->chains = files;
    d->draws = rows;
    d->thin = 1;
    GESS_ALLOC(&d->names, t->columns, err);
    for (size_t i = 0; next_column(t, &i); i++) {
        GESS_TRY(gess__copy_text(&d->names[d->columns], plain_name(t->names[i]), err));
        d->columns++;
    }
    if (d->columns == 0)
        return gess__fail(err, GESS_ERR_USAGE, "%s has no column of a model, only some that end in __", path);
    GESS_ALLOC(&d->values, d->columns * d->chains * rows, err);
    return take_circles(d, path, err);
}

/* Copies the rows from `skip` on. */
static int take_chain(gess__draws *d, const gess__table *t, size_t skip, size_t chain, const char *path,
                      gess_error *err)
{
    size_t rows = t->rows - skip, columns = 0;
    bool same = rows == d->draws;
    for (size_t i = 0; next_column(t, &i); i++, columns++)
        same &= columns < d->columns && strcmp(plain_name(t->names[i]), d->names[columns]) == 0;
    if (!same || columns != d->columns)
        return gess__fail(err, GESS_ERR_USAGE,
                          "%s: %zu rows of %zu columns, or other names than the first file's (%llu rows of %zu "
                          "columns); all chains must have the same",
                          path, rows, columns, (unsigned long long)d->draws, d->columns);
    for (size_t row = 0; row < rows; row++)
        for (size_t i = 0, j = 0; next_column(t, &i); i++, j++)
            d->values[(j * d->chains + chain) * rows + row] = t->values[(skip + row) * t->columns + i];
    return GESS_OK;
}

static int take_table(gess__draws *d, const gess__table *t, size_t chain, const char *path, size_t files,
                      gess_error *err)
{
    if (t->names == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "%s has no header; its first line must name the columns", path);
    size_t skip = warmup_rows(path);
    if (skip >= t->rows)
        return gess__fail(err, GESS_ERR_USAGE, "%s: %zu rows, but by its comments the first %zu are warm-up", path,
                          t->rows, skip);
    if (chain == 0) GESS_TRY(take_shape(d, t, t->rows - skip, path, files, err));
    return take_chain(d, t, skip, chain, path, err);
}

int gess__draws_from_tables(gess__draws *draws, size_t files, char *const *paths, gess_error *err)
{
    GESS_ASSERT(files > 0);
    *draws = (gess__draws){0};
    for (size_t chain = 0; chain < files; chain++) {
        gess__table table = {0};
        int status = gess__table_read(&table, paths[chain], err);
        if (status == GESS_OK) status = take_table(draws, &table, chain, paths[chain], files, err);
        gess__table_free(&table);
        GESS_TRY(status);
    }
    return GESS_OK;
}
