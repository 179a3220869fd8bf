#include "base/clock.h"
#include "run/checkpoint.h"
#include "run/describe.h"
#include "run/directory.h"
#include "run/log.h"
#include "run/nans.h"
#include "run/run.h"
#include "run/sink.h"
#include "run/stats.h"

static int warm_up(gess_run *run, gess_error *err)
{
    gess__record none = {.thin = run->warmup_writer != NULL ? run->options.thin : 0,
                         .sink = gess__run_take_segment,
                         .user = run,
                         .stop = &run->halt};
    for (run->present = 0; run->present < run->ensembles; run->present++) {
        gess__ensemble *e = run->ensemble[run->present];
        while (!e->warmup.over) {
            GESS_TRY(gess__warmup_stage(e, &none, err));
            gess__run_log(run,
                          "ensemble %zu, stage %u: iterations %llu, evaluations %llu, %.3f an update, nu %.4g, score "
                          "%.4f, "
                          "gain %.4f, gap %.4f, shrinkage %g%s, mean log density %.4f%s%s",
                          run->present + 1, e->warmup.stages, (unsigned long long)gess__ensemble_done(e),
                          (unsigned long long)e->tally.evals, e->warmup.each, e->approx->nu, e->warmup.score,
                          e->warmup.gain, e->warmup.gap, e->warmup.shrinkage,
                          e->warmup.leans ? " towards curvature" : "", e->warmup.mean_value,
                          e->warmup.moved ? ", moving" : "", e->warmup.by_summit ? ", T by curvature" : "");
            gess__run_log_choice(run, e);
            GESS_TRY(gess__history_stage(&run->history, run->present, e, err));
        }
    }
    return GESS_OK;
}

/* Every ensemble up to `draws` kept draws. Several take turns, a block of draws each, so that the order of
 * their blocks in the file does not depend on where a run was stopped or extended. */
static int sample_up_to(gess_run *run, uint64_t draws, gess_error *err)
{
    uint64_t thin = run->options.thin, first = UINT64_MAX;
    uint64_t unit = run->writer != NULL ? gess__writer_unit(run->writer) : draws;
    if (run->watch != NULL) GESS_TRY(gess__stop_rule_expect(run->watch, draws, err));
    for (size_t i = 0; i < run->ensembles; i++) {
        const gess__ensemble *e = run->ensemble[i];
        uint64_t have = (gess__ensemble_done(e) - e->warmup.iterations) / thin;
        if (have < first) first = have;
    }
    for (uint64_t until = first; until < draws;) {
        until = (until / unit + 1) * unit;
        if (run->ensembles == 1 || until > draws) until = draws;
        for (run->present = 0; run->present < run->ensembles; run->present++) {
            gess__ensemble *e = run->ensemble[run->present];
            gess__record record = {.from = e->warmup.iterations,
                                   .thin = thin,
                                   .sink = gess__run_take_segment,
                                   .user = run,
                                   .stop = &run->halt};
            GESS_TRY(gess__ensemble_advance(e, record.from + until * thin, &record, err));
        }
    }
    return GESS_OK;
}

/* Draws at the next look: half as many again, but not more than the evaluations left allow. 0: none
 * are left. Counts evaluations, never seconds. */
static uint64_t next_look(const gess_run *run, uint64_t draws)
{
    const gess_stats *s = &run->stats;
    uint64_t next = draws < 34 ? 50 : draws + draws / 2;
    double cost = draws > 0 ? (double)s->evals_sampling / (double)draws
                            : (double)(run->options.chains * run->options.thin) *
                                  (s->updates > 0 ? (double)s->evals / (double)s->updates : 1.0);
    double left = (double)run->options.max_evals - (double)s->evals;
    if (left < cost) return draws > 0 ? 0 : 1;
    return (double)(next - draws) * cost <= left ? next : draws + (uint64_t)(left / cost);
}

static int check(gess_run *run, uint64_t draws, int all, gess_error *err)
{
    const gess_options *o = &run->options;
    gess_stats *s = &run->stats;
    GESS_TRY(gess__stop_rule_check(run->watch, draws, run->team, all, (double)o->target_ess, o->target_rhat, &s->met,
                                   &s->least_ess, &s->worst_rhat, err));
    gess__run_name_column(run, run->watch->worst, s->slowest, sizeof s->slowest);
    gess__run_log(run, "check at %llu draws: evaluations %llu, smallest ESS %.0f, worst R-hat %.4f%s",
                  (unsigned long long)draws, (unsigned long long)s->evals, s->least_ess, s->worst_rhat,
                  s->met ? ", targets met"
                  : all  ? ", targets not met"
                         : " or worse");
    return gess__history_check(&run->history, draws, s, err);
}

