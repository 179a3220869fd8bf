/* Slice sampling along a line through the present point, shared by `rdss`, `cwss` and coordinate_slice.h.
 *
 * R. M. Neal, "Slice sampling", Annals of Statistics 31 (2003): figures 3 (stepping out) and 5 (shrinkage). The line is
 * x + t d. An interval of width GESS__SLICE_WIDTH is placed around t = 0 at random. Both ends are stepped out until
 * they are outside the slice, in at most GESS__SLICE_STEPS steps, divided between the ends at random. Then points are
 * drawn from the interval, which shrinks to each point outside the slice, until one is inside.
 *
 * Invariants: t = 0 is inside the interval; an update that finds no other point in GESS__MAX_SHRINKS draws keeps its
 * state and is counted as a failure. */
#ifndef GESS_KERNEL_SLICE_H
#define GESS_KERNEL_SLICE_H

#include "kernel/kernel.h"
#include "kernel/slice_interval.h"

/* Writes the direction of lane j's line, dim numbers. */
typedef void gess__slice_direction(const gess__update *u, size_t j, double *direction);

size_t gess__slice_state_size(size_t dim);
size_t gess__slice_scratch_size(size_t dim, size_t block);
void gess__slice_begin(gess__update *u, gess__slice_direction *direction);
void gess__slice_propose(gess__update *u);
int gess__slice_consume(gess__update *u, gess_error *err);

#endif
