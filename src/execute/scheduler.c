/* Runs a stretch: every thread of the team claims blocks (claims.c), runs their tasks (task.c), delivers finished
 * segments (segments.c), or evaluates predicted points if there is no block. Then it adds up the tallies. */
#include "execute/scheduler.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "execute/scheduler_state.h"
#include "parallel/condition.h"

#include <math.h>
#include <stdlib.h>

/* Doubles of draws per held segment: 1 MiB, or one draw of every chain if that is more. */
enum { HELD_DOUBLES = 1 << 17 };

int gess__scheduler_new(gess__scheduler **scheduler, const gess__ensemble *e, gess_error *err)
{
    size_t row = e->chains.count * e->target.columns;
    GESS_ALLOC(scheduler, 1, err);
    gess__scheduler *s = *scheduler;
    pthread_mutex_init(&s->lock, NULL);
    gess__condition_init(&s->changed);
    s->capacity = row > HELD_DOUBLES ? row : HELD_DOUBLES;
    s->max_length = s->capacity / row;
    GESS_ALLOC(&s->rows, GESS__MIN_HELD_SEGMENTS * s->capacity, err);
    GESS_ALLOC(&s->remaining, GESS__MAX_HELD_SEGMENTS, err);
    return gess__scheduler_share(s, e, gess__team_size(e->team), err);
}

int gess__scheduler_share(gess__scheduler *s, const gess__ensemble *e, unsigned workers, gess_error *err)
{
    free(s->state);
    gess__speculation_free(s->speculation);
    s->state = NULL;
    s->speculation = NULL;
    GESS_ALLOC(&s->state, (e->chains.count + e->block - 1) / e->block, err);
    if (workers == 1) return GESS_OK;
    return gess__scheduler_make_speculation(&s->speculation, e, workers, &s->lock, &s->changed, err);
}

