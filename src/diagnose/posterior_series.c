/* Computes the plain split R-hat and ESS of one series of numbers, and turns draws into the normal scores that
 * posterior.c asks for. Sums have the precision and order of R's package posterior. */
#include "base/special.h"
#include "base/sums.h"
#include "base/vmath.h"
#include "diagnose/distributions.h"
#include "diagnose/posterior_workspace.h"

#include <float.h>
#include <string.h>

/* ---- sums ---- */

/* As exact as R's: some figures depend on whether a variance is exactly zero. */
double gess__strided_mean(size_t n, const double *x, size_t stride)
{
    gess__pair mean = gess__mean(n, x, stride);
    return isfinite(mean.high) ? mean.high + mean.low : mean.high;
}

double gess__strided_variance(size_t n, const double *x, size_t stride, double mean)
{
    if (n < 2) return NAN;
    return gess__sum_of_squares(n, x, stride, (gess__pair){mean, 0.0}) / (double)(n - 1);
}

/* ---- normal scores ---- */

/* Replaces the draws that the split keeps by normal quantiles of their average ranks. `keys` ascend; order[i] is the
 * place of keys[i] in `series`. False if a kept draw is NaN. */
static bool normal_scores(const gess__posterior_workspace *work, const uint64_t *keys, const uint32_t *order,
                          double *series)
{
    size_t n = work->n, total = work->total;
    bool drops = n % 2 == 1 && n > 1;
    double size = (double)(work->split.columns * work->split.rows) - 2.0 * 0.375 + 1.0;
    size_t rank = 0; /* kept draws below the current group of ties */
    for (size_t first = 0, last; first < total; first = last) {
        for (last = first + 1; last < total && keys[last] == keys[first];) last++;
        size_t kept = last - first;
        if (drops)
            for (size_t i = first; i < last; i++) kept -= order[i] % n == n / 2;
        if (kept == 0) continue;
        if (keys[first] == UINT64_MAX) return false;
        double average = (double)(2 * rank + kept + 1) / 2.0;
        double score = gess__normal_quantile((average - 0.375) / size);
        for (size_t i = first; i < last; i++) series[order[i]] = score;
        rank += kept;
    }
    return true;
}

bool gess__bulk_scores(gess__posterior_workspace *work)
{
    return normal_scores(work, work->keys, work->order, work->series);
}

/* R's median(), to the last bit, because it decides which folded draws tie. */
static double median(const gess__posterior_workspace *work)
{
    if (work->numbers < work->total) return NAN;
    size_t half = work->total / 2;
    double middle[2] = {gess__draw_of_key(work->keys[half - (work->total % 2 == 0)]),
                        gess__draw_of_key(work->keys[half])};
    return work->total % 2 == 1 ? middle[1] : gess__strided_mean(2, middle, 1);
}

/* Distances grow both ways from the median, so merging the draws below it, taken backwards, with those above it sorts
 * them. */
bool gess__folded_scores(gess__posterior_workspace *work)
{
    double centre = median(work);
    if (!isfinite(centre)) return false;
    size_t total = work->total, above = total / 2;
    while (above > 0 && gess__draw_of_key(work->keys[above - 1]) > centre) above--;
    while (above < total && gess__draw_of_key(work->keys[above]) <= centre) above++;
    size_t below = above; /* draws not yet taken on the lower side */
    for (size_t i = 0; i < total; i++) {
        double down = below > 0 ? fabs(gess__draw_of_key(work->keys[below - 1]) - centre) : INFINITY;
        double up = above < total ? fabs(gess__draw_of_key(work->keys[above]) - centre) : INFINITY;
        bool take_below = below > 0 && (above == total || down <= up);
        size_t from = take_below ? --below : above++;
        work->spare_keys[i] = gess__draw_key(take_below ? down : up);
        work->spare_order[i] = work->order[from];
    }
    return normal_scores(work, work->spare_keys, work->spare_order, work->series);
}

/* ---- R-hat and effective sample size of a series, split like the draws ---- */

/* Whether the values that the split keeps are constant, or some are not finite. */
static bool degenerate(const gess__posterior_workspace *work, const double *series)
{
    double low = INFINITY, high = -INFINITY, nothing = 0.0;
    for (size_t c = 0; c < work->split.columns; c++) {
        const double *column = series + gess__posterior_begin(work, c);
        for (size_t i = 0; i < work->split.rows; i++) {
            double value = column[i * work->split.stride];
            low = value < low ? value : low;
            high = value > high ? value : high;
            nothing += value * 0.0;
        }
    }
    return nothing != 0.0 || !(fabs(high - low) >= DBL_EPSILON);
}

