/* Starting points: a file's, the model's own, or standard normals. */
#include "base/csv.h"
#include "base/mem.h"
#include "ensemble/ensemble.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Attempts for a chain whose start is outside the support. */
enum { MOST_ATTEMPTS = 100 };

/* Draws the start of one chain: attempt number `attempt`. */
static void draw_start(gess__ensemble *e, size_t chain, uint64_t attempt, double *normals, double *x)
{
    const gess_model *model = e->target.model;
    size_t dim = e->target.dim;
    gess__key key = {.seed = e->seed,
                     .iteration = attempt,
                     .chain = e->chains.first + (uint32_t)chain,
                     .purpose = GESS__FOR_START};
    gess__normals(key, dim, normals);
    if (model->start != NULL)
        model->start(model->user, dim, normals, x);
    else
        memcpy(x, normals, dim * sizeof *x);
}

/* Evaluates the start of one chain. *inside says whether it can be used. */
static int evaluate_start(gess__ensemble *e, size_t chain, int *inside, gess_error *err)
{
    double *y = e->chains.x + chain * e->target.dim, value;
    GESS_TRY(gess__target_evaluate(&e->target, 0, 1, y, &value, NULL, err));
    e->tally.evals++;
    if (value == INFINITY) {
        char point[600];
        gess__target_describe(&e->target, y, point, sizeof point);
        return gess__fail(err, GESS_ERR_MODEL, "the log density is +infinity at the start of chain %zu, %s; mend the model",
                          (size_t)e->chains.first + chain + 1, point);
    }
    if (isnan(value)) e->tally.nans++;
    *inside = value > -INFINITY;
    e->chains.value[chain] = value;
    return GESS_OK;
}

static int start_by_draws(gess__ensemble *e, double *scratch, gess_error *err)
{
    size_t dim = e->target.dim;
    for (size_t chain = 0; chain < e->chains.count; chain++) {
        int inside = 0;
        for (uint64_t attempt = 0; attempt < MOST_ATTEMPTS && !inside; attempt++) {
            draw_start(e, chain, attempt, scratch, scratch + dim);
            gess__target_map(&e->target, scratch + dim, e->chains.x + chain * dim);
            GESS_TRY(evaluate_start(e, chain, &inside, err));
        }
        if (!inside) {
            char point[600];
            gess__target_describe(&e->target, e->chains.x + chain * dim, point, sizeof point);
            return gess__fail(err, GESS_ERR_MODEL,
                              "no starting point inside the support for chain %zu: the log density was -infinity or NaN "
                              "at %d random points, the last at %s; give starts with --init FILE",
                              (size_t)e->chains.first + chain + 1, MOST_ATTEMPTS, point);
        }
    }
    return GESS_OK;
}

/* Which column of the file holds each parameter: by name where the header has all of them,
 * otherwise in order. */
static int find_columns(const gess__ensemble *e, const gess__table *table, const char *path, size_t *columns,
                        gess_error *err)
{
    size_t dim = e->target.dim, found = 0;
    for (size_t i = 0; i < dim && table->names != NULL; i++) {
        char buffer[32];
        const char *name = gess__parameter_name(e->target.model, i, buffer);
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
                          "--init %s: its header names %zu of the model's %zu parameters; name all of them, or none", path,
                          found, dim);
    if (table->columns != dim)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init %s: %zu columns, but the model has %zu parameters; give one column for each, or a header "
                          "with their names",
                          path, table->columns, dim);
    for (size_t i = 0; i < dim; i++) columns[i] = i;
    return GESS_OK;
}

static int start_by_table(gess__ensemble *e, const gess__table *table, const char *path, size_t *columns, double *x,
                          gess_error *err)
{
    GESS_TRY(find_columns(e, table, path, columns, err));
    size_t first = e->chains.first;
    if (table->rows < first + e->chains.count)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init %s: %zu starting points, but there is a chain %zu; give one row for each chain, or --chains %zu",
                          path, table->rows, first + e->chains.count, table->rows);
    for (size_t chain = 0; chain < e->chains.count; chain++) {
        int inside = 0;
        for (size_t i = 0; i < e->target.dim; i++) x[i] = table->values[(first + chain) * table->columns + columns[i]];
        for (size_t i = 0; i < e->target.dim; i++)
            if (!isfinite(x[i]))
                return gess__fail(err, GESS_ERR_USAGE, "--init %s: row %zu, column %zu is not a finite number", path,
                                  first + chain + 1, columns[i] + 1);
        gess__target_map(&e->target, x, e->chains.x + chain * e->target.dim);
        GESS_TRY(evaluate_start(e, chain, &inside, err));
        if (!inside)
            return gess__fail(err, GESS_ERR_USAGE,
                              "--init %s: row %zu is outside the support (the log density there is -infinity or NaN)", path,
                              first + chain + 1);
    }
    return GESS_OK;
}

static int start_from_file(gess__ensemble *e, const char *path, double *scratch, gess_error *err)
{
    gess__table table = {0};
    size_t *columns = NULL;
    int status = gess__table_read(&table, path, err);
    if (status == GESS_OK)
        status = gess__alloc_bytes(&columns, e->target.dim, sizeof *columns, "columns", err);
    if (status == GESS_OK) status = start_by_table(e, &table, path, columns, scratch, err);
    free(columns);
    gess__table_free(&table);
    return status;
}

int gess__ensemble_start(gess__ensemble *e, const char *init, gess_error *err)
{
    double *scratch;
    GESS_ALLOC(&scratch, 2 * e->target.dim, err);
    int status = init != NULL ? start_from_file(e, init, scratch, err) : start_by_draws(e, scratch, err);
    free(scratch);
    return status;
}
