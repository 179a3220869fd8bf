/* What fits do with many points, in blocks that a team may share (parallel/blocks.h). */
#ifndef GESS_APPROX_FIT_BLOCKS_H
#define GESS_APPROX_FIT_BLOCKS_H

#include "approx/approx.h"
#include "base/tiles.h"
#include "parallel/blocks.h"

typedef struct gess__fit_blocks {
    gess__team *team; /* borrowed, or NULL */
    size_t dim;
    double *tiles; /* workers × dim × GESS__WIDE_LANES */
    double *parts; /* blocks of a group × dim × dim, where there is more than one */
} gess__fit_blocks;

/* For products of up to so many points in blocks; of any number in one piece where that is 0. Between rounds of the
 * team only, and with the BLAS between gess__blas_begin() and _end(). */
int gess__fit_blocks_open(gess__fit_blocks *hands, gess__team *team, size_t dim, size_t points, gess_error *err);
void gess__fit_blocks_close(gess__fit_blocks *hands);

/* A worker's own tile of points. */
static inline double *gess__fit_blocks_tile(const gess__fit_blocks *hands, unsigned worker)
{
    return hands->tiles + worker * hands->dim * GESS__WIDE_LANES;
}

/* out_k = |L⁻¹(x_k − μ)|² of t, for n points. */
void gess__fit_blocks_squares(gess__fit_blocks *hands, const gess__approx *t, size_t n, const double *points, double *out);

/* The lower triangle of scale Σ_k x_k x_kᵀ. */
void gess__fit_blocks_self_product(gess__fit_blocks *hands, size_t dim, size_t n, double scale, const double *rows,
                              double *square);

#endif
