#include "run/run.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/options.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A checkpoint a minute, where their number is not given. */
#define CHECKPOINT_SECONDS 60.0

const char *gess_version(void)
{
    return GESS_VERSION_TEXT;
}

/* ---- making and releasing ---- */

/* The first chain of every group of chains that have equally many draws. */
static size_t find_groups(const gess_run *run, size_t *starts)
{
    size_t groups = 0;
    for (size_t i = 0; i < run->ensembles; i++) {
        const gess__ensemble *e = run->ensemble[i];
        starts[groups++] = e->kept_first;
        if (e->half > 0) starts[groups++] = e->kept_first + e->half;
    }
    return groups;
}

/* Chains whose draws are kept. */
static size_t kept_chains(const gess_run *run)
{
    const gess__ensemble *last = run->ensemble[run->ensembles - 1];
    return last->kept_first + last->kept;
}

int gess__run_store(gess_run *run, const char *file, int again, gess__writer **writer, gess_error *err)
{
    char path[4096];
    const gess_model *model = run->model;
    size_t columns = run->ensemble[0]->target.columns, chains = kept_chains(run), *starts = NULL;
    const char **names = NULL;
    char(*numbered)[32] = NULL;
    GESS_TRY(gess__directory_path(run->directory, file, path, sizeof path, err));
    int status = gess__alloc_bytes(&names, columns, sizeof *names, "names", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&numbered, columns, sizeof *numbered, "names", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&starts, 2 * run->ensembles, sizeof *starts, "groups", err);
    if (status == GESS_OK) {
        size_t groups = find_groups(run, starts);
        names[0] = "lp__";
        for (size_t i = 0; i < model->dim; i++) names[1 + i] = gess__parameter_name(model, i, numbered[1 + i]);
        for (size_t i = 0; i < model->derived; i++) names[1 + model->dim + i] = model->derived_names[i];
        status = again ? gess__writer_reopen(writer, path, chains, groups, starts, columns, err)
                       : gess__writer_new(writer, path, chains, groups, starts, columns, names, run->options.thin, err);
    }
    free(starts);
    free(numbered);
    free(names);
    return status;
}

typedef int ensemble_maker(gess__ensemble **, const gess_model *, const gess_options *, size_t, size_t, gess__team *,
                           gess_error *);

/* Splits the chains evenly; earlier ensembles get one more where it does not divide. */
static int make_ensembles(gess_run *run, ensemble_maker *make, gess_error *err)
{
    const gess_options *o = &run->options;
    size_t chains = (size_t)o->chains, first = 0;
    run->ensembles = (size_t)o->ensembles;
    GESS_ALLOC(&run->ensemble, run->ensembles, err);
    for (size_t i = 0; i < run->ensembles; i++) {
        size_t count = chains / run->ensembles + (i < chains % run->ensembles);
        GESS_TRY(make(&run->ensemble[i], run->model, o, first, count, run->team, err));
        first += count;
        run->ensemble[i]->kept_first = i > 0 ? run->ensemble[i - 1]->kept_first + run->ensemble[i - 1]->kept : 0;
    }
    return GESS_OK;
}

/* Whether the run lives on another rank. */
static int is_guest(const gess_run *run)
{
    return run->options.comm != NULL && run->options.comm->rank > 0;
}

/* What a new run and one that goes on have in common. */
static int make_run(gess_run *run, const char *directory, ensemble_maker *make, gess_error *err)
{
    const gess_model *model = run->model;
    const gess_options *options = &run->options;
    run->started = run->checkpoint_time = gess__seconds();
    GESS_TRY(gess__model_check(model, err));
    GESS_TRY(gess__options_check(options, err));
    if (options->draws != GESS_AUTO && options->draws > UINT64_MAX / 4 / options->thin)
        return gess__fail(err, GESS_ERR_USAGE, "--draws times --thin is too large");
    if (is_guest(run)) return GESS_OK;
    GESS_TRY(gess__team_new(&run->team, (unsigned)options->threads, err));
    GESS_TRY(make_ensembles(run, make, err));
    if (options->draws == GESS_AUTO)
        GESS_TRY(gess__stop_rule_new(&run->watch, kept_chains(run), run->ensembles, run->ensemble[0]->target.columns, err));
    run->stats.dim = model->dim;
    run->stats.chains = kept_chains(run);
    run->stats.least_ess = run->stats.worst_rhat = NAN;
    if (directory != NULL) GESS_TRY(gess__copy_text(&run->directory, directory, err));
    return gess__history_open(&run->history, run->ensemble[0]->target.columns, err);
}