/* Until the targets are met or the evaluations are spent. */
static int sample_to_targets(gess_run *run, gess_error *err)
{
    while (run->goal > 0 || !run->stats.met) {
        if (run->goal == 0) run->goal = next_look(run, run->looked);
        if (run->goal == 0) break;
        GESS_TRY(sample_up_to(run, run->goal, err));
        gess__run_update_stats(run);
        run->looked = run->goal;
        run->goal = 0;
        GESS_TRY(check(run, run->looked, 0, err));
    }
    /* a look that failed stopped at the first column; what is reported in the end is all of them */
    return run->stats.met || run->looked == 0 ? GESS_OK : check(run, run->looked, 1, err);
}

/* From wherever the run stands to its end, or to the next halt. */
static int go(gess_run *run, gess_error *err)
{
    const gess_options *o = &run->options;
    if (!run->sampling) {
        GESS_TRY(warm_up(run, err));
        gess__run_update_stats(run);
        run->sampling = 1;
        run->sampling_started = gess__seconds();
        run->evals_warmup = run->stats.evals;
        run->checkpointed = 0;
    }
    if (o->draws == GESS_AUTO) return sample_to_targets(run, err);
    run->planned = run->stats.warmup + o->draws * o->thin;
    return sample_up_to(run, o->draws, err);
}

static int write_history(gess_run *run, gess_error *err)
{
    if (run->directory == NULL) return GESS_OK;
    json_t *root = gess__history_json(&run->history, run->ensembles, run->ensemble, &run->stats);
    return gess__directory_json(run->directory, "history.json", root, err);
}

static void stop_run(void *run)
{
    gess_stop(run);
}

static int go_here(gess_run *run, gess_error *err)
{
    const gess_options *o = &run->options;
    if (run->finished) return write_history(run, err); /* it may have been killed before that */
    GESS_TRY(gess__coordinator_gather(run->ranks, run->ensembles, run->ensemble, o, stop_run, run, err));
    run->started = run->sampling_started = gess__seconds();
    if (o->draws != GESS_AUTO && o->warmup != GESS_AUTO) run->planned = o->warmup + o->draws * o->thin;
    GESS_TRY(gess__progress_open(run, err));
    int status;
    while ((status = go(run, err)) == GESS_ERR_STOPPED && !atomic_load(&run->stop)) {
        gess__run_update_stats(run);
        GESS_TRY(gess__checkpoint_save(run, err));
        atomic_store(&run->halt, 0);
        if (atomic_load(&run->stop)) atomic_store(&run->halt, 1); /* asked to in between */
    }
    gess__run_update_stats(run);
    run->finished = status == GESS_OK;
    gess__run_describe_method(run);
    if (status == GESS_OK || status == GESS_ERR_STOPPED) {
        GESS_TRY(gess__checkpoint_save(run, err));
        GESS_TRY(write_history(run, err));
    }
    if (run->directory != NULL && run->stats.nans > 0) GESS_TRY(gess__nans_write(run, err));
    if (status == GESS_ERR_STOPPED && run->out_of_time) gess__fail(err, status, "--max-time is over");
    gess__run_log_ranks(run);
    gess__run_log(run, "ended: %s; evaluations %llu, draws %llu", gess_status_text(status),
                  (unsigned long long)run->stats.evals, (unsigned long long)run->stats.draws);
    return status;
}

static int go_with_guests(void *data, gess_error *err)
{
    gess_run *run = data;
    gess_error none = {0};
    int status = go_here(run, err != NULL ? err : &none);
    gess__coordinator_dismiss(run->ranks, status, err != NULL ? err : &none, &run->stats, sizeof run->stats);
    return status;
}

int gess_run_go(gess_run *run, gess_error *err)
{
    if (gess__run_is_guest(run))
        return gess__helper_rank_serve(run->options.comm, run->model, &run->options, &run->stop, &run->stats,
                                       sizeof run->stats, err);
    return run->ranks != NULL ? gess__with_comm_thread(run->ranks, go_with_guests, run, err) : go_here(run, err);
}

int gess__run_extend(gess_run *run, uint64_t draws, gess_error *err)
{
    if (run->directory != NULL || run->options.draws == GESS_AUTO || !run->finished)
        return gess__fail(err, GESS_ERR_INTERNAL, "only a run without files that has ended goes on in memory");
    run->options.draws = draws;
    run->finished = 0;
    run->seconds_before = run->stats.seconds;
    run->sampling_before = run->stats.seconds_sampling;
    return GESS_OK;
}
