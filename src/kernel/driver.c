/* The driver that runs any kernel on a block, and the table of kernels. */
#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "kernel/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GESS_KERNEL(name) extern const gess__kernel gess__kernel_##name;
#include "kernel/kernels.def"
#undef GESS_KERNEL

static const gess__kernel *const table[] = {
#define GESS_KERNEL(name) &gess__kernel_##name,
#include "kernel/kernels.def"
#undef GESS_KERNEL
};

const gess__kernel *gess__kernel_row(size_t i)
{
    return i < sizeof table / sizeof *table ? table[i] : NULL;
}

const gess__kernel *gess__kernel_find(const char *name)
{
    GESS_ASSERT(name != NULL);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

int gess__update_init(gess__update *u, const gess__kernel *kernel, const gess__target *target, size_t block,
                      gess_error *err)
{
    size_t dim = target->dim;
    GESS_ASSERT(dim > 0 && block > 0 && u->points == NULL);
    u->target = target;
    u->block = block;
    GESS_ALLOC(&u->lane, block, err);
    GESS_ALLOC(&u->points, block * dim, err);
    GESS_ALLOC(&u->values, block, err);
    if (kernel->needs & GESS__NEEDS_GRADIENT) GESS_ALLOC(&u->gradients, block * dim, err);
    size_t blobs = target->model->blobs;
    if (blobs > 0) GESS_ALLOC(&u->blobs, block * blobs, err);
    if (blobs > 0 && kernel->held_blobs > 0) GESS_ALLOC(&u->held_blobs, block * kernel->held_blobs * blobs, err);
    GESS_ALLOC(&u->scratch, kernel->scratch_size(dim, block), err);
    GESS_ALLOC(&u->mapped, gess__target_scratch(target, block), err);
    GESS_ALLOC(&u->nans.points, GESS__NANS_KEPT * dim, err);
    return GESS_OK;
}

void gess__update_free(gess__update *u)
{
    free(u->lane);
    free(u->points);
    free(u->values);
    free(u->gradients);
    free(u->blobs);
    free(u->held_blobs);
    free(u->scratch);
    free(u->mapped);
    free(u->nans.points);
}

int gess__update_ask(gess__update *u, size_t first, size_t n, gess_error *err)
{
    GESS_ASSERT(n > 0 && first + n <= u->proposals);
    size_t at = first * u->target->dim;
    double start = u->measure ? gess__seconds() : 0.0;
    gess__calls_ask(&u->target->calls, u->worker, u->lane + first, u->chains->first + u->first + 1);
    int status =
        gess__target_evaluate(u->target, u->worker, n, u->points + at, u->values + first,
                              u->gradients != NULL ? u->gradients + at : NULL,
                              u->blobs != NULL ? u->blobs + first * u->target->model->blobs : NULL, u->mapped, err);
    gess__calls_ask(&u->target->calls, u->worker, NULL, 0);
    if (status != GESS_OK && err != NULL && err->chain > 0)
        err->chain = u->chains->first + u->first + u->lane[first + err->chain - 1] + 1;
    GESS_TRY(status);
    if (u->measure) u->sec_per_eval = (gess__seconds() - start) / (double)n;
    u->measure = 0;
    return GESS_OK;
}

/* Whether the caller has set the inputs that the kernel needs. */
static int inputs_are_valid(const gess__kernel *kernel, const gess__update *u)
{
    const gess__chains *c = u->chains;
    size_t dim = u->target->dim;
    if (u->count == 0 || u->count > u->block || u->first + u->count > c->count) return 0;
    if (c->dim != dim || c->state_size != kernel->state_size(dim)) return 0;
    if (c->blob_count != u->target->model->blobs || (c->blobs != NULL) != (u->blobs != NULL)) return 0;
    if (u->moves.independence > u->moves.period) return 0;
    if (u->mixture != NULL && (u->mixture->dim != dim || u->mixture->count > gess__mixture_room(dim))) return 0;
    return !(kernel->needs & GESS__NEEDS_APPROX) || (u->approx != NULL && u->approx->dim == dim);
}

/* Whether the kernel has listed at most one proposal per lane, in ascending order if it can predict. */
static int proposals_are_valid(const gess__kernel *kernel, const gess__update *u)
{
    if (u->proposals > u->count) return 0;
    for (size_t p = 0; p < u->proposals; p++) {
        if (u->lane[p] >= u->count) return 0;
        if (kernel->predict != NULL && p > 0 && u->lane[p] <= u->lane[p - 1]) return 0;
    }
    return 1;
}

/* Notes the points evaluated, and the highest ones, whether chains move there or not. */
static void note_peaks(gess__update *u)
{
    gess__chains *c = u->chains;
    size_t dim = u->target->dim;
    for (size_t p = 0; c->peak != NULL && p < u->proposals; p++) {
        size_t chain = u->first + u->lane[p];
        gess__chains_note_trail(c, chain, u->points + p * dim, u->values[p]);
        if (!(u->values[p] > c->peak[chain] && u->values[p] < INFINITY)) continue;
        c->peak[chain] = u->values[p];
        memcpy(c->peak_at + chain * dim, u->points + p * dim, dim * sizeof *u->points);
    }
}

void gess__note_levels(gess__update *u, const double *log_ts)
{
    gess__chains *c = u->chains;
    size_t dim = u->target->dim;
    for (size_t p = 0; c->level != NULL && p < u->proposals; p++) {
        size_t chain = u->first + u->lane[p];
        double level = u->values[p] - log_ts[p];
        if (!(level > c->level[chain] && level < INFINITY)) continue;
        c->level[chain] = level;
        c->level_value[chain] = u->values[p];
        memcpy(c->level_at + chain * dim, u->points + p * dim, dim * sizeof *u->points);
    }
}

int gess__update_block(const gess__kernel *kernel, gess__update *u, gess_error *err)
{
    GESS_ASSERT(inputs_are_valid(kernel, u));
    u->round = 0;
    for (kernel->begin(u); u->proposals > 0; u->round++) {
        GESS_ASSERT(proposals_are_valid(kernel, u));
        kernel->propose(u);
        GESS_TRY(u->evaluator == NULL ? gess__update_ask(u, 0, u->proposals, err)
                                      : u->evaluator->evaluate(kernel, u, err));
        u->tally.evals += u->proposals;
        note_peaks(u);
        GESS_TRY(kernel->consume(u, err));
    }
    if (u->evaluator != NULL) u->evaluator->finish(u);
    u->tally.updates += u->count;
    return GESS_OK;
}

int gess__update_value(gess__update *u, size_t j, double *value, gess_error *err)
{
    GESS_ASSERT(j < u->proposals);
    *value = u->values[j];
    if (isnan(*value)) {
        double *y = u->mapped;
        u->tally.nans++;
        gess__target_out(u->target, u->points + j * u->target->dim, y, y + u->target->dim);
        gess__nans_note(&u->nans, u->target->dim, u->iteration, u->chains->first + u->first + u->lane[j], u->round, y);
        *value = -INFINITY;
    }
    if (*value < INFINITY) return GESS_OK;
    char point[600];
    gess__target_describe(u->target, u->points + j * u->target->dim, point, sizeof point, u->mapped);
    size_t chain = (size_t)u->chains->first + u->first + u->lane[j] + 1;
    int status = gess__fail(err, GESS_ERR_MODEL,
                            "the log density is +infinity at %s (chain %zu, iteration %llu); a density must be finite "
                            "or zero there: mend the model",
                            point, chain, (unsigned long long)u->iteration + 1);
    gess__target_add_point(u->target, u->points + j * u->target->dim, chain, u->mapped, err);
    return status;
}
