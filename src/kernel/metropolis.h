/* The random walk of N. Metropolis et al., J. Chem. Phys. 21 (1953): shared by `mh` and `amh`.
 *
 * A symmetric proposal is accepted with probability min(1, π(x') / π(x)). A kernel draws the step and may learn from
 * the outcome. */
#ifndef GESS_KERNEL_METROPOLIS_H
#define GESS_KERNEL_METROPOLIS_H

#include "kernel/kernel.h"

typedef struct gess__walk {
    /* Draws lane j's step. */
    void (*step)(const gess__update *u, size_t j, double *step);
    /* Learns from lane j's update, which is over; `chance` was the probability of acceptance. */
    void (*learn)(const gess__update *u, size_t j, double chance);
} gess__walk;

size_t gess__walk_scratch_size(size_t dim, size_t block);
void gess__walk_begin(gess__update *u);
void gess__walk_propose(gess__update *u, const gess__walk *walk);
int gess__walk_consume(gess__update *u, const gess__walk *walk, gess_error *err);

#endif