/* Plain double sums, as in the package matrixStats that posterior calls: far from zero, and in constant columns, their
 * rounding shows in the figures. */
static void column_means(const gess__posterior_workspace *work, const double *series)
{
    for (size_t c = 0; c < work->split.columns; c++) {
        const double *column = series + gess__posterior_begin(work, c);
        double sum = 0.0;
        for (size_t i = 0; i < work->split.rows; i++) sum += column[i * work->split.stride];
        work->means[c] = sum / (double)work->split.rows;
    }
}

static double variance_of_means(const gess__posterior_workspace *work)
{
    size_t columns = work->split.columns;
    return gess__strided_variance(columns, work->means, 1, gess__strided_mean(columns, work->means, 1));
}

double gess__series_rhat(gess__posterior_workspace *work, const double *series)
{
    size_t rows = work->split.rows, columns = work->split.columns;
    if (rows < 2 || degenerate(work, series)) return NAN;
    column_means(work, series);
    double within = 0.0;
    for (size_t c = 0; c < columns; c++)
        within +=
            gess__strided_variance(rows, series + gess__posterior_begin(work, c), work->split.stride, work->means[c]);
    double between = (double)rows * variance_of_means(work);
    return sqrt((between / (within / (double)columns) + (double)rows - 1.0) / (double)rows);
}

/* Leaves in fft.re the autocovariances with denominator `rows`, averaged over the columns. */
static void autocovariances(gess__posterior_workspace *work, const double *series)
{
    size_t rows = work->split.rows, columns = work->split.columns, stride = work->split.stride;
    gess__fft *fft = &work->fft;
    gess__fft_clear(fft);
    for (size_t c = 0; c < columns; c += 2) { /* if rows > 1, the number of columns is even */
        const double *one = series + gess__posterior_begin(work, c), *two = series + gess__posterior_begin(work, c + 1);
        double mean_one = gess__strided_mean(rows, one, stride), mean_two = gess__strided_mean(rows, two, stride);
        for (size_t i = 0; i < rows; i++) fft->re[i] = one[i * stride] - mean_one;
        for (size_t i = 0; i < rows; i++) fft->im[i] = two[i * stride] - mean_two;
        gess__fft_add_power(fft, rows);
    }
    gess__fft_autocovariance(fft);
    double scale = 1.0 / ((double)rows * (double)columns);
    for (size_t i = 0; i < rows; i++) fft->re[i] *= scale;
}

/* Geyer's initial monotone sequence, ended as posterior ends it. */
double gess__series_ess(gess__posterior_workspace *work, const double *series)
{
    size_t rows = work->split.rows;
    if (rows < 3 || degenerate(work, series)) return NAN;
    column_means(work, series);
    autocovariances(work, series);
    const double *covariance = work->fft.re;
    double *rho = work->rho;
    double mean_variance = covariance[0] * (double)rows / (double)(rows - 1);
    double variance = mean_variance * (double)(rows - 1) / (double)rows + variance_of_means(work);

    memset(rho, 0, (rows + 2) * sizeof *rho);
    double even = 1.0, odd = 1.0 - (mean_variance - covariance[1]) / variance;
    rho[0] = even;
    rho[1] = odd;
    size_t end = 0;
    while (end + 5 < rows && even + odd > 0.0) { /* false for NaN */
        end += 2;
        even = 1.0 - (mean_variance - covariance[end]) / variance;
        odd = 1.0 - (mean_variance - covariance[end + 1]) / variance;
        if (even + odd >= 0.0) {
            rho[end] = even;
            rho[end + 1] = odd;
        }
    }
    if (even > 0.0) rho[end] = even;
    for (size_t t = 2; t + 2 <= end; t += 2)
        if (rho[t] + rho[t + 1] > rho[t - 2] + rho[t - 1]) rho[t] = rho[t + 1] = (rho[t - 2] + rho[t - 1]) / 2.0;

    /* posterior sums rho[1:end], which in R has the first element even if end = 0. */
    double sum = 0.0;
    for (size_t t = 0; t < (end > 0 ? end : 1); t++) sum += rho[t];
    double tau = -1.0 + 2.0 * sum + rho[end];
    double draws = (double)work->split.columns * (double)rows, bound = 1.0 / gess__log10(draws);
    return draws / (tau < bound ? bound : tau);
}
