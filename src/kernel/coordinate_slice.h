/* Slice updates along one coordinate of the sampling space, mixed into warm-up.
 *
 * If T has lighter tails than the target, ellipses and independence moves rarely reach a tail and rarely leave it, so
 * that a warm-up window may miss the tail and so may everything learned from the window. A slice along a line does not
 * depend on T. One iteration in `moves.coordinate` is such an update, along a coordinate chosen at random, so that
 * chains visit the tails of single coordinates (the scales of hierarchies, for example) as often as they should. */
#ifndef GESS_KERNEL_COORDINATE_SLICE_H
#define GESS_KERNEL_COORDINATE_SLICE_H

#include "kernel/slice.h"

/* Whether this iteration is a coordinate update; whether the last one was, so that the stored z is stale. */
static inline int gess__coordinate_slice_turn(const gess__update *u)
{
    return gess__mix_coordinate(u->moves, u->iteration);
}

static inline int gess__coordinate_slice_before(const gess__update *u)
{
    return gess__mix_coordinate_before(u->moves, u->iteration);
}

void gess__coordinate_slice_begin(gess__update *u);
int gess__coordinate_slice_consume(gess__update *u, gess_error *err);

#endif
