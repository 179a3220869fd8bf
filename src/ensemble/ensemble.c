#include "ensemble/ensemble.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table of schedules ---- */

#define GESS_SCHEDULE(name) extern const gess__schedule gess__schedule_##name;
#include "ensemble/schedules.def"
#undef GESS_SCHEDULE

static const gess__schedule *const table[] = {
#define GESS_SCHEDULE(name) &gess__schedule_##name,
#include "ensemble/schedules.def"
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

/* No draw depends on it. Two blocks a worker level out uneven chains; whole vectors of lanes serve
 * vectorised densities; what a block works on should stay in the nearest caches. */
static size_t choose_block(size_t chains, size_t dim, unsigned workers)
{
    size_t share = (chains + 2 * workers - 1) / (2 * workers), cached = 16384 / dim;
    size_t block = share < 64 ? share : 64;
    if (block > cached) block = cached > 0 ? cached : 1;
    return block < 8 ? block : block / 8 * 8;
}

static int choose_methods(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    e->kernel = gess__kernel_find(options->kernel);
    if (e->kernel == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--kernel %s: no such kernel; `gess sample --help` lists them",
                          options->kernel);
    e->schedule = gess__schedule_find(options->schedule);
    if (e->schedule == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--schedule %s: no such schedule; `gess sample --help` lists them",
                          options->schedule);
    if (options->chains < e->schedule->fewest_chains)
        return gess__fail(err, GESS_ERR_USAGE, "--chains %llu: the %s schedule needs at least %zu chains",
                          (unsigned long long)options->chains, e->schedule->name, e->schedule->fewest_chains);
    if ((e->kernel->needs & GESS__NEEDS_GRADIENT) && e->target.model->gradient == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "--kernel %s needs a gradient, and this model gives none", e->kernel->name);
    return GESS_OK;
}

int gess__ensemble_new(gess__ensemble **ensemble, const gess_model *model, const gess_options *options,
                       gess__team *team, gess_error *err)
{
    GESS_ALLOC(ensemble, 1, err);
    gess__ensemble *e = *ensemble;
    gess__target_init(&e->target, model);
    GESS_TRY(choose_methods(e, options, err));
    e->seed = options->seed;
    e->reuse = options->reuse;
    e->team = team;

    size_t dim = model->dim, chains = (size_t)options->chains;
    unsigned workers = gess__team_size(team);
    e->chains.count = chains;
    e->chains.dim = dim;
    e->chains.own_size = e->kernel->own_size(dim);
    GESS_ALLOC(&e->chains.x, chains * dim, err);
    GESS_ALLOC(&e->chains.value, chains, err);
    GESS_ALLOC(&e->chains.own, chains * e->chains.own_size, err);

    e->block = options->block > 0 ? (size_t)options->block : choose_block(chains, dim, workers);
    if (e->block > chains) e->block = chains;
    GESS_ALLOC(&e->updates, workers, err);
    for (unsigned worker = 0; worker < workers; worker++)
        GESS_TRY(gess__update_init(&e->updates[worker], e->kernel, dim, e->block, err));

    GESS_TRY(gess__approx_new(&e->approx, dim, err));
    GESS_TRY(e->schedule->open(e, options, err));
    return gess__ensemble_start(e, options->init, err);
}

void gess__ensemble_free(gess__ensemble *e)
{
    if (e == NULL) return;
    if (e->updates != NULL)
        for (unsigned worker = 0; worker < gess__team_size(e->team); worker++) gess__update_free(&e->updates[worker]);
    free(e->updates);
    free(e->chains.x);
    free(e->chains.value);
    free(e->chains.own);
    gess__approx_free(e->approx);
    gess__fitter_free(e->fitter);
    free(e);
}

/* ---- running a stretch ---- */

uint64_t gess__record_kept(const gess__record *record, uint64_t start, uint64_t iterations)
{
    uint64_t end = start + iterations;
    if (record->rows == NULL || end <= record->from) return 0;
    uint64_t before = start > record->from ? (start - record->from) / record->thin : 0;
    return (end - record->from) / record->thin - before;
}

struct job {
    gess__ensemble *ensemble;
    const gess__stretch *stretch;
    const gess__record *record;
    uint64_t kept;
};

static void record_block(const struct job *job, const gess__update *u, uint64_t draw)
{
    size_t dim = job->ensemble->target.dim, columns = dim + 1;
    const gess__chains *chains = &job->ensemble->chains;
    for (size_t j = 0; j < u->count; j++) {
        size_t chain = u->first + j;
        double *row = job->record->rows + ((chain - job->stretch->first) * job->kept + draw) * columns;
        row[0] = gess__target_draw(&job->ensemble->target, chains->x + chain * dim, chains->value[chain], row + 1);
    }
}

/* All iterations of one block of chains. */
static int run_block(void *data, unsigned worker, size_t item, gess_error *err)
{
    const struct job *job = data;
    gess__ensemble *e = job->ensemble;
    const gess__stretch *s = job->stretch;
    gess__update *u = &e->updates[worker];
    u->target = &e->target;
    u->approx = s->approx;
    u->chains = &e->chains;
    u->seed = e->seed;
    u->worker = worker;
    u->first = s->first + item * e->block;
    u->count = s->count - item * e->block < e->block ? s->count - item * e->block : e->block;
    uint64_t draw = 0;
    for (uint64_t i = 0; i < s->iterations; i++) {
        u->iteration = s->start + i;
        u->rebind = s->rebind && i == 0;
        GESS_TRY(gess__update_block(e->kernel, u, err));
        if (gess__record_kept(job->record, u->iteration, 1) > 0) record_block(job, u, draw++);
    }
    return GESS_OK;
}

int gess__ensemble_run(gess__ensemble *e, const gess__stretch *stretch, const gess__record *record, gess_error *err)
{
    struct job job = {e, stretch, record, gess__record_kept(record, stretch->start, stretch->iterations)};
    size_t blocks = (stretch->count + e->block - 1) / e->block;
    int status = gess__team_run(e->team, blocks, run_block, &job, err);
    for (unsigned worker = 0; worker < gess__team_size(e->team); worker++) {
        gess__tally *t = &e->updates[worker].tally;
        e->tally.evals += t->evals;
        e->tally.updates += t->updates;
        e->tally.failures += t->failures;
        e->tally.nans += t->nans;
        *t = (gess__tally){0};
    }
    GESS_TRY(status);
    e->schedule->ran(e, stretch);
    return GESS_OK;
}
