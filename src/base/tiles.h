/* Fixed-order kernels over tiles of points: dots, triangular products and solves, whitened squares, ellipse points.
 *
 * A tile is LANES points side by side, tile[d * LANES + lane]. The result for a point has the same bits whatever batch
 * the point comes in, whatever its place in it and whatever the vector width: sums run over k ascending with explicit
 * fused multiply-adds, dots in PARTIALS interleaved partial sums.
 *
 * Matrices are dense and column-major; L is lower triangular: L[i + k * dim], k <= i. None of these functions
 * allocates. */
#ifndef GESS_BASE_TILES_H
#define GESS_BASE_TILES_H

#include "base/vmath.h"

#include <stddef.h>
#include <stdint.h>

/* Points per tile. Code for devices has tiles of one point. */
#ifndef GESS__LANES
#define GESS__LANES 8
#endif

enum { GESS__WIDE_LANES = 16, GESS__PARTIALS = 8 /* partial sums of a dot */ };

/* The sum of a dot's partial sums, in their order. */
GESS__INLINE double gess__lane_sum(const double v[GESS__PARTIALS])
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* Sines and cosines of n angles in turns. */
void gess__turn(size_t n, const double *angles, double *sines, double *cosines);

/* Σ a_i b_i. */
double gess__dot(size_t n, const double *a, const double *b);

/* |a|², |b|² and a·b, each with the bits of gess__dot(). */
void gess__dots(size_t n, const double *a, const double *b, double *aa, double *bb, double *ab);

/* The same for rows j of a and b, n numbers each, into aa[j], bb[j] and ab[j]. */
void gess__dots_rows(size_t rows, size_t n, const double *a, const double *b, double *aa, double *bb, double *ab);

/* Doubles of scratch that the three functions below need. */
size_t gess__triangular_scratch(size_t dim);

/* out_j = L in_j for count points (count × dim, row-major); out may not overlap in. */
void gess__triangular_products(size_t dim, const double *chol, size_t count, const double *in, double *out,
                               double *scratch);

/* out_j = L⁻¹ (in_j − centre); inverse_diagonal[i] = 1 / L[i,i]. out may not overlap in. */
void gess__triangular_solves(size_t dim, const double *chol, const double *inverse_diagonal, const double *centre,
                             size_t count, const double *in, double *out, double *scratch);

/* out[j] = |L⁻¹ (in_j − centre)|²; scratch as above. */
void gess__whitened_squares(size_t dim, const double *chol, const double *inverse_diagonal, const double *centre,
                            size_t count, const double *in, double *out, double *scratch);

/* out = centre + (x − centre) cosine + v sine: a point on the ellipse through x and centre + v. */
void gess__ellipse_point(size_t dim, const double *centre, const double *x, const double *v, double cosine, double sine,
                         double *out);

/* Row p of out is that point for row rows[p] of x and v, with cosines[p] and sines[p] · scales[p]. */
void gess__ellipse_points(size_t dim, const double *centre, const double *x, const double *v, size_t count,
                          const uint32_t *rows, const double *cosines, const double *sines, const double *scales,
                          double *out);

/* Puts LANES points of x (row-major, rows `dim` long) into a tile. Lanes past `count` repeat the last point, so that
 * padding holds valid numbers. */
void gess__to_tile(size_t dim, size_t count, const double *x, double *tile);

/* The same with WIDE_LANES points: tile[d * WIDE_LANES + lane]. */
void gess__to_wide_tile(size_t dim, size_t count, const double *x, double *tile);

/* The inverse of gess__to_tile(); padding is dropped. */
void gess__from_tile(size_t dim, size_t count, const double *tile, double *x);

#endif
