/* Draws of one component of T, and its density, for weighing a mode by importance or bridge sampling. */
#ifndef GESS_EXPLORE_COMPONENT_H
#define GESS_EXPLORE_COMPONENT_H

#include "execute/ensemble.h"

/* Draws point number `index` of the set `set` of an ensemble into x; the same at every call. normals: dim, scratch. */
void gess__component_draw(const gess__approx *t, const gess__ensemble *ensemble, uint64_t set, uint32_t index,
                          double *normals, double *x);

/* log T at x, with its normalising constant. z: dim, scratch. */
double gess__component_log_density(const gess__approx *t, const double *x, double *z);

#endif
