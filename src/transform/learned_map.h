/* The learned map: a sequence of layers (layer.h) between the sampling space w and the space y behind the bounds' map.
 *
 * Warm-up learns it so that the density of w is closer to a multivariate t than that of y. It is frozen before the
 * first draw that is kept, so any map is exact; a bad one only costs efficiency. The layers are applied from y to w in
 * the order in which they were learned. Without layers the map is the identity.
 *
 * A point has the same bits in any batch. Only gess__learned_new() and gess__learner_new() allocate. */
#ifndef GESS_TRANSFORM_LEARNED_MAP_H
#define GESS_TRANSFORM_LEARNED_MAP_H

#include "transform/layer.h"

enum { GESS__MAX_LAYERS = 4 };

typedef struct gess__learned {
    size_t dim, count; /* count: layers in use */
    gess__layer layers[GESS__MAX_LAYERS];
} gess__learned;

/* The identity, with room for layers. */
int gess__learned_new(gess__learned **map, size_t dim, gess_error *err);
void gess__learned_free(gess__learned *map); /* NULL: nothing to do */

/* Both maps have the same dimension. */
void gess__learned_copy(gess__learned *to, const gess__learned *from);

size_t gess__learned_layers(const gess__learned *map);

/* Writes or reads the map. Reading sets archive->bad, and makes the map the identity, if a layer is not valid. */
void gess__learned_archive(gess__learned *map, gess__archive *archive);

/* "scale (12 coordinates), skew (5 directions)", or "none". */
void gess__learned_describe(const gess__learned *map, char *text, size_t size);

/* Doubles of scratch that the two functions below need for n points. */
size_t gess__learned_scratch(const gess__learned *map, size_t n);

/* w → y for n points (n × dim); jacobians[j] = log |dy/dw|. A point that overflows gets a jacobian of −inf and
 * coordinates that are finite, never a NaN. */
void gess__learned_out(const gess__learned *map, size_t n, const double *w, double *y, double *jacobians,
                       double *scratch);
/* y → w; jacobians[j] = log |dw/dy|. The inverse of the above up to rounding. */
void gess__learned_in(const gess__learned *map, size_t n, const double *y, double *w, double *jacobians,
                      double *scratch);

/* Coordinates along which the map extrapolates: those whose tails it bends, and those that scale others. Writes at most
 * `max` of them, each once, and returns how many. */
size_t gess__learned_extrapolated(const gess__learned *map, size_t max, uint32_t *coordinates);

/* ---- learning ---- */

/* The workspace for learning layers (layer_learner.h) from up to `points` points. The team, if it is not NULL, shares
 * the work; it is borrowed. */
int gess__learner_new(gess__learner **learner, size_t dim, size_t points, gess__team *team, gess_error *err);
void gess__learner_free(gess__learner *learner); /* NULL: nothing to do */

/* Sets points of other chains for validation: n × dim, in the same space as the points that are learned from. What the
 * next layers find must hold for these too. They are borrowed until the next call; n = 0: none. */
void gess__learner_check(gess__learner *learner, size_t n, const double *points);

/* Learns one more layer of this kind from n × dim points that have gone through the map's present layers. Returns 1
 * if it found structure and added the layer, 0 if the map is as it was (also if it is full). Deterministic. */
int gess__learned_add(gess__learned *map, const gess__layer_type *type, gess__learner *learner, size_t n,
                      const double *points);

#endif
