#include "run/sink.h"

#include "run/clock.h"
#include "run/run.h"
#include "run/stats.h"

/* Gets every segment of every ensemble. Tallies are added up when a stretch ends; until then the segment
 * has what belongs to it. */
int gess__run_take_segment(void *user, const gess__segment *segment, gess_error *err)
{
    gess_run *run = user;
    const gess__ensemble *e = run->ensemble[run->present];
    size_t first = e->kept_first + segment->first;
    gess__writer *writer = run->sampling ? run->writer : run->warmup_writer;
    if (segment->draws > 0 && writer != NULL)
        GESS_TRY(gess__writer_append(writer, first, segment->count, segment->first_draw, segment->draws, segment->rows,
                                     err));
    if (segment->draws > 0 && run->sampling) {
        if (run->watch != NULL) gess__stop_rule_take(run->watch, e->kept_first, segment);
        if (run->live.watch != NULL) GESS_TRY(gess__progress_take(run, e, segment, err));
        if (run->on_draw != NULL)
            run->on_draw(run->on_draw_user, first, segment->count, segment->first_draw, segment->draws,
                         e->target.columns, segment->rows);
        if (first + segment->count == run->stats.chains) run->stats.draws = segment->first_draw + segment->draws;
    }
    int whole = segment->first + segment->count == e->kept; /* every chain of the ensemble is there */
    if (whole) gess__run_heed_clock(run, segment->iterations);
    if (run->on_progress != NULL) {
        uint64_t before = run->stats.iterations;
        gess__run_update_stats(run);
        run->stats.iterations = whole ? segment->iterations : before;
        run->stats.evals += segment->evals;
        run->stats.updates += segment->updates;
        if (run->sampling) run->stats.evals_sampling += segment->evals;
        if (run->live.watch != NULL && run->sampling) GESS_TRY(gess__progress_look(run, err));
        run->on_progress(run->on_progress_user, &run->stats, run->planned);
    }
    return GESS_OK;
}
