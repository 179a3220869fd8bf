/* The main loop of a run: warm up every ensemble, sample until enough draws are stored, save checkpoints on the way.
 *
 * When run->pause is set, the scheduler (execute/scheduler.h) ends its stretch early, and gess__sampler_advance()
 * returns GESS_ERR_STOPPED. advance_run() then starts again from the position that the run has reached, so a pause
 * never changes a draw. */
#include "base/assert.h"
#include "base/clock.h"
#include "cluster/helper_rank.h"
#include "run/aside.h"
#include "run/checkpoint.h"
#include "run/config.h"
#include "run/device.h"
#include "run/evidence.h"
#include "run/finish.h"
#include "run/isolation.h"
#include "run/log.h"
#include "run/look.h"
#include "run/relearn.h"
#include "run/run.h"
#include "run/sink.h"
#include "run/stats.h"
#include "run/stop_check.h"

#include <stdio.h>
#include <string.h>

/* Warms up one ensemble after the other, stage by stage. */
static int warm_up(gess_run *run, gess_error *err)
{
    gess__record record = {.from = run->given_up,
                           .thin = run->warmup_writer != NULL || run->on_warmup != NULL ? run->options.thin : 0,
                           .sink = gess__run_sink,
                           .user = run,
                           .stop = &run->pause,
                           .quit = &run->stop};
    for (run->current = 0; run->current < run->ensembles; run->current++) {
        gess__sampler *s = run->sampler[run->current];
        while (!s->adaptation.warmup.over) {
            GESS_TRY(gess__sampler_warm_up(s, &record, err));
            gess__run_log_stage(run, run->current, s);
            gess__progress_staged(run);
            GESS_TRY(gess__history_stage(&run->history, run->current, s, err));
        }
    }
    return GESS_OK;
}

/* The smallest number of kept draws that an ensemble has. */
static uint64_t min_draws(const gess_run *run)
{
    uint64_t min = UINT64_MAX;
    for (size_t i = 0; i < run->ensembles; i++) {
        uint64_t warmup = run->sampler[i]->adaptation.warmup.iterations;
        uint64_t draws = (gess__ensemble_done(run->ensemble[i]) - warmup) / run->options.thin;
        if (draws < min) min = draws;
    }
    return min;
}

/* Samples every ensemble up to `draws` kept draws per chain. Several ensembles take turns, one block of draws at a
 * time, so that the order of blocks in the file is the same wherever a run was stopped or extended. */
static int sample_up_to(gess_run *run, uint64_t draws, gess_error *err)
{
    uint64_t thin = run->options.thin;
    uint64_t block = run->writer != NULL ? gess__writer_unit(run->writer) : draws;
    if (run->stop_rule != NULL) GESS_TRY(gess__stop_rule_expect(run->stop_rule, draws, err));
    for (uint64_t until = min_draws(run); until < draws;) {
        until = (until / block + 1) * block;
        if (run->ensembles == 1 || until > draws) until = draws;
        for (run->current = 0; run->current < run->ensembles; run->current++) {
            gess__sampler *s = run->sampler[run->current];
            gess__record record = {.from = s->adaptation.warmup.iterations,
                                   .thin = thin,
                                   .sink = gess__run_sink,
                                   .user = run,
                                   .stop = &run->pause};
            GESS_TRY(gess__sampler_advance(s, record.from + until * thin, &record, err));
        }
    }
    return GESS_OK;
}

/* Looks for modes that the draws have missed. */
static int look(gess_run *run, gess_error *err)
{
    int again = 0;
    GESS_TRY(gess__run_look(run, &again, err));
    return again ? gess__run_relearn(run, "a mode was missed", err) : GESS_OK;
}

/* Samples and checks in turn, until the targets are met, that of the evidence too, --max-evals is reached, T
 * disappoints or a mode was missed: then run->sampling is 0. */
static int sample_to_targets(gess_run *run, gess_error *err)
{
    int more = 0;
    if (run->next_check == 0 && run->stats.targets_met) GESS_TRY(gess__evidence_wants_draws(run, &more, err));
    while (run->next_check > 0 || !run->stats.targets_met || more) {
        if (run->next_check == 0) run->next_check = gess__targets_next_check(run, run->checked_draws);
        if (run->next_check == 0) break;
        GESS_TRY(sample_up_to(run, run->next_check, err));
        gess__run_update_stats(run);
        run->checked_draws = run->next_check;
        run->next_check = 0;
        GESS_TRY(gess__targets_check(run, run->checked_draws, GESS__FIRST_FAILING_COLUMN, err));
        if (gess__run_should_relearn(run)) return gess__run_relearn(run, "T disappoints", err);
        more = 0;
        if (run->stats.targets_met) GESS_TRY(gess__evidence_wants_draws(run, &more, err));
    }
    /* A check that fails stops at the first failing column. The final figures must cover all columns. */
    if (run->stats.targets_met) return look(run, err);
    if (run->checked_draws == 0) return GESS_OK;
    return gess__targets_check(run, run->checked_draws, GESS__ALL_COLUMNS, err);
}

static int begin_sampling(gess_run *run, gess_error *err)
{
    GESS_TRY(warm_up(run, err));
    gess__run_update_stats(run);
    run->sampling = 1;
    run->sampling_started = gess__seconds();
    run->evals_warmup = run->stats.evals;
    run->checkpoint_iterations = 0;
    return GESS_OK;
}

