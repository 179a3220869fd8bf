/* Updates the ESS and R-hat that are shown while a run with a given number of draws goes on, with a stop rule
 * (stop_rule.c) of less memory and at most a small share of the run's time; and estimates how far a run is. */
#include "run/progress.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/vmath.h"
#include "run/log.h"
#include "run/run.h"
#include "run/stats.h"
#include "run/stop_check.h"

#include <math.h>

enum { MAX_DOUBLES = 1 << 22, MIN_DRAWS = 50 };
#define MAX_SHARE 0.03 /* of the run's time */
#define PASSING 2.0    /* what a column that passes takes in a check, in units of one that misses its targets */

int gess__progress_open(gess_run *run, gess_error *err)
{
    gess__progress_monitor *m = &run->monitor;
    if (!m->wanted || m->rule != NULL || run->stop_rule != NULL || run->stats.draws > 0) return GESS_OK;
    GESS_TRY(gess__team_new(&m->team, 1, err));
    GESS_TRY(gess__stop_rule_new(&m->rule, run->stats.chains, run->ensembles, run->ensemble[0]->target.columns,
                                 run->model->blobs, run->ensemble[0]->group == 0, err));
    gess__stop_rule_periodic(m->rule, run->model);
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
    gess__progress_file_note(run, s->draws);
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

/* ---- how far the run is ---- */

uint64_t gess__progress_expected_draws(const gess_run *run)
{
    const gess_stats *s = &run->stats;
    if (run->checked_draws == 0 || !isfinite(s->worst_rhat) || !(s->least_ess > 0.0)) return 0;
    double needed = (double)run->checked_draws / gess__targets_reached(run);
    uint64_t at = run->next_check > 0 ? run->next_check : run->checked_draws;
    if (run->next_check == 0 && !s->targets_met) at = gess__targets_check_after(run, at);
    while ((double)at < needed) {
        uint64_t next = gess__targets_check_towards(run, at, needed);
        if (next <= at || next > UINT64_C(1) << 60) break;
        at = next;
    }
    return at;
}

/* The columns that a check of all of them computes one after the other: the one that failed last, then all on the
 * team. */
static double columns_in_turn(const gess_run *run)
{
    size_t workers = gess__team_size(run->team), turns = (run->stop_rule->columns + workers - 1) / workers;
    return 1.0 + (double)turns;
}

/* The work of a check of one column at `draws` draws per chain, of which memory holds so many: sorting and Fourier
 * transforms of n draws take n log n. */
static double work_of(const gess_run *run, uint64_t draws)
{
    const gess__stop_rule *r = run->stop_rule;
    size_t room = r->max_doubles / (r->chains * r->columns);
    double n = (double)r->chains * gess__min((double)draws, gess__max((double)room, 16.0));
    return n * gess__log(n + 1.0);
}

/* What a check of all columns takes; most of them pass, and are then judged as by the verdict. */
static double work_of_all(const gess_run *run, uint64_t draws)
{
    return PASSING * columns_in_turn(run) * work_of(run, draws);
}

/* A short check on a busy machine says little, so earlier ones count, too. */
void gess__progress_checked(gess_run *run, uint64_t draws, double seconds)
{
    gess__forecast *f = &run->forecast;
    f->check_seconds += seconds;
    f->recent_seconds = 0.5 * f->recent_seconds + seconds;
    f->recent_work =
        0.5 * f->recent_work + (run->stop_rule->all_computed ? work_of_all(run, draws) : work_of(run, draws));
}

/* Seconds that the checks up to the one at `total` draws will take: of one column each, of all at the end. */
static double seconds_of_checks(const gess_run *run, uint64_t total)
{
    double work = 0.0;
    uint64_t at = run->next_check > 0 ? run->next_check : total;
    for (; at < total; at = gess__targets_check_after(run, at)) work += work_of(run, at);
    work += work_of_all(run, total);
    return run->forecast.recent_work > 0.0 ? run->forecast.recent_seconds / run->forecast.recent_work * work : 0.0;
}

/* Evaluations that the draws from `draws` on will take. */
static double evals_of_draws(const gess_stats *s, double draws)
{
    return s->draws > 0 ? (double)s->evals_sampling / (double)s->draws * draws : NAN;
}

static void estimate_sampling(gess_run *run)
{
    gess_stats *s = &run->stats;
    const gess_options *o = &run->options;
    uint64_t total = o->draws != GESS_AUTO ? o->draws : gess__progress_expected_draws(run);
    s->phase = GESS_PHASE_SAMPLING;
    s->phase_done = s->draws;
    double left = total > s->draws ? (double)(total - s->draws) : 0.0;
    if (o->draws == GESS_AUTO && total > 0) { /* --max-evals may end it sooner */
        double evals_left = gess__max((double)o->max_evals - (double)s->evals, 0.0), evals = evals_of_draws(s, left);
        if (evals > evals_left) left *= evals_left / evals;
    }
    s->phase_total = total > 0 ? s->draws + (uint64_t)left : 0;
    if (total == 0 || s->draws == 0) return;
    double drawing = gess__max(s->seconds_sampling - run->forecast.check_seconds, 0.0);
    s->seconds_left = left * drawing / (double)s->draws;
    if (o->draws == GESS_AUTO && run->stop_rule != NULL) s->seconds_left += seconds_of_checks(run, total);
}

/* Evaluations of learning that are still to come, of all ensembles; those that have not begun are taken to be like the
 * present one. */
static double learning_left(const gess_run *run)
{
    const gess__adaptation *a = &run->sampler[run->current]->adaptation;
    double left = gess__warmup_expected_left(a), waiting = (double)(run->ensembles - run->current - 1);
    return left > 0.0 ? left + waiting * (left + (double)a->ensemble->tally.evals) : 0.0;
}

void gess__progress_staged(gess_run *run)
{
    gess_stats *s = &run->stats;
    const gess__warmup *u = &run->sampler[run->current]->adaptation.warmup;
    double passed = gess__seconds() - run->started, limit = run->options.max_time, left = learning_left(run);
    gess__run_update_stats(run);
    s->evals_forecast = u->economy.rate > 0.0 && isfinite(u->economy.forecast) && !u->over
                            ? u->economy.forecast * (double)run->ensembles
                            : NAN;
    double evals = (double)(s->evals - run->forecast.evals_before), pace = evals > 0.0 ? passed / evals : 0.0;
    int late = limit > 0.0 && passed + left * pace > limit;
    if (late && !s->learning_late)
        gess__run_log(run,
                      "    at this pace --max-time ends the run while it is learning: %.0f evaluations of learning are "
                      "still expected, at %.3g s each",
                      left, pace);
    s->learning_late = late;
}

static void estimate_learning(gess_run *run)
{
    gess_stats *s = &run->stats;
    const gess_options *o = &run->options;
    uint64_t most = 0;
    s->phase = GESS_PHASE_LEARNING;
    s->phase_done = s->evals;
    for (size_t i = 0; i < run->ensembles; i++) most += run->sampler[i]->adaptation.warmup.max_evals;
    if (o->warmup != GESS_AUTO && s->iterations > 0) { /* as many iterations as were asked for, of all ensembles */
        double share = ((double)run->current * (double)o->warmup + (double)s->iterations) /
                       ((double)run->ensembles * (double)o->warmup);
        most = share > 0.0 && share <= 1.0 ? (uint64_t)((double)s->evals / share) : s->evals;
    }
    if (run->forecast.evals_learning > s->evals) most = run->forecast.evals_learning;
    if (most < s->evals) most = s->evals;
    s->phase_total = most;
    if (s->evals == 0) return;
    double evals = (double)(most - s->evals);
    if (o->warmup != GESS_AUTO && o->draws != GESS_AUTO && s->updates > 0) /* and then the draws */
        evals += (double)s->evals / (double)s->updates * (double)s->chains * (double)(o->draws * o->thin);
    s->seconds_left = evals * s->seconds / (double)s->evals;
}

void gess__progress_estimate(gess_run *run)
{
    run->stats.seconds_left = NAN;
    if (run->sampling) {
        run->stats.evals_forecast = NAN;
        run->stats.learning_late = 0;
    }
    if (run->sampling)
        estimate_sampling(run);
    else
        estimate_learning(run);
}
