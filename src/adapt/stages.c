/* Decides when warm-up ends: runs one stage, measures its draws, asks the schedule whether there is still something to
 * learn, and counts calm stages. schedule/sampler.c calls it until warm-up is over. */
#include "adapt/stages.h"

#include "base/assert.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { FIRST_STAGE = 5, MIN_STAGES = 4, MIN_TRIAL_STAGES = 3, CALM_STAGES = 2, GROWTH = 4, SLOW_GROWTH = 16 };

int gess__adaptation_open(gess__adaptation *a, gess__ensemble *e, const gess_options *options, int fits_points,
                          gess_error *err)
{
    GESS_ASSERT(e->chains.count > 0 && options->ensembles > 0);
    gess__warmup *u = &a->warmup;
    uint64_t max = options->max_warmup_evals, share = options->max_evals - options->max_evals / 4;
    if (options->draws == GESS_AUTO && max > share) max = share; /* leave some to sample with */
    a->ensemble = e;
    u->fixed = options->warmup;
    u->max_evals = max / options->ensembles;
    u->moved = 1;
    u->over = options->warmup == 0;
    gess__economy_open(&u->economy, options);
    if (u->over) return GESS_OK;
    return gess__window_new(&a->window, e->chains.count, e->target.dim, fits_points, err);
}

void gess__adaptation_free(gess__adaptation *a)
{
    gess__window_free(&a->window);
}

uint64_t gess__warmup_min_iterations(const gess__adaptation *a)
{
    const gess__kernel *kernel = a->ensemble->kernel;
    if (a->warmup.fixed != GESS_AUTO) return a->warmup.fixed;
    return kernel->warmup != NULL ? kernel->warmup(a->ensemble->target.dim) : 0;
}

void gess__warmup_measure(gess__adaptation *a)
{
    gess__window_mean_values(&a->window, &a->warmup.mean_value, &a->warmup.mean_error);
}

/* Whether most chains are at higher log densities than in the stage before, or most at lower ones. Means over chains
 * do not show it if a few chains are so far out that their log densities can be of any size. */
static int most_drift(const gess__window *w)
{
    const double min_lead = 0.25;
    double up = 0.0, down = 0.0;
    for (size_t c = 0; c < w->chains; c++) {
        up += w->chain_mean[c] > w->chain_mean_before[c];
        down += w->chain_mean[c] < w->chain_mean_before[c];
    }
    double count = up + down, lead = fabs(up - down) / 2.0;
    return lead > min_lead * count && lead > 1.5 * sqrt(count);
}

static double evals_per_update(const gess__warmup *u)
{
    return u->expected_evals_per_update > 0.0 ? u->expected_evals_per_update : u->evals_per_update;
}

/* Iterations of the next stage: a quarter, or a sixteenth, more than the last, cut to what is left. */
static uint64_t plan_stage(const gess__adaptation *a)
{
    const gess__warmup *u = &a->warmup;
    const gess__ensemble *e = a->ensemble;
    uint64_t first = 4 * e->target.dim / e->chains.count, length = u->length;
    uint64_t part = u->moved ? SLOW_GROWTH : GROWTH;
    length = u->stages > 0 ? length + (length + part - 1) / part : first > FIRST_STAGE ? first : FIRST_STAGE;
    if (u->economy.trial) length = gess__trial_length(&u->economy, &a->window, evals_per_update(u));
    if (u->fixed != GESS_AUTO) {
        uint64_t left = u->fixed - gess__ensemble_done(e);
        return length + length / 2 > left ? left : length; /* leave no scrap of a stage to the end */
    }
    if (u->stages == 0) return length;
    uint64_t left = u->max_evals > e->tally.evals ? u->max_evals - e->tally.evals : 0;
    double max = (double)left / (evals_per_update(u) * (double)e->chains.count);
    return (double)length <= max ? length : max >= 1.0 ? (uint64_t)max : 1;
}

