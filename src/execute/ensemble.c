/* Makes an ensemble: target, frozen state, memory of the workers, scheduler. It also chooses the chains per block.
 * scheduler.c runs the ensemble. */
#include "execute/ensemble.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/options.h"
#include "execute/scheduler.h"
#include "kernel/ellipse.h"

#include <stdlib.h>
#include <string.h>

/* Chooses the chains per block; no draw depends on it. Two blocks per worker even out chains that differ in cost. But
 * vectors of lanes, and densities that get many points per call, want large blocks, and a single worker has nothing to
 * even out. A block should stay in the nearer caches. All blocks are about the same size: a small last one would cost
 * as much as the others. */
static size_t choose_block(size_t chains, size_t dim, unsigned workers)
{
    enum { MIN_SHARE = 32, MAX_CHAINS = 128, MAX_DOUBLES = 16384 };
    size_t blocks = workers > 1 ? 2 * (size_t)workers : 1, max = MAX_DOUBLES / dim > 8 ? MAX_DOUBLES / dim : 8;
    if (chains / blocks < MIN_SHARE && chains / workers >= MIN_SHARE) blocks = workers;
    if (max > MAX_CHAINS) max = MAX_CHAINS;
    size_t share = (chains + blocks - 1) / blocks;
    if (share <= max) return share;
    blocks = (chains + max - 1) / max;
    return (chains + blocks - 1) / blocks;
}

static int read_options(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    if (strcmp(options->transform, "auto") != 0 && strcmp(options->transform, "none") != 0)
        return gess__fail(err, GESS_ERR_USAGE, "--transform %s: it must be auto or none", options->transform);
    uint64_t max = GESS__MAX_ANGLES - 1;
    if (strcmp(options->speculate, "auto") == 0)
        e->speculate = GESS_AUTO;
    else if (strcmp(options->speculate, "off") != 0 &&
             (!gess__parse_count(options->speculate, &e->speculate) || e->speculate < 1 || e->speculate > max))
        return gess__fail(err, GESS_ERR_USAGE, "--speculate %s: it must be auto, off or a number from 1 to %llu",
                          options->speculate, (unsigned long long)max);
    if ((e->kernel->needs & GESS__NEEDS_GRADIENT) && e->target.model->gradient == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--kernel %s needs a gradient, and this model gives none",
                          e->kernel->name);
    e->seed = options->seed;
    return GESS_OK;
}

/* Makes what a worker needs to update blocks of chains: the target, the frozen state and memory. */
static int make_workers(gess__ensemble *e, const gess_model *model, const gess_options *options,
                        const gess__ensemble_settings *settings, gess__team *team, gess_error *err)
{
    int transform = strcmp(options->transform, "none") != 0;
    e->team = team;
    e->kernel = settings->kernel;
    e->chains.first = (uint32_t)settings->first;
    e->chains.count = e->kept = settings->chains;
    GESS_TRY(gess__target_init(&e->target, model, transform, err));
    e->target.calls.watch = options->watch;
    e->target.calls.watch_user = options->watch_user;
    e->target.calls.journal = options->journal;
    if (options->watch != NULL) GESS_ALLOC(&e->target.calls.asking, gess__team_size(team), err);
    GESS_TRY(read_options(e, options, err));
    if (settings->learns_map && transform) GESS_TRY(gess__target_learn(&e->target, err));
    if (settings->anneals) GESS_TRY(gess__target_anneal(&e->target, err));

    size_t dim = e->target.dim;
    unsigned workers = gess__team_size(team);
    e->chains.dim = dim;
    e->chains.state_size = e->kernel->state_size(dim);
    e->chains.blob_count = model->blobs;
    e->block = options->block > 0 ? (size_t)options->block : choose_block(e->chains.count, dim, workers);
    if (e->block > e->chains.count) e->block = e->chains.count;
    GESS_ALLOC(&e->updates, workers, err);
    for (unsigned worker = 0; worker < workers; worker++)
        GESS_TRY(gess__update_init(&e->updates[worker], e->kernel, &e->target, e->block, err));
    return gess__frozen_new(&e->frozen, &e->target, settings->mixture, err);
}

int gess__ensemble_init(gess__ensemble *e, const gess_model *model, const gess_options *options,
                        const gess__ensemble_settings *settings, gess__team *team, gess_error *err)
{
    GESS_ASSERT(settings->kernel != NULL && settings->chains > 0 && team != NULL);
    GESS_TRY(make_workers(e, model, options, settings, team, err));
    GESS_TRY(gess__chains_new(&e->chains, settings->tempered, err));
    GESS_ALLOC(&e->nans.points, GESS__NANS_KEPT * e->target.dim, err);
    return gess__scheduler_new(&e->scheduler, e, err);
}

int gess__ensemble_init_helper(gess__ensemble *e, const gess_model *model, const gess_options *options,
                               const gess__ensemble_settings *settings, gess__team *team, gess_error *err)
{
    GESS_ASSERT(settings->kernel != NULL && settings->chains > 0 && team != NULL);
    gess_options o = *options;
    o.block = settings->chains;
    return make_workers(e, model, &o, settings, team, err);
}

int gess__ensemble_share(gess__ensemble *e, const gess_options *options, unsigned workers, gess_error *err)
{
    GESS_ASSERT(workers > 0);
    size_t block = e->chains.count / (2 * (size_t)workers); /* one to run, one in reserve */
    if (block < 1) block = 1;
    if (options->block == 0 && block < e->block) e->block = block;
    return gess__scheduler_share(e->scheduler, e, workers, err);
}

void gess__ensemble_free(gess__ensemble *e)
{
    if (e->team != NULL) gess__ensemble_settle(e);
    if (e->updates != NULL)
        for (unsigned worker = 0; worker < gess__team_size(e->team); worker++) gess__update_free(&e->updates[worker]);
    free(e->updates);
    gess__chains_free(&e->chains);
    free(e->nans.points);
    gess__frozen_free(&e->frozen);
    gess__target_free(&e->target);
    gess__scheduler_free(e->scheduler);
}

void gess__ensemble_settle(gess__ensemble *e)
{
    gess__team_settle(e->team);
}

uint64_t gess__ensemble_done(const gess__ensemble *e)
{
    return e->done[0] < e->done[1] ? e->done[0] : e->done[1];
}

void gess__ensemble_archive(gess__ensemble *e, gess__archive *a)
{
    gess__archive_expect_text(a, e->kernel->name);
    gess__archive_expect(a, e->seed);
    gess__archive_expect(a, e->chains.first);
    gess__archive_expect(a, e->chains.count);
    gess__archive_expect(a, e->chains.dim);
    gess__archive_expect(a, e->chains.state_size);
    gess__archive_expect(a, e->chains.blob_count);
    gess__archive_expect(a, e->group);
    gess__chains_archive(&e->chains, 0, e->chains.count, a);
    for (size_t k = 0; e->chains.powers != NULL && k < e->chains.count; k++)
        if (!(e->chains.powers[k] > 0.0 && e->chains.powers[k] <= 1.0)) a->bad = 1;
    GESS_ARCHIVE(a, &e->tally);
    gess__nans_archive(&e->nans, e->chains.dim, a);
    GESS_ARCHIVE(a, &e->done);
    GESS_ARCHIVE(a, &e->rebind);
}
