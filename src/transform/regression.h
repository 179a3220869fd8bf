/* Regressions on a few columns: of a mean by weighted least squares, and of a log variance by Newton's method.
 *
 * Both serve the scale layer. All functions work on points begin .. end - 1 of columns with one number per point.
 * The variance model is r ~ N(0, e^h) with h linear in the terms (a gamma regression of r²); its loss
 *   mean of h/2 + r² e^−h/2
 * is minus the log-likelihood per point, but for a constant, and convex in the factors. */
#ifndef GESS_TRANSFORM_REGRESSION_H
#define GESS_TRANSFORM_REGRESSION_H

#include <stddef.h>

enum { GESS__MAX_TERMS = 8 };

/* The terms of a mean or a log variance. A log variance has a column of ones as its first. */
typedef struct gess__terms {
    size_t count;
    const double *columns[GESS__MAX_TERMS];
    double factors[GESS__MAX_TERMS];
} gess__terms;

/* Scratch of the regressions, one number per point each. After a fit, h, weights = e^−h and squares = r² e^−h belong
 * to its result. */
typedef struct gess__spread_work {
    double *h, *weights, *squares, *work;
} gess__spread_work;

/* out = Σ factors_u column_u. */
void gess__regression_predict(const gess__terms *t, size_t begin, size_t end, double *restrict out);

/* out = a b, number by number. */
void gess__multiply(size_t n, const double *restrict a, const double *restrict b, double *restrict out);

/* out = log(r² + 1e-12). */
void gess__log_squares(size_t n, const double *restrict r, double *restrict out);

/* Weighted least squares of y; then the residuals r = y − prediction. */
void gess__fit_mean(gess__terms *t, const double *weights, const double *y, size_t begin, size_t end, double *work,
                    double *r);

/* Sets weights and squares from h, and returns the loss. */
double gess__spread_loss(const double *restrict r, size_t begin, size_t end, const double *restrict h,
                         double *restrict weights, double *restrict squares);

/* Sets the constant term to its best value for the present other factors; returns the loss. */
double gess__spread_level(gess__terms *t, const double *r, size_t begin, size_t end, const gess__spread_work *w);

/* A start for gess__spread_fit(): least squares of log r², or a constant variance if that has the smaller loss, which
 * is returned. */
double gess__spread_start(gess__terms *t, const double *r, size_t begin, size_t end, const gess__spread_work *w);

/* Minimises the loss from the present factors, whose loss is given; returns the smallest. */
double gess__spread_fit(gess__terms *t, const double *r, size_t begin, size_t end, const gess__spread_work *w,
                        double loss);

#endif
