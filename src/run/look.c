/* Asks every sampler for modes, and compares their weights with their shares of the stored draws. */
#include "run/look.h"

#include "base/mem.h"
#include "run/log.h"
#include "run/modes.h"
#include "run/run.h"
#include "run/sink.h"
#include "run/stats.h"

#include <stdlib.h>

/* A mode is missed if its share of the draws is below MISSED of its weight, less two standard errors. */
#define MISSED 0.3

/* How often a run may learn again for it. */
enum { MAX_COMMITMENTS = 4 };

/* Whether basin k of an ensemble is missed; then history knows it. */
static int check_basin(gess_run *run, size_t which, size_t k, int *missed, gess_error *err)
{
    const gess__basin *b = &gess__sampler_exploration(run->sampler[which])->basins->basin[k];
    double share = 0.0, lp, *centre = NULL;
    GESS_TRY(gess__alloc_bytes(&centre, run->model->dim, sizeof *centre, "point", err));
    int status = gess__modes_share(run, which, k, &share, &lp, centre, err);
    if (status == GESS_OK) {
        *missed = share < MISSED * (b->weight - 2.0 * b->error);
        gess__run_log(run,
                      "a mode with a weight of %.3g (standard error %.2g) has %.3g of the draws%s; log density %.6g",
                      b->weight, b->error, share, *missed ? ": it was missed" : "", lp);
        if (*missed) gess__history_missed(&run->history, run->model->dim, lp, centre, b->weight);
    }
    free(centre);
    return status;
}

/* Looks with one sampler; what the draws know already is dismissed, and what may not be learned. */
static int look_with(gess_run *run, size_t which, int may_learn, int *missed, gess_error *err)
{
    gess__sampler *s = run->sampler[which];
    const gess__record record = {.sink = gess__run_sink, .user = run, .stop = &run->pause, .quit = &run->stop};
    size_t found = 0;
    run->current = which;
    if (s->schedule->look == NULL) return GESS_OK;
    GESS_TRY(s->schedule->look(s, &record, &found, err));
    if (found == 0) return GESS_OK;
    const gess__basins *b = gess__sampler_exploration(s)->basins;
    int any = 0, status = GESS_OK;
    for (size_t k = (size_t)b->count - found; status == GESS_OK && k < b->count; k++) {
        int one = 0;
        status = check_basin(run, which, k, &one, err);
        any |= one;
    }
    if (status != GESS_OK || !any || !may_learn) s->schedule->dismiss(s, &found);
    *missed |= any;
    return status;
}

int gess__run_look(gess_run *run, int *again, gess_error *err)
{
    const gess_options *o = &run->options;
    uint64_t left = o->max_evals > run->stats.evals ? o->max_evals - run->stats.evals : 0;
    /* several ensembles do not learn again: a stop between their looks would forget what one has found */
    int may_learn = o->warmup == GESS_AUTO && run->ensembles == 1 && left >= run->stats.evals / 2, missed = 0;
    *again = 0;
    if (run->directory == NULL || run->writer == NULL) return GESS_OK;
    GESS_TRY(gess__writer_sync(run->writer, err));
    for (size_t i = 0; i < run->ensembles; i++)
        may_learn = may_learn && run->sampler[i]->schedule->freeze != NULL &&
                    run->sampler[i]->adaptation.warmup.economy.commitments < MAX_COMMITMENTS;
    for (size_t i = 0; i < run->ensembles; i++) GESS_TRY(look_with(run, i, may_learn, &missed, err));
    gess__run_update_stats(run);
    *again = missed && may_learn;
    return GESS_OK;
}
