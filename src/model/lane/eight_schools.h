/* Eight schools (builtin/eight_schools.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: 1 if the parameters are centred, else 0; the constant of the log density; per school 1 / sigma², then per
 * school the effect y. */
#ifndef GESS_MODEL_LANE_EIGHT_SCHOOLS_H
#define GESS_MODEL_LANE_EIGHT_SCHOOLS_H

#include "base/tiles.h"

enum {
    GESS__SCHOOLS = 8,
    GESS__SCHOOLS_PRECISION = 2, /* places in numbers */
    GESS__SCHOOLS_EFFECT = GESS__SCHOOLS_PRECISION + GESS__SCHOOLS,
    GESS__SCHOOLS_NUMBERS = GESS__SCHOOLS_EFFECT + GESS__SCHOOLS
};

/* The log density of a tile of `width` points, coordinate i of point l at tile[i * width + l]. theta: likewise, for the
 * effects theta; NULL: not wanted. */
GESS__INLINE void gess__schools_tile(size_t width, const double *GESS__RESTRICT numbers,
                                     const double *GESS__RESTRICT tile, double *GESS__RESTRICT theta,
                                     double *GESS__RESTRICT density)
{
    const double *mu = tile, *tau = tile + width, *school = tile + 2 * width;
    const double *precision = numbers + GESS__SCHOOLS_PRECISION, *effect = numbers + GESS__SCHOOLS_EFFECT;
    const double constant = numbers[1];
    const int centred = numbers[0] != 0.0;
    double square[GESS__LANES] = {0}, misfit[GESS__LANES] = {0}, step[GESS__LANES], scale[GESS__LANES];
    for (size_t l = 0; l < width; l++) step[l] = centred ? 1.0 : tau[l];
    for (size_t l = 0; l < width; l++) scale[l] = centred ? 1.0 / tau[l] : 1.0;
    for (size_t j = 0; j < GESS__SCHOOLS; j++)
        for (size_t l = 0; l < width; l++) {
            double centre = centred ? 0.0 : mu[l], about = centred ? mu[l] : 0.0;
            double at = gess__fma(step[l], school[j * width + l], centre);
            double away = (school[j * width + l] - about) * scale[l], miss = effect[j] - at;
            square[l] = gess__fma(away, away, square[l]);
            misfit[l] = gess__fma(miss * precision[j], miss, misfit[l]);
            if (theta != NULL) theta[j * width + l] = at;
        }
    for (size_t l = 0; l < width; l++) {
        double spread = tau[l] * 0.2, centre = mu[l] * 0.2;
        double logs = gess__log1p(spread * spread) + (centred ? GESS__SCHOOLS * gess__log(tau[l]) : 0.0);
        double value = -0.5 * (gess__fma(centre, centre, square[l]) + misfit[l]) - logs - constant;
        density[l] = gess__select(tau[l] > 0.0 && value == value, value, -HUGE_VAL);
    }
}

GESS__INLINE double gess__lane_eight_schools(size_t dim, const double *numbers, const double *x)
{
    double density;
    (void)dim;
    gess__schools_tile(1, numbers, x, NULL, &density);
    return density;
}

#endif
