/* Evaluates points that no chain has asked for, on the team of threads. */
#ifndef GESS_EXPLORE_EVALUATE_H
#define GESS_EXPLORE_EVALUATE_H

#include "execute/ensemble.h"

/* Log densities of n points (n × dim) of the sampling space; a point at which the density is NaN, +infinity or an error
 * counts as outside the support. Counts the evaluations. If the end of the run stops it (GESS_ERR_STOPPED), nothing
 * is counted, and the same call can be made again. */
int gess__evaluate_points(gess__ensemble *ensemble, const gess__record *record, size_t n, const double *points,
                          double *values, gess_error *err);

#endif