void gess__scheduler_free(gess__scheduler *s)
{
    if (s == NULL) return;
    gess__speculation_free(s->speculation);
    free(s->rows);
    free(s->remaining);
    free(s->state);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- workers; all of the following hold the lock ---- */

/* Evaluates a predicted point. Returns 0 if there is none; *gone: the worker came back too late. The thread that called
 * gess__team_run() cannot leave the team, so it begins nothing shortly before the end. */
static int speculate(gess__scheduler *s, unsigned worker, int *gone)
{
    gess__predicted_point taken;
    gess__ensemble *e = s->ensemble;
    gess__update *u = &e->updates[worker];
    if (!gess__speculates(s)) return 0;
    if (worker == 0 && s->delivered + 2 >= s->segments) {
        if (s->idle > 0) pthread_cond_signal(&s->changed); /* it may have been woken in place of another */
        return 0;
    }
    u->worker = worker;
    if (!gess__speculation_take(s->speculation, worker, u->points, &taken)) return 0;
    if (worker > 0) gess__team_leave(e->team, worker);
    s->free--;
    pthread_mutex_unlock(&s->lock);
    double value = NAN;
    int status = gess__target_evaluate(u->target, worker, 1, u->points, &value, NULL, u->blobs, u->mapped, NULL);
    pthread_mutex_lock(&s->lock);
    gess__speculation_give(s->speculation, &taken, status, value, u->blobs);
    *gone = worker > 0 && !gess__team_rejoin(e->team, worker);
    if (!*gone) s->free++;
    return 1;
}

/* Runs the task of a claim, without the lock meanwhile. */
static void run_claim(gess__scheduler *s, unsigned worker, const gess__claim *claim)
{
    gess__update *u = &s->ensemble->updates[worker];
    gess__outcome o = {0};
    size_t depth = gess__predict_depth(s);
    s->free--;
    pthread_mutex_unlock(&s->lock);
    uint64_t evals = u->tally.evals, updates = u->tally.updates;
    double before = gess__seconds();
    gess__speculation_begin(s->speculation, u, worker, depth);
    o.status = gess__task_run(s->ensemble, s->stretch, worker, &claim->task, &o.error);
    o.seconds = gess__seconds() - before;
    gess__speculation_end(u); /* after an error */
    pthread_mutex_lock(&s->lock);
    s->free++;
    double seconds = o.seconds / (double)claim->task.iterations;
    s->sec_per_iteration = gess__smooth(s->sec_per_iteration, 0.1, seconds);
    if (!u->measure) s->sec_per_eval = gess__smooth(s->sec_per_eval, 0.1, u->sec_per_eval);
    o.tally.evals = u->tally.evals - evals;
    o.tally.updates = u->tally.updates - updates;
    gess__claim_finish(s, claim, &o);
}

/* Waits until something changes; if other ranks run tasks, for a moment at most, since they may be late. */
static void wait_for_change(gess__scheduler *s)
{
    if (s->ensemble->remote == NULL)
        pthread_cond_wait(&s->changed, &s->lock);
    else
        gess__condition_wait(&s->changed, &s->lock, 0.002);
}

/* One worker's part of a stretch. A block that becomes idle needs no broadcast: the worker that ran it claims the next
 * at once. */
static int work(void *data, unsigned worker, size_t item, gess_error *err)
{
    gess__scheduler *s = data;
    int gone = 0;
    (void)item;
    (void)err;
    pthread_mutex_lock(&s->lock);
    s->free += worker > 0;
    while (!gone && s->status == GESS_OK && s->delivered < s->segments) {
        gess__claim claim;
        gess__segments_deliver(s);
        if (gess__claim_block(s, 0, s->sec_per_iteration, 0, &claim)) {
            run_claim(s, worker, &claim);
        } else if (s->status == GESS_OK && s->delivered < s->segments && !speculate(s, worker, &gone)) {
            s->idle++;
            wait_for_change(s);
            s->idle--;
        }
    }
    if (!gone) {
        s->free -= worker > 0;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return GESS_OK;
}

/* ---- stretches ---- */

/* Refuses chains further out than any proper density takes them: in some direction this one does not fall off. */
static int check_proper(const gess__ensemble *e, gess_error *err)
{
    const double furthest = 1e100;
    size_t dim = e->target.dim;
    for (size_t i = 0; i < e->chains.count * dim; i++) {
        if (fabs(e->chains.x[i]) < furthest) continue;
        char point[600];
        gess__target_describe(&e->target, e->chains.x + i / dim * dim, point, sizeof point, e->updates[0].mapped);
        return gess__fail(err, GESS_ERR_MODEL,
                          "chain %zu has run away, to %s: the density is improper, it does not fall off in every "
                          "direction; check the model's priors, or give its parameters bounds",
                          (size_t)e->chains.first + i / dim + 1, point);
    }
    return GESS_OK;
}

/* Adds up what workers here and on other ranks counted. */
static void gather_tallies(gess__ensemble *e)
{
    gess__tally_add(&e->tally, &e->scheduler->remote_tally);
    for (unsigned worker = 0; worker < gess__team_size(e->team); worker++) {
        gess__update *u = &e->updates[worker];
        gess__tally_add(&e->tally, &u->tally);
        u->tally = (gess__tally){0};
        gess__nans_merge(&e->nans, e->target.dim, &u->nans);
        u->nans.count = 0;
    }
}

static int run_on_threads(gess__ensemble *e, gess__stretch *stretch, const gess__record *record, gess_error *err)
{
    gess__scheduler *s = e->scheduler;
    pthread_mutex_lock(&s->lock); /* a worker may still be away */
    gess__segments_plan(s, e, stretch, record);
    size_t workers = gess__team_size(e->team);
    int known = s->speculation == NULL || s->sec_per_eval > 0.0;
    if (workers > s->blocks && known && !gess__speculates(s)) workers = s->blocks;
    pthread_mutex_unlock(&s->lock);
    if (e->remote != NULL) GESS_TRY(e->remote->begin(e->remote, s, err));
    int status = gess__team_run(e->team, workers, work, s, err);
    if (e->remote != NULL) e->remote->end(e->remote);
    GESS_TRY(status);
    gather_tallies(e);
    if (s->status != GESS_OK) {
        if (err != NULL) *err = s->error;
        return s->status;
    }
    stretch->iterations = gess__segment_start(s, s->segments) - stretch->start;
    return GESS_OK;
}

int gess__ensemble_run(gess__ensemble *e, gess__stretch *stretch, const gess__record *record, gess_error *err)
{
    gess__accelerator *a = e->accelerator;
    GESS_ASSERT(stretch->count > 0 && stretch->first + stretch->count <= e->chains.count);
    GESS_ASSERT(stretch->iterations > 0 && stretch->approx != NULL);
    if (a != NULL && a->takes(a, e, stretch))
        GESS_TRY(a->run(a, e, stretch, record, err));
    else
        GESS_TRY(run_on_threads(e, stretch, record, err));
    return check_proper(e, err);
}

int gess__ensemble_untimed(const gess__ensemble *e)
{
    return e->accelerator == NULL && e->scheduler->sec_per_iteration == 0.0;
}
