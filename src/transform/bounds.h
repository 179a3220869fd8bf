/* The bounds' map between a user's parameters x and unbounded coordinates y, and its Jacobian, by which target.c
 * multiplies the density.
 *
 *   unbounded              x = y
 *   x > a                  x = a + e^y              log |dx/dy| = y
 *   x < b                  x = b − e^y              log |dx/dy| = y
 *   a < x < b              x = a + (b − a) / (1 + e^−y)
 *   periodic on [a, b)     x = a + (b − a) · angle(u, v) / 2π, y = (u, v), with the density multiplied by
 *                          e^(−r²/2), r² = u² + v²: uniform x is a standard Gaussian (u, v)
 *   fixed, a = b           x = a; no y
 * With hard bounds (`--transform none`) y is x and every point outside has density zero; fixed parameters have no y
 * then either.
 *
 * A point where rounding puts x onto a bound or makes it infinite counts as outside. */
#ifndef GESS_TRANSFORM_BOUNDS_H
#define GESS_TRANSFORM_BOUNDS_H

#include "model/model.h"
#include "transform/coordinate.h"

typedef struct gess__bounds {
    size_t outer, inner;           /* dimensions of x and of y */
    int trivial;                   /* y is x, and nothing is outside */
    int aligned;                   /* parameter i has coordinate i, and no other */
    gess__coordinate *coordinates; /* outer; owned */
} gess__bounds;

/* transform: 0 for hard bounds. Fails if every parameter is fixed; gess__bounds_free() must follow all the same. */
int gess__bounds_init(gess__bounds *bounds, const gess_model *model, int transform, gess_error *err);
void gess__bounds_free(gess__bounds *bounds);

/* x from y; returns log |dx/dy| (with the circles' −r²/2), or −INFINITY if the point is outside. */
double gess__bounds_out(const gess__bounds *bounds, const double *y, double *x);

/* The same for n points in rows (n × inner, n × outer); jacobians[j] has the bits that gess__bounds_out() returns. */
void gess__bounds_out_rows(const gess__bounds *bounds, size_t n, const double *y, double *x, double *jacobians);

/* y from x; false if x is outside. A fixed parameter may have any value in x. */
bool gess__bounds_in(const gess__bounds *bounds, const double *x, double *y);

/* The gradient by y, with that of log |dx/dy|, from the gradient by x, at y. */
void gess__bounds_gradient(const gess__bounds *bounds, const double *y, const double *by_x, double *by_y);

/* Parameter i of x. */
double gess__bounds_one(const gess__bounds *bounds, size_t i, const double *y);

/* A starting value of parameter i from a standard normal: `scale` times the normal, that reflected into a one-sided
 * bound, or a uniform value between two bounds, whatever the scale. */
double gess__bounds_start(const gess__bounds *bounds, size_t i, double normal, double scale);

#endif
