/* Makes, resumes and frees a run: opens its directory, files, samplers and ranks. It also has the short functions of
 * <gess/gess.h> on a run. loop.c runs it. */
#include "adapt/chain_count.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/options.h"
#include "cluster/helper_rank.h"
#include "model/model.h"
#include "run/aside.h"
#include "run/checkpoint.h"
#include "run/config.h"
#include "run/device.h"
#include "run/directory.h"
#include "run/finish.h"
#include "run/init_from.h"
#include "run/isolation.h"
#include "run/run.h"
#include "run/verify.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* starts[]: the first chain of every group of chains that advance in step and so have equally many draws. */
static size_t find_groups(const gess_run *run, size_t *starts)
{
    size_t groups = 0;
    for (size_t i = 0; i < run->ensembles; i++) {
        const gess__ensemble *e = run->ensemble[i];
        starts[groups++] = e->kept_first;
        if (e->group > 0) starts[groups++] = e->kept_first + e->group;
    }
    return groups;
}

/* Number of chains whose draws are kept, in all ensembles. */
static size_t kept_chains(const gess_run *run)
{
    const gess__ensemble *last = run->ensemble[run->ensembles - 1];
    return last->kept_first + last->kept;
}

int gess__run_open_store(gess_run *run, const char *file, int reopen, gess__writer **writer, gess_error *err)
{
    char path[4096];
    size_t columns = run->ensemble[0]->target.columns, chains = kept_chains(run), *starts = NULL;
    const char **names = NULL;
    char(*numbered)[32] = NULL;
    GESS_TRY(gess__directory_path(run->directory, file, path, sizeof path, err));
    int status = gess__alloc_bytes(&names, columns, sizeof *names, "names", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&numbered, columns, sizeof *numbered, "names", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&starts, 2 * run->ensembles, sizeof *starts, "groups", err);
    if (status == GESS_OK) {
        size_t groups = find_groups(run, starts);
        for (size_t i = 0; i < columns; i++) names[i] = gess__column_name(run->model, i, numbered[i]);
        size_t shown = run->model->shown;
        const gess__writer_columns described = {columns, names, shown > 0 ? run->model->dim : 0, shown};
        status = reopen ? gess__writer_reopen(writer, run->folder, path, chains, groups, starts, columns, err)
                        : gess__writer_create(writer, run->folder, path, chains, groups, starts, &described,
                                              run->options.thin, err);
    }
    free(starts);
    free(numbered);
    free(names);
    return status;
}

typedef int sampler_maker(gess__sampler **, const gess_model *, const gess_options *, size_t, size_t, gess__team *,
                          gess_error *);

/* Splits the chains evenly over the ensembles; the first ones get one more if there is a remainder. */
static int make_samplers(gess_run *run, sampler_maker *make, gess_error *err)
{
    const gess_options *o = &run->options;
    size_t chains = (size_t)o->chains, first = 0;
    run->ensembles = (size_t)o->ensembles;
    GESS_ALLOC(&run->sampler, run->ensembles, err);
    GESS_ALLOC(&run->ensemble, run->ensembles, err);
    for (size_t i = 0; i < run->ensembles; i++) {
        size_t count = chains / run->ensembles + (i < chains % run->ensembles);
        GESS_TRY(make(&run->sampler[i], run->model, o, first, count, run->team, err));
        run->ensemble[i] = &run->sampler[i]->ensemble;
        run->ensemble[i]->accelerator = o->accelerator;
        first += count;
        run->ensemble[i]->kept_first = i > 0 ? run->ensemble[i - 1]->kept_first + run->ensemble[i - 1]->kept : 0;
    }
    return GESS_OK;
}

/* Makes samplers whose chains are at their starts, with the draws of another run if the options ask for them. */
static int make_started_samplers(gess_run *run, gess_error *err)
{
    gess_options *o = &run->options;
    GESS_TRY(gess__init_check(o, err));
    const char *directory = gess__init_directory(o);
    if (directory == NULL) return make_samplers(run, gess__sampler_new, err);
    gess__table points;
    int status = gess__init_from(run->model, o, directory, &points, err);
    o->points = &points;
    if (status == GESS_OK) status = make_samplers(run, gess__sampler_new, err);
    o->points = NULL;
    gess__table_free(&points);
    return status;
}

