/* Runs a task: updates a block of chains for some iterations, stores the draws that are kept and, in warm-up, the
 * points of the window. */
#include "execute/task.h"

#include "base/assert.h"

#include <string.h>

uint64_t gess__task_kept(const gess__task *t)
{
    const gess__record record = {.from = t->from, .thin = t->thin};
    return gess__record_kept(&record, t->start, t->iterations);
}

uint64_t gess__task_points(const gess__task *t)
{
    if (t->window_stride == 0) return 0;
    uint64_t before = t->start - t->window_start;
    return (before + t->iterations) / t->window_stride - before / t->window_stride;
}

static int record_block(const gess__ensemble *e, const gess__task *t, const gess__update *u, uint64_t draw,
                        gess_error *err)
{
    if (t->keep == 0) return GESS_OK;
    const gess__chains *c = t->chains;
    return gess__target_draws(&e->target, u->worker, t->keep, c->x + t->first * c->dim, c->value + t->first,
                              c->blobs != NULL ? c->blobs + t->first * c->blob_count : NULL,
                              t->rows + draw * e->target.columns, t->row_stride, u->mapped, err);
}

static void collect_block(const gess__task *t, const gess__update *u)
{
    uint64_t past = u->iteration - t->window_start + 1;
    size_t dim = t->chains->dim;
    if (past % t->window_stride != 0) return;
    size_t at = ((size_t)(past / t->window_stride - 1) - t->skip) * t->point_stride;
    if (t->points != NULL)
        memcpy(t->points + at * dim, t->chains->x + u->first * dim, u->count * dim * sizeof *t->points);
    memcpy(t->values + at, t->chains->value + u->first, u->count * sizeof *t->values);
}

static int task_is_possible(const gess__ensemble *e, unsigned worker, const gess__task *t)
{
    return worker < gess__team_size(e->team) && t->count > 0 && t->count <= e->block && t->keep <= t->count &&
           t->iterations > 0 && t->chains->dim == e->target.dim && t->chains->blob_count == e->target.model->blobs &&
           (t->window_stride == 0 || t->values != NULL) && (t->keep == 0 || gess__task_kept(t) == 0 || t->rows != NULL);
}

int gess__task_run(gess__ensemble *e, const gess__stretch *with, unsigned worker, const gess__task *t, gess_error *err)
{
    GESS_ASSERT(task_is_possible(e, worker, t));
    gess__update *u = &e->updates[worker];
    const gess__record record = {.from = t->from, .thin = t->thin};
    uint64_t kept = gess__task_kept(t), draw = 0;
    u->approx = with->approx;
    u->mixture = with->mixture;
    u->moves = with->moves;
    u->measure = 1;
    u->chains = t->chains;
    u->phase = t->phase;
    u->warmup = t->warmup;
    u->seed = e->seed;
    u->worker = worker;
    u->first = t->first;
    u->count = t->count;
    for (uint64_t i = t->start; i < t->start + t->iterations; i++) {
        if (t->cancelled != NULL && atomic_load(t->cancelled)) break;
        u->iteration = i;
        u->rebind = t->rebind && i == t->start;
        GESS_TRY(gess__update_block(e->kernel, u, err));
        if (t->window_stride > 0) collect_block(t, u);
        if (kept > 0 && gess__record_kept(&record, i, 1) > 0) GESS_TRY(record_block(e, t, u, draw++, err));
    }
    return GESS_OK;
}