static void begin_stage(gess__adaptation *a)
{
    gess__warmup *u = &a->warmup;
    u->open = 1;
    u->value_before = u->mean_value;
    u->error_before = u->mean_error;
    /* the second stage begins with the first T, far out; what follows is compared with where it came to */
    if (u->moved && u->stages == 2) gess__window_late_values(&a->window, &u->value_before, &u->error_before);
    u->before = a->ensemble->tally;
    a->window.length = plan_stage(a);
    a->window.stage = gess__ensemble_done(a->ensemble);
    gess__window_begin_stage(&a->window, u->moved);
}

/* Whether the newest stage has one log density at all its points. */
static int flat(const gess__window *w)
{
    size_t from = gess__window_older(w) * w->chains, to = gess__window_points(w);
    for (size_t i = from + 1; i < to; i++)
        if (w->values[i] != w->values[from]) return 0;
    return 1;
}

static double furthest_of(const double *x, size_t n)
{
    double furthest = 0.0;
    for (size_t i = 0; i < n; i++) furthest = gess__max(furthest, fabs(x[i]));
    return furthest;
}

/* Whether chains are further out in the second half of the newest stage than in the first. A window without points
 * cannot tell. */
static int still_spreading(const gess__window *w)
{
    if (w->points == NULL) return 1;
    size_t from = gess__window_older(w) * w->chains * w->dim, to = gess__window_points(w) * w->dim;
    size_t half = (to - from) / 2;
    return furthest_of(w->points + from + half, to - from - half) > 1.1 * furthest_of(w->points + from, half);
}

/* Refuses a density that is the same wherever it was evaluated while chains run ever further away: it does not fall
 * off, so it cannot be sampled. A density that is flat inside a region can be, unless the region is a million times as
 * wide as the starts. */
static int check_not_flat(gess__adaptation *a, gess_error *err)
{
    const gess__window *w = &a->window;
    const gess__chains *c = &a->ensemble->chains;
    double furthest = furthest_of(c->x, c->count * c->dim);
    if (a->warmup.stages == 0) a->warmup.reach = furthest;
    if (!(furthest > 1e6 * a->warmup.reach)) return GESS_OK;
    if (!flat(w)) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL,
                      "the log density is %g at every point, and the chains run away (%g so far): it is flat and "
                      "improper; check the model, or give its parameters bounds",
                      w->values[gess__window_older(w) * w->chains], furthest);
}

void gess__warmup_end_early(gess__adaptation *a)
{
    a->end_early = !a->warmup.over;
}

/* Cuts the stage under way to the iterations that the chains have had, but leaves the window a draw of it. */
static void cut_stage(gess__adaptation *a)
{
    gess__window *w = &a->window;
    uint64_t done = gess__ensemble_done(a->ensemble) - w->stage;
    uint64_t first_draw = w->start + w->stride * (gess__window_older(w) + 1) - w->stage;
    uint64_t length = done > first_draw ? done : first_draw;
    if (length < w->length) w->length = length;
}

/* Restarts what is counted from the end of warm-up on. */
static void end_warmup(gess__ensemble *e)
{
    gess__tally_end_warmup(&e->tally);
    memset(e->chains.deltas, 0, e->chains.count * sizeof *e->chains.deltas);
    memset(e->chains.log_ts, 0, e->chains.count * sizeof *e->chains.log_ts);
}

void gess__warmup_measure_moves(gess__adaptation *a)
{
    gess__warmup *u = &a->warmup;
    const gess__tally *now = &a->ensemble->tally, *before = &u->before;
    u->evals_per_update = (double)(now->evals - before->evals) / (double)(now->updates - before->updates);
    uint64_t moves = now->independence - before->independence;
    u->accepted =
        moves > 0 ? (double)(now->independence_accepted - before->independence_accepted) / (double)moves : 0.0;
}

/* Whether log densities still rise or fall: then the chains have not converged, however good the fit is. If they are
 * all equal, positions tell. */
static int still_moving(const gess__adaptation *a)
{
    const gess__warmup *u = &a->warmup;
    if (u->stages == 0) return 1;
    if (flat(&a->window) && u->mean_value == u->value_before) return still_spreading(&a->window);
    if (!(fabs(u->mean_value - u->value_before) < 3.0 * gess__hypot(u->mean_error, u->error_before))) return 1;
    return most_drift(&a->window);
}

