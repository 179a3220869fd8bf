/* Sums gess_stats over the ensembles, and names a column of the draws. */
#include "run/stats.h"

#include "base/assert.h"
#include "base/clock.h"
#include "model/model.h"
#include "run/isolation.h"
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void gess__run_update_stats(gess_run *run)
{
    gess_stats *s = &run->stats;
    double now = gess__seconds();
    s->evals = s->updates = s->failures = s->nans = 0;
    s->evals_speculative = run->speculative_before;
    s->seconds_learning = run->learning_before;
    s->iterations = UINT64_MAX;
    s->warmup_settled = 1;
    for (size_t i = 0; i < run->ensembles; i++) {
        const gess__sampler *sampler = run->sampler[i];
        const gess__ensemble *e = &sampler->ensemble;
        const gess__warmup *u = &sampler->adaptation.warmup;
        s->evals += e->tally.evals;
        s->updates += e->tally.updates;
        s->failures += e->tally.failures;
        s->nans += e->tally.nans;
        s->seconds_learning += sampler->adaptation.seconds_learning;
        s->evals_speculative += gess__ensemble_unused(e);
        s->nu = sampler->schedule->no_approx ? NAN : e->frozen.approx->nu;
        if (gess__ensemble_done(e) < s->iterations) s->iterations = gess__ensemble_done(e);
        if (u->iterations > s->warmup) s->warmup = u->iterations;
        s->warmup_settled &= u->settled;
    }
    gess__isolation_count(run);
    s->seconds = run->seconds_before + now - run->started;
    if (run->sampling) {
        s->evals_sampling = s->evals - run->evals_warmup;
        s->seconds_sampling = run->sampling_before + now - run->sampling_started;
    }
}

void gess__run_set_figures(gess_run *run, const gess__stop_figures *figures)
{
    run->stats.least_ess = figures->least_ess;
    run->stats.worst_rhat = figures->worst_rhat;
    run->stats.worst_nested_rhat = figures->worst_nested;
}

void gess__run_name_column(const gess_run *run, size_t column, char *name, size_t size)
{
    char numbered[32];
    GESS_ASSERT(size > 0);
    const char *whole = gess__column_name(run->model, column, numbered);
    size_t length = strlen(whole);
    if (length >= size)
        for (length = size - 1; length > 0 && ((unsigned char)whole[length] & 0xc0) == 0x80;) length--;
    memset(name, 0, size); /* checkpoints save all of its bytes */
    snprintf(name, size, "%.*s", (int)length, whole);
}
