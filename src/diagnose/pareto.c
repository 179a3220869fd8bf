/* Fits the generalised Pareto distribution, and replaces the largest importance weights by its quantiles. */
#include "diagnose/pareto.h"

#include "base/assert.h"
#include "base/sort.h"
#include "base/special.h"
#include "base/vmath.h"

enum {
    GRID = 30, /* Zhang and Stephens: GRID + √n values of θ */
    MAX_GRID = 64,
    PRIOR = 10 /* draws that the prior k = 1/2 of the smoothing counts for */
};

#define SAME 1e-12 /* relative difference of weights that are equal but for rounding */

/* Mean of gess__log(1 - θ x). */
static GESS__VECTOR_VALUE(double, mean_log, (size_t n, const double *x, double theta), (n, x, theta))
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += gess__log1p(-theta * x[i]);
    return sum / (double)n;
}

gess__pareto gess__pareto_fit(size_t n, const double *x)
{
    size_t grid = GRID + (size_t)sqrt((double)n);
    double quartile = x[(size_t)((double)n / 4.0 + 0.5) - 1], theta[MAX_GRID], profile[MAX_GRID], mean = 0.0;
    GESS_ASSERT(n >= GESS__PARETO_MIN_POINTS && n <= GESS__PARETO_MAX_POINTS && grid <= MAX_GRID && quartile > 0.0);
    for (size_t j = 0; j < grid; j++) {
        theta[j] = 1.0 / x[n - 1] + (1.0 - sqrt((double)grid / ((double)j + 0.5))) / (3.0 * quartile);
        double shape = mean_log(n, x, theta[j]);
        profile[j] = (double)n * (gess__log(-theta[j] / shape) - shape - 1.0);
    }
    for (size_t j = 0; j < grid; j++) {
        double inverse = 0.0;
        for (size_t i = 0; i < grid; i++) inverse += gess__exp(profile[i] - profile[j]);
        mean += theta[j] / inverse;
    }
    double shape = mean_log(n, x, mean);
    return (gess__pareto){shape, -shape / mean};
}

/* ---- smoothing ---- */

/* Weights in the tail: min(n/5, 3√n). */
static size_t tail_size(size_t n)
{
    size_t tail = (size_t)gess__min((double)n / 5.0, 3.0 * sqrt((double)n));
    return tail < GESS__PARETO_MAX_POINTS ? tail : GESS__PARETO_MAX_POINTS;
}

/* Replaces the last `tail` of n ascending weights by quantiles of a Pareto distribution above the one before them, at
 * most the largest weight. Returns k̂; INFINITY if fewer weights than the tail has differ from 0, −INFINITY if the tail
 * is one number, NaN if no distribution can be fitted: then the weights stay. */
static double smooth_tail(size_t n, size_t tail, double *weights)
{
    double excess[GESS__PARETO_MAX_POINTS], *first = weights + (n - tail), threshold = first[-1], max = weights[n - 1];
    for (size_t i = 0; i < tail; i++) excess[i] = first[i] - threshold;
    if (!(threshold > 0.0)) return INFINITY;
    if (excess[tail - 1] <= SAME * max) return -INFINITY;
    if (!(excess[(size_t)((double)tail / 4.0 + 0.5) - 1] > 0.0)) return NAN;
    gess__pareto fit = gess__pareto_fit(tail, excess);
    double k = (fit.shape * (double)tail + 0.5 * PRIOR) / ((double)tail + PRIOR);
    if (!isfinite(k) || !(fit.scale > 0.0)) return NAN;
    for (size_t i = 0; i < tail; i++) {
        double rest = 1.0 - ((double)i + 0.5) / (double)tail;
        double y = fabs(k) < 1e-8 ? -gess__log(rest) : (gess__exp(-k * gess__log(rest)) - 1.0) / k;
        first[i] = gess__min(threshold + fit.scale * y, max);
    }
    return k;
}

gess__smoothed gess__pareto_smooth(size_t n, double *logs)
{
    gess__smoothed s = {.log_mean = -INFINITY, .error = INFINITY, .k = NAN};
    double mean = 0.0, square = 0.0;
    if (n == 0) return s;
    gess__sort(n, logs);
    double max = logs[n - 1];
    if (!(max > -INFINITY && max < INFINITY)) return s;
    for (size_t i = 0; i < n; i++) logs[i] = gess__exp(logs[i] - max);
    size_t tail = tail_size(n);
    if (tail >= GESS__PARETO_MIN_POINTS) s.k = smooth_tail(n, tail, logs);
    for (size_t i = 0; i < n; i++) {
        mean += logs[i] / (double)n;
        square += logs[i] * logs[i] / (double)n;
    }
    s.log_mean = max + gess__log(mean);
    s.error = sqrt(gess__max(square / (mean * mean) - 1.0, 0.0) / (double)n);
    return s;
}

double gess__pareto_max_k(size_t n)
{
    return n > 10 ? gess__min(1.0 - 1.0 / gess__log10((double)n), 0.7) : 0.0;
}
