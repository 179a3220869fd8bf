/* Checkpoints: a file `checkpoint` in the run directory, and the one before it.
 *
 * The draws are synced first, so that a checkpoint never knows of draws that the disk does not have.
 * What the draws file holds beyond the checkpoint is cut off when the run goes on, and drawn again,
 * bit for bit. */
#include "base/archive.h"
#include "run/run.h"

#include <string.h>
#include <unistd.h>

/* Everything of the run that its future depends on. */
static void archive_run(gess_run *run, gess__archive *a, uint64_t *bytes, uint64_t *warmup_bytes)
{
    gess__archive_expect(a, run->ensembles);
    gess__archive_expect(a, run->ensemble[0]->target.columns);
    gess__archive_expect(a, run->options.thin);
    GESS_ARCHIVE(a, bytes);
    GESS_ARCHIVE(a, warmup_bytes);
    GESS_ARCHIVE(a, &run->sampling);
    GESS_ARCHIVE(a, &run->finished);
    GESS_ARCHIVE(a, &run->looked);
    GESS_ARCHIVE(a, &run->goal);
    GESS_ARCHIVE(a, &run->evals_warmup);
    GESS_ARCHIVE(a, &run->seconds_before);
    GESS_ARCHIVE(a, &run->sampling_before);
    GESS_ARCHIVE(a, &run->stats);
    for (size_t i = 0; i < run->ensembles && !a->bad; i++) gess__ensemble_archive(run->ensemble[i], a);
}

/* Into an archive, with the lengths of the files and the time as they are now. */
static void archive_now(gess_run *run, gess__archive *a)
{
    uint64_t bytes = gess__writer_bytes(run->writer);
    uint64_t warmup_bytes = run->warmup_writer != NULL ? gess__writer_bytes(run->warmup_writer) : 0;
    double seconds = run->seconds_before, sampling = run->sampling_before;
    run->seconds_before = run->stats.seconds;
    run->sampling_before = run->stats.seconds_sampling;
    archive_run(run, a, &bytes, &warmup_bytes);
    run->seconds_before = seconds;
    run->sampling_before = sampling;
}

void gess__checkpoint_anchor(gess_run *run)
{
    gess__archive_free(&run->anchor);
    if (run->directory != NULL) archive_now(run, &run->anchor);
}

int gess__checkpoint_save(gess_run *run, gess_error *err)
{
    gess__archive a = {0};
    if (run->directory == NULL) return GESS_OK;
    GESS_TRY(gess__writer_sync(run->writer, err));
    if (run->warmup_writer != NULL) GESS_TRY(gess__writer_sync(run->warmup_writer, err));
    archive_now(run, &a);
    uint64_t anchored = run->anchor.size;
    GESS_ARCHIVE(&a, &anchored);
    gess__archive_bytes(&a, run->anchor.bytes, run->anchor.size);
    int status = gess__archive_save(&a, run->directory, "checkpoint", err);
    gess__archive_free(&a);
    run->checkpoint_time = gess__run_now();
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
    gess__watch_take(run->watch, 0, &segment);
}

static int refill_watch(gess_run *run, const char *path, gess_error *err)
{
    if (run->watch == NULL || !run->sampling) return GESS_OK;
    GESS_TRY(gess__watch_expect(run->watch, run->goal > run->looked ? run->goal : run->looked, err));
    return gess__draws_visit(path, refill, run, err);
}

static int reopen(gess_run *run, const char *name, uint64_t bytes, gess__writer **writer, char *path, size_t size,
                  gess_error *err)
{
    GESS_TRY(gess__directory_path(run->directory, name, path, size, err));
    return gess__writer_reopen(writer, path, run->ensemble[0]->target.columns, bytes, err);
}

/* The state, then the anchor. */
static int read_state(gess_run *run, gess__archive *a, uint64_t *bytes, uint64_t *warmup_bytes)
{
    uint64_t anchored = 0;
    archive_run(run, a, bytes, warmup_bytes);
    GESS_ARCHIVE(a, &anchored);
    if (a->bad || anchored != a->size - a->at) return 0;
    gess__archive_bytes(&run->anchor, a->bytes + a->at, (size_t)anchored);
    return !run->anchor.bad;
}

/* Goes back to the anchor, to extend a complete run from there. */
static int go_back(gess_run *run, uint64_t *bytes, uint64_t *warmup_bytes)
{
    gess__archive *a = &run->anchor;
    a->reading = 1;
    archive_run(run, a, bytes, warmup_bytes);
    int good = !a->bad && a->at == a->size;
    gess__archive_free(a);
    return good;
}

int gess__checkpoint_load(gess_run *run, gess_error *err)
{
    gess__archive a = {0};
    int old = 0;
    uint64_t bytes = 0, warmup_bytes = 0;
    char path[4096];
    GESS_TRY(gess__archive_load(&a, run->directory, "checkpoint", &old, err));
    int good = read_state(run, &a, &bytes, &warmup_bytes);
    gess__archive_free(&a);
    if (good && run->finished && run->options.draws != GESS_AUTO && run->options.draws > run->stats.draws) {
        run->finished = 0;
        if (run->anchor.size > 0) good = go_back(run, &bytes, &warmup_bytes);
    }
    if (!good)
        return gess__fail(err, GESS_ERR_FILE,
                          "the checkpoint in %s does not belong to this model and these options: something of "
                          "config.json "
                          "was changed, or the model was",
                          run->directory);
    if (old) gess__run_log(run, "the checkpoint was damaged or missing: going on from the one before");
    if (warmup_bytes > 0)
        GESS_TRY(reopen(run, "warmup.gess", warmup_bytes, &run->warmup_writer, path, sizeof path, err));
    GESS_TRY(reopen(run, "draws.gess", bytes, &run->writer, path, sizeof path, err));
    return refill_watch(run, path, err);
}
