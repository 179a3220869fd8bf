/* Decides after how many draws the stop rule is checked next, checks it, and records the result in log and history.
 * loop.c asks it; stop_rule.c computes the figures. */
#include "run/stop_check.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/vmath.h"
#include "run/log.h"
#include "run/run.h"
#include "run/stats.h"

#include <math.h>
#include <stdio.h>

/* Draws per chain at the first check: fewer if groups of chains are compared. */
enum { FIRST_CHECK = 50, FIRST_NESTED_CHECK = 20, MAX_FIRST_CHECK = 150 };

/* The level rises this much faster towards the end of a tail than its mean over the tail shows. */
#define TAIL_STEEPNESS 2.0

/* Draws per chain before which the draws cannot show what T lacks: where π/T is large in a tail, chains come late and
 * stay for about as many independence moves. */
static uint64_t draws_for_tails(const gess_run *run)
{
    double excess = 0.0;
    for (size_t i = 0; i < run->ensembles; i++) {
        const gess__learning *l = gess__sampler_learning(run->sampler[i]);
        if (l != NULL) excess = gess__max(excess, l->state.tail_excess);
    }
    return (uint64_t)gess__min(FIRST_NESTED_CHECK * gess__exp(TAIL_STEEPNESS * excess), MAX_FIRST_CHECK);
}

uint64_t gess__targets_first_check(const gess_run *run)
{
    uint64_t first = run->stop_rule->groups > 0 && run->ensembles == 1 ? FIRST_NESTED_CHECK : FIRST_CHECK;
    uint64_t tails = draws_for_tails(run);
    return tails > first ? tails : first;
}

uint64_t gess__targets_check_after(const gess_run *run, uint64_t draws)
{
    uint64_t first = gess__targets_first_check(run);
    uint64_t step = draws < 2 * FIRST_CHECK ? draws / 4 : draws / 2; /* early checks cost little and save much */
    return draws < 2 * first / 3 ? first : draws + step;
}

uint64_t gess__targets_check_towards(const gess_run *run, uint64_t draws, double needed)
{
    uint64_t next = gess__targets_check_after(run, draws), min = draws + (draws + 7) / 8;
    if (!(needed > (double)draws && needed < (double)next)) return next;
    uint64_t expected = (uint64_t)ceil(needed);
    return expected > min ? expected : min < next ? min : next;
}

uint64_t gess__targets_next_check(const gess_run *run, uint64_t draws)
{
    const gess_stats *s = &run->stats;
    uint64_t next = gess__targets_check_towards(run, draws, (double)draws / gess__targets_reached(run));
    double evals_per_draw = draws > 0 ? (double)s->evals_sampling / (double)draws
                                      : (double)(run->options.chains * run->options.thin) *
                                            (s->updates > 0 ? (double)s->evals / (double)s->updates : 1.0);
    double left = (double)run->options.max_evals - (double)s->evals;
    if (left < evals_per_draw) return draws > 0 ? 0 : 1;
    return (double)(next - draws) * evals_per_draw <= left ? next : draws + (uint64_t)(left / evals_per_draw);
}

double gess__targets_reached(const gess_run *run)
{
    const gess_stats *s = &run->stats;
    const gess_options *o = &run->options;
    double share = s->least_ess / (double)o->target_ess, rhat = s->worst_rhat, limit = o->target_rhat;
    if (isfinite(s->worst_nested_rhat)) {
        double nested = s->worst_nested_rhat; /* it may be below 1 */
        share = gess__min(share, (limit * limit - 1.0) / gess__max(nested * nested - 1.0, 1e-12));
        limit = 1.0 + GESS__CHAINS_EXCESS * (limit - 1.0);
    }
    return gess__min(share, (limit * limit - 1.0) / gess__max(rhat * rhat - 1.0, 1e-12));
}

int gess__targets_check(gess_run *run, uint64_t draws, gess__check_columns columns, gess_error *err)
{
    const gess_options *o = &run->options;
    gess_stats *s = &run->stats;
    int all = columns == GESS__ALL_COLUMNS;
    GESS_ASSERT(run->stop_rule != NULL && draws > 0);
    gess__stop_figures figures;
    gess__progress_file_check(run, true);
    double before = gess__seconds();
    GESS_TRY(gess__stop_rule_check(run->stop_rule, draws, run->team, all, (double)o->target_ess, o->target_rhat,
                                   &figures, err));
    gess__progress_checked(run, draws, gess__seconds() - before);
    s->targets_met = figures.targets_met;
    gess__run_set_figures(run, &figures);
    s->checked_draws = draws;
    gess__run_name_column(run, run->stop_rule->failed_column, s->slowest, sizeof s->slowest);
    char nested[48] = "";
    if (isfinite(s->worst_nested_rhat))
        gess__format(nested, sizeof nested, ", worst nested R-hat %.4f", s->worst_nested_rhat);
    gess__run_log(run, "check at %llu draws: evaluations %llu, smallest ESS %.0f, worst R-hat %.4f%s%s",
                  (unsigned long long)draws, (unsigned long long)s->evals, s->least_ess, s->worst_rhat, nested,
                  s->targets_met ? ", targets met"
                  : all          ? ", targets not met"
                                 : " or worse");
    gess__progress_file_note(run, draws);
    gess__progress_file_check(run, false);
    return gess__history_check(&run->history, draws, s, err);
}
