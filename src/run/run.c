#include "run/run.h"

#include "base/mem.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Doubles of draws held before they are written: 4 MiB, or one draw of every chain if that is more. */
enum { BUFFER = 1 << 19 };

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *gess_version(void)
{
    return GESS_VERSION_TEXT;
}

/* ---- making and releasing ---- */

static int check_model(const gess_model *model, gess_error *err)
{
    if (model->abi != GESS_ABI)
        return gess__fail(err, GESS_ERR_MODEL, "the model was built for interface version %u, this library has %u; rebuild it",
                          model->abi, GESS_ABI);
    if (model->dim < 1 || model->logp == NULL)
        return gess__fail(err, GESS_ERR_MODEL, "the model has no %s", model->dim < 1 ? "parameters" : "log density");
    return GESS_OK;
}

static int open_store(gess_run *run, gess_error *err)
{
    char path[4096];
    size_t columns = 1 + run->model->dim;
    const char **names = NULL;
    char (*numbered)[32] = NULL;
    GESS_TRY(gess__directory_path(run->directory, "draws.gess", path, sizeof path, err));
    int status = gess__alloc_bytes(&names, columns, sizeof *names, "names", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&numbered, columns, sizeof *numbered, "names", err);
    if (status == GESS_OK) {
        names[0] = "lp__";
        for (size_t i = 1; i < columns; i++) names[i] = gess__parameter_name(run->model, i - 1, numbered[i]);
        status = gess__writer_new(&run->writer, path, run->ensemble->chains.count, columns, names, run->options.thin, err);
    }
    free(numbered);
    free(names);
    return status;
}

int gess_run_new(gess_run **out, const gess_model *model, const gess_options *options, const char *directory,
                 gess_error *err)
{
    GESS_ALLOC(out, 1, err);
    gess_run *run = *out;
    run->model = model;
    run->options = *options;
    GESS_TRY(check_model(model, err));
    GESS_TRY(gess__team_new(&run->team, (unsigned)options->threads, err));
    GESS_TRY(gess__ensemble_new(&run->ensemble, model, options, run->team, err));
    size_t row = run->ensemble->chains.count * (1 + model->dim);
    run->capacity = row > BUFFER ? row : BUFFER;
    GESS_ALLOC(&run->rows, run->capacity, err);
    run->stats.dim = model->dim;
    run->stats.chains = run->ensemble->chains.count;
    if (directory == NULL) return GESS_OK;
    GESS_TRY(gess__copy_text(&run->directory, directory, err));
    GESS_TRY(gess__directory_make(directory, options->overwrite, err));
    GESS_TRY(gess__config_write(run, err));
    return open_store(run, err);
}

void gess_run_free(gess_run *run)
{
    if (run == NULL) return;
    gess__writer_free(run->writer);
    gess__ensemble_free(run->ensemble);
    gess__team_free(run->team);
    free(run->directory);
    free(run->rows);
    free(run);
}

void gess_run_on_draw(gess_run *run, gess_draw_fn *fn, void *user)
{
    run->on_draw = fn;
    run->on_draw_user = user;
}

void gess_run_on_progress(gess_run *run, gess_progress_fn *fn, void *user)
{
    run->on_progress = fn;
    run->on_progress_user = user;
}

void gess_run_stats(const gess_run *run, gess_stats *stats)
{
    *stats = run->stats;
}

void gess_stop(gess_run *run)
{
    atomic_store(&run->stop, 1);
}

/* ---- the loop ---- */

static void update_stats(gess_run *run)
{
    const gess__ensemble *e = run->ensemble;
    gess_stats *s = &run->stats;
    double now = seconds_now();
    s->evals = e->tally.evals;
    s->updates = e->tally.updates;
    s->failures = e->tally.failures;
    s->nans = e->tally.nans;
    s->nu = e->approx->nu;
    s->seconds = now - run->started;
    if (run->sampling_started > 0.0) {
        s->evals_sampling = s->evals - run->evals_warmup;
        s->seconds_sampling = now - run->sampling_started;
    }
}

/* Hands the draws of a stretch to the store and to whoever asked for them. */
static int keep_draws(gess_run *run, const gess__stretch *stretch, const gess__record *record, gess_error *err)
{
    uint64_t draws = gess__record_kept(record, stretch->start, stretch->iterations);
    if (draws == 0) return GESS_OK;
    uint64_t first = gess__record_kept(record, 0, stretch->start);
    if (run->writer != NULL)
        GESS_TRY(gess__writer_append(run->writer, stretch->first, stretch->count, first, draws, run->rows, err));
    if (run->on_draw != NULL)
        run->on_draw(run->on_draw_user, stretch->first, stretch->count, first, draws, run->model->dim, run->rows);
    if (stretch->first + stretch->count == run->ensemble->chains.count) run->stats.draws = first + draws;
    return GESS_OK;
}

/* Every chain up to `until` iterations. */
static int advance(gess_run *run, uint64_t until, uint64_t planned, const gess__record *record, gess_error *err)
{
    gess__ensemble *e = run->ensemble;
    size_t rows = run->capacity / ((1 + run->model->dim) * e->chains.count);
    uint64_t most = rows > 1000 ? 1000 : rows; /* iterations between two looks at the stop flag */
    for (;;) {
        gess__stretch stretch;
        e->schedule->next(e, until, most, &stretch);
        if (stretch.count == 0) return GESS_OK;
        GESS_TRY(gess__ensemble_run(e, &stretch, record, err));
        GESS_TRY(keep_draws(run, &stretch, record, err));
        if (stretch.first + stretch.count == e->chains.count) run->stats.iterations = stretch.start + stretch.iterations;
        update_stats(run);
        if (run->on_progress != NULL) run->on_progress(run->on_progress_user, &run->stats, planned);
        if (atomic_load(&run->stop)) return gess__fail(err, GESS_ERR_STOPPED, "stopped");
    }
}

int gess_run_go(gess_run *run, gess_error *err)
{
    const gess_options *o = &run->options;
    uint64_t sampling = o->draws * o->thin, planned = o->warmup + sampling;
    gess__record nothing = {.rows = NULL, .thin = 1};
    gess__record record = {.rows = run->rows, .from = o->warmup, .thin = o->thin};
    if (sampling / o->thin != o->draws || planned < sampling)
        return gess__fail(err, GESS_ERR_USAGE, "--draws times --thin is too large");
    run->started = seconds_now();
    int status = advance(run, o->warmup, planned, &nothing, err);
    if (status == GESS_OK) {
        run->sampling_started = seconds_now();
        run->evals_warmup = run->ensemble->tally.evals;
        status = advance(run, planned, planned, &record, err);
    }
    update_stats(run);
    if (run->writer != NULL && (status == GESS_OK || status == GESS_ERR_STOPPED)) GESS_TRY(gess__writer_sync(run->writer, err));
    return status;
}
