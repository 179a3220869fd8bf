/* The logistic regressions (builtin/logistic.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: rows of the data, minus the log of the prior's density at 0, then from ROWS on the rows, each times the sign
 * of its class, as panels (lane/panels.h) of PARTIALS rows; the last panel is filled up with 0. */
#ifndef GESS_MODEL_LANE_LOGISTIC_H
#define GESS_MODEL_LANE_LOGISTIC_H

#include "model/lane/panels.h"

enum {
    GESS__LOGISTIC_ROWS = 8,  /* where the panels begin in numbers */
    GESS__LOGISTIC_FOLD = 127 /* panels whose 8 × 127 factors cannot exceed 2^1016 */
};

#define GESS__LOGISTIC_PRIOR_VARIANCE 100.0

/* The partial likelihood of one point; a lane has every PARTIALS-th row of the data. */
typedef struct gess__logistic_tally {
    double linear[GESS__PARTIALS];  /* Σ min(z, 0) */
    double product[GESS__PARTIALS]; /* Π (1 + e^-|z|) since the last fold */
    double logs;                    /* log of the products that were folded */
} gess__logistic_tally;

GESS__INLINE void gess__logistic_start(gess__logistic_tally *t)
{
    for (size_t l = 0; l < GESS__PARTIALS; l++) {
        t->linear[l] = 0.0;
        t->product[l] = 1.0;
    }
    t->logs = 0.0;
}

/* Adds the row of lane l, by its margin z. weight: 1, or 0 in the padding of the last panel. */
GESS__INLINE void gess__logistic_add(gess__logistic_tally *t, size_t l, double z, double weight)
{
    double e = gess__exp_minus(fabs(z));
    t->product[l] *= gess__fma(e, weight, 1.0);
    t->linear[l] += gess__select(z < 0.0, z, 0.0);
}

/* Takes the logarithm of the products. */
GESS__INLINE void gess__logistic_fold(gess__logistic_tally *t)
{
    const double *p = t->product;
    t->logs += gess__log(((p[0] * p[4]) * (p[2] * p[6])) * ((p[1] * p[5]) * (p[3] * p[7])));
    for (size_t l = 0; l < GESS__PARTIALS; l++) t->product[l] = 1.0;
}

/* The log density, once all rows are added and folded. */
GESS__INLINE double gess__logistic_finish(size_t dim, const double *numbers, const gess__logistic_tally *t,
                                          const double *x)
{
    double square = 0.0;
    for (size_t k = 0; k < dim; k++) square = gess__fma(x[k], x[k], square);
    return gess__fma(square, -0.5 / GESS__LOGISTIC_PRIOR_VARIANCE, gess__lane_sum(t->linear) - t->logs) - numbers[1];
}

GESS__INLINE double gess__lane_logistic(size_t dim, const double *numbers, const double *x)
{
    const size_t rows = (size_t)numbers[0];
    const double *panel = numbers + GESS__LOGISTIC_ROWS;
    gess__logistic_tally t;
    gess__logistic_start(&t);
    for (size_t first = 0; first < rows; first += GESS__LOGISTIC_FOLD * GESS__PARTIALS) {
        size_t most = first + GESS__LOGISTIC_FOLD * GESS__PARTIALS, end = rows < most ? rows : most;
        for (size_t row = first; row < end; row += GESS__PARTIALS, panel += dim * GESS__PARTIALS) {
            double z[GESS__PARTIALS] = {0};
            gess__panel_add(dim, panel, x, z);
            for (size_t l = 0; l < GESS__PARTIALS; l++) gess__logistic_add(&t, l, z[l], row + l < rows ? 1.0 : 0.0);
        }
        gess__logistic_fold(&t);
    }
    return gess__logistic_finish(dim, numbers, &t, x);
}

#endif
