/* The layers of the learned map over a tile of points, from w to y: what the layers' own files compile for tiles of
 * several points, and devices for tiles of one (lane/). A point gets the same bits in both. */
#ifndef GESS_TRANSFORM_LAYER_BODY_H
#define GESS_TRANSFORM_LAYER_BODY_H

#include "base/tiles.h"
#include "transform/sinh_arcsinh.h"

/* ---- scale ---- */

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

GESS__INLINE void gess__add_driver(double factor, double centre, const double *GESS__RESTRICT y,
                                   double *GESS__RESTRICT sum)
{
    for (size_t l = 0; l < GESS__LANES; l++) sum[l] = gess__fma(factor, y[l] - centre, sum[l]);
}

GESS__INLINE void gess__saturate(const double *centre, const gess__scale_step *s, const double *tile,
                                 double a[GESS__LANES], double h[GESS__LANES])
{
    double pull[GESS__LANES], share[GESS__LANES];
    for (size_t l = 0; l < GESS__LANES; l++) {
        double variance = gess__exp(h[l]), over = s->cap * variance, inverse = 1.0 / (1.0 + over);
        pull[l] = s->pull;
        share[l] = over * inverse;
        h[l] = gess__log((variance + s->floor) * inverse);
    }
    for (size_t j = 0; j < s->means; j++)
        gess__add_driver(s->pull_slope[j], centre[s->mean_from[j]], tile + (size_t)s->mean_from[j] * GESS__LANES, pull);
    for (size_t l = 0; l < GESS__LANES; l++) a[l] = gess__fma(share[l], pull[l], a[l]);
}

/* a and h of a step from y. */
GESS__INLINE void gess__mean_and_scale(const double *centre, const gess__scale_step *s, const double *tile,
                                       double a[GESS__LANES], double h[GESS__LANES])
{
    for (size_t l = 0; l < GESS__LANES; l++) {
        a[l] = s->shift;
        h[l] = 0.0;
    }
    for (size_t j = 0; j < s->means; j++)
        gess__add_driver(s->mean[j], centre[s->mean_from[j]], tile + (size_t)s->mean_from[j] * GESS__LANES, a);
    for (size_t j = 0; j < s->scales; j++)
        gess__add_driver(s->scale[j], centre[s->scale_from[j]], tile + (size_t)s->scale_from[j] * GESS__LANES, h);
    if (s->bends) {
        const double *y = tile + (size_t)s->bend_from * GESS__LANES;
        double c = centre[s->bend_from];
        for (size_t l = 0; l < GESS__LANES; l++) a[l] = gess__fma(s->bend, (y[l] - c) * (y[l] - c), a[l]);
    }
    for (size_t l = 0; l < GESS__LANES; l++) {
        h[l] = gess__select(h[l] > GESS__MAX_LOG_SCALE, GESS__MAX_LOG_SCALE, h[l]);
        h[l] = gess__select(h[l] < -GESS__MAX_LOG_SCALE, -GESS__MAX_LOG_SCALE, h[l]);
    }
    if (s->saturated) gess__saturate(centre, s, tile, a, h);
}

/* y of a tile, in place; adds log |dy/dw| but for the layer's constant, to sums. */
GESS__INLINE void gess__scale_out_body(size_t count, const gess__scale_step *steps, const double *centre,
                                       double *GESS__RESTRICT tile, double *GESS__RESTRICT sums)
{
    for (size_t p = 0; p < count; p++) {
        const gess__scale_step *s = &steps[p];
        double a[GESS__LANES], h[GESS__LANES], *x = tile + (size_t)s->at * GESS__LANES;
        gess__mean_and_scale(centre, s, tile, a, h);
        for (size_t l = 0; l < GESS__LANES; l++) {
            x[l] = gess__fma(s->spread * gess__exp(0.5 * h[l]), x[l], a[l]);
            sums[l] = gess__fma(0.5, h[l], sums[l]);
        }
    }
}

/* ---- warp ---- */

/* The same for warps of the coordinates `at`. */
GESS__INLINE void gess__warp_out_body(size_t count, const uint32_t *at, const gess__warp *warps,
                                      double *GESS__RESTRICT tile, double *GESS__RESTRICT sums)
{
    double product[GESS__LANES] = {0};
    for (size_t j = 0; j < count; j++) {
        gess__warp w = warps[j];
        double slope[GESS__LANES], *GESS__RESTRICT x = tile + (size_t)at[j] * GESS__LANES;
        for (size_t l = 0; l < GESS__LANES; l++) {
            double t = gess__warp_out(x[l], w.power, w.lean, w.tilt, &slope[l]);
            x[l] = gess__fma(w.spread, t, w.shift);
        }
        gess__warp_add_logs(GESS__LANES, j, count, slope, product, sums);
    }
}

/* ---- skew ---- */

/* Takes v_j of every direction to u_j − v_j; adds the logs of its slopes to sums. */
GESS__INLINE void gess__skew_out_body(size_t count, const gess__warp *warps, double *GESS__RESTRICT v,
                                      double *GESS__RESTRICT sums)
{
    double product[GESS__LANES] = {0};
    for (size_t j = 0; j < count; j++) {
        gess__warp w = warps[j];
        double slope[GESS__LANES];
        for (size_t l = 0; l < GESS__LANES; l++) {
            double *x = v + j * GESS__LANES + l, t = gess__warp_out(*x, w.power, w.lean, w.tilt, &slope[l]);
            *x = gess__fma(w.spread, t, w.shift) - *x;
        }
        gess__warp_add_logs(GESS__LANES, j, count, slope, product, sums);
    }
}

/* A point with a coordinate that is not finite has no density: its sum becomes −inf and that coordinate 0. */
GESS__INLINE void gess__keep_finite(size_t dim, double *GESS__RESTRICT tile, double *GESS__RESTRICT sums)
{
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < GESS__LANES; l++) {
            double x = tile[i * GESS__LANES + l];
            int finite = fabs(x) <= DBL_MAX;
            sums[l] = gess__select(finite, sums[l], -HUGE_VAL);
            tile[i * GESS__LANES + l] = gess__select(finite, x, 0.0);
        }
    for (size_t l = 0; l < GESS__LANES; l++) sums[l] = gess__select(fabs(sums[l]) <= DBL_MAX, sums[l], -HUGE_VAL);
}

#endif
