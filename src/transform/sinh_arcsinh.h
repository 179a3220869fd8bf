/* The sinh-arcsinh warp of one number, which warp and skew layers apply:
 *
 *   v = sinh(power a + lean (sqrt(1 + a²) − 1) − tilt),   a = asinh((u − shift) / spread).
 *
 * Without lean it is that of M. C. Jones and A. Pewsey, Biometrika 96 (2009). Far out v grows like |u|^(power − lean)
 * on the left and u^(power + lean) on the right, so the two tails can differ. */
#ifndef GESS_TRANSFORM_SINH_ARCSINH_H
#define GESS_TRANSFORM_SINH_ARCSINH_H

#include "base/vmath.h"

#include <float.h>
#include <stdbool.h>
#include <stddef.h>

/* The largest |lean| / power: beyond 1 the warp is not invertible. */
#define GESS__MAX_LEAN 0.9

/* No padding: it is archived as it is. */
typedef struct gess__warp {
    double shift, spread, tilt, power, lean;
} gess__warp;

static inline bool gess__warp_valid(const gess__warp *w)
{
    return isfinite(w->shift) && isfinite(w->spread) && w->spread >= DBL_MIN && fabs(w->tilt) <= 100.0 &&
           w->power >= 0.01 && w->power <= 100.0 && fabs(w->lean) <= GESS__MAX_LEAN * w->power;
}

/* Σ log(spread / power): the part of log |du/dv| of all warps that is the same for all points. */
static inline double gess__warp_constant(size_t count, const gess__warp *warps)
{
    double sum = 0.0;
    for (size_t j = 0; j < count; j++) sum += gess__log(warps[j].spread / warps[j].power);
    return sum;
}

/* Divisions and logarithms take most of a warp's time, so the functions below use few of them. Their error is small
 * beside 1, not beside a small result, which is enough: a shift and a spread are applied to the results. */

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

/* The warp v of x = (u − shift) / spread; *slope is dv/dx without the factor `power`. */
GESS__INLINE double gess__warp_in(double x, double power, double lean, double tilt, double *slope)
{
    double root, cosine, a = gess__asinh(x, &root), s = sqrt(gess__fma(a, a, 1.0));
    double v = gess__sinh(gess__fma(lean, s - 1.0, gess__fma(power, a, -tilt)), &cosine);
    *slope = gess__fma(lean / power, a, s) * cosine / (s * root);
    return v;
}

/* Its inverse, x of v; *slope is dx/dv without the factor 1 / power. With Q = asinh v + tilt and c = Q + lean, a is
 * the root (power c − lean r) / (power² − lean²), r² = c² + power² − lean², of a quadratic. If that is a difference of
 * numbers of the same sign, digits would cancel: then a is the product of both roots divided by the other root. */
GESS__INLINE double gess__warp_out(double v, double power, double lean, double tilt, double *slope)
{
    double root, cosine, q = gess__asinh(v, &root) + tilt, c = q + lean, gap = (power - lean) * (power + lean);
    double r = sqrt(gess__fma(c, c, gap)), along = power * c, across = lean * r;
    int cancels = c * lean > 0.0;
    double a =
        gess__select(cancels, q * gess__fma(2.0, lean, q), along - across) / gess__select(cancels, along + across, gap);
    double x = gess__sinh(a, &cosine), s = sqrt(gess__fma(a, a, 1.0));
    *slope = cosine * s / (root * gess__fma(lean / power, a, s));
    return x;
}

/* Adds the log slope of item j of `count` to sums, for a tile of `lanes` points. Takes one logarithm per four slopes,
 * of their product, which `product` carries from item to item. */
GESS__INLINE void gess__warp_add_logs(size_t lanes, size_t j, size_t count, const double *GESS__RESTRICT slope,
                                      double *GESS__RESTRICT product, double *GESS__RESTRICT sums)
{
    const size_t per_log = 4;
    int first = j % per_log == 0, last = j % per_log == per_log - 1 || j + 1 == count;
    for (size_t l = 0; l < lanes; l++) product[l] = first ? slope[l] : product[l] * slope[l];
    for (size_t l = 0; l < lanes && last; l++) sums[l] += gess__log(product[l]);
}

#endif
