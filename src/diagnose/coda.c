/* Fits autoregressions by Levinson-Durbin and computes, from the spectral density at frequency 0, coda's
 * effectiveSize() and geweke.diag(). */
#include "diagnose/coda.h"

#include "base/assert.h"
#include "base/special.h"
#include "base/sums.h"
#include "base/tiles.h"
#include "base/vmath.h"

#include <float.h>

/* Orders up to 10 log10 n are tried: fewer than 193 for any size_t n. */
enum { ORDER_LIMIT = 200 };

/* Means have more than the digits of a double (base/sums.h), for locations far from zero. */
static double mean_of(size_t n, const double *x)
{
    gess__pair mean = gess__mean(n, x, 1);
    return mean.high + mean.low;
}

static double variance_of(size_t n, const double *x)
{
    return gess__sum_of_squares(n, x, 1, (gess__pair){mean_of(n, x), 0.0}) / (double)(n - 1);
}

/* sd of the residuals about the least-squares line in time. */
static double residual_sd(size_t n, const double *x)
{
    gess__pair mean = gess__mean(n, x, 1);
    double centre = ((double)n - 1.0) / 2.0, cross = 0.0, square = 0.0, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        double time = (double)i - centre;
        cross += time * (x[i] - mean.high - mean.low);
        square += time * time;
    }
    double slope = cross / square;
    for (size_t i = 0; i < n; i++) {
        double residual = x[i] - mean.high - mean.low - ((double)i - centre) * slope;
        sum += residual * residual;
    }
    return sqrt(sum / (double)(n - 1));
}

/* out = x minus its mean. A second call removes the rounding error of the first. */
static void centre_series(size_t n, const double *x, double *out)
{
    double mean = mean_of(n, x);
    for (size_t i = 0; i < n; i++) out[i] = x[i] - mean;
}

/* Levinson-Durbin on the autocovariances r[0 .. orders]. The order m with the smallest AIC, n ln v_m + 2m (the first of
 * several), gives the spectrum: v_m n / (n - m - 1) / (1 - Σφ)². */
static double spectrum_by_aic(size_t n, size_t orders, const double *r)
{
    double phi[ORDER_LIMIT] = {0}, old[ORDER_LIMIT];
    double variance = r[0], best_aic = INFINITY, spectrum = NAN;
    for (size_t m = 0;; m++) {
        double aic = (double)n * gess__log(variance) + 2.0 * (double)m;
        if (!isfinite(aic)) return NAN;
        if (aic < best_aic) {
            double sum = 0.0;
            for (size_t j = 0; j < m; j++) sum += phi[j];
            best_aic = aic;
            spectrum = variance * (double)n / (double)(n - (m + 1)) / ((1.0 - sum) * (1.0 - sum));
        }
        if (m == orders) return spectrum;
        double reflection = r[m + 1];
        for (size_t j = 0; j < m; j++) {
            old[j] = phi[j];
            reflection -= phi[j] * r[m - j];
        }
        reflection /= variance;
        for (size_t j = 0; j < m; j++) phi[j] = old[j] - reflection * old[m - 1 - j];
        phi[m] = reflection;
        variance *= 1.0 - reflection * reflection;
    }
}

double gess__coda_spectrum0(size_t n, const double *x, double *scratch)
{
    if (n < 2) return NAN;
    double nothing = 0.0;
    for (size_t i = 0; i < n; i++) nothing += x[i] * 0.0;
    if (nothing != 0.0) return NAN;
    if (residual_sd(n, x) <= sqrt(DBL_EPSILON)) return 0.0;

    size_t orders = (size_t)gess__min((double)(n - 1), floor(10.0 * gess__log10((double)n)));
    double r[ORDER_LIMIT];
    centre_series(n, x, scratch);
    centre_series(n, scratch, scratch);
    for (size_t k = 0; k <= orders; k++) r[k] = gess__dot(n - k, scratch + k, scratch) / (double)n;
    return spectrum_by_aic(n, orders, r);
}

double gess__coda_effective_size(size_t chains, size_t n, const double *x, double *scratch)
{
    double sum = 0.0;
    GESS_ASSERT(x != NULL && scratch != NULL);
    for (size_t c = 0; c < chains; c++) {
        const double *chain = x + c * n;
        double spectrum = gess__coda_spectrum0(n, chain, scratch);
        sum += spectrum == 0.0 ? 0.0 : (double)n * variance_of(n, chain) / spectrum;
    }
    return sum;
}

double gess__coda_geweke(size_t n, const double *x, double *scratch)
{
    if (n < 2) return NAN;
    double length = (double)n;
    size_t n1 = (size_t)ceil(1.0 + 0.1 * (length - 1.0));
    size_t begin2 = (size_t)floor(length - 0.5 * (length - 1.0)) - 1, n2 = n - begin2;
    double error1 = gess__coda_spectrum0(n1, x, scratch) / (double)n1;
    double error2 = gess__coda_spectrum0(n2, x + begin2, scratch) / (double)n2;
    return (mean_of(n1, x) - mean_of(n2, x + begin2)) / sqrt(error1 + error2);
}