int gess__run_is_helper(const gess_run *run)
{
    return run->options.comm != NULL && run->options.comm->rank > 0;
}

/* Checks, and what exists before the directory: a new run and a resumed one have it in common. */
static int prepare(gess_run *run, const char *directory, gess_error *err)
{
    gess_options *options = &run->options;
    run->started = run->checkpoint_time = gess__seconds();
    GESS_TRY(gess__model_check(run->model, err));
    GESS_TRY(gess__options_check(options, err));
    if (options->chains == GESS_AUTO) options->chains = gess__auto_chains(run->model->dim, options);
    if (options->draws != GESS_AUTO && options->draws > UINT64_MAX / 4 / options->thin)
        return gess__fail(err, GESS_ERR_USAGE, "--draws times --thin is too large");
    if (gess__run_is_helper(run)) return GESS_OK;
    if (directory != NULL) GESS_TRY(gess__copy_text(&run->directory, directory, err));
    if (run->model->serial && options->threads > 1)
        snprintf(run->warning, sizeof run->warning,
                 "the Stan model was built without STAN_THREADS=true, so it is evaluated by one thread; build it with "
                 "STAN_THREADS=true, or use --isolate, to use %llu",
                 (unsigned long long)options->threads);
    return gess__team_new(&run->team, run->model->serial ? 1 : (unsigned)options->threads, err);
}

/* The samplers, at their starts if the run is new, and what depends on them. */
static int make_run(gess_run *run, sampler_maker *make, gess_error *err)
{
    GESS_TRY(make == gess__sampler_new ? make_started_samplers(run, err) : make_samplers(run, make, err));
    if (run->options.draws == GESS_AUTO) {
        GESS_TRY(gess__stop_rule_new(&run->stop_rule, kept_chains(run), run->ensembles,
                                     run->ensemble[0]->target.columns, run->model->blobs, run->ensemble[0]->group == 0,
                                     err));
        gess__stop_rule_periodic(run->stop_rule, run->model);
    }
    run->stats.dim = run->model->dim;
    run->stats.chains = kept_chains(run);
    run->stats.least_ess = run->stats.worst_rhat = run->stats.worst_nested_rhat = NAN;
    run->stats.evals_forecast = NAN;
    return gess__history_open(&run->history, run->ensemble[0]->target.columns, err);
}

static int open_journal(gess_run *run, int keep, gess_error *err)
{
    int status = gess__journal_open(&run->journal, run->folder, run->directory, gess__config_sources(run), keep, err);
    run->options.journal = status == GESS_OK ? run->journal : NULL;
    return status;
}

/* The outcome of a run that could not be made, for the helper ranks. */
typedef struct ending {
    gess_run *run;
    int status;
    const gess_error *error;
} ending;

static int dismiss_helpers(void *data, gess_error *err)
{
    const ending *e = data;
    (void)err;
    gess__coordinator_dismiss(e->run->ranks, e->status, e->error, &e->run->stats, sizeof e->run->stats);
    return GESS_OK;
}

static void end_for_helpers(gess_run *run, int status, const gess_error *error)
{
    ending e = {run, status, error};
    gess__with_comm_thread(run->ranks, dismiss_helpers, &e, NULL);
}

/* Arguments of make_new() and make_resumed(), which may run beside the comm thread. */
typedef struct making {
    gess_run *run;
    sampler_maker *make; /* of a resumed run */
    const char *directory;
} making;

/* A new run without files, at its starts. */
static int make_started(gess_run *run, gess_error *err)
{
    GESS_TRY(make_run(run, gess__sampler_new, err));
    return gess__verify_starts(run, err);
}

/* The files of a new run. config.json and the journal come before the starts: slow starts are not lost if the process
 * is killed. */
