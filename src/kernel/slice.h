/* Slice sampling along a line through the present point: what `rdss` and `cwss` share.
 *
 * R. M. Neal, "Slice sampling", Annals of Statistics 31 (2003): figures 3 (stepping out) and 5 (shrinkage). The line is
 * x + t d. An interval of width GESS__SLICE_WIDTH is put around t = 0 at random and stepped out at both ends until
 * these are outside the slice, GESS__SLICE_STEPS steps at most, divided between the ends at random; then points of it
 * are drawn, and it is shrunk to those that are outside, until one is inside.
 *
 * Invariants: t = 0 is inside the interval; an update that finds no other point in GESS__MAX_SHRINKS draws keeps its
 * state and is counted as a failure. */
#ifndef GESS_KERNEL_SLICE_H
#define GESS_KERNEL_SLICE_H

#include "kernel/kernel.h"

#define GESS__SLICE_WIDTH 1.0

enum { GESS__SLICE_STEPS = 100, GESS__MAX_SHRINKS = 128 };

/* The direction of lane j's line. */
typedef void gess__slice_direction(const gess__update *u, size_t j, double *direction);

size_t gess__slice_state_size(size_t dim);
size_t gess__slice_scratch_size(size_t dim, size_t block);
void gess__slice_begin(gess__update *u, gess__slice_direction *direction);
void gess__slice_propose(gess__update *u);
int gess__slice_consume(gess__update *u, gess_error *err);

#endif