/* Lets the other ranks go, with the outcome and the statistics. Covered or not. */
typedef struct ending {
    gess_run *run;
    int status;
    const gess_error *error;
} ending;

static int dismiss(void *data, gess_error *err)
{
    const ending *e = data;
    (void)err;
    gess__coordinator_dismiss(e->run->ranks, e->status, e->error, &e->run->stats, sizeof e->run->stats);
    return GESS_OK;
}

static void end_for_guests(gess_run *run, int status, const gess_error *error)
{
    ending e = {run, status, error};
    gess__with_comm_thread(run->ranks, dismiss, &e, NULL);
}

/* How a run is made, for the thread that makes it while the calling thread carries messages. */
typedef struct making {
    gess_run *run;
    ensemble_maker *make;
    const char *directory;
} making;

static int begin_new(void *data, gess_error *err)
{
    const making *m = data;
    gess_run *run = m->run;
    GESS_TRY(make_run(run, m->directory, m->make, err));
    if (m->directory == NULL || is_guest(run)) return GESS_OK;
    GESS_TRY(gess__directory_make(run, run->options.overwrite, err));
    GESS_TRY(gess__config_write(run, err));
    if (run->options.save_warmup) GESS_TRY(gess__run_store(run, "warmup.gess", 0, &run->warmup_writer, err));
    GESS_TRY(gess__run_store(run, "draws.gess", 0, &run->writer, err));
    return gess__checkpoint_save(run, err); /* before the first sweep */
}

static int begin_again(void *data, gess_error *err)
{
    const making *m = data;
    gess_run *run = m->run;
    GESS_TRY(make_run(run, m->directory, m->make, err));
    if (is_guest(run)) return GESS_OK;
    GESS_TRY(gess__directory_lock(run, err));
    return gess__checkpoint_load(run, err);
}

/* Ranks other than 0 only note what the run is of. */
static int begin(gess_run **out, const gess_model *model, const gess_options *options, const char *directory,
                 ensemble_maker *make, int (*body)(void *data, gess_error *err), gess_error *err)
{
    GESS_ALLOC(out, 1, err);
    gess_run *run = *out;
    making m = {.run = run, .make = make, .directory = directory};
    gess_comm *comm = options->comm;
    run->model = model;
    run->options = *options;
    run->lock = -1;
    if (comm != NULL && comm->abi != GESS__COMM_ABI)
        return gess__fail(err, GESS_ERR_USAGE, "libgess and libgess_mpi are of different versions");
    if (comm != NULL && is_guest(run)) {
        comm->runs++;
        int status = body(&m, err);
        if (status != GESS_OK) gess__helper_rank_failed(comm, status, err);
        return status;
    }
    GESS_TRY(gess__coordinator_of(comm, &run->ranks, err));
    if (run->ranks != NULL) gess__coordinator_next_run(run->ranks);
    int status = gess__with_comm_thread(run->ranks, body, &m, err);
    /* the others are waiting in gess_run_go() */
    if (status != GESS_OK && run->ranks != NULL) end_for_guests(run, status, err);
    return status;
}

int gess_run_new(gess_run **out, const gess_model *model, const gess_options *options, const char *directory,
                 gess_error *err)
{
    return begin(out, model, options, directory, gess__ensemble_new, begin_new, err);
}

int gess_run_resume(gess_run **out, const gess_model *model, const gess_options *options, const char *directory,
                    gess_error *err)
{
    return begin(out, model, options, directory, gess__ensemble_make, begin_again, err);
}