static int make_files(gess_run *run, int again, gess_error *err)
{
    GESS_TRY(gess__directory_make(run, again || run->options.overwrite, again, err));
    if (again) gess__isolation_recall(run);
    GESS_TRY(gess__config_write(run, err));
    GESS_TRY(open_journal(run, again, err));
    GESS_TRY(make_started(run, err));
    if (run->options.save_warmup) GESS_TRY(gess__run_open_store(run, "warmup.gess", 0, &run->warmup_writer, err));
    GESS_TRY(gess__run_open_store(run, "draws.gess", 0, &run->writer, err));
    return gess__checkpoint_save(run, err); /* so that a run killed at any time can be resumed */
}

/* `again`: it was killed before its first checkpoint. */
static int make_anew(const making *m, int again, gess_error *err)
{
    gess_run *run = m->run;
    GESS_TRY(prepare(run, m->directory, err));
    if (gess__run_is_helper(run)) return GESS_OK;
    if (m->directory == NULL) return make_started(run, err);
    int status = make_files(run, again, err);
    if (status != GESS_OK && !again && !run->abandoned) gess__aside_undo(run);
    return status;
}

static int make_new(void *data, gess_error *err)
{
    return make_anew(data, 0, err);
}

/* Whether a run was killed between config.json and its first checkpoint. */
static int is_only_begun(const char *directory)
{
    char path[4096];
    return !gess__checkpoint_exists(directory) &&
           gess__directory_path(directory, "config.json", path, sizeof path, NULL) == GESS_OK &&
           access(path, F_OK) == 0;
}

static int make_resumed(void *data, gess_error *err)
{
    making *m = data;
    gess_run *run = m->run;
    if (!gess__run_is_helper(run)) gess__aside_recover(m->directory);
    if (!gess__run_is_helper(run) && is_only_begun(m->directory)) {
        return make_anew(m, 1, err);
    }
    GESS_TRY(prepare(run, m->directory, err));
    if (gess__run_is_helper(run)) return GESS_OK;
    GESS_TRY(gess__directory_lock(run, err));
    gess__isolation_recall(run);
    GESS_TRY(open_journal(run, 1, err));
    GESS_TRY(make_run(run, m->make, err));
    GESS_TRY(gess__checkpoint_load(run, err));
    return gess__config_store_draws(run, err);
}

/* Calls `make_it` on rank 0 with the comm thread running. On a helper rank it only checks the model and the options. */
static int begin_run(gess_run *run, making *m, int (*make_it)(void *data, gess_error *err), gess_error *err)
{
    gess_comm *comm = run->options.comm;
    if (comm != NULL && comm->abi != GESS__COMM_ABI)
        return gess__fail(err, GESS_ERR_USAGE, "libgess and libgess_mpi are of different versions");
    if (gess__run_is_helper(run)) {
        comm->runs++;
        int status = make_it(m, err);
        if (status != GESS_OK) gess__helper_rank_failed(comm, status, err);
        return status;
    }
    GESS_TRY(gess__coordinator_of(comm, &run->ranks, err));
    if (run->ranks != NULL) gess__coordinator_next_run(run->ranks);
    int status = gess__with_comm_thread(run->ranks, make_it, m, err);
    /* the helper ranks wait in gess_run_go() */
    if (status != GESS_OK && run->ranks != NULL) end_for_helpers(run, status, err);
    return status;
}

static int begin(gess_run **out, const gess_model *model, const gess_options *options, const char *directory,
                 sampler_maker *make, int (*make_it)(void *data, gess_error *err), gess_error *err)
{
    gess_run *run = NULL;
    GESS_ALLOC(&run, 1, err);
    making m = {.run = run, .make = make, .directory = directory};
    run->model = model;
    run->folder = run->lock = run->start_folder = -1;
    int status = gess__options_copy(&run->options, options, err);
    if (status == GESS_OK) status = gess__run_open_device(run, err);
    if (status == GESS_OK) status = gess__isolation_begin(run, err);
    gess__isolation_session(run, 1);
    if (status == GESS_OK) status = begin_run(run, &m, make_it, err);
    gess__isolation_session(run, 0);
    if (status == GESS_ERR_MODEL && run->abandoned) status = gess__run_set_stopped(run, err);
    if (status == GESS_OK)
        *out = run;
    else
        gess_run_free(run);
    return status;
}

