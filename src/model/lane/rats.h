/* Growth of rats (builtin/rats.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: the sum of squares about all lines, the constant of the log density, then the rats' intercepts and their
 * slopes of least squares. */
#ifndef GESS_MODEL_LANE_RATS_H
#define GESS_MODEL_LANE_RATS_H

#include "base/tiles.h"

enum {
    GESS__RATS = 30,
    GESS__RATS_AGES = 5,
    GESS__RATS_HEAD = 5,  /* parameters before those of the rats */
    GESS__RATS_LINES = 2, /* where the lines begin in numbers */
    GESS__RATS_NUMBERS = GESS__RATS_LINES + 2 * GESS__RATS
};

/* Sums of squares of a tile: of the data; of the intercepts and of the slopes about their means. */
typedef struct gess__rats_squares {
    double data[GESS__LANES], about[2][GESS__LANES];
} gess__rats_squares;

/* log half-Cauchy(sigma; 0, 25) - count log(sigma), without constants. */
GESS__INLINE double gess__rats_spread(double sigma, double count)
{
    double ratio = sigma * 0.04;
    return -gess__log1p(ratio * ratio) - count * gess__log(sigma);
}

/* The log density of a tile of `width` points, coordinate i of point l at tile[i * width + l]. */
GESS__INLINE void gess__rats_tile(size_t width, const double *GESS__RESTRICT numbers, const double *GESS__RESTRICT tile,
                                  gess__rats_squares *GESS__RESTRICT s, double *GESS__RESTRICT density)
{
    enum { HEAD = GESS__RATS_HEAD, RATS = GESS__RATS };
    const double constant = numbers[1];
    for (size_t l = 0; l < width; l++) s->data[l] = numbers[0];
    for (size_t c = 0; c < 2; c++) {
        const double share = c == 0 ? 5.0 : 490.0, *line = numbers + GESS__RATS_LINES + c * RATS; /* Σ 1 and Σ age² */
        for (size_t l = 0; l < width; l++) s->about[c][l] = 0.0;
        for (size_t i = 0; i < RATS; i++)
            for (size_t l = 0; l < width; l++) {
                double at = tile[(HEAD + c * RATS + i) * width + l];
                double miss = line[i] - at, away = at - tile[c * width + l];
                s->data[l] = gess__fma(share * miss, miss, s->data[l]);
                s->about[c][l] = gess__fma(away, away, s->about[c][l]);
            }
    }
    for (size_t l = 0; l < width; l++) {
        const double a = tile[2 * width + l], b = tile[3 * width + l], e = tile[4 * width + l];
        double far = gess__fma(tile[l], tile[l], tile[width + l] * tile[width + l]) * 1e-6;
        double value = -0.5 * (far + s->about[0][l] / (a * a) + s->about[1][l] / (b * b) + s->data[l] / (e * e));
        value += gess__rats_spread(a, RATS) + gess__rats_spread(b, RATS) +
                 gess__rats_spread(e, RATS * GESS__RATS_AGES) - constant;
        density[l] = gess__select(a > 0.0 && b > 0.0 && e > 0.0 && value == value, value, -HUGE_VAL);
    }
}

GESS__INLINE double gess__lane_rats(size_t dim, const double *numbers, const double *x)
{
    gess__rats_squares squares;
    double density;
    (void)dim;
    gess__rats_tile(1, numbers, x, &squares, &density);
    return density;
}

#endif
