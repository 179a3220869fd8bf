/* Helpers of the kernels that need no approximation, for densities raised to the chain's power (parallel tempering; the
 * power is 1 without it). `chains->value` is the log density itself, without the power. */
#ifndef GESS_KERNEL_TEMPERED_H
#define GESS_KERNEL_TEMPERED_H

#include "base/mutant.h"
#include "base/vmath.h"
#include "kernel/kernel.h"

#include <string.h>

/* The power of lane j's chain. */
static inline double gess__tempered_power(const gess__update *u, size_t j)
{
    return u->chains->powers != NULL ? u->chains->powers[u->first + j] : 1.0;
}

/* The tempered log density at lane j's point. */
static inline double gess__tempered_here(const gess__update *u, size_t j)
{
    return gess__tempered_power(u, j) * u->chains->value[u->first + j];
}

/* The tempered log density at proposal p. */
static inline int gess__tempered_there(gess__update *u, size_t p, double *value, gess_error *err)
{
    GESS_TRY(gess__update_value(u, p, value, err));
    *value *= gess__tempered_power(u, u->lane[p]);
    return GESS_OK;
}

/* Moves the chain of proposal p there. */
static inline void gess__tempered_move(gess__update *u, size_t p)
{
    size_t dim = u->target->dim, chain = u->first + u->lane[p];
    memcpy(u->chains->x + chain * dim, u->points + p * dim, dim * sizeof *u->points);
    if (!GESS__MUTANT(STALE_VALUE)) u->chains->value[chain] = u->values[p];
    gess__update_move_blobs(u, u->lane[p], p);
}

/* The kernel's state of lane j's chain. */
static inline double *gess__tempered_state(const gess__update *u, size_t j)
{
    return u->chains->kernel_state + (u->first + j) * u->chains->state_size;
}

#endif
