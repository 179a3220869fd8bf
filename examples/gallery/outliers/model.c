/* A straight line through points some of which are wrong: D. W. Hogg, J. Bovy and D. Lang, "Data analysis recipes: fitting
 * a model to data" (2010), exercise 6. A point belongs to the line, or with probability `bad` to a wide Gaussian. */
#include "frame.h"

#define MODEL "outliers"
enum { COLUMNS = 3 }; /* x, y, sd of y */
enum { SLOPE, INTERCEPT, BAD, CENTRE, SPREAD, DIM };
static const char *const names[DIM] = {"slope", "intercept", "bad", "centre", "spread"};
static const double lower[DIM] = {-INFINITY, -INFINITY, 0.0, -INFINITY, 0.0};
static const double upper[DIM] = {INFINITY, INFINITY, 1.0, INFINITY, INFINITY};

/* log(a e^x + b e^y) */
static double log_mix(double a, double x, double b, double y)
{
    double top = x > y ? x : y;
    return top + log(a * exp(x - top) + b * exp(y - top));
}

static double log_gauss(double residual, double variance)
{
    return -0.5 * residual * residual / variance - 0.5 * log(variance);
}

static double log_posterior(const struct table *data, const double *p)
{
    /* uniform in the angle of the line; N(400, 200²) and half-Cauchy of 100 for the wrong points; Beta(1, 3) for their share */
    double sum = -1.5 * log(1.0 + p[SLOPE] * p[SLOPE]) - 0.5 * p[INTERCEPT] * p[INTERCEPT] / (500.0 * 500.0) -
                 0.5 * (p[CENTRE] - 400.0) * (p[CENTRE] - 400.0) / (200.0 * 200.0) -
                 log(1.0 + p[SPREAD] * p[SPREAD] / (100.0 * 100.0)) + 2.0 * log(1.0 - p[BAD]);
    for (size_t i = 0; i < data->rows; i++) {
        const double *row = data->values + COLUMNS * i;
        double variance = row[2] * row[2];
        sum += log_mix(1.0 - p[BAD], log_gauss(row[1] - p[SLOPE] * row[0] - p[INTERCEPT], variance), p[BAD],
                       log_gauss(row[1] - p[CENTRE], variance + p[SPREAD] * p[SPREAD]));
    }
    return sum;
}

#include "frame.h"
