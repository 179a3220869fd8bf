/* Evaluates points on the team of threads, in blocks, and tells the sink of their number. */
#include "explore/evaluate.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

typedef struct job {
    gess__ensemble *ensemble;
    const gess__record *record;
    size_t n;
    const double *points;
    double *values;
} job;

static int evaluate_block(void *data, unsigned worker, size_t item, gess_error *err)
{
    const job *j = data;
    gess__ensemble *e = j->ensemble;
    size_t dim = e->target.dim, first = item * e->block, n = j->n - first < e->block ? j->n - first : e->block;
    double *values = j->values + first;
    gess__update *u = &e->updates[worker];
    atomic_int *quit = gess__record_quit(j->record);
    if (quit != NULL && atomic_load(quit)) return gess__fail(err, GESS_ERR_STOPPED, "stopped");
    memcpy(u->points, j->points + first * dim, n * dim * sizeof *u->points);
    int status = gess__target_evaluate(&e->target, worker, n, u->points, values, NULL, NULL, u->mapped, NULL);
    if (status != GESS_OK) GESS_TRY(gess__target_lost(&e->target, worker, err));
    for (size_t i = 0; status == GESS_ERR_MODEL && i < n; i++) {
        if (gess__target_evaluate(&e->target, worker, 1, u->points + i * dim, values + i, NULL, NULL, u->mapped,
                                  NULL) == GESS_OK)
            continue;
        GESS_TRY(gess__target_lost(&e->target, worker, err));
        values[i] = -INFINITY;
    }
    if (status != GESS_OK && status != GESS_ERR_MODEL) return gess__fail(err, status, "the density failed");
    for (size_t i = 0; i < n; i++)
        if (!(values[i] < INFINITY)) values[i] = -INFINITY;
    return GESS_OK;
}

int gess__evaluate_points(gess__ensemble *e, const gess__record *record, size_t n, const double *points, double *values,
                          gess_error *err)
{
    GESS_ASSERT(n > 0 && points != NULL && values != NULL);
    job j = {.ensemble = e, .record = record, .n = n, .points = points, .values = values};
    GESS_TRY(gess__team_run(e->team, (n + e->block - 1) / e->block, evaluate_block, &j, err));
    e->tally.evals += n;
    gess__segment segment = {.count = e->kept, .iterations = gess__ensemble_done(e)};
    return record->sink != NULL ? record->sink(record->user, &segment, err) : GESS_OK;
}
