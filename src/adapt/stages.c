/* Warm-up in stages, each a quarter longer than the one before.
 *
 * As long as the draws of a stage differ from those before (the ensemble still travels), the next
 * stage starts a new window and the old draws are forgotten; it is longer by a sixteenth only, since
 * the way is shortest with many fits. Once they are alike the window grows, and with it what the fit rests on. Warm-up
 * ends itself after CALM_STAGES stages in a row in which nothing was left to improve. */
#include "base/clock.h"
#include "base/mem.h"
#include "adapt/laplace.h"

#include <math.h>
#include <string.h>

/* Points that a window holds for its fit, at least four draws of every chain, and no more than MAX_DOUBLES in all, so
 * that memory stays O(chains · dim + dim²) for many dimensions. */
enum { POINTS = 20000, MAX_DOUBLES = 1 << 22, MIN_DRAWS = 4 };

enum { FIRST_STAGE = 5, MIN_STAGES = 4, CALM_STAGES = 2, GROWTH = 4, SLOW_GROWTH = 16 };

int gess__warmup_open(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    size_t dim = e->target.dim, chains = e->chains.count,
           points = POINTS < MAX_DOUBLES / dim ? POINTS : MAX_DOUBLES / dim;
    e->warmup.fixed = options->warmup;
    uint64_t most = options->max_warmup_evals, share = options->max_evals - options->max_evals / 4;
    if (options->draws == GESS_AUTO && most > share) most = share; /* leave some to sample with */
    e->warmup.max_evals = most / options->ensembles;
    e->warmup.moved = 1;
    e->warmup.over = options->warmup == 0;
    if (e->warmup.over) return GESS_OK;
    e->window.room = points / chains > MIN_DRAWS ? points / chains : MIN_DRAWS;
    points = e->window.room * chains;
    GESS_ALLOC(&e->window.values, points, err);
    GESS_ALLOC(&e->window.own, chains, err);
    GESS_ALLOC(&e->window.own_before, chains, err);
    if (!e->schedule->fits_windows) return GESS_OK;
    GESS_ALLOC(&e->window.points, points * dim, err);
    GESS_ALLOC(&e->window.packed, points * dim, err);
    return GESS_OK;
}

uint64_t gess__warmup_min_iterations(const gess__ensemble *e)
{
    if (e->warmup.fixed != GESS_AUTO) return e->warmup.fixed;
    return e->kernel->warmup != NULL ? e->kernel->warmup(e->target.dim) : 0;
}

/* The mean of the log densities of the stage, with a standard error from the means of the chains:
 * they are nearly independent of each other, the draws of a chain are not of each other. */
void gess__window_mean_values(gess__ensemble *e)
{
    const gess__window *w = &e->window;
    size_t chains = e->chains.count, from = (size_t)((w->stage - w->start) / w->stride);
    double sum = 0.0, squares = 0.0, draws = (double)(w->draws - from);
    for (size_t c = 0; c < chains; c++) {
        double own = 0.0;
        for (size_t i = from; i < w->draws; i++) own += w->values[i * chains + c];
        own /= draws;
        e->window.own[c] = own;
        sum += own;
        squares += own * own;
    }
    e->warmup.mean_value = sum / (double)chains;
    double variance = squares / (double)chains - e->warmup.mean_value * e->warmup.mean_value;
    e->warmup.mean_error = sqrt(fmax(variance, 0.0) / (double)chains);
}

/* Whether most chains are at higher log densities than in the stage before, or most at lower ones. Means over chains do
 * not show it where a few that are far out have log densities of any size. */
static int all_drift(const gess__ensemble *e)
{
    const double least = 0.25;
    size_t chains = e->chains.count;
    double up = 0.0, down = 0.0;
    for (size_t c = 0; c < chains; c++) {
        up += e->window.own[c] > e->window.own_before[c];
        down += e->window.own[c] < e->window.own_before[c];
    }
    double count = up + down, lead = fabs(up - down) / 2.0;
    return lead > least * count && lead > 1.5 * sqrt(count);
}

/* Keeps every second draw of the window. */
static void thin_window(gess__ensemble *e)
{
    gess__window *w = &e->window;
    size_t chains = e->chains.count, row = chains * e->target.dim;
    w->stride *= 2;
    w->draws /= 2;
    for (size_t i = 0; i < w->draws; i++) {
        if (w->points != NULL) memcpy(w->points + i * row, w->points + (2 * i + 1) * row, row * sizeof *w->points);
        memcpy(w->values + i * chains, w->values + (2 * i + 1) * chains, chains * sizeof *w->values);
    }
}