void gess__warmup_reopen(gess__adaptation *a, uint64_t left)
{
    gess__warmup *u = &a->warmup;
    GESS_ASSERT(u->over && u->fixed == GESS_AUTO && !u->open);
    u->over = u->settled = 0;
    u->calm = 0;
    u->moved = 1;
    u->economy.trial = 0;
    u->economy.rate = u->economy.rate_before = u->economy.best_rate = 0.0;
    uint64_t spent = a->ensemble->tally.evals, more = 4 * spent > u->max_evals ? 4 * spent : u->max_evals;
    u->max_evals = spent + (more < left ? more : left);
    /* an empty window that ends here; a resumed run has neither its draws nor the chains' means */
    gess__window *w = &a->window;
    w->start = w->stage = gess__ensemble_done(a->ensemble);
    w->length = w->draws = 0;
    w->stride = 1;
    memset(w->chain_mean, 0, w->chains * sizeof *w->chain_mean);
}

double gess__warmup_expected_left(const gess__adaptation *a)
{
    const gess__warmup *u = &a->warmup;
    const double trial = 10.0; /* iterations of the shortest one */
    if (u->over || u->fixed != GESS_AUTO || u->stages == 0) return 0.0;
    double spent = (double)a->ensemble->tally.evals, chains = (double)a->ensemble->chains.count;
    double stages = u->stages < MIN_TRIAL_STAGES ? (double)(MIN_TRIAL_STAGES - u->stages) : 0.0;
    double least = (stages * (double)u->length + trial) * chains * evals_per_update(u);
    double left = gess__max(least, gess__economy_left(&u->economy, spent));
    return gess__min(left, gess__max((double)u->max_evals - spent, 0.0));
}

/* Judges a stage that was a trial. Returns whether it passed. */
static int end_trial(gess__adaptation *a, const gess__stage_steps *steps, void *self)
{
    gess__warmup *u = &a->warmup;
    gess__economy *e = &u->economy;
    gess__trial_judge(e, &a->window, u->moved, u->settled, (double)a->ensemble->tally.evals, u->evals_per_update);
    if (e->result == GESS__TRIAL_PASSED && steps->object(self)) e->result = GESS__TRIAL_BASIN;
    e->trial = 0;
    return e->result == GESS__TRIAL_PASSED;
}

/* Decides whether the next stage is a trial. */
static void plan_trial(gess__adaptation *a, const gess__stage_steps *steps, void *self)
{
    gess__warmup *u = &a->warmup;
    double next = (double)u->length * (1.0 + 1.0 / GROWTH) * (double)a->ensemble->chains.count;
    uint64_t longer = gess__trial_length(&u->economy, &a->window, evals_per_update(u)) - GESS__MIN_TRIAL;
    gess__stage_cost cost = {.spent = (double)a->ensemble->tally.evals,
                             .per_update = evals_per_update(u),
                             .next = next,
                             .trial = (double)longer * (double)a->ensemble->chains.count,
                             .value = u->mean_value,
                             .error = u->mean_error};
    int wanted = gess__economy_forecast(&u->economy, &cost);
    if (u->moved) {
        u->economy.best_rate = u->economy.rate;
        u->economy.due = 0;
    }
    if (u->economy.pays) {
        u->economy.due |= u->settled;
        u->settled = u->over = 0;
        if (u->economy.due) u->calm = 0;
    }
    u->economy.trial = (wanted || u->settled) && !u->moved && u->stages >= MIN_TRIAL_STAGES;
    if (!u->economy.trial) return;
    u->over = 0;
    u->calm = u->calm > 1 ? u->calm : 1;
    steps->freeze(self);
}

