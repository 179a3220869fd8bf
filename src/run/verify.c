/* Evaluates the states of the chains once more and compares the log densities with the stored ones.
 *
 * A chain is evaluated alone first. If its bits differ, its block is evaluated in one call: a density that depends on
 * its batch gave the stored value in some batch. A slow density is asked for as many chains as BUDGET_SECONDS allow,
 * with one chain per thread at least. These evaluations are not counted in `evals`: they make no draw. */
#include "run/verify.h"

#include "base/clock.h"
#include "base/format.h"
#include "base/vmath.h"
#include "run/run.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define BUDGET_SECONDS 3.0
#define BUDGET_SHARE 0.05 /* of --max-time */

#define CARRIED_ROUNDING 1e-12

typedef struct verification {
    gess__ensemble *e;
    gess__target target; /* that of the ensemble, for calls of the density that are not answered from a journal */
    double deadline;
    double rounding; /* relative differences up to this are no change */
    atomic_ullong evals;
    atomic_uint any; /* set once a worker has checked a chain */
    /* under the lock */
    pthread_mutex_t lock;
    double difference; /* the largest that was found, relative; 0: all bits are equal */
    double batch_difference;
} verification;

static double relative(double a, double b)
{
    double d = fabs(a - b) / gess__max(1.0, gess__max(fabs(a), fabs(b)));
    return a == b ? 0.0 : isnan(d) ? INFINITY : gess__max(d, 1e-300);
}

/* Whether two values differ by more than what counts as the same; d: relative(a, b). */
static bool differs(double a, double b, double d)
{
    double nats = d * gess__max(1.0, gess__max(fabs(a), fabs(b)));
    return d > GESS__SAME_DENSITY || (nats > GESS__SAME_NATS && d > GESS__SAME_ROUNDING);
}

/* Evaluates chains first .. first + n - 1 in one call of a worker; the values are in its u->values. */
static int evaluate(verification *v, unsigned worker, size_t first, size_t n, gess_error *err)
{
    gess__update *u = &v->e->updates[worker];
    const gess__chains *c = &v->e->chains;
    gess__calls_ask(&v->target.calls, worker, NULL, c->first + first + 1);
    int status =
        gess__target_evaluate(&v->target, worker, n, c->x + first * c->dim, u->values, NULL, u->blobs, u->mapped, err);
    gess__calls_ask(&v->target.calls, worker, NULL, 0);
    atomic_fetch_add(&v->evals, n);
    if (status != GESS_OK && err != NULL && err->chain > 0) err->chain += c->first + first;
    return status;
}

/* The log densities of a chain in the user's scale: `now` as `gess eval` prints it, `stored` from the difference in the
 * sampling space. */
static void in_user_scale(verification *v, unsigned worker, size_t chain, double value, const double *x, double *now,
                          double *stored)
{
    const gess__reference *r = v->target.reference;
    double power = r != NULL ? r->power : 1.0;
    *now = NAN;
    gess__model_logp(v->target.model, worker, 1, x, now);
    *stored = *now + (v->e->chains.value[chain] - value) / power;
    if (!isfinite(*now)) *stored = v->e->chains.value[chain] / power;
}

enum { NOT_A_FUNCTION, BATCH, CHANGED };

static int refuse(verification *v, unsigned worker, size_t chain, double value, int what, gess_error *err)
{
    char point[400];
    double *scratch = v->e->updates[worker].mapped, now, stored;
    const double *w = v->e->chains.x + chain * v->e->chains.dim;
    size_t number = (size_t)v->e->chains.first + chain + 1;
    gess_error at = {0};
    gess__target_describe(&v->target, w, point, sizeof point, scratch);
    gess__target_add_point(&v->target, w, number, scratch, &at);
    if (at.dim <= sizeof at.point / sizeof *at.point)
        in_user_scale(v, worker, chain, value, at.point, &now, &stored);
    else { /* the point does not fit: the values of the sampling space */
        now = value;
        stored = v->e->chains.value[chain];
    }
    static const char *const texts[] =
        {"the density is not a function of its point: chain %zu starts at %s, where the log density was %.17g and is "
         "%.17g when it is evaluated again. A density must give the same value for the same point whenever and on "
         "whatever thread it is called: look for random numbers, counters and memory that is shared or not "
         "initialised",
         "the log density depends on the other points of the call: chain %zu starts at %s, where it is %.17g alone and "
         "%.17g together with the starts of other chains; look for memory that is shared by the points of a call, or "
         "for a wrong stride",
         "the density has changed since this run was stopped: chain %zu is at %s, where the log density was %.17g and "
         "is "
         "%.17g now. Restore the model and its data to resume, or start another run"};
    int status = gess__fail(err, GESS_ERR_MODEL, texts[what], number, point, stored, now);
    if (err != NULL) {
        err->chain = number;
        err->dim = at.dim;
        memcpy(err->point, at.point, sizeof err->point);
    }
    return status;
}

static void note(verification *v, double *largest, double difference)
{
    pthread_mutex_lock(&v->lock);
    if (difference > *largest) *largest = difference;
    pthread_mutex_unlock(&v->lock);
}

/* Whether the time is over; not before this worker's first chain. */
static int too_late(verification *v, unsigned worker)
{
    unsigned bit = 1u << worker % 32, before = atomic_fetch_or(&v->any, bit);
    return (before & bit) && gess__seconds() > v->deadline;
}

