/* Saves and loads everything that the future of a run depends on: archive_run() lists the contents of a checkpoint, and
 * base/archive.c has the bytes of the file. It is the file `checkpoint` in the run directory; the one before it is kept
 * as `checkpoint.old`.
 *
 * The draws are synced first, so that a checkpoint never counts draws that are not on the disk. Draws that the file
 * holds beyond the checkpoint are cut off on resuming and drawn again, bit for bit. */
#include "run/checkpoint.h"

#include "base/archive.h"
#include "base/assert.h"
#include "base/clock.h"
#include "draws/draws.h"
#include "run/aside.h"
#include "run/config.h"
#include "run/directory.h"
#include "run/log.h"
#include "run/run.h"
#include "run/verify.h"

#include <string.h>
#include <unistd.h>

/* Everything that the future of the run depends on, except the stores of draws. */
static void archive_run(gess_run *run, gess__archive *a, int *has_warmup)
{
    gess__archive_expect(a, run->ensembles);
    gess__archive_expect(a, run->ensemble[0]->target.columns);
    gess__archive_expect_text(a, run->model->name != NULL ? run->model->name : "");
    gess__archive_expect_text(a, run->options.transform);
    gess__archive_expect(a, run->options.thin);
    gess__archive_expect(a, run->options.reuse);
    gess__archive_expect(a, run->options.target_ess);
    gess__archive_expect(a, run->options.max_evals);
    uint64_t rhat;
    memcpy(&rhat, &run->options.target_rhat, sizeof rhat);
    gess__archive_expect(a, rhat);
    GESS_ARCHIVE(a, has_warmup);
    GESS_ARCHIVE(a, &run->sampling);
    GESS_ARCHIVE(a, &run->finished);
    GESS_ARCHIVE(a, &run->checked_draws);
    GESS_ARCHIVE(a, &run->next_check);
    /* the next check begins with this column */
    uint64_t failed = run->stop_rule != NULL ? run->stop_rule->failed_column : 0;
    GESS_ARCHIVE(a, &failed);
    if (failed >= run->ensemble[0]->target.columns - run->model->blobs) a->bad = 1;
    if (run->stop_rule != NULL && !a->bad) run->stop_rule->failed_column = (size_t)failed;
    GESS_ARCHIVE(a, &run->evals_warmup);
    GESS_ARCHIVE(a, &run->given_up);
    GESS_ARCHIVE(a, &run->seconds_before);
    GESS_ARCHIVE(a, &run->sampling_before);
    GESS_ARCHIVE(a, &run->learning_before);
    gess__archive_bytes(a, &run->stats, offsetof(gess_stats, checked_draws)); /* which is archived above */
    run->stats.checked_draws = run->checked_draws;
    gess__history_archive(&run->history, a);
    for (size_t i = 0; i < run->ensembles && !a->bad; i++) gess__sampler_archive(run->sampler[i], a);
}

/* Tells the watcher that a checkpoint is being written, or is written. */
static void watch_saving(const gess_run *run, int what)
{
    const gess_evaluation e = {.what = what};
    if (run->options.watch != NULL) run->options.watch(run->options.watch_user, 0, &e);
}

static int save(gess_run *run, gess_error *err)
{
    gess__archive a = {0};
    int has_warmup = run->warmup_writer != NULL;
    GESS_TRY(gess__directory_check(run, err));
    GESS_TRY(gess__writer_sync(run->writer, err));
    if (has_warmup) GESS_TRY(gess__writer_sync(run->warmup_writer, err));
    /* for a session that resumes from here, this one is an earlier session */
    double seconds = run->seconds_before, sampling = run->sampling_before, learning = run->learning_before;
    run->seconds_before = run->stats.seconds;
    run->sampling_before = run->stats.seconds_sampling;
    run->learning_before = run->stats.seconds_learning;
    archive_run(run, &a, &has_warmup);
    run->seconds_before = seconds;
    run->sampling_before = sampling;
    run->learning_before = learning;
    int status = gess__writer_archive(run->writer, &a, err);
    if (status == GESS_OK && has_warmup) status = gess__writer_archive(run->warmup_writer, &a, err);
    if (status == GESS_OK) status = gess__archive_save(&a, run->folder, run->directory, "checkpoint", err);
    gess__archive_free(&a);
    run->checkpoint_time = gess__seconds();
    if (status != GESS_OK) return status;
    gess__journal_clear(run->journal);
    return run->sampling ? gess__aside_drop(run, err) : GESS_OK;
}

