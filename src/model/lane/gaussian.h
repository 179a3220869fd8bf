/* The Gaussian with equal correlations (builtin/gaussian.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: 1 / (1 - c), w, and the constant of the log density. */
#ifndef GESS_MODEL_LANE_GAUSSIAN_H
#define GESS_MODEL_LANE_GAUSSIAN_H

#include "base/tiles.h"

/* Σx² and Σx, each in PARTIALS interleaved partial sums. */
GESS__INLINE void gess__gaussian_moments(size_t dim, const double *x, double *square, double *sum)
{
    double squares[GESS__PARTIALS] = {0}, sums[GESS__PARTIALS] = {0};
    size_t whole = dim - dim % GESS__PARTIALS;
    for (size_t i = 0; i < whole; i += GESS__PARTIALS) {
        for (size_t l = 0; l < GESS__PARTIALS; l++) squares[l] = gess__fma(x[i + l], x[i + l], squares[l]);
        for (size_t l = 0; l < GESS__PARTIALS; l++) sums[l] += x[i + l];
    }
    for (size_t l = 0; l < GESS__PARTIALS; l++)
        if (l < dim - whole) {
            squares[l] = gess__fma(x[whole + l], x[whole + l], squares[l]);
            sums[l] += x[whole + l];
        }
    *square = gess__lane_sum(squares);
    *sum = gess__lane_sum(sums);
}

/* The difference cancels if x lies along (1, …, 1) and c is near 1; the error stays within C's condition number times
 * that of the sums. */
GESS__INLINE double gess__gaussian_density(const double *numbers, double square, double sum)
{
    return -0.5 * numbers[0] * gess__fma(-numbers[1] * sum, sum, square) - numbers[2];
}

GESS__INLINE double gess__lane_gaussian(size_t dim, const double *numbers, const double *x)
{
    double square, sum;
    gess__gaussian_moments(dim, x, &square, &sum);
    return gess__gaussian_density(numbers, square, sum);
}

#endif