/* A start: the same value once more. */
static int check_start(void *data, unsigned worker, size_t chain, gess_error *err)
{
    verification *v = data;
    if (too_late(v, worker)) return GESS_OK;
    GESS_TRY(evaluate(v, worker, chain, 1, err));
    double value = v->e->updates[worker].values[0], d = relative(value, v->e->chains.value[chain]);
    if (differs(value, v->e->chains.value[chain], d)) return refuse(v, worker, chain, value, NOT_A_FUNCTION, err);
    note(v, &v->difference, d);
    return GESS_OK;
}

/* The starts of a block in one call. */
static int check_batch(void *data, unsigned worker, size_t block, gess_error *err)
{
    verification *v = data;
    size_t first = block * v->e->block, left = v->e->chains.count - first, n = left < v->e->block ? left : v->e->block;
    const double *values = v->e->updates[worker].values;
    if (gess__seconds() > v->deadline) return GESS_OK;
    GESS_TRY(evaluate(v, worker, first, n, err));
    for (size_t i = 0; i < n; i++) {
        double d = relative(values[i], v->e->chains.value[first + i]);
        if (differs(values[i], v->e->chains.value[first + i], d))
            return refuse(v, worker, first + i, values[i], BATCH, err);
        note(v, &v->batch_difference, d);
    }
    return GESS_OK;
}

/* A saved state: alone, and in its block if a bit differs. */
static int check_state(void *data, unsigned worker, size_t chain, gess_error *err)
{
    verification *v = data;
    if (too_late(v, worker)) return GESS_OK;
    GESS_TRY(evaluate(v, worker, chain, 1, err));
    double value = v->e->updates[worker].values[0], d = relative(value, v->e->chains.value[chain]);
    if (d <= v->rounding) return GESS_OK;
    if (differs(value, v->e->chains.value[chain], d)) return refuse(v, worker, chain, value, CHANGED, err);
    size_t first = chain / v->e->block * v->e->block, left = v->e->chains.count - first;
    GESS_TRY(evaluate(v, worker, first, left < v->e->block ? left : v->e->block, err));
    if (relative(v->e->updates[worker].values[chain - first], v->e->chains.value[chain]) == 0.0) return GESS_OK;
    note(v, &v->difference, d);
    return GESS_OK;
}

/* Whether stored values were carried over by arithmetic, from one learned map or power of annealing to the next, so
 * that their last bits are not those of an evaluation. */
static int carried_over(const gess__sampler *s)
{
    const gess__exploration *x = gess__sampler_exploration(s);
    return s->ensemble.rebind || (x != NULL && x->annealing != NULL && x->annealing->state.under_way);
}

static double deadline(const gess_run *run)
{
    double seconds = BUDGET_SECONDS, limit = run->options.max_time;
    if (limit > 0.0 && BUDGET_SHARE * limit < seconds) seconds = BUDGET_SHARE * limit;
    return gess__seconds() + seconds;
}

static void begin(verification *v, gess__ensemble *e, double until)
{
    *v = (verification){.e = e, .target = e->target, .deadline = until};
    v->target.calls.journal = NULL;
    pthread_mutex_init(&v->lock, NULL);
}

static int check_starts(gess_run *run, verification *v, gess_error *err)
{
    size_t chains = v->e->chains.count, blocks = (chains + v->e->block - 1) / v->e->block;
    double started = gess__seconds();
    GESS_TRY(gess__team_run(run->team, chains, check_start, v, err));
    /* a call takes as long as its points do alone, if they are slow */
    double share = (gess__seconds() - started) / (double)chains * gess__team_size(run->team) * (double)v->e->block;
    if (v->e->block < 2 || gess__seconds() + share > v->deadline) return GESS_OK;
    return gess__team_run(run->team, blocks, check_batch, v, err);
}

int gess__verify_starts(gess_run *run, gess_error *err)
{
    double until = deadline(run), again = 0.0, batch = 0.0;
    for (size_t i = 0; i < run->ensembles; i++) {
        verification v;
        begin(&v, run->ensemble[i], until);
        int status = check_starts(run, &v, err);
        pthread_mutex_destroy(&v.lock);
        run->stats.evals_checked += atomic_load(&v.evals);
        GESS_TRY(status);
        again = gess__max(again, v.difference);
        batch = gess__max(batch, v.batch_difference);
    }
    if (again > 0.0)
        gess__format(run->warning, sizeof run->warning,
                     "the density gave other bits when its starts were evaluated again (relative difference %.1e): "
                     "this run cannot be repeated bit for bit",
                     again);
    else if (batch > 0.0)
        gess__format(run->warning, sizeof run->warning,
                     "the density depends on the batch of points that it gets (relative difference %.1e): draws are "
                     "the same bit for bit only at a fixed --block and with --speculate off",
                     batch);
    return GESS_OK;
}

int gess__verify_states(gess_run *run, int *changed, double *difference, gess_error *err)
{
    double until = deadline(run);
    *difference = 0.0;
    for (size_t i = 0; i < run->ensembles; i++) {
        verification v;
        begin(&v, run->ensemble[i], until);
        if (carried_over(run->sampler[i])) v.rounding = CARRIED_ROUNDING;
        int status = gess__team_run(run->team, v.e->chains.count, check_state, &v, err);
        pthread_mutex_destroy(&v.lock);
        run->stats.evals_checked += atomic_load(&v.evals);
        GESS_TRY(status);
        *difference = gess__max(*difference, v.difference);
    }
    *changed = *difference > 0.0;
    if (*changed)
        gess__format(run->warning, sizeof run->warning,
                     "the density gives other bits than when this run was stopped (relative difference %.1e): its "
                     "further draws are valid, but not those of an uninterrupted run bit for bit; config.json records "
                     "this",
                     *difference);
    return GESS_OK;
}