int gess__checkpoint_save(gess_run *run, gess_error *err)
{
    if (run->directory == NULL) return GESS_OK;
    GESS_ASSERT(run->lock >= 0 && run->writer != NULL);
    watch_saving(run, GESS_WATCH_SAVING);
    int status = save(run, err);
    /* a directory that is gone, or another run's by now, says more than the file that could not be written into it */
    if (status == GESS_ERR_FILE) (void)gess__directory_check(run, err);
    watch_saving(run, GESS_WATCH_SAVED);
    return status;
}

int gess__checkpoint_exists(const char *directory)
{
    static const char *const names[] = {"checkpoint", "checkpoint.old"};
    for (size_t i = 0; i < 2; i++) {
        char path[4096];
        if (gess__directory_path(directory, names[i], path, sizeof path, NULL) == GESS_OK && access(path, F_OK) == 0)
            return 1;
    }
    return 0;
}

static void take_stored_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                              const double *rows)
{
    gess_run *run = user;
    gess__segment segment = {.first = first_chain,
                             .count = chains,
                             .first_draw = first_draw,
                             .draws = draws,
                             .rows = rows};
    gess__stop_rule_take(run->stop_rule, 0, &segment);
}

/* Gives the stored draws to the stop rule again. */
static int refill_stop_rule(gess_run *run, gess_error *err)
{
    char path[4096];
    if (run->stop_rule == NULL || !run->sampling) return GESS_OK;
    GESS_TRY(gess__directory_path(run->directory, "draws.gess", path, sizeof path, err));
    uint64_t draws = run->next_check > run->checked_draws ? run->next_check : run->checked_draws;
    GESS_TRY(gess__stop_rule_expect(run->stop_rule, draws, err));
    /* the file ends with a whole block now, and the writer holds the rest: write it, so that it can be read */
    GESS_TRY(gess__writer_sync(run->writer, err));
    return gess__draws_visit(path, take_stored_draws, run, err);
}

/* Refuses to go on with another density, before any file is touched. */
static int check_density(gess_run *run, gess_error *err)
{
    int changed;
    double difference;
    GESS_TRY(gess__verify_states(run, &changed, &difference, err));
    if (!changed) return GESS_OK;
    gess__journal_forget(run->journal);
    return gess__config_store_change(run, difference, err);
}

/* *whole: the archive was read to its end. For a finished run that is not extended the rest is not read, and its files
 * stay as they are. */
static int read_state(gess_run *run, gess__archive *a, int *whole, gess_error *err)
{
    int has_warmup = 0;
    archive_run(run, a, &has_warmup);
    *whole = 0;
    if (a->bad) return GESS_OK;
    run->speculative_before = run->stats.evals_speculative;
    if (run->options.draws != GESS_AUTO && run->options.draws > run->stats.draws) run->finished = 0;
    if (run->finished) {
        *whole = 1;
        return GESS_OK;
    }
    GESS_TRY(check_density(run, err));
    GESS_TRY(gess__run_open_store(run, "draws.gess", 1, &run->writer, err));
    GESS_TRY(gess__writer_archive(run->writer, a, err));
    if (!a->bad && has_warmup) {
        GESS_TRY(gess__run_open_store(run, "warmup.gess", 1, &run->warmup_writer, err));
        GESS_TRY(gess__writer_archive(run->warmup_writer, a, err));
    }
    *whole = !a->bad && a->at == a->size;
    return GESS_OK;
}

/* A checkpoint of another version of gess: the draws can be read, but the run cannot be resumed. */
static int refuse_format(const gess_run *run, unsigned format, gess_error *err)
{
    char version[32];
    gess__config_version(run->directory, version, sizeof version);
    return gess__fail(err, GESS_ERR_FILE,
                      "gess %s wrote the run in %s, and its checkpoint has format %u; gess %s resumes format %d only. "
                      "`gess summary`, `gess diagnose`, `gess report` and `gess export` still read the draws; to "
                      "resume "
                      "the run, use gess %s",
                      version, run->directory, format, gess_version(), GESS__ARCHIVE_FORMAT, version);
}

int gess__checkpoint_load(gess_run *run, gess_error *err)
{
    gess__archive a = {0};
    int old = 0, whole = 0;
    GESS_ASSERT(run->directory != NULL && run->lock >= 0 && run->writer == NULL);
    int status = gess__archive_load(&a, run->directory, "checkpoint", &old, err);
    if (status != GESS_OK && a.format != 0) return refuse_format(run, a.format, err);
    GESS_TRY(status);
    status = read_state(run, &a, &whole, err);
    gess__archive_free(&a);
    GESS_TRY(status);
    if (!whole)
        return gess__fail(err, GESS_ERR_FILE,
                          "the checkpoint in %s does not belong to this model and these options: config.json or the "
                          "model was changed",
                          run->directory);
    if (old) gess__run_log(run, "the checkpoint was damaged or missing: resuming from the one before");
    return run->finished ? GESS_OK : refill_stop_rule(run, err);
}