/* Learns from a stage, and decides whether another one follows. */
static void learn(gess__adaptation *a, const gess__stage_steps *steps, void *self)
{
    gess__warmup *u = &a->warmup;
    double before = gess__seconds();
    int more = steps->assess(self) && !u->economy.due;
    a->seconds_learning += gess__seconds() - before;
    u->stages++;
    u->calm = more || u->moved || u->stages < MIN_STAGES ? 0 : u->calm + 1;
    if (u->fixed != GESS_AUTO) {
        u->over = gess__ensemble_done(a->ensemble) >= u->fixed;
        return;
    }
    u->settled = u->calm >= CALM_STAGES;
    int spent = a->ensemble->tally.evals + a->ensemble->tally.evals / 50 >= u->max_evals;
    u->over = u->settled || spent;
    if (steps->freeze != NULL && !spent) plan_trial(a, steps, self);
}

/* Ends warm-up with T and the mix of moves as they stand. */
static void commit(gess__adaptation *a, const gess__stage_steps *steps, void *self)
{
    gess__warmup *u = &a->warmup;
    u->over = 1;
    u->economy.commitments++;
    if (steps->freeze != NULL && u->fixed == GESS_AUTO) steps->freeze(self);
    end_warmup(a->ensemble);
}

int gess__warmup_stage(gess__adaptation *a, const gess__stage_steps *steps, void *self, const gess__record *record,
                       gess_error *err)
{
    gess__warmup *u = &a->warmup;
    gess__window *w = &a->window;
    GESS_ASSERT(!u->over && w->room > 0);
    if (a->end_early && !u->open && u->stages > 0) {
        commit(a, steps, self);
        return GESS_OK;
    }
    if (!u->open) begin_stage(a);
    if (a->end_early) cut_stage(a);
    GESS_TRY(steps->advance(self, w->stage + w->length, record, err));
    if (steps->probe != NULL) GESS_TRY(steps->probe(self, record, err));
    gess__window_end_stage(w);
    gess__warmup_measure_moves(a);
    u->open = 0;
    gess__warmup_measure(a);
    GESS_TRY(check_not_flat(a, err));
    u->moved = still_moving(a);
    u->economy.result = GESS__TRIAL_NONE;
    int tried = u->economy.trial;
    if (tried && end_trial(a, steps, self)) {
        u->settled = u->over = 1;
        u->stages++;
    } else {
        learn(a, steps, self);
    }
    if (a->end_early) u->over = 1;
    u->iterations = gess__ensemble_done(a->ensemble);
    if (!tried) u->length = w->length;
    if (u->over) commit(a, steps, self);
    return GESS_OK;
}

/* ---- checkpoints ---- */

/* Draws that the window holds of the chains that are furthest ahead; more than there is room for if the window's
 * numbers are impossible. In the middle of a stage there are more draws than when it began. */
static uint64_t held_draws(const gess__adaptation *a)
{
    const gess__window *w = &a->window;
    const gess__warmup *u = &a->warmup;
    const uint64_t *both = a->ensemble->done;
    uint64_t min = gess__ensemble_done(a->ensemble), done = both[0] > both[1] ? both[0] : both[1];
    uint64_t max = UINT64_MAX / 2, impossible = w->room + 1, end = w->stage + w->length;
    if (u->exploring) /* particles, as many as the window says */
        return w->start == 0 && w->stage == 0 && w->stride == 1 && w->length == w->draws ? w->draws : impossible;
    if (u->stages == 0 && !u->open && done == 0) return u->moved ? 0 : impossible;
    if (w->stride == 0 || w->length > max || w->stage > max || w->start > w->stage || w->stage > min || done > end)
        return impossible;
    if ((end - w->start) / w->stride > w->room || (!u->open && min != end)) return impossible;
    return w->draws == ((u->open ? w->stage : end) - w->start) / w->stride ? (done - w->start) / w->stride : impossible;
}

void gess__adaptation_archive(gess__adaptation *a, gess__archive *archive)
{
    int fixed = a->warmup.fixed != GESS_AUTO;
    GESS_ARCHIVE(archive, &a->warmup);
    if ((a->warmup.fixed != GESS_AUTO) != fixed) archive->bad = 1;
    gess__window_archive(&a->window, archive);
    if (!a->warmup.over && !archive->bad) gess__window_archive_contents(&a->window, held_draws(a), archive);
}
