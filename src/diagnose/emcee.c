/* Averages the chains' autocorrelation functions and finds the window of emcee's integrated_time(). */
#include "diagnose/emcee.h"

#include "base/assert.h"

#include <math.h>
#include <string.h>

/* The chain minus its mean, divided by the root of its sum of squares, so that autocovariances are autocorrelations. */
static void standardise(size_t n, const double *x, double *out)
{
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    double mean = sum / (double)n;
    for (size_t i = 0; i < n; i++) {
        out[i] = x[i] - mean;
        squares += out[i] * out[i];
    }
    double scale = 1.0 / sqrt(squares);
    for (size_t i = 0; i < n; i++) out[i] *= scale; /* NaN for a constant chain */
}

double gess__emcee_time(gess__fft *fft, size_t chains, size_t n, const double *x, double *scratch)
{
    GESS_ASSERT(chains > 0 && fft->size >= 2 * n);
    if (n < 2) return NAN;
    gess__fft_clear(fft);
    for (size_t c = 0; c < chains; c += 2) {
        standardise(n, x + c * n, scratch);
        memcpy(fft->re, scratch, n * sizeof *scratch);
        if (c + 1 < chains) {
            standardise(n, x + (c + 1) * n, scratch);
            memcpy(fft->im, scratch, n * sizeof *scratch);
        } else {
            memset(fft->im, 0, n * sizeof *scratch);
        }
        gess__fft_add_power(fft, n);
    }
    gess__fft_autocovariance(fft);
    double sum = 0.0;
    for (size_t m = 0; m < n; m++) {
        sum += fft->re[m] / (double)chains;
        double time = 2.0 * sum - 1.0;
        if (!((double)m < 5.0 * time)) return time; /* also if time is NaN */
    }
    return 2.0 * sum - 1.0;
}