/* Takes the run from its present position to its end, or to the next pause. */
static int advance_run(gess_run *run, gess_error *err)
{
    const gess_options *o = &run->options;
    do {
        if (!run->sampling) GESS_TRY(begin_sampling(run, err));
        if (o->draws == GESS_AUTO) GESS_TRY(sample_to_targets(run, err));
    } while (!run->sampling);
    if (o->draws == GESS_AUTO) return GESS_OK;
    run->planned = run->stats.warmup + o->draws * o->thin;
    return sample_up_to(run, o->draws, err);
}

static void stop_run(void *run)
{
    gess_stop(run);
}

/* Of this session only. */
static void begin_progress_file(gess_run *run)
{
    run->progress_file = (gess__progress_file){0};
    gess__run_update_stats(run);
    gess__progress_estimate(run);
    gess__progress_file_write(run, "running", NULL);
}

/* One session: from gess_run_go() to the end of the run or to a stop. */
static int run_session(gess_run *run, gess_error *err)
{
    const gess_options *o = &run->options;
    if (run->finished) return gess__run_write_history(run, err); /* a kill may have prevented it */
    GESS_TRY(gess__coordinator_gather(run->ranks, run->ensembles, run->ensemble, o, stop_run, run, err));
    gess__evidence_forget(run);
    run->started = run->sampling_started = gess__seconds();
    run->out_of_time = 0;
    run->forecast.evals_before = run->stats.evals;
    if (o->draws != GESS_AUTO && o->warmup != GESS_AUTO) run->planned = o->warmup + o->draws * o->thin;
    GESS_TRY(gess__progress_open(run, err));
    gess__run_log_device(run);
    begin_progress_file(run);
    int status;
    while ((status = advance_run(run, err)) == GESS_ERR_STOPPED && !atomic_load(&run->stop)) {
        gess__run_update_stats(run);
        GESS_TRY(gess__checkpoint_save(run, err));
        atomic_store(&run->pause, 0);
        if (atomic_load(&run->stop)) atomic_store(&run->pause, 1); /* gess_stop() was called meanwhile */
    }
    return gess__run_finish(run, status, err);
}

/* The session of rank 0, which tells the helper ranks its outcome. */
static int run_session_with_helpers(void *data, gess_error *err)
{
    gess_run *run = data;
    gess_error none = {0};
    int status = run_session(run, err != NULL ? err : &none);
    gess__coordinator_dismiss(run->ranks, status, err != NULL ? err : &none, &run->stats, sizeof run->stats);
    return status;
}

static int go(gess_run *run, gess_error *err)
{
    if (gess__run_is_helper(run))
        return gess__helper_rank_serve(run->options.comm, run->model, &run->options, &run->stop, &run->stats,
                                       sizeof run->stats, err);
    GESS_ASSERT(run->ensembles > 0);
    if (run->ranks == NULL) return run_session(run, err);
    return gess__with_comm_thread(run->ranks, run_session_with_helpers, run, err);
}

/* Adds to the message of a run that failed early that the run before it is there again. */
static void put_back(const gess_run *run, gess_error *err)
{
    size_t used = strlen(err->text);
    snprintf(err->text + used, sizeof err->text - used, "; the run that was in %s before is there again",
             run->directory);
}

int gess_run_go(gess_run *run, gess_error *err)
{
    gess_error none = {0};
    GESS_REQUIRE(run, err);
    if (run->failed != GESS_OK)
        return gess__fail(err, run->failed, "this run has failed and cannot go on; resume it from its directory");
    run->stats.out_of_time = 0;
    gess__isolation_session(run, 1);
    int status = go(run, err != NULL ? err : &none);
    gess__isolation_session(run, 0);
    run->stats.out_of_time = run->out_of_time;
    /* a stop is heeded once; another call continues */
    atomic_store(&run->stop, 0);
    atomic_store(&run->pause, 0);
    if (status == GESS_ERR_STOPPED && !run->abandoned) {
        run->seconds_before = run->stats.seconds;
        run->sampling_before = run->stats.seconds_sampling;
    } else {
        run->failed = status;
        if (status != GESS_OK && !run->abandoned && run->set_aside && !run->sampling) {
            gess__aside_undo(run);
            if (err != NULL) put_back(run, err);
        }
    }
    return status;
}

int gess_run_extend(gess_run *run, uint64_t draws, gess_error *err)
{
    GESS_REQUIRE(run, err);
    if (run->options.draws == GESS_AUTO)
        return gess__fail(err, GESS_ERR_USAGE,
                          "a run that samples until its targets are met has no number of draws to "
                          "raise; make it with --draws");
    if (draws < run->options.draws)
        return gess__fail(err, GESS_ERR_USAGE, "the run has %llu draws per chain already, so it cannot have %llu",
                          (unsigned long long)run->options.draws, (unsigned long long)draws);
    run->options.draws = draws;
    if (run->finished) {
        run->seconds_before = run->stats.seconds;
        run->sampling_before = run->stats.seconds_sampling;
    }
    run->finished = 0;
    return run->directory != NULL && !gess__run_is_helper(run) ? gess__config_store_draws(run, err) : GESS_OK;
}
