/* The search for layers of the learned map: which layers, in which order, make held-out draws likelier under a t. */
#ifndef GESS_ADAPT_LAYER_SEARCH_H
#define GESS_ADAPT_LAYER_SEARCH_H

#include "approx/fit.h"
#include "transform/learned_map.h"

/* Nats of log T per draw that a candidate must gain. */
#define GESS__MIN_GAIN 0.03

typedef struct gess__layer_search gess__layer_search;

/* The layers of a map, in order, and what they gain. */
typedef struct gess__recipe {
    size_t count;
    unsigned row[GESS__MAX_LAYERS]; /* of layers.def */
    double gain;                    /* of all of them, in nats per draw */
    double scale_gain;              /* of the scale layer when it was found */
} gess__recipe;

/* How often a recipe uses a kind of layer. */
int gess__recipe_uses(const gess__recipe *recipe, unsigned row);

int gess__layer_search_new(gess__layer_search **search, size_t dim, size_t points, gess__team *team, gess_error *err);
void gess__layer_search_free(gess__layer_search *search);

/* Searches layer by layer: each time the kind that gains most, for as long as it gains enough. `pool` holds points in
 * the sampling space of `map`; half of them are learned from, the other half judges. */
gess__recipe gess__layer_search_find(gess__layer_search *search, gess__fitter *fitter, gess__approx *spare,
                                     const gess__learned *map, const gess__pool *pool);

/* What the layers of `recipe` gain on these points: the same recipe with its gain, 0 if one of them finds nothing. */
gess__recipe gess__layer_search_judge(gess__layer_search *search, gess__fitter *fitter, gess__approx *spare,
                                      const gess__learned *map, const gess__pool *pool, const gess__recipe *recipe);

/* Learns the layers of a recipe from all n points, given in the sampling space of `map`. The result is valid until the
 * next call. */
const gess__learned *gess__layer_search_follow(gess__layer_search *search, const gess__recipe *recipe,
                                               const gess__learned *map, size_t n, const double *points);

/* The learner, for other questions about points. */
gess__learner *gess__layer_search_learner(gess__layer_search *search);

/* Moves n points and their log densities from the sampling space of one map to that of another or, without `commit`,
 * only checks whether that can be done. Returns 0, with nothing changed, if a point has no place there. */
int gess__layer_search_move(gess__layer_search *search, const gess__learned *from, const gess__learned *to, size_t n,
                            double *points, double *values, int commit);

#endif
