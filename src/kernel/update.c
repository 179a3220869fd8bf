/* The driver of every kernel, and the kernels' table. */
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

int gess__update_init(gess__update *u, const gess__kernel *kernel, size_t dim, size_t block, gess_error *err)
{
    GESS_ALLOC(&u->lane, block, err);
    GESS_ALLOC(&u->points, block * dim, err);
    GESS_ALLOC(&u->values, block, err);
    if (kernel->needs & GESS__NEEDS_GRADIENT) GESS_ALLOC(&u->gradients, block * dim, err);
    GESS_ALLOC(&u->scratch, kernel->scratch_size(dim, block), err);
    return GESS_OK;
}

void gess__update_free(gess__update *u)
{
    free(u->lane);
    free(u->points);
    free(u->values);
    free(u->gradients);
    free(u->scratch);
}

int gess__update_block(const gess__kernel *kernel, gess__update *u, gess_error *err)
{
    for (kernel->begin(u); u->proposals > 0;) {
        kernel->propose(u);
        GESS_TRY(gess__target_evaluate(u->target, u->worker, u->proposals, u->points, u->values, u->gradients, err));
        u->tally.evals += u->proposals;
        GESS_TRY(kernel->consume(u, err));
    }
    u->tally.updates += u->count;
    return GESS_OK;
}

int gess__update_value(gess__update *u, size_t j, double *value, gess_error *err)
{
    *value = u->values[j];
    if (isnan(*value)) {
        u->tally.nans++;
        *value = -INFINITY;
    }
    if (*value < INFINITY) return GESS_OK;
    char point[600];
    gess__target_describe(u->target, u->points + j * u->target->dim, point, sizeof point);
    return gess__fail(err, GESS_ERR_MODEL,
                      "the log density is +infinity at %s (chain %zu, iteration %llu); a density must be finite or "
                      "zero there: mend the model",
                      point, (size_t)u->chains->first + u->first + u->lane[j] + 1,
                      (unsigned long long)u->iteration + 1);
}

gess__key gess__update_key(const gess__update *u, size_t lane, enum gess__purpose purpose)
{
    return (gess__key){.seed = u->seed,
                       .iteration = u->iteration,
                       .chain = u->chains->first + (uint32_t)(u->first + lane),
                       .purpose = purpose};
}
