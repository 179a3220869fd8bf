/* The banana (builtin/banana.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: b and the constant of the log density. */
#ifndef GESS_MODEL_LANE_BANANA_H
#define GESS_MODEL_LANE_BANANA_H

#include "base/tile_body.h"

/* From the first two coordinates and Σ x_i² over the others. */
GESS__INLINE double gess__banana_density(const double *numbers, double first, double second, double square)
{
    double bent = gess__fma(-numbers[0], gess__fma(first, first, -1.0), second);
    return -0.5 * gess__fma(first, first, gess__fma(bent, bent, square)) - numbers[1];
}

GESS__INLINE double gess__lane_banana(size_t dim, const double *numbers, const double *x)
{
    return gess__banana_density(numbers, x[0], x[1], gess__dot_of(dim - 2, x + 2, x + 2));
}

#endif
