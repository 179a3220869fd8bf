/* gess_draws of <gess/draws.h>: the draws of a file, read a piece at a time, or of CSV files, held in memory. */
#include "draws/draws.h"

#include "api/argument.h"
#include "base/mem.h"
#include "draws/csv_chains.h"
#include "draws/reader.h"
#include "run/directory.h"

#include <gess/draws.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 1 << 16 /* doubles that are read at a time if some columns are wanted only, but at least one draw */ };

struct gess_draws {
    gess__reader *file; /* NULL: the draws are in memory */
    gess__draws memory;
    char *const *names; /* of one of the two */
    gess_draws_shape shape;
    char *model;   /* "": not known */
    double *piece; /* rows with all columns */
    uint64_t piece_draws;
};

/* ---- opening ---- */

/* Takes what config.json of the folder says; nothing if there is none, or none that can be read. */
static int take_config(gess_draws *d, const char *folder, gess_error *err)
{
    char path[4096];
    if (gess__directory_path(folder, "config.json", path, sizeof path, NULL) != GESS_OK) return GESS_OK;
    json_t *root = json_load_file(path, 0, NULL), *options = json_object_get(root, "options");
    const char *model = json_string_value(json_object_get(root, "model"));
    const char *seed = json_string_value(json_object_get(options, "seed"));
    const char *ensembles = json_string_value(json_object_get(options, "ensembles"));
    json_int_t dim = json_integer_value(json_object_get(root, "dim"));
    int status = GESS_OK;
    if (model != NULL) {
        free(d->model);
        status = gess__copy_text(&d->model, model, err);
    }
    if (seed != NULL) d->shape.seed = strtoull(seed, NULL, 10);
    d->shape.has_seed = seed != NULL;
    if (ensembles != NULL && strtoul(ensembles, NULL, 10) > 0) d->shape.ensembles = strtoul(ensembles, NULL, 10);
    if (dim > 0 && (uint64_t)dim < d->shape.columns) d->shape.dim = (size_t)dim;
    if (d->file->parameters > 0) d->shape.dim = d->file->parameters;
    json_decref(root);
    return status;
}

static int open_store(gess_draws *d, const char *path, const char *folder, gess_error *err)
{
    char warmup[4096];
    GESS_TRY(gess__reader_open_shown(&d->file, path, err));
    const gess__reader *r = d->file;
    d->names = r->names;
    d->shape.chains = r->chains;
    d->shape.columns = r->columns;
    d->shape.draws = r->draws;
    d->shape.thin = r->thin;
    if (gess__directory_path(folder, "warmup.gess", warmup, sizeof warmup, NULL) == GESS_OK)
        d->shape.has_warmup = access(warmup, F_OK) == 0;
    d->piece_draws = PIECE / r->columns > 0 ? PIECE / r->columns : 1;
    GESS_ALLOC(&d->piece, (size_t)d->piece_draws * r->columns, err);
    return take_config(d, folder, err);
}

static int open_tables(gess_draws *d, size_t count, const char *const *paths, gess_error *err)
{
    GESS_TRY(gess__draws_from_tables(&d->memory, count, (char *const *)paths, err));
    d->names = d->memory.names;
    d->shape.chains = d->memory.chains;
    d->shape.columns = d->memory.columns;
    d->shape.draws = d->memory.draws;
    d->shape.thin = d->memory.thin;
    return GESS_OK;
}

/* Whether the path is a file that does not begin as files of draws do; such a file is taken for CSV. */
static bool is_other_file(const char *path)
{
    char start[sizeof GESS__DRAWS_MAGIC - 1];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return false;
    size_t got = fread(start, 1, sizeof start, file);
    fclose(file);
    return got > 0 && (got < sizeof start || memcmp(start, GESS__DRAWS_MAGIC, sizeof start) != 0);
}

static int open_any(gess_draws *d, const char *path, gess_error *err)
{
    char file[4096];
    struct stat information;
    if (stat(path, &information) == 0 && S_ISDIR(information.st_mode)) {
        GESS_TRY(gess__directory_path(path, "draws.gess", file, sizeof file, err));
        return open_store(d, file, path, err);
    }
    if (is_other_file(path)) return open_tables(d, 1, &path, err);
    snprintf(file, sizeof file, "%s", path);
    char *slash = strrchr(file, '/');
    if (slash != NULL) slash[slash == file] = '\0';
    return open_store(d, path, slash != NULL ? file : ".", err);
}

static int make(gess_draws **draws, gess_error *err)
{
    GESS_ALLOC(draws, 1, err);
    (*draws)->shape.ensembles = 1;
    return gess__copy_text(&(*draws)->model, "", err);
}

static int finish(gess_draws **draws, int status)
{
    if (status == GESS_OK) return GESS_OK;
    gess_draws_close(*draws);
    *draws = NULL;
    return status;
}

