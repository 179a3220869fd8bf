/* The products of a point with a panel: a matrix of `depth` rows and PARTIALS columns, row-major and contiguous. C and
 * CUDA compilers take this header. */
#ifndef GESS_MODEL_LANE_PANELS_H
#define GESS_MODEL_LANE_PANELS_H

#include "base/tiles.h"

/* z[l] += Σ_k panel[k][l] x[k], k ascending. */
GESS__INLINE void gess__panel_add(size_t depth, const double *panel, const double *x, double z[GESS__PARTIALS])
{
    double sum[GESS__PARTIALS];
    for (size_t l = 0; l < GESS__PARTIALS; l++) sum[l] = z[l];
    for (size_t k = 0; k < depth; k++)
        for (size_t l = 0; l < GESS__PARTIALS; l++) sum[l] = gess__fma(panel[k * GESS__PARTIALS + l], x[k], sum[l]);
    for (size_t l = 0; l < GESS__PARTIALS; l++) z[l] = sum[l];
}

#endif
