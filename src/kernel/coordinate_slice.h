/* Updates along one coordinate of the sampling space, for warm-up.
 *
 * Where T has lighter tails than the target, ellipses and independence moves come to the tail seldom and leave it
 * seldom: a window of warm-up may not have seen it, and what is learned from the window does not know it either. A
 * slice along a line needs no T. Now and then an iteration is one, along a coordinate chosen at random, so that the
 * tails of single coordinates (in a learned map: scales of hierarchies) get visited as often as they should be. */
#ifndef GESS_KERNEL_COORDINATE_SLICE_H
#define GESS_KERNEL_COORDINATE_SLICE_H

#include "kernel/slice.h"

/* Whether this iteration is one, or the last one was: then z is not the point's. */
static inline int gess__coordinate_slice_turn(const gess__update *u)
{
    return u->moves.coordinate > 0 && u->iteration % u->moves.coordinate == u->moves.coordinate - 1;
}

static inline int gess__coordinate_slice_before(const gess__update *u)
{
    return u->moves.coordinate > 0 && u->iteration % u->moves.coordinate == 0;
}

void gess__coordinate_slice_begin(gess__update *u);
int gess__coordinate_slice_consume(gess__update *u, gess_error *err);

#endif
