/* Maps that warm-up learns: invertible, from the sampling space w to the space y behind the bounds' map. They make
 * the density of w closer to a t than that of y. Frozen before the first draw that is kept, so any map is exact; a
 * bad one only costs efficiency.
 *
 * A map is a sequence of layers, applied from y to w in the order in which they were learned. None: the identity.
 *   scale   y_i ↦ (y_i − a_i(y_<i)) exp(−h_i(y_<i)/2), a and h linear in a few earlier coordinates (of an order of its
 *           own), a with a square of one of them where that helps: a learned non-centring
 *   warp    y_i ↦ sinh(p_i a + k_i (sqrt(1 + a²) − 1) − e_i), a = asinh((y_i − l_i)/s_i), in coordinates with tails
 *           that differ from each other, as the logarithms of scale parameters often have
 *   skew    u = W (y − m) in skewed directions of the whitened points, which are warped as above; back in the
 *           coordinates of y, whatever is orthogonal (in the points' covariance) stays as it is
 * Per point and in fixed order: a point has the same bits in any batch. Allocates nothing outside _new. */
#ifndef GESS_TRANSFORM_LEARNED_H
#define GESS_TRANSFORM_LEARNED_H

#include "base/archive.h"
#include "parallel/team.h"

enum { GESS__MAX_LAYERS = 4 };

typedef struct gess__learned gess__learned;

/* The identity, with room for layers. */
int gess__learned_new(gess__learned **map, size_t dim, gess_error *err);
void gess__learned_free(gess__learned *map);
void gess__learned_copy(gess__learned *to, const gess__learned *from);
size_t gess__learned_layers(const gess__learned *map);
void gess__learned_archive(gess__learned *map, gess__archive *archive); /* bad where layers, orders, … are impossible */
void gess__learned_describe(const gess__learned *map, char *text,
                            size_t size); /* "scale (12 coordinates), skew (5 directions)"; "none" */

/* Doubles of scratch for n points. */
size_t gess__learned_scratch(const gess__learned *map, size_t n);

/* w → y for n points (n × dim); jacobians[j] = log |dy/dw|. Overflow gives a jacobian of −inf, never a NaN. */
void gess__learned_out(const gess__learned *map, size_t n, const double *w, double *y, double *jacobians,
                       double *scratch);
/* y → w; jacobians[j] = log |dw/dy|. The inverse of the above up to rounding. */
void gess__learned_in(const gess__learned *map, size_t n, const double *y, double *w, double *jacobians,
                      double *scratch);

/* ---- learning: a layer more, from points that have gone through the layers before it (learn.c, learn_*.c) ---- */
typedef struct gess__learner gess__learner;
/* The team, where it is not NULL, helps with it. */
int gess__learner_new(gess__learner **learner, size_t dim, size_t points, gess__team *team, gess_error *err);
void gess__learner_free(gess__learner *learner);

/* Points of other chains, n × dim in the same space as those that are learned from, until the next call (n = 0: none):
 * what the next layers say must hold for these too. */
void gess__learner_check(gess__learner *learner, size_t n, const double *points);

/* Each returns 1 where it found structure and added a layer to the map, 0 where it left it as it is. `points` are
 * n × dim in the space behind the map's present layers. Deterministic; uses the BLAS through base/linalg.h between
 * gess__blas_begin() and gess__blas_end(), which the caller does. */
int gess__learn_scale(gess__learner *learner, size_t n, const double *points, gess__learned *map);
int gess__learn_warp(gess__learner *learner, size_t n, const double *points, gess__learned *map);
int gess__learn_skew(gess__learner *learner, size_t n, const double *points, gess__learned *map);

#endif
