/* Places every chain at its start, inside the support: at a row of a table (the file of --init, or draws of another
 * run), or at random, with a limited number of attempts. */
#include "chains/starts.h"

#include "base/assert.h"
#include "base/csv.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/special.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Attempts for a chain whose start is outside the support. */
enum { MAX_ATTEMPTS = 100 };

#define HALF_ROOT 0.70710678118654752 /* of 2 */

/* The chains that are being placed, and what it takes. */
typedef struct placing {
    const gess__target *target;
    uint64_t seed;
    double scale; /* of default starts */
    gess__chains *chains;
    gess__tally *tally;
    double *x;       /* 2 × model->dim: a point in the user's space, and normals */
    double *scratch; /* of the target, for one point */
} placing;

/* Draws a start of one chain in the user's space. */
static int draw_start(const placing *p, size_t chain, uint64_t attempt, gess_error *err)
{
    const gess_model *model = p->target->model;
    double *x = p->x, *normals = p->x + model->dim;
    gess__key key = {.seed = p->seed,
                     .iteration = attempt,
                     .chain = p->chains->first + (uint32_t)chain,
                     .purpose = GESS__FOR_START};
    gess__normals(key, model->dim, normals);
    if (model->start_width > 0.0) { /* the normal's probability, from 0 to 2 */
        for (size_t i = 0; i < model->dim; i++)
            x[i] = p->scale * model->start_width * (gess__erfc(-normals[i] * HALF_ROOT) - 1.0);
        return GESS_OK;
    }
    if (model->start != NULL) {
        for (size_t i = 0; i < model->dim; i++) normals[i] *= p->scale;
        model->start(model->user, model->dim, normals, x);
        return gess__target_lost(p->target, 0, err);
    }
    for (size_t i = 0; i < model->dim; i++) x[i] = gess__bounds_start(&p->target->bounds, i, normals[i], p->scale);
    return GESS_OK;
}

/* Puts a chain at the point p->x of the user's space; *inside: whether the point is in the support. */
static int place(const placing *p, size_t chain, int *inside, gess_error *err)
{
    gess__chains *c = p->chains;
    double *y = c->x + chain * p->target->dim, *blobs = c->blobs != NULL ? c->blobs + chain * c->blob_count : NULL,
           value;
    *inside = gess__bounds_in(&p->target->bounds, p->x, y);
    if (!*inside) return GESS_OK;
    gess__calls_ask(&p->target->calls, 0, NULL, c->first + chain + 1);
    int status = gess__target_evaluate(p->target, 0, 1, y, &value, NULL, blobs, p->scratch, err);
    gess__calls_ask(&p->target->calls, 0, NULL, 0);
    if (status != GESS_OK && err != NULL && err->chain > 0) err->chain = (uint64_t)p->chains->first + chain + 1;
    GESS_TRY(status);
    p->tally->evals++;
    if (value == INFINITY) {
        char point[600];
        gess__target_describe(p->target, y, point, sizeof point, p->scratch);
        status = gess__fail(err, GESS_ERR_MODEL,
                            "the log density is +infinity at the start of chain %zu, %s; mend the model",
                            (size_t)p->chains->first + chain + 1, point);
        gess__target_add_point(p->target, y, p->chains->first + chain + 1, p->scratch, err);
        return status;
    }
    if (isnan(value)) p->tally->nans++;
    *inside = value > -INFINITY;
    c->value[chain] = value;
    return GESS_OK;
}

/* What the log density was at points outside the support, of which `nans` of `points` were NaN. */
static const char *outside_text(uint64_t nans, uint64_t points)
{
    return nans == 0 ? "-infinity" : nans == points ? "NaN" : "-infinity or NaN";
}

static int start_by_draws(const placing *p, gess_error *err)
{
    size_t dim = p->target->model->dim;
    for (size_t chain = 0; chain < p->chains->count; chain++) {
        int inside = 0;
        uint64_t nans = p->tally->nans;
        for (uint64_t attempt = 0; attempt < MAX_ATTEMPTS && !inside; attempt++) {
            GESS_TRY(draw_start(p, chain, attempt, err));
            GESS_TRY(place(p, chain, &inside, err));
        }
        if (!inside) {
            char point[600];
            for (size_t i = 0, used = 0; i < dim && used < sizeof point; i++)
                used = gess__describe_parameter(p->target->model, i, p->x[i], point, used, sizeof point);
            return gess__fail(err, GESS_ERR_MODEL,
                              "no starting point inside the support for chain %zu: the log density was %s at %d random "
                              "points, the last at %s; %sgive starts with --init FILE",
                              (size_t)p->chains->first + chain + 1, outside_text(p->tally->nans - nans, MAX_ATTEMPTS),
                              MAX_ATTEMPTS, point, p->scale > 1.0 ? "use a smaller --start-scale, or " : "");
        }
    }
    return GESS_OK;
}

/* Finds the column of every parameter: by name if the header has all of them, otherwise in
 * order. */