/* Iterations of the next stage: a quarter (a sixteenth) more than the last, cut to what is left. */
static uint64_t plan_stage(const gess__ensemble *e)
{
    const gess__warmup *u = &e->warmup;
    uint64_t first = 4 * e->target.dim / e->chains.count, length = e->window.length;
    uint64_t part = u->moved ? SLOW_GROWTH : GROWTH;
    length = u->stages > 0 ? length + (length + part - 1) / part : first > FIRST_STAGE ? first : FIRST_STAGE;
    if (u->fixed != GESS_AUTO) {
        uint64_t left = u->fixed - gess__ensemble_done(e);
        return length + length / 2 > left ? left : length; /* no scrap of a stage at the end */
    }
    if (u->stages == 0) return length;
    uint64_t left = u->max_evals > e->tally.evals ? u->max_evals - e->tally.evals : 0;
    /* the share of independence moves may have changed since `each` was measured */
    double each = u->cost > 0.0 ? (e->globals + u->cost) / e->period : u->each;
    double most = (double)left / (each * (double)e->chains.count);
    return (double)length <= most ? length : most >= 1.0 ? (uint64_t)most : 1;
}

static void begin_stage(gess__ensemble *e)
{
    gess__window *w = &e->window;
    gess__warmup *u = &e->warmup;
    u->open = 1;
    u->value_before = u->mean_value;
    u->error_before = u->mean_error;
    memcpy(w->own_before, w->own, e->chains.count * sizeof *w->own);
    u->before = e->tally;
    w->length = plan_stage(e);
    w->stage = gess__ensemble_done(e);
    if (e->warmup.moved) {
        w->start = w->stage;
        w->stride = 1;
        w->draws = 0;
    }
    while ((w->stage + w->length - w->start) / w->stride > w->room) thin_window(e);
}

/* A density that is the same everywhere it was looked at, with chains that run ever further away, does
 * not fall off: it cannot be sampled. One that is flat inside a region can, if the region is not a
 * million times as wide as the starts. */
static int check_not_flat(gess__ensemble *e, gess_error *err)
{
    const gess__window *w = &e->window;
    size_t from = (size_t)((w->stage - w->start) / w->stride) * e->chains.count, to = w->draws * e->chains.count;
    double furthest = 0.0;
    for (size_t i = 0; i < e->chains.count * e->target.dim; i++) furthest = fmax(furthest, fabs(e->chains.x[i]));
    if (e->warmup.stages == 0) e->warmup.reach = furthest;
    if (!(furthest > 1e6 * e->warmup.reach)) return GESS_OK;
    for (size_t i = from + 1; i < to; i++)
        if (w->values[i] != w->values[from]) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL,
                      "the log density is %g at every point, and the chains run away (%g so far): it is flat and "
                      "improper; "
                      "check the model, or give its parameters bounds",
                      w->values[from], furthest);
}

/* What is counted from the end of warm-up on. */
static void count_anew(gess__ensemble *e)
{
    memset(e->tally.angles, 0, sizeof e->tally.angles);
    memset(e->tally.by_evals, 0, sizeof e->tally.by_evals);
    e->tally.globals = e->tally.accepted = e->tally.axes = e->tally.coordinate_evals = 0;
    e->tally.tried = e->tally.taken = e->tally.divergent = e->tally.swaps = e->tally.swapped = 0;
    memset(e->chains.deltas, 0, e->chains.count * sizeof *e->chains.deltas);
    memset(e->chains.log_ts, 0, e->chains.count * sizeof *e->chains.log_ts);
}

int gess__warmup_stage(gess__ensemble *e, const gess__record *record, gess_error *err)
{
    gess__warmup *u = &e->warmup;
    gess__window *w = &e->window;
    if (!u->open) begin_stage(e);
    GESS_TRY(gess__ensemble_advance(e, w->stage + w->length, record, err));
    GESS_TRY(gess__laplace_search(e, record, err));
    w->draws = (size_t)((w->stage + w->length - w->start) / w->stride);
    u->each = (double)(e->tally.evals - u->before.evals) / (double)(e->tally.updates - u->before.updates);
    uint64_t moves = e->tally.globals - u->before.globals;
    u->accepted = moves > 0 ? (double)(e->tally.accepted - u->before.accepted) / (double)moves : 0.0;
    u->open = 0;
    gess__window_mean_values(e);
    GESS_TRY(check_not_flat(e, err));
    /* chains that still climb or fall have not arrived, whatever a fit says */
    u->moved = u->stages == 0 || !(fabs(u->mean_value - u->value_before) < 3.0 * hypot(u->mean_error, u->error_before));
    u->moved = u->moved || all_drift(e);
    double before = gess__seconds();
    int more = e->schedule->look(e);
    e->seconds_learning += gess__seconds() - before;
    u->stages++;
    u->calm = more || u->moved || u->stages < MIN_STAGES ? 0 : u->calm + 1;
    u->iterations = gess__ensemble_done(e);
    if (u->fixed != GESS_AUTO) {
        u->over = u->iterations >= u->fixed;
    } else {
        u->settled = u->calm >= CALM_STAGES;
        u->over = u->settled || e->tally.evals + e->tally.evals / 50 >= u->max_evals;
    }
    if (u->over) count_anew(e);
    return GESS_OK;
}
