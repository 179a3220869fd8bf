/* One parameter of the bounds' map (bounds.h), for compilers of the host and of devices. */
#ifndef GESS_TRANSFORM_COORDINATE_H
#define GESS_TRANSFORM_COORDINATE_H

#include "base/angle.h"

#include <stddef.h>

/* The rows of the table in bounds.h. */
enum gess__coordinate_kind {
    GESS__FREE,
    GESS__HARD,
    GESS__ABOVE,
    GESS__BELOW,
    GESS__BETWEEN,
    GESS__CIRCLE,
    GESS__FIXED
};

/* One parameter. */
typedef struct gess__coordinate {
    enum gess__coordinate_kind kind;
    size_t at;   /* the place of its y, or of the first of two */
    double a, b; /* bounds; infinite if there is none */
} gess__coordinate;

/* x of one parameter, and its part of log |dx/dy|. */
GESS__INLINE double gess__coordinate_out(const gess__coordinate *c, const double *y, double *log_jacobian)
{
    double a = c->a, b = c->b, t = y[c->kind == GESS__FIXED ? 0 : c->at], x;
    *log_jacobian = 0.0;
    switch (c->kind) {
    case GESS__FREE: return t;
    case GESS__FIXED: return a;
    case GESS__HARD:
        if (!(t >= a && t <= b)) *log_jacobian = -INFINITY;
        return t;
    case GESS__ABOVE:
        x = a + gess__exp(t);
        *log_jacobian = x > a && x < INFINITY ? t : -INFINITY;
        return x;
    case GESS__BELOW:
        x = b - gess__exp(t);
        *log_jacobian = x < b && x > -INFINITY ? t : -INFINITY;
        return x;
    case GESS__BETWEEN: {
        /* from the nearer bound, so that neither end loses digits */
        double e = gess__exp(-fabs(t)), share = e / (1.0 + e);
        x = t < 0.0 ? a + (b - a) * share : b - (b - a) * share;
        *log_jacobian = x > a && x < b ? gess__log(b - a) - fabs(t) - 2.0 * gess__log1p(e) : -INFINITY;
        return x;
    }
    case GESS__CIRCLE: {
        double u = t, v = y[c->at + 1], angle = gess__turns_of(v, u);
        x = a + (b - a) * (angle < 0.0 ? angle + 1.0 : angle);
        *log_jacobian = -0.5 * (u * u + v * v);
        return x < b ? x : a;
    }
    }
    return NAN;
}

#endif
