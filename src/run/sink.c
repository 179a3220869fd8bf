/* Passes a segment of draws on: to the files first, then to the stop rule, the progress monitor and the callbacks; then
 * polls the clock. The scheduler calls it, in order. */
#include "run/sink.h"

#include "base/assert.h"
#include "run/deadlines.h"
#include "run/run.h"
#include "run/stats.h"

/* Passes on draws of the sampling phase; files are written before. */
static int pass_on_draws(gess_run *run, const gess__ensemble *e, const gess__segment *segment, gess_error *err)
{
    size_t first = e->kept_first + segment->first;
    if (run->stop_rule != NULL) gess__stop_rule_take(run->stop_rule, e->kept_first, segment);
    if (run->monitor.rule != NULL) GESS_TRY(gess__progress_take(run, e, segment, err));
    if (run->on_draw != NULL && run->on_draw(run->on_draw_user, first, segment->count, segment->first_draw,
                                             segment->draws, e->target.columns, segment->rows) != 0)
        gess_stop(run);
    if (first + segment->count == run->stats.chains) run->stats.draws = segment->first_draw + segment->draws;
    return GESS_OK;
}

/* Passes on draws of warm-up, unless they are steps of annealing. */
static void pass_on_warmup(gess_run *run, const gess__ensemble *e, const gess__segment *segment)
{
    if (run->on_warmup == NULL || run->sampler[run->current]->adaptation.warmup.exploring) return;
    if (run->on_warmup(run->on_warmup_user, e->kept_first + segment->first, segment->count, segment->first_draw,
                       segment->draws, e->target.columns, segment->rows) != 0)
        gess_stop(run);
}

/* Ensembles add up their tallies only when a stretch has ended, so the counts of this segment are added here. */
static int report_progress(gess_run *run, const gess__segment *segment, int all_chains, gess_error *err)
{
    uint64_t before = run->stats.iterations;
    gess__run_update_stats(run);
    run->stats.iterations = all_chains ? segment->iterations : before;
    run->stats.evals += segment->evals;
    run->stats.updates += segment->updates;
    if (run->sampling) run->stats.evals_sampling += segment->evals;
    if (run->monitor.rule != NULL && run->sampling) GESS_TRY(gess__progress_update(run, err));
    gess__progress_estimate(run);
    if (gess__progress_file_due(run)) gess__progress_file_write(run, "running", NULL);
    if (run->on_progress != NULL && run->on_progress(run->on_progress_user, &run->stats, run->planned) != 0)
        gess_stop(run);
    return GESS_OK;
}

int gess__run_sink(void *user, const gess__segment *segment, gess_error *err)
{
    gess_run *run = user;
    GESS_ASSERT(run->current < run->ensembles);
    const gess__ensemble *e = run->ensemble[run->current];
    gess__writer *writer = run->sampling ? run->writer : run->warmup_writer;
    GESS_ASSERT(segment->draws == 0 || segment->first + segment->count <= e->kept);
    if (segment->draws > 0 && writer != NULL)
        GESS_TRY(gess__writer_append(writer, e->kept_first + segment->first, segment->count, segment->first_draw,
                                     segment->draws, segment->rows, err));
    if (segment->draws > 0 && run->sampling) GESS_TRY(pass_on_draws(run, e, segment, err));
    if (segment->draws > 0 && !run->sampling) pass_on_warmup(run, e, segment);
    int all_chains = segment->first + segment->count == e->kept; /* every chain of the ensemble has got this far */
    if (all_chains) gess__run_poll_clock(run, segment->iterations);
    bool reported = run->on_progress != NULL || gess__progress_file_due(run);
    return reported ? report_progress(run, segment, all_chains, err) : GESS_OK;
}
