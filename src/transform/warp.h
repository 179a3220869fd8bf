/* The items of a warp layer: one coordinate each, ascending. */
#ifndef GESS_TRANSFORM_WARP_H
#define GESS_TRANSFORM_WARP_H

#include "transform/layer.h"
#include "transform/sinh_arcsinh.h"

/* The coordinates that are warped. */
static inline uint32_t *gess__warp_coordinates(const gess__layer *layer)
{
    return layer->part[0];
}

/* Their warps, in the same order. */
static inline gess__warp *gess__warp_warps(const gess__layer *layer)
{
    return layer->part[1];
}

#endif
