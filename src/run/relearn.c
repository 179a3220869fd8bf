/* Decides whether the run should learn again, and takes it back to warm-up: samplers, files, stop rule and history.
 * loop.c calls it after every check of the stop rule. */
#include "run/relearn.h"

#include "base/assert.h"
#include "run/checkpoint.h"
#include "run/log.h"
#include "run/run.h"
#include "run/stats.h"
#include "run/stop_check.h"

#include <math.h>

int gess__run_should_relearn(const gess_run *run)
{
    const gess_options *o = &run->options;
    double share = gess__targets_reached(run), count = (double)run->ensembles;
    double learning = (double)run->evals_warmup / count,
           sampling = (double)(run->stats.evals - run->evals_warmup) / count;
    uint64_t left = o->max_evals > run->stats.evals ? o->max_evals - run->stats.evals : 0;
    if (run->stats.targets_met || o->warmup != GESS_AUTO || left < run->stats.evals / 2) return 0;
    if (!(share > 0.0)) share = 1e-3; /* figures that do not exist yet */
    for (size_t i = 0; i < run->ensembles; i++)
        if (run->sampler[i]->schedule->freeze == NULL ||
            !gess__economy_disappoints(&run->sampler[i]->adaptation.warmup.economy, learning, sampling, share))
            return 0;
    return 1;
}

int gess__run_relearn(gess_run *run, const char *why, gess_error *err)
{
    GESS_ASSERT(run->sampling && run->stop_rule != NULL);
    uint64_t spent = run->stats.evals - run->evals_warmup, left = run->options.max_evals - run->stats.evals;
    gess__run_log(run,
                  "%s: %llu evaluations of sampling have reached %.2f of the targets; the draws are given up, and "
                  "learning goes on",
                  why, (unsigned long long)spent, gess__targets_reached(run));
    run->given_up += run->checked_draws * run->options.thin;
    for (size_t i = 0; i < run->ensembles; i++)
        gess__warmup_reopen(&run->sampler[i]->adaptation, left / 4 * 3 / run->ensembles);
    run->sampling = 0;
    run->checked_draws = run->next_check = 0;
    run->stats.draws = run->stats.checked_draws = 0;
    run->stats.targets_met = 0;
    run->stats.least_ess = run->stats.worst_rhat = run->stats.worst_nested_rhat = NAN;
    gess__stop_rule_restart(run->stop_rule);
    gess__history_restart(&run->history);
    if (run->writer == NULL) return GESS_OK;
    GESS_TRY(gess__writer_restart(run->writer, err));
    GESS_TRY(gess__checkpoint_save(run, err));
    return gess__writer_discard(run->writer, err);
}
