/* Gaussian-process regression: a smooth function through noisy points, with unknown length scale, amplitude and noise. The
 * covariance is factored at every evaluation, so the density is slow (n³/6 multiplications). */
#include "frame.h"

#define MODEL "process"
enum { COLUMNS = 2, MAX_POINTS = 128 };
enum { LENGTH, AMPLITUDE, NOISE, LEVEL, DIM };
static const char *const names[DIM] = {"length", "amplitude", "noise", "level"};
static const double lower[DIM] = {0.0, 0.0, 0.0, -INFINITY};
static const double upper[DIM] = {INFINITY, INFINITY, INFINITY, INFINITY};

/* Inverse gamma (3, 2): hardly any mass below 0.2, so that the length does not fall below the distance of points. */
static double log_prior_length(double length)
{
    return -4.0 * log(length) - 2.0 / length;
}

static double log_posterior(const struct table *data, const double *p)
{
    static _Thread_local double chol[MAX_POINTS][MAX_POINTS];
    size_t n = data->rows < MAX_POINTS ? data->rows : MAX_POINTS;
    double white[MAX_POINTS];
    double sum = log_prior_length(p[LENGTH]) - 0.5 * p[AMPLITUDE] * p[AMPLITUDE] / 4.0 - p[NOISE] -
                 0.5 * p[LEVEL] * p[LEVEL] / 25.0;
    for (size_t i = 0; i < n; i++) {
        double rest = data->values[COLUMNS * i + 1] - p[LEVEL];
        for (size_t k = 0; k <= i; k++) {
            double d = (data->values[COLUMNS * i] - data->values[COLUMNS * k]) / p[LENGTH];
            double c = p[AMPLITUDE] * p[AMPLITUDE] * exp(-0.5 * d * d) + (i == k ? p[NOISE] * p[NOISE] + 1e-10 : 0.0);
            for (size_t l = 0; l < k; l++) c -= chol[i][l] * chol[k][l];
            if (i == k && !(c > 0.0)) return -INFINITY;
            chol[i][k] = i == k ? sqrt(c) : c / chol[k][k];
        }
        for (size_t l = 0; l < i; l++) rest -= chol[i][l] * white[l];
        white[i] = rest / chol[i][i];
        sum -= 0.5 * white[i] * white[i] + log(chol[i][i]);
    }
    return sum;
}

#include "frame.h"