void gess_run_free(gess_run *run)
{
    if (run == NULL) return;
    gess__writer_free(run->writer);
    gess__writer_free(run->warmup_writer);
    gess__stop_rule_free(run->watch);
    gess__stop_rule_free(run->live.watch);
    gess__team_free(run->live.alone);
    gess__history_free(&run->history);
    for (size_t i = 0; run->ensemble != NULL && i < run->ensembles; i++) gess__ensemble_free(run->ensemble[i]);
    free(run->ensemble);
    gess__team_free(run->team);
    gess__directory_unlock(run);
    free(run->directory);
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
    atomic_store(&run->halt, 1);
}

/* ---- statistics and sinks ---- */

static void update_stats(gess_run *run)
{
    gess_stats *s = &run->stats;
    double now = gess__seconds();
    s->evals = s->updates = s->failures = s->nans = 0;
    s->evals_speculative = run->speculative_before;
    s->seconds_learning = run->learning_before;
    s->iterations = UINT64_MAX;
    s->warmup_settled = 1;
    for (size_t i = 0; i < run->ensembles; i++) {
        const gess__ensemble *e = run->ensemble[i];
        s->evals += e->tally.evals;
        s->updates += e->tally.updates;
        s->failures += e->tally.failures;
        s->nans += e->tally.nans;
        s->seconds_learning += e->seconds_learning;
        s->evals_speculative += gess__ensemble_unused(e);
        s->nu = e->schedule->alone ? NAN : e->approx->nu;
        if (gess__ensemble_done(e) < s->iterations) s->iterations = gess__ensemble_done(e);
        if (e->warmup.iterations > s->warmup) s->warmup = e->warmup.iterations;
        s->warmup_settled &= e->warmup.settled;
    }
    s->seconds = run->seconds_before + now - run->started;
    if (run->sampling) {
        s->evals_sampling = s->evals - run->evals_warmup;
        s->seconds_sampling = run->sampling_before + now - run->sampling_started;
    }
}

/* Name of a column of the draws, cut between characters where it is too long. */
static void name_column(const gess_run *run, size_t column, char *name, size_t size)
{
    char numbered[32];
    const gess_model *model = run->model;
    const char *whole = column == 0            ? "lp__"
                        : column <= model->dim ? gess__parameter_name(model, column - 1, numbered)
                                               : model->derived_names[column - 1 - model->dim];
    size_t length = strlen(whole);
    if (length >= size)
        for (length = size - 1; length > 0 && ((unsigned char)whole[length] & 0xc0) == 0x80;) length--;
    memset(name, 0, size); /* it is saved in checkpoints */
    snprintf(name, size, "%.*s", (int)length, whole);
}

/* ---- the live view of a run whose number of draws is given ---- */

/* Doubles that it holds, and the share of the time that it may take. */
enum { LIVE_DOUBLES = 1 << 22, LIVE_FEWEST = 50 };
#define LIVE_SHARE 0.03

static int open_live(gess_run *run, gess_error *err)
{
    gess__progress_monitor *l = &run->live;
    if (!l->wanted || l->watch != NULL || run->watch != NULL || run->stats.draws > 0) return GESS_OK;
    GESS_TRY(gess__team_new(&l->alone, 1, err));
    GESS_TRY(gess__stop_rule_new(&l->watch, run->stats.chains, run->ensembles, run->ensemble[0]->target.columns, err));
    l->watch->most = LIVE_DOUBLES;
    return GESS_OK;
}

/* A look where it costs little of the time so far, at half as many draws again each time or later. */
static int look_live(gess_run *run, gess_error *err)
{
    gess__progress_monitor *l = &run->live;
    gess_stats *s = &run->stats;
    double before = gess__seconds(), spent = before - run->started;
    if (s->draws < LIVE_FEWEST || s->draws < l->looked + l->looked / 2 || 2.0 * l->cost > LIVE_SHARE * spent)
        return GESS_OK;
    int met;
    GESS_TRY(gess__stop_rule_check(l->watch, s->draws, l->alone, 1, (double)run->options.target_ess,
                               run->options.target_rhat, &met, &s->least_ess, &s->worst_rhat, err));
    name_column(run, l->watch->worst, s->slowest, sizeof s->slowest);
    l->looked = s->draws;
    l->cost = gess__seconds() - before;
    return GESS_OK;
}

