/* The driver of every kernel, and the kernels' table. */
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
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i]->name, name) == 0) return table[i];
    return NULL;
}

int gess__update_init(gess__update *u, const gess__kernel *kernel, const gess__target *target, size_t block,
                      gess_error *err)
{
    size_t dim = target->dim;
    u->target = target;
    GESS_ALLOC(&u->lane, block, err);
    GESS_ALLOC(&u->points, block * dim, err);
    GESS_ALLOC(&u->values, block, err);
    if (kernel->needs & GESS__NEEDS_GRADIENT) GESS_ALLOC(&u->gradients, block * dim, err);
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
    free(u->scratch);
    free(u->mapped);
    free(u->nans.points);
}

int gess__update_ask(gess__update *u, size_t first, size_t n, gess_error *err)
{
    size_t at = first * u->target->dim;
    double start = u->measure ? gess__seconds() : 0.0;
    GESS_TRY(gess__target_evaluate(u->target, u->worker, n, u->points + at, u->values + first,
                                   u->gradients != NULL ? u->gradients + at : NULL, u->mapped, err));
    if (u->measure) u->sec_per_eval = (gess__seconds() - start) / (double)n;
    u->measure = 0;
    return GESS_OK;
}

int gess__update_block(const gess__kernel *kernel, gess__update *u, gess_error *err)
{
    u->round = 0;
    for (kernel->begin(u); u->proposals > 0; u->round++) {
        kernel->propose(u);
        GESS_TRY(u->evaluator == NULL ? gess__update_ask(u, 0, u->proposals, err)
                                      : u->evaluator->evaluate(kernel, u, err));
        u->tally.evals += u->proposals;
        GESS_TRY(kernel->consume(u, err));
    }
    if (u->evaluator != NULL) u->evaluator->finish(u);
    u->tally.updates += u->count;
    return GESS_OK;
}

int gess__update_value(gess__update *u, size_t j, double *value, gess_error *err)
{
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
    return gess__fail(err, GESS_ERR_MODEL,
                      "the log density is +infinity at %s (chain %zu, iteration %llu); a density must be finite or "
                      "zero there: mend the model",
                      point, (size_t)u->chains->first + u->first + u->lane[j] + 1,
                      (unsigned long long)u->iteration + 1);
}
