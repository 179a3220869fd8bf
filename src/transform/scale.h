/* The steps of a scale layer: one per coordinate that it maps. */
#ifndef GESS_TRANSFORM_SCALE_H
#define GESS_TRANSFORM_SCALE_H

#include "transform/learned_map.h"

enum { GESS__MAX_DRIVERS = 3 };

/* The largest |h|. */
#define GESS__MAX_LOG_SCALE 60.0

/* With t_k = y_k − centre_k, the step for coordinate y_at is
 *   a = shift + Σ mean_j t_(mean_from j) + bend t_(bend_from)²,  h = Σ scale_j t_(scale_from j),
 *   w = (y_at − a) / (spread e^(h/2)).
 * If it saturates, with s = cap e^h / (1 + cap e^h), s (pull + Σ pull_slope_j t_(mean_from j)) is added to a, and e^h
 * becomes (floor + e^h) / (1 + cap e^h) (scale_saturated.c says why).
 * The coordinates that a and h depend on are the step's drivers. No padding: it is archived as it is. */
typedef struct gess__scale_step {
    uint32_t at;            /* the coordinate that is mapped */
    uint32_t means, scales; /* numbers of drivers of a and of h */
    uint32_t bends;         /* 1 if a has a square, else 0 */
    uint32_t mean_from[GESS__MAX_DRIVERS], scale_from[GESS__MAX_DRIVERS];
    uint32_t bend_from;
    uint32_t saturated; /* 1 or 0 */
    double shift, spread, bend;
    double cap, floor, pull, pull_slope[GESS__MAX_DRIVERS];
    double mean[GESS__MAX_DRIVERS], scale[GESS__MAX_DRIVERS];
} gess__scale_step;

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