int gess_draws_open(gess_draws **draws, const char *path, gess_error *err)
{
    GESS_REQUIRE(draws, err);
    *draws = NULL;
    GESS_REQUIRE(path, err);
    int status = make(draws, err);
    if (status == GESS_OK) status = open_any(*draws, path, err);
    return finish(draws, status);
}

int gess_draws_open_csv(gess_draws **draws, size_t count, const char *const *paths, gess_error *err)
{
    GESS_REQUIRE(draws, err);
    *draws = NULL;
    GESS_REQUIRE(paths, err);
    GESS_TRY(gess__check_paths(__func__, count, paths, err));
    int status = make(draws, err);
    if (status == GESS_OK) status = open_tables(*draws, count, paths, err);
    return finish(draws, status);
}

void gess_draws_close(gess_draws *draws)
{
    if (draws == NULL) return;
    gess__reader_free(draws->file);
    gess__draws_free(&draws->memory);
    free(draws->model);
    free(draws->piece);
    free(draws);
}

/* ---- what they are ---- */

int gess_draws_info(const gess_draws *draws, gess_draws_shape *shape, size_t size, gess_error *err)
{
    GESS_REQUIRE(draws, err);
    GESS_REQUIRE(shape, err);
    gess__fill_struct(shape, size, &draws->shape, sizeof draws->shape);
    return GESS_OK;
}

int gess_draws_name(const gess_draws *draws, size_t column, char **text, gess_error *err)
{
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(draws, err);
    GESS_TRY(gess__check_index(__func__, "columns", column, draws->shape.columns, err));
    return gess__copy_text(text, draws->names[column], err);
}

int gess_draws_find(const gess_draws *draws, const char *name, size_t *column, gess_error *err)
{
    GESS_REQUIRE(draws, err);
    GESS_REQUIRE(name, err);
    GESS_REQUIRE(column, err);
    for (size_t i = 0; i < draws->shape.columns; i++)
        if (strcmp(draws->names[i], name) == 0) {
            *column = i;
            return GESS_OK;
        }
    return gess__fail(err, GESS_ERR_USAGE, "there is no parameter `%.200s` among the %zu columns of the draws", name,
                      draws->shape.columns);
}

int gess_draws_model(const gess_draws *draws, char **text, gess_error *err)
{
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(draws, err);
    return gess__copy_text(text, draws->model, err);
}

/* ---- reading ---- */

static int read_store(gess_draws *d, size_t chain, uint64_t first, uint64_t count, size_t first_column, size_t columns,
                      double *values, gess_error *err)
{
    if (columns == d->shape.columns) return gess__reader_rows(d->file, chain, 1, first, count, values, err);
    for (uint64_t done = 0; done < count; done += d->piece_draws) {
        uint64_t n = count - done < d->piece_draws ? count - done : d->piece_draws;
        GESS_TRY(gess__reader_rows(d->file, chain, 1, first + done, n, d->piece, err));
        for (uint64_t i = 0; i < n; i++)
            memcpy(values + (done + i) * columns, d->piece + i * d->shape.columns + first_column,
                   columns * sizeof *values);
    }
    return GESS_OK;
}

static void read_memory(const gess__draws *d, size_t chain, uint64_t first, uint64_t count, size_t first_column,
                        size_t columns, double *values)
{
    for (uint64_t i = 0; i < count; i++)
        for (size_t j = 0; j < columns; j++)
            values[i * columns + j] = d->values[((first_column + j) * d->chains + chain) * d->draws + first + i];
}

int gess_draws_read(gess_draws *draws, size_t chain, uint64_t first_draw, uint64_t count, size_t first_column,
                    size_t columns, double *values, gess_error *err)
{
    GESS_REQUIRE(draws, err);
    GESS_REQUIRE(values, err);
    const gess_draws_shape *s = &draws->shape;
    if (chain >= s->chains || first_draw > s->draws || count > s->draws - first_draw || first_column > s->columns ||
        columns > s->columns - first_column)
        return gess__fail(err, GESS_ERR_USAGE,
                          "gess_draws_read: chain %zu, draws %llu to %llu, columns %zu to %zu were asked for; there "
                          "are "
                          "%zu chains of %llu draws with %zu columns, all numbered from 0",
                          chain, (unsigned long long)first_draw, (unsigned long long)(first_draw + count) - 1,
                          first_column, first_column + columns - 1, s->chains, (unsigned long long)s->draws,
                          s->columns);
    if (count == 0 || columns == 0) return GESS_OK;
    if (draws->file != NULL) return read_store(draws, chain, first_draw, count, first_column, columns, values, err);
    read_memory(&draws->memory, chain, first_draw, count, first_column, columns, values);
    return GESS_OK;
}