/* Room first: draws that there is no room for would be lost. */
static int take_live(gess_run *run, const gess__ensemble *e, const gess__segment *segment, gess_error *err)
{
    gess__progress_monitor *l = &run->live;
    uint64_t end = segment->first_draw + segment->draws;
    if (end > l->room) {
        GESS_TRY(gess__stop_rule_expect(l->watch, 2 * end, err));
        l->room = 2 * end;
    }
    gess__stop_rule_take(l->watch, e->kept_first, segment);
    return GESS_OK;
}

/* Asks for a checkpoint where one is due: the workers come to the end of what they are at. */
static void heed_clock(gess_run *run, uint64_t iterations)
{
    double now = gess__seconds();
    uint64_t every = run->options.checkpoint_every;
    if (run->options.max_time > 0.0 && now - run->started > run->options.max_time) {
        run->out_of_time = 1;
        gess_stop(run);
    }
    if (run->directory == NULL) return;
    if (iterations < run->checkpointed) run->checkpointed = 0; /* another ensemble */
    if (every > 0 ? iterations >= run->checkpointed + every : now - run->checkpoint_time > CHECKPOINT_SECONDS) {
        run->checkpointed = iterations;
        atomic_store(&run->halt, 1);
    }
}

/* Gets every segment of every ensemble. Tallies are added up when a stretch ends; until then the segment
 * has what belongs to it. */
static int take_segment(void *user, const gess__segment *segment, gess_error *err)
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
        if (run->live.watch != NULL) GESS_TRY(take_live(run, e, segment, err));
        if (run->on_draw != NULL)
            run->on_draw(run->on_draw_user, first, segment->count, segment->first_draw, segment->draws,
                         e->target.columns, segment->rows);
        if (first + segment->count == run->stats.chains) run->stats.draws = segment->first_draw + segment->draws;
    }
    int whole = segment->first + segment->count == e->kept; /* every chain of the ensemble is there */
    if (whole) heed_clock(run, segment->iterations);
    if (run->on_progress != NULL) {
        uint64_t before = run->stats.iterations;
        update_stats(run);
        run->stats.iterations = whole ? segment->iterations : before;
        run->stats.evals += segment->evals;
        run->stats.updates += segment->updates;
        if (run->sampling) run->stats.evals_sampling += segment->evals;
        if (run->live.watch != NULL && run->sampling) GESS_TRY(look_live(run, err));
        run->on_progress(run->on_progress_user, &run->stats, run->planned);
    }
    return GESS_OK;
}

/* ---- the loop ---- */

/* What `auto` has chosen so far. */
static void log_choice(const gess_run *run, const gess__ensemble *e)
{
    const gess__warmup *u = &e->warmup;
    char map[256] = "none";
    if (e->mixture == NULL) return;
    if (u->stages == 1 && u->climbed > 0)
        gess__run_log(run, "    climb: %llu evaluations, %s", (unsigned long long)u->climbed,
                      u->summit ? "to a summit: T may come from the curvature there" : "no summit");
    if (e->target.learned != NULL) gess__learned_describe(e->target.learned, map, sizeof map);
    gess__run_log(run,
                  "    refinements %llu: map %s (gain %.4f); components %zu (gain %.4f); independence moves %u of %u "
                  "(accepted %.3f expected, %.3f in this stage; draws an evaluation: %.3f, ellipses %.3f)",
                  (unsigned long long)u->refines, map, u->map_gain, e->mixture->count, u->mixture_gain, e->globals,
                  e->period, u->acceptance, u->accepted, u->independence, u->ellipse);
}

