/* Operations of fits on many points, in blocks that a team can share (parallel/blocks.h). */
#ifndef GESS_APPROX_FIT_BLOCKS_H
#define GESS_APPROX_FIT_BLOCKS_H

#include "approx/approx.h"
#include "base/tiles.h"
#include "parallel/blocks.h"

typedef struct gess__fit_blocks {
    gess__team *team; /* borrowed, or NULL */
    size_t dim;
    double *tiles; /* workers × dim × GESS__WIDE_LANES */
    double *parts; /* blocks of a group × dim × dim; NULL if there is only one block */
} gess__fit_blocks;

/* Allocates memory for products of up to `points` points in blocks. If `points` is 0, products of any size are made in
 * one piece. Use only between rounds of the team. */
int gess__fit_blocks_open(gess__fit_blocks *fb, gess__team *team, size_t dim, size_t points, gess_error *err);
void gess__fit_blocks_close(gess__fit_blocks *fb);

/* The tile of points of one worker. */
static inline double *gess__fit_blocks_tile(const gess__fit_blocks *fb, unsigned worker)
{
    return fb->tiles + worker * fb->dim * GESS__WIDE_LANES;
}

/* out_k = |L⁻¹(x_k − μ)|² of t, for n points. */
void gess__fit_blocks_squares(gess__fit_blocks *fb, const gess__approx *t, size_t n, const double *points, double *out);

/* The lower triangle of scale Σ_k x_k x_kᵀ. */
void gess__fit_blocks_self_product(gess__fit_blocks *fb, size_t dim, size_t n, double scale, const double *rows,
                                   double *square);

#endif
