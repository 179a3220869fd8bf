/* Germination of seeds (builtin/seeds.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: the constant of the log density, then per plate how many seeds germinated, how many were sown, the kind of
 * the seed and that of the extract. */
#ifndef GESS_MODEL_LANE_SEEDS_H
#define GESS_MODEL_LANE_SEEDS_H

#include "base/tiles.h"

enum {
    GESS__SEEDS_PLATES = 21,
    GESS__SEEDS_HEAD = 5, /* parameters before the plates' effects */
    GESS__SEEDS_NUMBERS = 1 + 4 * GESS__SEEDS_PLATES
};

/* What is known of one plate. */
typedef struct gess__seeds_plate {
    double grown, sown, seed, extract;
} gess__seeds_plate;

GESS__INLINE gess__seeds_plate gess__seeds_plate_of(const double *numbers, size_t i)
{
    const double *from = numbers + 1 + 4 * i;
    gess__seeds_plate plate = {from[0], from[1], from[2], from[3]};
    return plate;
}

/* The linear predictor of plate i at point l of a tile of `width` points, coordinate i of point l at
 * tile[i * width + l]. */
GESS__INLINE double gess__seeds_predictor(size_t width, gess__seeds_plate plate, const double *tile, size_t i, size_t l)
{
    double eta = tile[(GESS__SEEDS_HEAD + i) * width + l] + tile[l];
    eta = gess__fma(plate.seed, tile[width + l], eta);
    eta = gess__fma(plate.extract, tile[2 * width + l], eta);
    return gess__fma(plate.seed * plate.extract, tile[3 * width + l], eta);
}

/* The log density of such a tile, and the sum of squares of the plates' effects. */
GESS__INLINE void gess__seeds_tile(size_t width, const double *GESS__RESTRICT numbers,
                                   const double *GESS__RESTRICT tile, double *GESS__RESTRICT square,
                                   double *GESS__RESTRICT density)
{
    double fit[GESS__LANES] = {0}, far[GESS__LANES] = {0};
    const double constant = numbers[0];
    for (size_t l = 0; l < width; l++) square[l] = 0.0;
    for (size_t i = 0; i < GESS__SEEDS_PLATES; i++) {
        gess__seeds_plate plate = gess__seeds_plate_of(numbers, i);
        for (size_t l = 0; l < width; l++) {
            double eta = gess__seeds_predictor(width, plate, tile, i, l), b = tile[(GESS__SEEDS_HEAD + i) * width + l];
            fit[l] += gess__fma(plate.grown, eta, -plate.sown * gess__softplus_minus(-eta));
            square[l] = gess__fma(b, b, square[l]);
        }
    }
    for (size_t i = 0; i < 4; i++)
        for (size_t l = 0; l < width; l++) far[l] = gess__fma(tile[i * width + l], tile[i * width + l], far[l]);
    for (size_t l = 0; l < width; l++) {
        double sigma = tile[4 * width + l], over = 1.0 / sigma;
        double value = fit[l] - 0.5 * gess__fma(square[l] * over, over, 0.01 * far[l]);
        value -= gess__log1p(sigma * sigma) + GESS__SEEDS_PLATES * gess__log(sigma) + constant;
        density[l] = gess__select(sigma > 0.0 && value == value, value, -HUGE_VAL);
    }
}

GESS__INLINE double gess__lane_seeds(size_t dim, const double *numbers, const double *x)
{
    double square, density;
    (void)dim;
    gess__seeds_tile(1, numbers, x, &square, &density);
    return density;
}

#endif
