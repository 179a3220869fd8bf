/* The steps of a scale layer: one per coordinate that it maps. */
#ifndef GESS_TRANSFORM_SCALE_H
#define GESS_TRANSFORM_SCALE_H

#include "transform/layer_body.h"
#include "transform/learned_map.h"

/* Points that a scale layer is learned from, at most. */
enum { GESS__SCALE_POINTS = 8000 };

/* In an order in which no step depends on a coordinate that it or a later one maps. */
static inline gess__scale_step *gess__scale_steps(const gess__layer *layer)
{
    return layer->part[0];
}

/* A coordinate that the log scale of another one depends on in the map's first scale layer: the driver of a step chosen
 * by `uniform`, on [0, 1), so that each is chosen as often as there are coordinates that depend on it. The map's
 * dimension if there is none. */
size_t gess__scale_driver(const gess__learned *map, double uniform);

/* The coordinate that looks most as if it drove the spreads of the others, in n × dim points. *errors: the sum of its
 * correlations with their squared residuals, in standard errors; 0 if there are too few points. */
size_t gess__scale_likeliest_hub(gess__learner *learner, size_t n, const double *points, double *errors);

#endif
