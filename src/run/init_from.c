/* Reads draws.gess of another run, finds the columns of the model's parameters by name, and takes draws at equal
 * distances, of all chains or of those at the highest level. */
#include "run/init_from.h"

#include "base/assert.h"
#include "base/mem.h"
#include "diagnose/levels.h"
#include "draws/reader.h"
#include "model/model.h"
#include "run/directory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int is_folder(const char *path)
{
    struct stat info;
    return path != NULL && stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

const char *gess__init_directory(const gess_options *options)
{
    if (options->init_from != NULL) return options->init_from;
    return is_folder(options->init) ? options->init : NULL;
}

int gess__init_check(const gess_options *o, gess_error *err)
{
    if (o->init != NULL && o->init_from != NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--init %s and --init-from %s both give starts; give one of them",
                          o->init, o->init_from);
    if (o->start_scale != 1.0 && (o->init != NULL || o->init_from != NULL))
        return gess__fail(err, GESS_ERR_USAGE,
                          "--start-scale %g is about default starts, and --init%s gives others, which are taken as "
                          "they "
                          "are; leave one of the two out",
                          o->start_scale, o->init != NULL ? "" : "-from");
    if (o->best && gess__init_directory(o) == NULL)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--best chooses among the draws of another run; give it as --init-from DIR");
    return GESS_OK;
}

/* ---- the other run ---- */

/* The run whose draws are taken. */
typedef struct source {
    const char *directory;
    gess__reader *reader;
    size_t *columns; /* of each parameter of the model */
    double *rows;    /* room for `piece` draws of a chain */
    uint64_t piece;
} source;

/* The number of parameters of the run, 0 if config.json does not say. */
static size_t parameters_of(const char *directory)
{
    char path[4096];
    json_t *config = NULL;
    if (gess__directory_path(directory, "config.json", path, sizeof path, NULL) == GESS_OK)
        config = json_load_file(path, 0, NULL);
    json_int_t dim = json_integer_value(json_object_get(config, "dim"));
    json_decref(config);
    return dim > 0 ? (size_t)dim : 0;
}

static int find_columns(source *s, const gess_model *model, gess_error *err)
{
    size_t dim = parameters_of(s->directory);
    if (dim > 0 && dim != model->dim)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init-from %s: that run has %zu parameters and the model %zu; chains can start only from "
                          "a run with the same parameters",
                          s->directory, dim, model->dim);
    GESS_ALLOC(&s->columns, model->dim, err);
    for (size_t i = 0; i < model->dim; i++) {
        char buffer[32];
        const char *name = gess__parameter_name(model, i, buffer);
        size_t at = 1, end = dim > 0 && dim < s->reader->columns ? dim + 1 : s->reader->columns;
        while (at < end && strcmp(s->reader->names[at], name) != 0) at++;
        if (at == end)
            return gess__fail(err, GESS_ERR_USAGE,
                              "--init-from %s: that run has no parameter %s; chains can start only from a run with the "
                              "same parameters",
                              s->directory, name);
        s->columns[i] = at;
    }
    return GESS_OK;
}

static int open_source(source *s, const gess_model *model, gess_error *err)
{
    enum { PIECE = 1 << 16 }; /* doubles */
    char path[4096];
    struct stat info;
    if (stat(s->directory, &info) == 0 && !S_ISDIR(info.st_mode))
        return gess__fail(err, GESS_ERR_USAGE, "--init-from %s is a file; for a CSV file of points use --init",
                          s->directory);
    GESS_TRY(gess__directory_path(s->directory, "draws.gess", path, sizeof path, err));
    if (stat(path, &info) != 0)
        return gess__fail(err, GESS_ERR_USAGE, "--init-from %s: there is no run in it; it has no draws.gess",
                          s->directory);
    GESS_TRY(gess__reader_open(&s->reader, path, err));
    if (s->reader->draws == 0)
        return gess__fail(err, GESS_ERR_USAGE, "--init-from %s: that run has no draws yet", s->directory);
    GESS_TRY(find_columns(s, model, err));
    s->piece = PIECE / s->reader->columns > 0 ? PIECE / s->reader->columns : 1;
    if (s->piece > s->reader->draws) s->piece = s->reader->draws;
    GESS_ALLOC(&s->rows, (size_t)s->piece * s->reader->columns, err);
    return GESS_OK;
}

static void close_source(source *s)
{
    gess__reader_free(s->reader);
    free(s->columns);
    free(s->rows);
}

/* ---- taking draws at equal distances ---- */

/* The place of row i among `total` draws: the last one is always taken. */
static uint64_t place_of(size_t i, size_t rows, uint64_t total)
{
    uint64_t whole = total / rows, rest = total % rows;
    return (i + 1) * whole + (i + 1) * rest / rows - 1;
}

static void take(const source *s, const double *draw, gess__table *points, size_t row)
{
    for (size_t i = 0; i < points->columns; i++) points->values[row * points->columns + i] = draw[s->columns[i]];
}

static int take_all(const source *s, gess__table *points, gess_error *err)
{
    const gess__reader *r = s->reader;
    uint64_t total = r->draws * r->chains;
    if (total < points->rows)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init-from %s: that run has %llu draws, and there are %zu chains; use --chains %llu or "
                          "fewer",
                          s->directory, (unsigned long long)total, points->rows, (unsigned long long)total);
    for (size_t i = 0; i < points->rows; i++) {
        uint64_t at = place_of(i, points->rows, total);
        GESS_TRY(gess__reader_rows(r, (size_t)(at / r->draws), 1, at % r->draws, 1, s->rows, err));
        take(s, s->rows, points, i);
    }
    return GESS_OK;
}

