/* The Gaussian with a Wishart precision matrix (builtin/wishart.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: the constant of the log density, then from FACTOR on the columns of L as panels (lane/panels.h) of PARTIALS
 * columns: panel b has rows b PARTIALS to dim - 1, with 0 above the diagonal and past the last column. */
#ifndef GESS_MODEL_LANE_WISHART_H
#define GESS_MODEL_LANE_WISHART_H

#include "model/lane/panels.h"

enum { GESS__WISHART_FACTOR = 8 };

/* From |L'x|² in PARTIALS parts: part l has every PARTIALS-th column. */
GESS__INLINE double gess__wishart_density(const double *numbers, const double square[GESS__PARTIALS])
{
    return gess__fma(-0.5, gess__lane_sum(square), numbers[0]);
}

/* Adds the squares of the products with the columns of one panel. */
GESS__INLINE void gess__wishart_add(const double *y, double *square)
{
    for (size_t l = 0; l < GESS__PARTIALS; l++) square[l] = gess__fma(y[l], y[l], square[l]);
}

GESS__INLINE double gess__lane_wishart(size_t dim, const double *numbers, const double *x)
{
    const double *panel = numbers + GESS__WISHART_FACTOR;
    double square[GESS__PARTIALS] = {0};
    for (size_t first = 0; first < dim; first += GESS__PARTIALS) {
        double y[GESS__PARTIALS] = {0};
        gess__panel_add(dim - first, panel, x + first, y);
        gess__wishart_add(y, square);
        panel += (dim - first) * GESS__PARTIALS;
    }
    return gess__wishart_density(numbers, square);
}

#endif
