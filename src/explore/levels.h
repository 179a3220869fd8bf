/* The level of a point: log π − log T. It is about the same wherever T is right, the log of the target's integral, and
 * higher where T has too little mass. */
#ifndef GESS_EXPLORE_LEVELS_H
#define GESS_EXPLORE_LEVELS_H

#include "frozen/frozen.h"

/* Doubles of scratch for gess__set_levels(). */
size_t gess__levels_scratch(size_t dim);

/* Levels of n points (n × dim) of the sampling space with these log densities. `levels` may be `values`. */
void gess__set_levels(const gess__mixture *t, size_t n, const double *points, const double *values, double *levels,
                      double *scratch);

/* What levels are typical: sorts n levels. A point above `limit` stands out, and one above `typical` + 1 has more than
 * e times the density that T gives it. */
typedef struct gess__level_limit {
    double typical; /* the median */
    double limit;
} gess__level_limit;

gess__level_limit gess__level_limits(size_t n, double *levels);

#endif
