/* Starting points: a file's, the model's own, or standard normals. */
#include "base/csv.h"
#include "base/mem.h"
#include "execute/ensemble.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Attempts for a chain whose start is outside the support. */
enum { MAX_ATTEMPTS = 100 };

/* A start of one chain in the user's space: attempt number `attempt`. */
static void draw_start(gess__ensemble *e, size_t chain, uint64_t attempt, double *normals, double *x)
{
    const gess_model *model = e->target.model;
    gess__key key = {.seed = e->seed,
                     .iteration = attempt,
                     .chain = e->chains.first + (uint32_t)chain,
                     .purpose = GESS__FOR_START};
    gess__normals(key, model->dim, normals);
    if (model->start != NULL)
        model->start(model->user, model->dim, normals, x);
    else
        for (size_t i = 0; i < model->dim; i++) x[i] = gess__bounds_start(&e->target.bounds, i, normals[i]);
}

/* Puts a chain at a point x of the user's space. *inside says whether it can be used. */
static int place(gess__ensemble *e, size_t chain, const double *x, double *scratch, int *inside, gess_error *err)
{
    double *y = e->chains.x + chain * e->target.dim, value;
    *inside = gess__bounds_in(&e->target.bounds, x, y);
    if (!*inside) return GESS_OK;
    GESS_TRY(gess__target_evaluate(&e->target, 0, 1, y, &value, NULL, scratch, err));
    e->tally.evals++;
    if (value == INFINITY) {
        char point[600];
        gess__target_describe(&e->target, y, point, sizeof point, scratch);
        return gess__fail(err, GESS_ERR_MODEL,
                          "the log density is +infinity at the start of chain %zu, %s; mend the model",
                          (size_t)e->chains.first + chain + 1, point);
    }
    if (isnan(value)) e->tally.nans++;
    *inside = value > -INFINITY;
    e->chains.value[chain] = value;
    return GESS_OK;
}

static int start_by_draws(gess__ensemble *e, double *x, double *scratch, gess_error *err)
{
    size_t dim = e->target.model->dim;
    for (size_t chain = 0; chain < e->chains.count; chain++) {
        int inside = 0;
        for (uint64_t attempt = 0; attempt < MAX_ATTEMPTS && !inside; attempt++) {
            draw_start(e, chain, attempt, x + dim, x);
            GESS_TRY(place(e, chain, x, scratch, &inside, err));
        }
        if (!inside) {
            char point[600];
            for (size_t i = 0, used = 0; i < dim && used < sizeof point; i++)
                used = gess__describe_parameter(e->target.model, i, x[i], point, used, sizeof point);
            return gess__fail(err, GESS_ERR_MODEL,
                              "no starting point inside the support for chain %zu: the log density was -infinity or "
                              "NaN "
                              "at %d random points, the last at %s; give starts with --init FILE",
                              (size_t)e->chains.first + chain + 1, MAX_ATTEMPTS, point);
        }
    }
    return GESS_OK;
}

/* Which column of the file holds each parameter: by name where the header has all of them,
 * otherwise in order. */
static int find_columns(const gess__ensemble *e, const gess__table *table, const char *path, size_t *columns,
                        gess_error *err)
{
    size_t dim = e->target.model->dim, found = 0;
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
                          "--init %s: its header names %zu of the model's %zu parameters; name all of them, or none",
                          path, found, dim);
    if (table->columns != dim)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init %s: %zu columns, but the model has %zu parameters; give one column for each, or a "
                          "header "
                          "with their names",
                          path, table->columns, dim);
    for (size_t i = 0; i < dim; i++) columns[i] = i;
    return GESS_OK;
}

static int start_by_table(gess__ensemble *e, const gess__table *table, const char *path, size_t *columns, double *x,
                          double *scratch, gess_error *err)
{
    size_t first = e->chains.first, dim = e->target.model->dim;
    GESS_TRY(find_columns(e, table, path, columns, err));
    if (table->rows < first + e->chains.count)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--init %s: %zu starting points, but there is a chain %zu; give one row for each chain, or "
                          "--chains %zu",
                          path, table->rows, first + e->chains.count, table->rows);
    for (size_t chain = 0; chain < e->chains.count; chain++) {
        int inside = 0;
        for (size_t i = 0; i < dim; i++) {
            x[i] = table->values[(first + chain) * table->columns + columns[i]];
            if (!isfinite(x[i]))
                return gess__fail(err, GESS_ERR_USAGE, "--init %s: row %zu, column %zu is not a finite number", path,
                                  first + chain + 1, columns[i] + 1);
        }
        GESS_TRY(place(e, chain, x, scratch, &inside, err));
        if (!inside)
            return gess__fail(err, GESS_ERR_USAGE,
                              "--init %s: row %zu is outside the support (beyond a bound, or the log density there is "
                              "-infinity or NaN)",
                              path, first + chain + 1);
    }
    return GESS_OK;
}

static int start_from_file(gess__ensemble *e, const char *path, double *x, double *scratch, gess_error *err)
{
    gess__table table = {0};
    size_t *columns = NULL;
    int status = gess__table_read(&table, path, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&columns, e->target.model->dim, sizeof *columns, "columns", err);
    if (status == GESS_OK) status = start_by_table(e, &table, path, columns, x, scratch, err);
    free(columns);
    gess__table_free(&table);
    return status;
}

int gess__ensemble_start(gess__ensemble *e, const char *init, gess_error *err)
{
    double *x = NULL, *scratch = NULL;
    int status = gess__alloc_bytes(&x, 2 * e->target.model->dim, sizeof *x, "starts", err);
    if (status == GESS_OK)
        status = gess__alloc_bytes(&scratch, gess__target_scratch(&e->target, 1), sizeof *scratch, "starts", err);
    if (status == GESS_OK)
        status = init != NULL ? start_from_file(e, init, x, scratch, err) : start_by_draws(e, x, scratch, err);
    free(x);
    free(scratch);
    return status;
}