static int find_columns(const gess_model *model, const gess__table *table, const char *path, size_t *columns,
                        gess_error *err)
{
    size_t dim = model->dim, found = 0;
    for (size_t i = 0; i < dim && table->names != NULL; i++) {
        char buffer[32];
        const char *name = gess__parameter_name(model, i, buffer);
        for (size_t c = 0; c < table->columns; c++)
            if (strcmp(table->names[c], name) == 0) {
                columns[i] = c;
                found++;
                break;
            }
    }
    if (found == dim) return GESS_OK;
    if (found > 0)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init %s: its header names %zu of the model's %zu parameters; name all of them, or none",
                          path, found, dim);
    if (table->columns != dim)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init %s: %zu columns, but the model has %zu parameters; give one column per parameter, or "
                          "a "
                          "header "
                          "with their names",
                          path, table->columns, dim);
    for (size_t i = 0; i < dim; i++) columns[i] = i;
    return GESS_OK;
}

/* Where the rows of a table come from, for messages. */
typedef struct origin {
    const char *option, *path, *hint;
} origin;

static int start_by_rows(const placing *p, const gess__table *table, const size_t *columns, const origin *from,
                         gess_error *err)
{
    size_t first = p->chains->first, dim = p->target->model->dim;
    for (size_t chain = 0; chain < p->chains->count; chain++) {
        int inside = 0;
        for (size_t i = 0; i < dim; i++) {
            p->x[i] = table->values[(first + chain) * table->columns + columns[i]];
            if (!isfinite(p->x[i]))
                return gess__fail(err, GESS_ERR_USAGE, "%s %s: row %zu, column %zu is not a finite number",
                                  from->option, from->path, first + chain + 1, columns[i] + 1);
        }
        uint64_t nans = p->tally->nans, evals = p->tally->evals;
        GESS_TRY(place(p, chain, &inside, err));
        if (inside) continue;
        const char *why = p->tally->nans > nans     ? "the log density there is NaN"
                          : p->tally->evals > evals ? "the log density there is -infinity"
                                                    : "it is beyond a bound";
        return gess__fail(err, GESS_ERR_USAGE, "%s %s: row %zu is outside the support: %s%s", from->option, from->path,
                          first + chain + 1, why, from->hint);
    }
    return GESS_OK;
}

static int start_by_file(const placing *p, const gess__table *table, const char *path, size_t *columns, gess_error *err)
{
    size_t last = p->chains->first + p->chains->count;
    GESS_TRY(find_columns(p->target->model, table, path, columns, err));
    if (table->rows < last)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init %s: %zu starting points, but there is a chain %zu; give one row per chain, or "
                          "--chains %zu",
                          path, table->rows, last, table->rows);
    return start_by_rows(p, table, columns, &(origin){"--init", path, ""}, err);
}

static int start_from_file(const placing *p, const char *path, gess_error *err)
{
    gess__table table = {0};
    size_t *columns = NULL;
    int status = gess__table_read(&table, path, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&columns, p->target->model->dim, sizeof *columns, "columns", err);
    if (status == GESS_OK) status = start_by_file(p, &table, path, columns, err);
    free(columns);
    gess__table_free(&table);
    return status;
}

/* The table has the parameters in order. */
static int start_from_points(const placing *p, const gess_options *options, gess_error *err)
{
    const gess__table *table = options->points;
    size_t *columns = NULL, dim = p->target->model->dim;
    GESS_ASSERT(table->columns == dim && table->rows >= p->chains->first + p->chains->count);
    GESS_ALLOC(&columns, dim, err);
    for (size_t i = 0; i < dim; i++) columns[i] = i;
    const origin from = {options->init_from != NULL ? "--init-from" : "--init",
                         options->init_from != NULL ? options->init_from : options->init,
                         "; was the run made with this model and these data?"};
    int status = start_by_rows(p, table, columns, &from, err);
    free(columns);
    return status;
}

static int start_chains(const placing *p, const gess_options *options, gess_error *err)
{
    if (options->points != NULL) return start_from_points(p, options, err);
    return options->init != NULL ? start_from_file(p, options->init, err) : start_by_draws(p, err);
}

int gess__starts(const gess__target *target, uint64_t seed, const gess_options *options, gess__chains *chains,
                 gess__tally *tally, gess_error *err)
{
    GESS_ASSERT(chains->x != NULL && chains->dim == target->dim && chains->blob_count == target->model->blobs);
    placing p = {.target = target, .seed = seed, .scale = options->start_scale, .chains = chains, .tally = tally};
    int status = gess__alloc_bytes(&p.x, 2 * target->model->dim, sizeof *p.x, "starts", err);
    if (status == GESS_OK)
        status = gess__alloc_bytes(&p.scratch, gess__target_scratch(target, 1), sizeof *p.scratch, "starts", err);
    if (status == GESS_OK) status = start_chains(&p, options, err);
    free(p.x);
    free(p.scratch);
    return status;
}
