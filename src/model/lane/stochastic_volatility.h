/* Stochastic volatility (builtin/stochastic_volatility.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: the returns r_i, then their squares. */
#ifndef GESS_MODEL_LANE_STOCHASTIC_VOLATILITY_H
#define GESS_MODEL_LANE_STOCHASTIC_VOLATILITY_H

#include "base/tiles.h"

enum {
    GESS__VOLATILITY_RETURNS = 50,
    GESS__VOLATILITY_CHAINS = 5, /* of products, independent of each other */
    GESS__VOLATILITY_NUMBERS = 2 * GESS__VOLATILITY_RETURNS
};

/* What the value and the gradient share. */
typedef struct gess__volatility_parts {
    double logs[GESS__LANES];  /* Σ log(1 + t_i) */
    double walk[GESS__LANES];  /* 0.01 + ½ Σ (h_i - h_{i-1})² */
    double first[GESS__LANES]; /* e^{h_1} */
} gess__volatility_parts;

/* log Γ(a + ½) - log Γ(a) for a > 0 to a few ulp of 1 + |log a|, by the asymptotic series of the
 * ratio at y = a + 10, with the recurrence down to a; without the shift if a is large. */
GESS__INLINE double gess__gamma_ratio(double a)
{
    double shift = gess__select(a > 1e8, 0.0, 1.0), over = 1.0, under = 1.0;
    for (int j = 0; j < 10; j++) {
        double b = a + (double)j;
        over *= gess__select(a > 1e8, 1.0, b);
        under *= gess__select(a > 1e8, 1.0, b + 0.5);
    }
    double y = gess__fma(10.0, shift, a), v = 1.0 / y, z = v * v;
    double tail = -5461.0 / 425984.0;
    tail = gess__fma(tail, z, 691.0 / 180224.0);
    tail = gess__fma(tail, z, -31.0 / 18432.0);
    tail = gess__fma(tail, z, 17.0 / 14336.0);
    tail = gess__fma(tail, z, -1.0 / 640.0);
    tail = gess__fma(tail, z, 1.0 / 192.0);
    tail = gess__fma(tail, z, -1.0 / 8.0);
    return gess__fma(tail, v, gess__log(sqrt(y) * (over / under)));
}

/* Σ log(1 + t_i) term by term, for the lanes whose product is not usable. */
GESS__INLINE void gess__volatility_add_slowly(size_t width, const double *GESS__RESTRICT numbers,
                                              const double *GESS__RESTRICT tile, const int *GESS__RESTRICT good,
                                              double *GESS__RESTRICT logs)
{
    double sum[GESS__LANES] = {0};
    for (size_t i = 0; i < GESS__VOLATILITY_RETURNS; i++)
        for (size_t l = 0; l < width; l++) {
            double ratio = numbers[i] * gess__exp(-tile[(1 + i) * width + l]);
            sum[l] += gess__log1p(ratio * ratio / tile[l]);
        }
    for (size_t l = 0; l < width; l++) logs[l] = gess__select(good[l], logs[l], sum[l]);
}

/* Σ log(1 + t_i) by products, and the sum of the h_i. */
GESS__INLINE void gess__volatility_add(size_t width, const double *GESS__RESTRICT numbers,
                                       const double *GESS__RESTRICT tile, double *GESS__RESTRICT logs,
                                       double *GESS__RESTRICT sum)
{
    double product[GESS__VOLATILITY_CHAINS][GESS__LANES] = {{0}}, reach[GESS__LANES] = {0}, over[GESS__LANES];
    const double *h = tile + width, *squares = numbers + GESS__VOLATILITY_RETURNS;
    int good[GESS__LANES], all = 1;
    for (size_t l = 0; l < width; l++) over[l] = 1.0 / tile[l];
    for (size_t l = 0; l < width; l++) sum[l] = 0.0;
    for (size_t i = 0; i < GESS__VOLATILITY_RETURNS; i += GESS__VOLATILITY_CHAINS)
        for (size_t c = 0; c < GESS__VOLATILITY_CHAINS; c++)
            for (size_t l = 0; l < width; l++) {
                double at = h[(i + c) * width + l], size = fabs(at);
                double t = gess__exp_within(-2.0 * gess__select(size > 350.0, 350.0, at)) * (squares[i + c] * over[l]);
                product[c][l] = gess__fma(product[c][l], t, product[c][l] + t);
                sum[l] += at;
                reach[l] = gess__select(size > reach[l], size, reach[l]);
            }
    for (size_t c = 1; c < GESS__VOLATILITY_CHAINS; c++)
        for (size_t l = 0; l < width; l++)
            product[0][l] = gess__fma(product[0][l], product[c][l], product[0][l] + product[c][l]);
    for (size_t l = 0; l < width; l++) good[l] = product[0][l] <= 1e300 && reach[l] <= 350.0;
    for (size_t l = 0; l < width; l++) all &= good[l];
    for (size_t l = 0; l < width; l++) logs[l] = gess__log1p(product[0][l]);
    if (!all) gess__volatility_add_slowly(width, numbers, tile, good, logs);
}

/* The log density of a tile of `width` points, coordinate i of point l at tile[i * width + l]. */
GESS__INLINE void gess__volatility_tile(size_t width, const double *GESS__RESTRICT numbers,
                                        const double *GESS__RESTRICT tile, gess__volatility_parts *GESS__RESTRICT p,
                                        double *GESS__RESTRICT density)
{
    enum { RETURNS = GESS__VOLATILITY_RETURNS };
    double sum[GESS__LANES], walk[GESS__LANES] = {0};
    const double *h = tile + width;
    gess__volatility_add(width, numbers, tile, p->logs, sum);
    for (size_t i = 1; i < RETURNS; i++)
        for (size_t l = 0; l < width; l++) {
            double step = h[i * width + l] - h[(i - 1) * width + l];
            walk[l] = gess__fma(step, step, walk[l]);
        }
    for (size_t l = 0; l < width; l++) {
        double nu = tile[l], sane = (nu - nu) + (sum[l] - sum[l]), value; /* sane is 0, or NaN */
        p->walk[l] = gess__fma(0.5, walk[l], 0.01);
        p->first[l] = gess__exp(h[l]);
        value = RETURNS * (gess__gamma_ratio(0.5 * nu) - 0.5 * (gess__log(nu) + 1.1447298858494001741)); /* log pi */
        value = gess__fma(-0.5 * (nu + 1.0), p->logs[l], value);
        value = gess__fma(-0.5 * (RETURNS + 1), gess__log(p->walk[l]), value);
        value += gess__fma(-0.01, nu, h[l]) - gess__fma(0.01, p->first[l], sum[l]) + sane;
        density[l] = gess__select(nu > 0.0 && value == value, value, -HUGE_VAL);
    }
}

GESS__INLINE double gess__lane_stochastic_volatility(size_t dim, const double *numbers, const double *x)
{
    gess__volatility_parts parts;
    double density;
    (void)dim;
    gess__volatility_tile(1, numbers, x, &parts, &density);
    return density;
}

#endif