/* A walk through the distinct draws of the chosen chains. */
typedef struct walk {
    const source *source;
    double *previous; /* the draw before; columns */
    uint64_t count;   /* distinct draws so far */
    uint64_t total;   /* of them; 0: they are only counted */
    gess__table *points;
    size_t taken; /* rows of points that are filled */
} walk;

static int walk_chain(walk *w, size_t chain, gess_error *err)
{
    const source *s = w->source;
    const gess__reader *r = s->reader;
    int any = 0;
    for (uint64_t first = GESS__LAST_HALF(r->draws); first < r->draws; first += s->piece) {
        uint64_t draws = r->draws - first < s->piece ? r->draws - first : s->piece;
        GESS_TRY(gess__reader_rows(r, chain, 1, first, draws, s->rows, err));
        for (uint64_t i = 0; i < draws; i++) {
            const double *draw = s->rows + i * r->columns;
            if (any && memcmp(draw, w->previous, r->columns * sizeof *draw) == 0) continue;
            any = 1;
            memcpy(w->previous, draw, r->columns * sizeof *draw);
            uint64_t at = w->count++;
            if (w->total == 0 || w->taken == w->points->rows) continue;
            if (place_of(w->taken, w->points->rows, w->total) == at) take(s, draw, w->points, w->taken++);
        }
    }
    return GESS_OK;
}

/* ---- the best chains ---- */

/* The level of a chain; values has room for half of its draws. */
static int read_level(const source *s, size_t chain, double *values, gess__level *level, gess_error *err)
{
    const gess__reader *r = s->reader;
    size_t count = 0;
    for (uint64_t first = GESS__LAST_HALF(r->draws); first < r->draws; first += s->piece) {
        uint64_t draws = r->draws - first < s->piece ? r->draws - first : s->piece;
        GESS_TRY(gess__reader_rows(r, chain, 1, first, draws, s->rows, err));
        for (uint64_t i = 0; i < draws; i++) values[count++] = s->rows[i * r->columns];
    }
    gess__level_of(count, values, level);
    return GESS_OK;
}

/* chosen[chains]: whether the chain is at the highest level; all of them if levels cannot be compared. */
static int choose_best(const source *s, unsigned char *chosen, double *scratch, gess__level *level, gess_error *err)
{
    const gess__reader *r = s->reader;
    gess__levels levels;
    for (size_t c = 0; c < r->chains; c++) GESS_TRY(read_level(s, c, scratch, &level[c], err));
    bool compared = gess__levels_compare(r->chains, level, scratch, &levels);
    for (size_t c = 0; c < r->chains; c++) chosen[c] = !compared || gess__level_is_high(&levels, &level[c]);
    return GESS_OK;
}

static int walk_chosen(walk *w, const unsigned char *chosen, gess_error *err)
{
    w->count = 0;
    for (size_t c = 0; c < w->source->reader->chains; c++)
        if (chosen[c]) GESS_TRY(walk_chain(w, c, err));
    return GESS_OK;
}

static int take_chosen(walk *w, const unsigned char *chosen, gess_error *err)
{
    GESS_TRY(walk_chosen(w, chosen, err));
    if (w->count < w->points->rows)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init-from %s --best: the best chains of that run have %llu distinct draws in their last "
                          "halves, and there are %zu chains; use --chains %llu or fewer",
                          w->source->directory, (unsigned long long)w->count, w->points->rows,
                          (unsigned long long)w->count);
    w->total = w->count;
    GESS_TRY(walk_chosen(w, chosen, err));
    GESS_ASSERT(w->taken == w->points->rows);
    return GESS_OK;
}

static int take_best(const source *s, gess__table *points, gess_error *err)
{
    const gess__reader *r = s->reader;
    size_t half = (size_t)(r->draws - GESS__LAST_HALF(r->draws)), room = half > 2 * r->chains ? half : 2 * r->chains;
    walk w = {.source = s, .points = points};
    unsigned char *chosen = NULL;
    double *scratch = NULL;
    gess__level *level = NULL;
    int status = gess__alloc_bytes(&chosen, r->chains, sizeof *chosen, "chains", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&scratch, room, sizeof *scratch, "log densities", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&level, r->chains, sizeof *level, "levels", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&w.previous, r->columns, sizeof *w.previous, "draw", err);
    if (status == GESS_OK) status = choose_best(s, chosen, scratch, level, err);
    if (status == GESS_OK) status = take_chosen(&w, chosen, err);
    free(w.previous);
    free(level);
    free(scratch);
    free(chosen);
    return status;
}

int gess__init_from(const gess_model *model, const gess_options *options, const char *directory, gess__table *points,
                    gess_error *err)
{
    source s = {.directory = directory};
    *points = (gess__table){.rows = (size_t)options->chains, .columns = model->dim};
    int status = open_source(&s, model, err);
    if (status == GESS_OK)
        status =
            gess__alloc_bytes(&points->values, points->rows * points->columns, sizeof *points->values, "starts", err);
    if (status == GESS_OK) status = options->best ? take_best(&s, points, err) : take_all(&s, points, err);
    close_source(&s);
    return status;
}
