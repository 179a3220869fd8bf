/* The map between a user's parameters x and the unbounded coordinates y that are sampled.
 *
 *   unbounded              x = y
 *   x > a                  x = a + e^y              log |dx/dy| = y
 *   x < b                  x = b − e^y              log |dx/dy| = y
 *   a < x < b              x = a + (b − a) / (1 + e^−y)
 *   periodic on [a, b)     x = a + (b − a) · angle(u, v) / 2π, y = (u, v), with the density multiplied by
 *                          e^(−r²/2), r² = u² + v²: uniform x is a standard Gaussian (u, v)
 *   fixed, a = b           x = a; no y
 * With hard bounds (`--transform none`) y is x and everything outside has density zero; parameters
 * that are fixed are left out all the same.
 *
 * A saturated exponential or logit, where x would be a bound or infinite, counts as outside. */
#ifndef GESS_TRANSFORM_BOUNDS_H
#define GESS_TRANSFORM_BOUNDS_H

#include "base/status.h"

enum gess__coordinate_kind {
    GESS__FREE,
    GESS__HARD,
    GESS__ABOVE,
    GESS__BELOW,
    GESS__BETWEEN,
    GESS__CIRCLE,
    GESS__FIXED
};

typedef struct gess__coordinate {
    enum gess__coordinate_kind kind;
    size_t at;   /* of its y, or of the first of two */
    double a, b; /* bounds */
} gess__coordinate;

typedef struct gess__bounds {
    size_t outer, inner;           /* number of x and of y */
    int trivial;                   /* y is x, and nothing is outside */
    int aligned;                   /* coordinate i of y belongs to coordinate i of x, and to no other */
    gess__coordinate *coordinates; /* outer */
} gess__bounds;

int gess__bounds_init(gess__bounds *bounds, const gess_model *model, int transform, gess_error *err);
void gess__bounds_free(gess__bounds *bounds);

/* x from y; returns log |dx/dy| (with the circles' e^(−r²/2)), or −INFINITY where it is outside. */
double gess__bounds_out(const gess__bounds *bounds, const double *y, double *x);

/* The same for n points, y and x in rows; jacobians[j] is what the function above returns for row j, to the bit. */
void gess__bounds_out_rows(const gess__bounds *bounds, size_t n, const double *y, double *x, double *jacobians);

/* y from x; false where x is outside. */
bool gess__bounds_in(const gess__bounds *bounds, const double *x, double *y);

/* The gradient by y from that by x, at y. */
void gess__bounds_gradient(const gess__bounds *bounds, const double *y, const double *by_x, double *by_y);

/* One coordinate of x. */
double gess__bounds_one(const gess__bounds *bounds, size_t i, const double *y);

/* A starting value of coordinate i from a standard normal: itself, reflected into a one-sided bound,
 * or spread uniformly between two. */
double gess__bounds_start(const gess__bounds *bounds, size_t i, double normal);

#endif
