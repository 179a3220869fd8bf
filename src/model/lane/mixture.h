/* The mixture of Gaussians (builtin/mixture.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: how many components there are, the constant of the log density, then the centres, `dim` numbers each. */
#ifndef GESS_MODEL_LANE_MIXTURE_H
#define GESS_MODEL_LANE_MIXTURE_H

#include "base/tiles.h"

enum { GESS__MIXTURE_COMPONENTS = 16, GESS__MIXTURE_CENTRES = 2 /* where they begin in numbers */ };

/* For a tile of `width` points, coordinate i of point l at tile[i * width + l]: the log density, and parts[k * width +
 * l] = e^(L_k - max L) with their sum, where L_k = -|x - m_k|² / 2. */
GESS__INLINE void gess__mixture_tile(size_t width, size_t dim, const double *numbers, const double *tile, double *parts,
                                     double *sum, double *density)
{
    const size_t components = (size_t)numbers[0];
    const double constant = numbers[1], *centre = numbers + GESS__MIXTURE_CENTRES;
    double largest[GESS__LANES];
    for (size_t l = 0; l < width; l++) largest[l] = -HUGE_VAL;
    for (size_t k = 0; k < components; k++, centre += dim) {
        double square[GESS__LANES] = {0};
        for (size_t i = 0; i < dim; i++)
            for (size_t l = 0; l < width; l++) {
                double difference = tile[i * width + l] - centre[i];
                square[l] = gess__fma(difference, difference, square[l]);
            }
        double *part = parts + k * width;
        for (size_t l = 0; l < width; l++) part[l] = -0.5 * square[l];
        for (size_t l = 0; l < width; l++) largest[l] = gess__select(part[l] > largest[l], part[l], largest[l]);
    }
    for (size_t l = 0; l < width; l++) sum[l] = 0.0;
    for (size_t k = 0; k < components; k++) {
        double *part = parts + k * width;
        for (size_t l = 0; l < width; l++) part[l] = gess__exp(part[l] - largest[l]); /* NaN if all are -inf */
        for (size_t l = 0; l < width; l++) sum[l] += part[l];
    }
    for (size_t l = 0; l < width; l++) density[l] = largest[l] + gess__log(sum[l]) - constant;
}

GESS__INLINE double gess__lane_mixture(size_t dim, const double *numbers, const double *x)
{
    double parts[GESS__MIXTURE_COMPONENTS], sum, density;
    gess__mixture_tile(1, dim, numbers, x, parts, &sum, &density);
    return density;
}

#endif
