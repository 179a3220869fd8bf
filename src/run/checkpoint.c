/* Checkpoints: a file `checkpoint` in the run directory, and the one before it.
 *
 * The draws are synced first, so that a checkpoint never knows of draws that the disk does not have.
 * What the draws file holds beyond the checkpoint is cut off when the run goes on, and drawn again,
 * bit for bit. */
#include "base/archive.h"
#include "base/clock.h"
#include "draws/draws.h"
#include "run/run.h"

#include <string.h>
#include <unistd.h>

/* Everything of the run that its future depends on, but for the stores of draws. */
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
    GESS_ARCHIVE(a, &run->looked);
    GESS_ARCHIVE(a, &run->goal);
    /* the column that the next check looks at first */
    uint64_t first = run->watch != NULL ? run->watch->worst : 0;
    GESS_ARCHIVE(a, &first);
    if (first >= run->ensemble[0]->target.columns) a->bad = 1;
    if (run->watch != NULL && !a->bad) run->watch->worst = (size_t)first;
    GESS_ARCHIVE(a, &run->evals_warmup);
    GESS_ARCHIVE(a, &run->seconds_before);
    GESS_ARCHIVE(a, &run->sampling_before);
    GESS_ARCHIVE(a, &run->learning_before);
    GESS_ARCHIVE(a, &run->stats);
    gess__history_archive(&run->history, a);
    for (size_t i = 0; i < run->ensembles && !a->bad; i++) gess__ensemble_archive(run->ensemble[i], a);
}

int gess__checkpoint_save(gess_run *run, gess_error *err)
{
    gess__archive a = {0};
    int has_warmup = run->warmup_writer != NULL;
    if (run->directory == NULL) return GESS_OK;
    GESS_TRY(gess__writer_sync(run->writer, err));
    if (has_warmup) GESS_TRY(gess__writer_sync(run->warmup_writer, err));
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
    if (status == GESS_OK) status = gess__archive_save(&a, run->directory, "checkpoint", err);
    gess__archive_free(&a);
    run->checkpoint_time = gess__seconds();
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

/* Puts the draws that are stored back into what the stop rules look at. */
static void refill(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                   const double *rows)
{
    gess_run *run = user;
    gess__segment segment = {.first = first_chain,
                             .count = chains,
                             .first_draw = first_draw,
                             .draws = draws,
                             .rows = rows};
    gess__stop_rule_take(run->watch, 0, &segment);
}

static int refill_watch(gess_run *run, gess_error *err)
{
    char path[4096];
    if (run->watch == NULL || !run->sampling) return GESS_OK;
    GESS_TRY(gess__directory_path(run->directory, "draws.gess", path, sizeof path, err));
    GESS_TRY(gess__stop_rule_expect(run->watch, run->goal > run->looked ? run->goal : run->looked, err));
    /* the stores end with whole blocks now; what waits goes back into the file for this */
    GESS_TRY(gess__writer_sync(run->writer, err));
    return gess__draws_visit(path, refill, run, err);
}

/* *whole: the archive was read to its end. A complete run that is not extended keeps its files as they
 * are, and the rest is not read. */
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
    GESS_TRY(gess__run_store(run, "draws.gess", 1, &run->writer, err));
    GESS_TRY(gess__writer_archive(run->writer, a, err));
    if (!a->bad && has_warmup) {
        GESS_TRY(gess__run_store(run, "warmup.gess", 1, &run->warmup_writer, err));
        GESS_TRY(gess__writer_archive(run->warmup_writer, a, err));
    }
    *whole = !a->bad && a->at == a->size;
    return GESS_OK;
}

int gess__checkpoint_load(gess_run *run, gess_error *err)
{
    gess__archive a = {0};
    int old = 0, whole = 0;
    GESS_TRY(gess__archive_load(&a, run->directory, "checkpoint", &old, err));
    int status = read_state(run, &a, &whole, err);
    gess__archive_free(&a);
    GESS_TRY(status);
    if (!whole)
        return gess__fail(err, GESS_ERR_FILE,
                          "the checkpoint in %s does not belong to this model and these options: something of "
                          "config.json was changed, or the model was",
                          run->directory);
    if (old) gess__run_log(run, "the checkpoint was damaged or missing: going on from the one before");
    return run->finished ? GESS_OK : refill_watch(run, err);
}
