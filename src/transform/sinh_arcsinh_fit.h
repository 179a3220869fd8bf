/* Fits the sinh-arcsinh warp of one coordinate or direction, by maximum likelihood. */
#ifndef GESS_TRANSFORM_SINH_ARCSINH_FIT_H
#define GESS_TRANSFORM_SINH_ARCSINH_FIT_H

#include "parallel/team.h"
#include "transform/sinh_arcsinh.h"

enum { GESS__SHAPE_PARAMETERS = 5 };

/* A warp while it is fitted. All zeros: the identity, with every parameter but shift and spread held fixed. */
typedef struct gess__shape {
    double p[GESS__SHAPE_PARAMETERS]; /* shift, log spread, and three that tilt, power and lean are functions of */
    double
        inverse_hessian[GESS__SHAPE_PARAMETERS * GESS__SHAPE_PARAMETERS]; /* of the last fit: the next starts there */
    bool tilts, powers, leans;                                            /* which of the three are fitted */
    bool fitted;
} gess__shape;

/* Points that a fit is validated with. */
typedef struct gess__validation {
    size_t count;
    const double *x, *weights;
} gess__validation;

gess__warp gess__shape_warp(const gess__shape *shape);

/* Fits the shape to n values, from where it is: the warped values are to be normal with variances 1 / weights. The
 * team, or NULL, shares the work. n is at most GESS__MAX_LEARN_POINTS. */
void gess__shape_fit(gess__shape *shape, gess__team *team, size_t n, const double *x, const double *weights);

/* About 4,000 of m values, evenly spaced, for a first fit; returns how many. */
size_t gess__shape_thin(size_t m, const double *x, double *out);

/* The gain of tilt and lean over a fit without them, in nats per point: on the validation points under the fit to the
 * n points, or, if there are none, on either half of the points under the fit to the other. Leaves the shape at the
 * last of these fits. */
double gess__shape_gain(gess__shape *shape, gess__team *team, size_t n, const double *x, const double *weights,
                        gess__validation validation);

#endif
