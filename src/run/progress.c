/* Updates the ESS and R-hat that are shown while a run with a given number of draws goes on. It uses a stop rule
 * (stop_rule.c) with less memory, and spends at most a small share of the run's time. */
#include "run/progress.h"

#include "base/assert.h"
#include "base/clock.h"
#include "run/run.h"
#include "run/stats.h"

enum { MAX_DOUBLES = 1 << 22, MIN_DRAWS = 50 };
#define MAX_SHARE 0.03 /* of the run's time */

int gess__progress_open(gess_run *run, gess_error *err)
{
    gess__progress_monitor *m = &run->monitor;
    if (!m->wanted || m->rule != NULL || run->stop_rule != NULL || run->stats.draws > 0) return GESS_OK;
    GESS_TRY(gess__team_new(&m->team, 1, err));
    GESS_TRY(gess__stop_rule_new(&m->rule, run->stats.chains, run->ensembles, run->ensemble[0]->target.columns,
                                 run->model->blobs, run->ensemble[0]->group == 0, err));
    m->rule->max_doubles = MAX_DOUBLES;
    return GESS_OK;
}

int gess__progress_update(gess_run *run, gess_error *err)
{
    gess__progress_monitor *m = &run->monitor;
    gess_stats *s = &run->stats;
    GESS_ASSERT(m->rule != NULL);
    double before = gess__seconds(), spent = before - run->started;
    if (s->draws < MIN_DRAWS || s->draws < m->updated_at + m->updated_at / 2 || 2.0 * m->cost > MAX_SHARE * spent)
        return GESS_OK;
    gess__stop_figures figures;
    GESS_TRY(gess__stop_rule_check(m->rule, s->draws, m->team, 1, (double)run->options.target_ess,
                                   run->options.target_rhat, &figures, err));
    gess__run_set_figures(run, &figures);
    gess__run_name_column(run, m->rule->failed_column, s->slowest, sizeof s->slowest);
    m->updated_at = s->draws;
    m->cost = gess__seconds() - before;
    return GESS_OK;
}

int gess__progress_take(gess_run *run, const gess__ensemble *e, const gess__segment *segment, gess_error *err)
{
    gess__progress_monitor *m = &run->monitor;
    uint64_t end = segment->first_draw + segment->draws;
    GESS_ASSERT(m->rule != NULL);
    if (end > m->capacity) { /* draws beyond the capacity would be dropped */
        GESS_TRY(gess__stop_rule_expect(m->rule, 2 * end, err));
        m->capacity = 2 * end;
    }
    gess__stop_rule_take(m->rule, e->kept_first, segment);
    return GESS_OK;
}
