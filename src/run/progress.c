#include "run/progress.h"

#include "base/clock.h"
#include "run/run.h"
#include "run/stats.h"

/* Doubles that it holds, and the share of the time that it may take. */
enum { LIVE_DOUBLES = 1 << 22, LIVE_FEWEST = 50 };
#define LIVE_SHARE 0.03

int gess__progress_open(gess_run *run, gess_error *err)
{
    gess__progress_monitor *l = &run->live;
    if (!l->wanted || l->watch != NULL || run->watch != NULL || run->stats.draws > 0) return GESS_OK;
    GESS_TRY(gess__team_new(&l->alone, 1, err));
    GESS_TRY(gess__stop_rule_new(&l->watch, run->stats.chains, run->ensembles, run->ensemble[0]->target.columns, err));
    l->watch->most = LIVE_DOUBLES;
    return GESS_OK;
}

/* A look where it costs little of the time so far, at half as many draws again each time or later. */
int gess__progress_look(gess_run *run, gess_error *err)
{
    gess__progress_monitor *l = &run->live;
    gess_stats *s = &run->stats;
    double before = gess__seconds(), spent = before - run->started;
    if (s->draws < LIVE_FEWEST || s->draws < l->looked + l->looked / 2 || 2.0 * l->cost > LIVE_SHARE * spent)
        return GESS_OK;
    int met;
    GESS_TRY(gess__stop_rule_check(l->watch, s->draws, l->alone, 1, (double)run->options.target_ess,
                                   run->options.target_rhat, &met, &s->least_ess, &s->worst_rhat, err));
    gess__run_name_column(run, l->watch->worst, s->slowest, sizeof s->slowest);
    l->looked = s->draws;
    l->cost = gess__seconds() - before;
    return GESS_OK;
}

/* Room first: draws that there is no room for would be lost. */
int gess__progress_take(gess_run *run, const gess__ensemble *e, const gess__segment *segment, gess_error *err)
{
    gess__progress_monitor *l = &run->live;
    uint64_t end = segment->first_draw + segment->draws;
    if (end > l->room) {
        GESS_TRY(gess__stop_rule_expect(l->watch, 2 * end, err));
        l->room = 2 * end;
    }
    gess__stop_rule_take(l->watch, e->kept_first, segment);
    return GESS_OK;
}
