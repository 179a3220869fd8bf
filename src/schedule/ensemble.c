#include "execute/ensemble.h"

#include "base/mem.h"
#include "base/options.h"
#include "adapt/map_search.h"
#include "execute/scheduler.h"
#include "adapt/laplace.h"
#include "kernel/ellipse.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table of schedules ---- */

#define GESS_SCHEDULE(name) extern const gess__schedule gess__schedule_##name;
#include "schedule/schedules.def"
#undef GESS_SCHEDULE

static const gess__schedule *const table[] = {
#define GESS_SCHEDULE(name) &gess__schedule_##name,
#include "schedule/schedules.def"
#undef GESS_SCHEDULE
};

const gess__schedule *gess__schedule_row(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i] : NULL;
}

const gess__schedule *gess__schedule_find(const char *name)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

/* ---- making and releasing ---- */

/* No draw depends on it. Two blocks a worker level out uneven chains; but vectors of lanes, and densities that are
 * given many points at once, want large ones, and a worker alone has nothing to level out. What a block works on should
 * stay in the nearer caches. All blocks are of about one size: a small last one would cost as much as the others. */
static size_t choose_block(size_t chains, size_t dim, unsigned workers)
{
    enum { LEAST = 32, MOST = 128, DOUBLES = 16384 };
    size_t blocks = workers > 1 ? 2 * (size_t)workers : 1, most = DOUBLES / dim > 8 ? DOUBLES / dim : 8;
    if (chains / blocks < LEAST && chains / workers >= LEAST) blocks = workers;
    if (most > MOST) most = MOST;
    size_t share = (chains + blocks - 1) / blocks;
    if (share <= most) return share;
    blocks = (chains + most - 1) / most;
    return (chains + blocks - 1) / blocks;
}

/* `auto` leaves chains alone where the kernel has no approximation to fit. */
static int choose_schedule(gess__ensemble *e, const char *name, gess_error *err)
{
    int alone = !(e->kernel->needs & GESS__NEEDS_APPROX);
    e->schedule = gess__schedule_find(alone && strcmp(name, "auto") == 0 ? "independent" : name);
    if (e->schedule == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--schedule %s: no such schedule; `gess sample --help` lists them",
                          name);
    if (alone && !e->schedule->alone)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--schedule %s is about an approximation, and the kernel %s has none; use --schedule auto",
                          name, e->kernel->name);
    if (!alone && e->schedule->alone)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--schedule %s fits no approximation, and the kernel %s needs one; use --kernel mh, or "
                          "another "
                          "schedule",
                          name, e->kernel->name);
    return GESS_OK;
}

static int choose_methods(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    e->kernel = gess__kernel_find(options->kernel);
    if (e->kernel == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--kernel %s: no such kernel; `gess sample --help` lists them",
                          options->kernel);
    GESS_TRY(choose_schedule(e, options->schedule, err));
    if (e->chains.count < e->schedule->min_chains)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--chains %llu: the %s schedule needs at least %zu chains in each of %llu ensemble%s; use "
                          "more",
                          (unsigned long long)options->chains, e->schedule->name, e->schedule->min_chains,
                          (unsigned long long)options->ensembles, options->ensembles == 1 ? "" : "s");
    if (strcmp(options->transform, "auto") != 0 && strcmp(options->transform, "none") != 0)
        return gess__fail(err, GESS_ERR_USAGE, "--transform %s: it must be auto or none", options->transform);
    uint64_t most = GESS__MAX_ANGLES - 1;
    if (strcmp(options->speculate, "auto") == 0)
        e->speculate = GESS_AUTO;
    else if (strcmp(options->speculate, "off") != 0 &&
             (!gess__parse_count(options->speculate, &e->speculate) || e->speculate < 1 || e->speculate > most))
        return gess__fail(err, GESS_ERR_USAGE, "--speculate %s: it must be auto, off or a number from 1 to %llu",
                          options->speculate, (unsigned long long)most);
    if ((e->kernel->needs & GESS__NEEDS_GRADIENT) && e->target.model->gradient == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--kernel %s needs a gradient, and this model gives none",
                          e->kernel->name);
    return GESS_OK;
}

