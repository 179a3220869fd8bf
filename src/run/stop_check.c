/* Decides after how many draws the stop rule is checked next, checks it, and records the result in log and history.
 * loop.c asks it; stop_rule.c computes the figures. */
#include "run/stop_check.h"

#include "base/assert.h"
#include "base/clock.h"
#include "run/log.h"
#include "run/run.h"
#include "run/stats.h"

uint64_t gess__targets_check_after(uint64_t draws)
{
    return draws < 34 ? 50 : draws + draws / 2;
}

uint64_t gess__targets_next_check(const gess_run *run, uint64_t draws)
{
    const gess_stats *s = &run->stats;
    uint64_t next = gess__targets_check_after(draws);
    double evals_per_draw = draws > 0 ? (double)s->evals_sampling / (double)draws
                                      : (double)(run->options.chains * run->options.thin) *
                                            (s->updates > 0 ? (double)s->evals / (double)s->updates : 1.0);
    double left = (double)run->options.max_evals - (double)s->evals;
    if (left < evals_per_draw) return draws > 0 ? 0 : 1;
    return (double)(next - draws) * evals_per_draw <= left ? next : draws + (uint64_t)(left / evals_per_draw);
}

int gess__targets_check(gess_run *run, uint64_t draws, gess__check_columns columns, gess_error *err)
{
    const gess_options *o = &run->options;
    gess_stats *s = &run->stats;
    int all = columns == GESS__ALL_COLUMNS;
    GESS_ASSERT(run->stop_rule != NULL && draws > 0);
    double before = gess__seconds();
    GESS_TRY(gess__stop_rule_check(run->stop_rule, draws, run->team, all, (double)o->target_ess, o->target_rhat,
                                   &s->targets_met, &s->least_ess, &s->worst_rhat, err));
    gess__progress_checked(run, draws, gess__seconds() - before);
    s->checked_draws = draws;
    gess__run_name_column(run, run->stop_rule->failed_column, s->slowest, sizeof s->slowest);
    gess__run_log(run, "check at %llu draws: evaluations %llu, smallest ESS %.0f, worst R-hat %.4f%s",
                  (unsigned long long)draws, (unsigned long long)s->evals, s->least_ess, s->worst_rhat,
                  s->targets_met ? ", targets met"
                  : all          ? ", targets not met"
                                 : " or worse");
    return gess__history_check(&run->history, draws, s, err);
}
