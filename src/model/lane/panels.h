/* The products of a point with a panel: a matrix of `depth` rows and PARTIALS columns, row-major and contiguous, at an
 * address that 16 divides. C and CUDA compilers take this header. */
#ifndef GESS_MODEL_LANE_PANELS_H
#define GESS_MODEL_LANE_PANELS_H

#include "base/tiles.h"

/* Two numbers of a row, in one load of a device. */
typedef struct __attribute__((aligned(16))) gess__panel_pair {
    double first, second;
} gess__panel_pair;

/* z[l] += Σ_k panel[k][l] x[k], k ascending. */
GESS__INLINE void gess__panel_add(size_t depth, const double *panel, const double *x, double z[GESS__PARTIALS])
{
    const gess__panel_pair *pairs = (const gess__panel_pair *)(const void *)panel;
    double sum[GESS__PARTIALS], row[GESS__PARTIALS];
    for (size_t l = 0; l < GESS__PARTIALS; l++) sum[l] = z[l];
    for (size_t k = 0; k < depth; k++, pairs += GESS__PARTIALS / 2) {
        for (size_t l = 0; l < GESS__PARTIALS; l += 2) {
            row[l] = pairs[l / 2].first;
            row[l + 1] = pairs[l / 2].second;
        }
        for (size_t l = 0; l < GESS__PARTIALS; l++) sum[l] = gess__fma(row[l], x[k], sum[l]);
    }
    for (size_t l = 0; l < GESS__PARTIALS; l++) z[l] = sum[l];
}

#endif
