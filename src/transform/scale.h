/* The steps of a scale layer: one per coordinate that it maps. */
#ifndef GESS_TRANSFORM_SCALE_H
#define GESS_TRANSFORM_SCALE_H

#include "transform/layer_body.h"
#include "transform/learned_map.h"

/* In an order in which no step depends on a coordinate that it or a later one maps. */
static inline gess__scale_step *gess__scale_steps(const gess__layer *layer)
{
    return layer->part[0];
}

/* A coordinate that the log scale of another one depends on in the map's first scale layer: the driver of a step chosen
 * by `uniform`, on [0, 1), so that each is chosen as often as there are coordinates that depend on it. The map's
 * dimension if there is none. */
size_t gess__scale_driver(const gess__learned *map, double uniform);

#endif
