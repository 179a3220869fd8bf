/* What a learned map is made of: shared by learned.c, which applies it, and learn.c, which finds it.
 *
 * All kinds of layer leave what they have nothing to say about as it is, to the bit: coordinates without a step or
 * warp, directions without a warp. */
#ifndef GESS_TRANSFORM_LAYERS_H
#define GESS_TRANSFORM_LAYERS_H

#include "base/vmath.h"
#include "transform/learned.h"

enum gess__layer_kind { GESS__SCALE_LAYER = 1, GESS__SKEW_LAYER = 2, GESS__WARP_LAYER = 3 };

enum { GESS__MAX_DRIVERS = 3, GESS__MAX_DIRECTIONS = 64 };

/* |h| at most; a step stays invertible since h depends on other coordinates only. */
#define GESS__MAX_LOG_SCALE 60.0

/* |lean| / power at most. */
#define GESS__MAX_LEAN 0.9

/* One coordinate of a scale layer, t_k = y_k − centre_k:
 *   a = shift + Σ mean_j t_(mean_from j) + bend t_(bend_from)²,  h = Σ scale_j t_(scale_from j),
 *   w = (y_at − a) / (spread e^(h/2)).
 * Where it saturates, with s = cap e^h / (1 + cap e^h), a is more by s (pull + Σ pull_slope_j t_(mean_from j)) and then
 * e^h becomes (floor + e^h) / (1 + cap e^h) (learn_saturated.c says why).
 * No padding: it is archived as it is. */
typedef struct gess__scale_step {
    uint32_t at;            /* the coordinate that is mapped */
    uint32_t means, scales; /* how many drivers a and h have */
    uint32_t bends;         /* 1 where a has a square, else 0 */
    uint32_t mean_from[GESS__MAX_DRIVERS], scale_from[GESS__MAX_DRIVERS];
    uint32_t bend_from;
    uint32_t saturated; /* 1 or 0 */
    double shift, spread, bend;
    double cap, floor, pull, pull_slope[GESS__MAX_DRIVERS];
    double mean[GESS__MAX_DRIVERS], scale[GESS__MAX_DRIVERS];
} gess__scale_step;

/* What happens to one direction of a skew layer, or to one coordinate of a warp layer:
 *   v = sinh(power a + lean (sqrt(1 + a²) − 1) − tilt), a = asinh((u − shift) / spread),
 * which far out goes like |u|^(power − lean) on the left and u^(power + lean) on the right. */
typedef struct gess__warp {
    double shift, spread, tilt, power, lean;
} gess__warp;

typedef struct gess__layer {
    uint32_t kind, count; /* count: steps, directions or coordinates */
    double constant;      /* what does not depend on the point in log |dy/dw| */
    double *centre;       /* dim */

    /* scale: in an order in which no step uses a coordinate that it or a later one maps */
    gess__scale_step *steps; /* room for dim */

    /* skew: u_j = row_j · (y − centre), w = y + Σ column_j (v_j − u_j); row_j · column_k is 1 where j = k, else 0 */
    double *rows, *columns; /* room for gess__max_directions(dim), each dim long */
    gess__warp *warps;      /* room for dim */

    /* warp: w_i = v of y_i for the coordinates `at`, ascending, which have warps[0], warps[1], … */
    uint32_t *at; /* room for dim */
} gess__layer;

struct gess__learned {
    size_t dim, count;
    gess__layer layers[GESS__MAX_LAYERS];
};

size_t gess__max_directions(size_t dim);

/* Whether a layer can be what it says: indices, order, finite numbers, positive scales, rows that
 * invert columns. */
bool gess__layer_possible(const gess__layer *layer, size_t dim);

/* Divisions and logarithms are what a warp takes its time with, so there are few. What is small is exact beside 1, not
 * beside itself: these are numbers that a shift and a spread of their own are added to. */

/* asinh x; *root becomes sqrt(1 + x²). Beyond 1e150 squares would overflow, and the root is |x|. */
GESS__INLINE double gess__asinh(double x, double *root)
{
    double size = fabs(x), r = sqrt(gess__fma(size, size, 1.0));
    *root = r = gess__select(size > 1e150, size, r);
    return copysign(gess__log(size + r), x);
}

/* sinh x; *cosine becomes cosh x. */
GESS__INLINE double gess__sinh(double x, double *cosine)
{
    double e, inverse;
    gess__exp_both(fabs(x), &e, &inverse);
    *cosine = 0.5 * (e + inverse);
    return copysign(0.5 * (e - inverse), x);
}

/* The warp of x = (u − shift) / spread; *slope is dv/dx without the factor `power`. */
GESS__INLINE double gess__warp_in(double x, double power, double lean, double tilt, double *slope)
{
    double root, cosine, a = gess__asinh(x, &root), s = sqrt(gess__fma(a, a, 1.0));
    double v = gess__sinh(gess__fma(lean, s - 1.0, gess__fma(power, a, -tilt)), &cosine);
    *slope = gess__fma(lean / power, a, s) * cosine / (s * root);
    return v;
}

/* Its inverse, x of v; *slope is dx/dv without the factor 1 / power. With Q = asinh v + tilt and c = Q + lean, a is
 * the root (power c − lean r) / (power² − lean²), r² = c² + power² − lean², of a quadratic; where that is a difference
 * of numbers of one sign, a is the product of both roots divided by the other. */
GESS__INLINE double gess__warp_out(double v, double power, double lean, double tilt, double *slope)
{
    double root, cosine, q = gess__asinh(v, &root) + tilt, c = q + lean, gap = (power - lean) * (power + lean);
    double r = sqrt(gess__fma(c, c, gap)), along = power * c, across = lean * r;
    int alike = c * lean > 0.0;
    double a =
        gess__select(alike, q * gess__fma(2.0, lean, q), along - across) / gess__select(alike, along + across, gap);
    double x = gess__sinh(a, &cosine), s = sqrt(gess__fma(a, a, 1.0));
    *slope = cosine * s / (root * gess__fma(lean / power, a, s));
    return x;
}

/* Sets the constant, when all else is set. */
void gess__layer_finish(gess__layer *layer);

#endif