int gess_run_new(gess_run **run, const gess_model *model, const gess_options *options, const char *directory,
                 gess_error *err)
{
    GESS_REQUIRE(run, err);
    *run = NULL;
    GESS_REQUIRE(model, err);
    GESS_REQUIRE(options, err);
    return begin(run, model, options, directory, gess__sampler_new, make_new, err);
}

int gess_run_resume(gess_run **run, const gess_model *model, const gess_options *options, const char *directory,
                    gess_error *err)
{
    GESS_REQUIRE(run, err);
    *run = NULL;
    GESS_REQUIRE(model, err);
    GESS_REQUIRE(options, err);
    GESS_REQUIRE(directory, err);
    return begin(run, model, options, directory, gess__sampler_make, make_resumed, err);
}

void gess_run_free(gess_run *run)
{
    if (run == NULL) return;
    gess__writer_free(run->writer);
    gess__writer_free(run->warmup_writer);
    gess__stop_rule_free(run->stop_rule);
    gess__stop_rule_free(run->monitor.rule);
    gess__team_free(run->monitor.team);
    gess__history_free(&run->history);
    for (size_t i = 0; run->sampler != NULL && i < run->ensembles; i++) gess__sampler_free(run->sampler[i]);
    free(run->sampler);
    free(run->ensemble);
    gess__run_close_device(run);
    gess__team_free(run->team);
    gess__isolation_end(run);
    gess__journal_close(run->journal);
    gess__directory_unlock(run);
    free(run->directory);
    gess__options_clear(&run->options);
    free(run);
}

int gess_run_on_draw(gess_run *run, gess_draw_fn *fn, void *user, gess_error *err)
{
    GESS_REQUIRE(run, err);
    run->on_draw = fn;
    run->on_draw_user = user;
    return GESS_OK;
}

int gess_run_on_warmup(gess_run *run, gess_draw_fn *fn, void *user, gess_error *err)
{
    GESS_REQUIRE(run, err);
    run->on_warmup = fn;
    run->on_warmup_user = user;
    return GESS_OK;
}

int gess_run_end_warmup(gess_run *run, gess_error *err)
{
    GESS_REQUIRE(run, err);
    for (size_t i = 0; i < run->ensembles; i++) gess__warmup_end_early(&run->sampler[i]->adaptation);
    return GESS_OK;
}

int gess_run_on_progress(gess_run *run, gess_progress_fn *fn, void *user, gess_error *err)
{
    GESS_REQUIRE(run, err);
    run->on_progress = fn;
    run->on_progress_user = user;
    run->monitor.wanted = fn != NULL;
    return GESS_OK;
}

int gess_run_on_log(gess_run *run, gess_log_fn *fn, void *user, gess_error *err)
{
    GESS_REQUIRE(run, err);
    run->on_log = fn;
    run->on_log_user = user;
    return GESS_OK;
}

int gess_run_warning(const gess_run *run, char *text, size_t size, gess_error *err)
{
    GESS_REQUIRE(run, err);
    GESS_REQUIRE(text, err);
    if (size > 0) snprintf(text, size, "%s", run->warning);
    return GESS_OK;
}

int gess_run_max_time(gess_run *run, double seconds, gess_error *err)
{
    GESS_REQUIRE(run, err);
    if (!(seconds >= 0.0)) return gess__fail(err, GESS_ERR_USAGE, "gess_run_max_time: a time cannot be negative");
    run->options.max_time = seconds;
    return GESS_OK;
}

int gess_run_stats(const gess_run *run, gess_stats *stats, size_t size, gess_error *err)
{
    GESS_REQUIRE(run, err);
    GESS_REQUIRE(stats, err);
    gess_stats all = run->stats;
    all.finished = run->finished;
    gess__fill_struct(stats, size, &all, sizeof all);
    return GESS_OK;
}
