/* The funnel (builtin/funnel.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: the constant of the log density. */
#ifndef GESS_MODEL_LANE_FUNNEL_H
#define GESS_MODEL_LANE_FUNNEL_H

#include "base/tile_body.h"

/* From v and Σ x_i². */
GESS__INLINE double gess__funnel_density(size_t dim, const double *numbers, double v, double square)
{
    double half = 0.5 * (double)(dim - 1);
    double spread = gess__fma(v * v, 1.0 / 18.0, 0.5 * square * gess__exp(-v));
    return -gess__fma(half, v, spread) - numbers[0];
}

GESS__INLINE double gess__lane_funnel(size_t dim, const double *numbers, const double *x)
{
    return gess__funnel_density(dim, numbers, x[0], gess__dot_of(dim - 1, x + 1, x + 1));
}

#endif
