/* What fits do with many points, in blocks that a team may share (parallel/blocks.h). */
#ifndef GESS_APPROX_HANDS_H
#define GESS_APPROX_HANDS_H

#include "approx/approx.h"
#include "base/lanes.h"
#include "parallel/blocks.h"

typedef struct gess__hands {
    gess__team *team; /* borrowed, or NULL */
    size_t dim;
    double *tiles; /* workers × dim × GESS__WIDE_LANES */
    double *parts; /* blocks of a group × dim × dim, where there is more than one */
} gess__hands;

/* For products of up to so many points in blocks; of any number in one piece where that is 0. Between rounds of the
 * team only, and with the BLAS between gess__blas_begin() and _end(). */
int gess__hands_open(gess__hands *hands, gess__team *team, size_t dim, size_t points, gess_error *err);
void gess__hands_close(gess__hands *hands);

/* A worker's own tile of points. */
static inline double *gess__hands_tile(const gess__hands *hands, unsigned worker)
{
    return hands->tiles + worker * hands->dim * GESS__WIDE_LANES;
}

/* out_k = |L⁻¹(x_k − μ)|² of t, for n points. */
void gess__hands_squares(gess__hands *hands, const gess__approx *t, size_t n, const double *points, double *out);

/* The lower triangle of scale Σ_k x_k x_kᵀ. */
void gess__hands_self_product(gess__hands *hands, size_t dim, size_t n, double scale, const double *rows,
                              double *square);

#endif
