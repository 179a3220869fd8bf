/* Weighted least squares on a few columns, and the loss of a log variance: what finding the steps of a scale layer
 * works with. All functions look at points begin .. end - 1. */
#ifndef GESS_TRANSFORM_LEARN_REGRESS_H
#define GESS_TRANSFORM_LEARN_REGRESS_H

#include "transform/learn.h"

enum { GESS__MAX_TERMS = 2 + 2 * GESS__MAX_DRIVERS }; /* 1, drivers, a square or pulls */

/* A regression: the terms of a mean or a log variance, as columns. */
typedef struct gess__terms {
    size_t count;
    const double *columns[GESS__MAX_TERMS];
    double factors[GESS__MAX_TERMS];
} gess__terms;

/* out = Σ factors_u column_u. */
void gess__regression_predict(const gess__terms *t, size_t begin, size_t end, double *restrict out);

void gess__multiply(size_t n, const double *restrict a, const double *restrict b, double *restrict out);

/* out = log(r² + 1e-12). */
void gess__log_squares(size_t n, const double *restrict r, double *restrict out);

/* a = Xᵀ diag(weights) X, and Xᵀ diag(weights) y into b where y is given. */
void gess__normal_equations(const gess__terms *t, const double *weights, const double *y, size_t begin, size_t end,
                            double *work, double *a, double *b);

/* Weighted least squares; then residuals r = y − prediction. */
void gess__fit_mean(gess__terms *t, const double *weights, const double *y, size_t begin, size_t end, double *work,
                    double *r);

/* weights = e^−h, squares = r² e^−h; returns the mean of h/2 + r² e^−h/2, minus the log-likelihood but a constant. */
double gess__spread_loss(const double *restrict r, size_t begin, size_t end, const double *restrict h,
                         double *restrict weights, double *restrict squares);

#endif