/* How a kernel without an approximation fared in sampling. */
static void describe_walk(const gess__tally *t, size_t temperatures, char *text, size_t size)
{
    int used = 0;
    if (temperatures > 0)
        used = snprintf(text, size, "%zu temperatures, %.0f %% of swaps accepted; ", temperatures,
                        100.0 * (double)t->swapped / (double)(t->swaps > 0 ? t->swaps : 1));
    if (t->tried > 0)
        used += snprintf(text + used, size - (size_t)used, "%.1f %% of proposals accepted; ",
                         100.0 * (double)t->taken / (double)t->tried);
    if (t->divergent > 0)
        used += snprintf(text + used, size - (size_t)used, "%llu trajectories diverged; ",
                         (unsigned long long)t->divergent);
    if (used > 1) text[used - 2] = '\0';
}

/* The same in words, for people: of the first ensemble, the others choose alike. */
static void describe_method(gess_run *run)
{
    const gess__ensemble *e = run->ensemble[0];
    gess_stats *s = &run->stats;
    char map[80] = "none";
    memset(s->method, 0, sizeof s->method); /* it is saved in checkpoints */
    if (e->warmup.over && e->schedule->alone)
        describe_walk(&e->tally, e->chains.powers != NULL ? e->chains.count : 0, s->method, sizeof s->method);
    if (e->mixture == NULL || !e->warmup.over) return;
    if (e->target.learned != NULL) gess__learned_describe(e->target.learned, map, sizeof map);
    int used = snprintf(s->method, sizeof s->method, "map: %s; %zu component%s%s", map, e->mixture->count,
                        e->mixture->count == 1 ? "" : "s", e->warmup.by_summit ? ", by curvature" : "");
    if (used > 0 && (size_t)used < sizeof s->method && e->globals > 0 && e->tally.globals > 0)
        snprintf(s->method + used, sizeof s->method - (size_t)used,
                 "; %u of %u updates independence moves (%.0f %% accepted)", e->globals, e->period,
                 100.0 * (double)e->tally.accepted / (double)e->tally.globals);
}

static int warm_up(gess_run *run, gess_error *err)
{
    gess__record none = {.thin = run->warmup_writer != NULL ? run->options.thin : 0,
                         .sink = take_segment,
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
            log_choice(run, e);
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
                                   .sink = take_segment,
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
    name_column(run, run->watch->worst, s->slowest, sizeof s->slowest);
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
        update_stats(run);
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
        update_stats(run);
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

/* What the other ranks did. */
static void log_ranks(const gess_run *run)
{
    char text[512];
    for (size_t i = 0; i < 1000 && gess__coordinator_describe(run->ranks, i, text, sizeof text); i++)
        gess__run_log(run, "%s", text);
}

static int go_here(gess_run *run, gess_error *err)
{
    const gess_options *o = &run->options;
    if (run->finished) return write_history(run, err); /* it may have been killed before that */
    GESS_TRY(gess__coordinator_gather(run->ranks, run->ensembles, run->ensemble, o, stop_run, run, err));
    run->started = run->sampling_started = gess__seconds();
    if (o->draws != GESS_AUTO && o->warmup != GESS_AUTO) run->planned = o->warmup + o->draws * o->thin;
    GESS_TRY(open_live(run, err));
    int status;
    while ((status = go(run, err)) == GESS_ERR_STOPPED && !atomic_load(&run->stop)) {
        update_stats(run);
        GESS_TRY(gess__checkpoint_save(run, err));
        atomic_store(&run->halt, 0);
        if (atomic_load(&run->stop)) atomic_store(&run->halt, 1); /* asked to in between */
    }
    update_stats(run);
    run->finished = status == GESS_OK;
    describe_method(run);
    if (status == GESS_OK || status == GESS_ERR_STOPPED) {
        GESS_TRY(gess__checkpoint_save(run, err));
        GESS_TRY(write_history(run, err));
    }
    if (run->directory != NULL && run->stats.nans > 0) GESS_TRY(gess__nans_write(run, err));
    if (status == GESS_ERR_STOPPED && run->out_of_time) gess__fail(err, status, "--max-time is over");
    log_ranks(run);
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
    if (is_guest(run))
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