/* What is needed to update blocks of chains. */
static int make_workplace(gess__ensemble *e, const gess_model *model, const gess_options *options, gess__team *team,
                          gess_error *err)
{
    e->team = team;
    GESS_TRY(gess__target_init(&e->target, model, strcmp(options->transform, "none") != 0, err));
    GESS_TRY(choose_methods(e, options, err));
    if (e->schedule->learns_maps && (e->kernel->needs & GESS__NEEDS_APPROX) && strcmp(options->transform, "none") != 0)
        GESS_TRY(gess__target_learn(&e->target, err));
    e->seed = options->seed;
    e->reuse = options->reuse;

    size_t dim = e->target.dim;
    unsigned workers = gess__team_size(team);
    e->chains.dim = dim;
    e->chains.state_size = e->kernel->state_size(dim);
    e->block = options->block > 0 ? (size_t)options->block : choose_block(e->chains.count, dim, workers);
    if (e->block > e->chains.count) e->block = e->chains.count;
    GESS_ALLOC(&e->updates, workers, err);
    for (unsigned worker = 0; worker < workers; worker++)
        GESS_TRY(gess__update_init(&e->updates[worker], e->kernel, &e->target, e->block, err));
    return gess__approx_new(&e->approx, dim, err);
}

int gess__ensemble_make(gess__ensemble **ensemble, const gess_model *model, const gess_options *options, size_t first,
                        size_t chains, gess__team *team, gess_error *err)
{
    GESS_ALLOC(ensemble, 1, err);
    gess__ensemble *e = *ensemble;
    e->chains.first = (uint32_t)first;
    e->chains.count = e->kept = chains;
    GESS_TRY(make_workplace(e, model, options, team, err));
    size_t dim = e->target.dim;
    GESS_ALLOC(&e->chains.x, chains * dim, err);
    GESS_ALLOC(&e->chains.value, chains, err);
    GESS_ALLOC(&e->chains.own, chains * e->chains.state_size, err);
    GESS_ALLOC(&e->chains.deltas, chains, err);
    GESS_ALLOC(&e->chains.log_ts, chains, err);
    GESS_ALLOC(&e->nans.points, GESS__NANS_KEPT * dim, err);
    GESS_TRY(gess__scheduler_new(&e->stream, e, err));
    GESS_TRY(gess__warmup_open(e, options, err));
    return e->schedule->open(e, options, err);
}

int gess__ensemble_make_helper(gess__ensemble **ensemble, const gess_model *model, const gess_options *options,
                              size_t block, gess__team *team, gess_error *err)
{
    GESS_ALLOC(ensemble, 1, err);
    gess__ensemble *e = *ensemble;
    gess_options o = *options;
    const gess__schedule *schedule = gess__schedule_find(o.schedule);
    size_t fewest = schedule != NULL ? schedule->min_chains : 1;
    o.block = block;
    o.approx = NULL; /* rank 0 has read it */
    e->chains.count = block > fewest ? block : fewest;
    e->warmup.over = 1; /* nothing is fitted here */
    GESS_TRY(make_workplace(e, model, &o, team, err));
    return e->schedule->open(e, &o, err);
}

int gess__ensemble_share(gess__ensemble *e, const gess_options *options, unsigned workers, gess_error *err)
{
    size_t block = e->chains.count / (2 * (size_t)workers); /* one to work on, one at hand */
    if (block < 1) block = 1;
    if (options->block == 0 && block < e->block) e->block = block;
    return gess__scheduler_share(e->stream, e, workers, err);
}

int gess__ensemble_new(gess__ensemble **ensemble, const gess_model *model, const gess_options *options, size_t first,
                       size_t chains, gess__team *team, gess_error *err)
{
    GESS_TRY(gess__ensemble_make(ensemble, model, options, first, chains, team, err));
    return gess__ensemble_start(*ensemble, options->init, err);
}

void gess__ensemble_free(gess__ensemble *e)
{
    if (e == NULL) return;
    gess__team_settle(e->team);
    if (e->updates != NULL)
        for (unsigned worker = 0; worker < gess__team_size(e->team); worker++) gess__update_free(&e->updates[worker]);
    free(e->updates);
    free(e->chains.x);
    free(e->chains.value);
    free(e->chains.own);
    free(e->chains.deltas);
    free(e->chains.log_ts);
    free(e->chains.powers);
    free(e->ladder.refused);
    free(e->ladder.scratch);
    free(e->window.points);
    free(e->window.values);
    free(e->window.packed);
    free(e->window.own);
    free(e->window.own_before);
    free(e->nans.points);
    gess__target_free(&e->target);
    gess__scheduler_free(e->stream);
    gess__approx_free(e->approx);
    gess__approx_free(e->spare);
    gess__fitter_free(e->fitter);
    gess__mixture_free(e->mixture);
    gess__map_search_free(e->refiner);
    gess__laplace_free(e->summit);
    free(e);
}

uint64_t gess__ensemble_done(const gess__ensemble *e)
{
    return e->done[0] < e->done[1] ? e->done[0] : e->done[1];
}
