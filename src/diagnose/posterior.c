#include "diagnose/posterior.h"

#include "base/mem.h"
#include "base/vmath.h"
#include "diagnose/distributions.h"
#include "diagnose/fft.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* How the draws are cut: columns of `rows` draws. Draw i of column c is x[begin(c) + i * stride]. */
typedef struct split {
    size_t columns, rows, stride;
} split;

struct gess__posterior_workspace {
    size_t chains, n, total; /* total = chains × n */
    split split;
    const double *x;       /* loaded draws, the caller's */
    size_t numbers;        /* of these, how many are not NaN */
    uint64_t *keys;        /* total: draws in ascending order, as keys (see key_of()) */
    uint32_t *order;       /* total: where in x each of them is */
    uint64_t *spare_keys;  /* total */
    uint32_t *spare_order; /* total */
    double *series;        /* total, as x: the transformed draws that a figure is about */
    double *means;         /* one a column */
    double *rho;           /* rows: autocorrelations */
    gess__fft fft;
};

/* ---- memory ---- */

/* Halves of the chains; an odd n drops its middle draw. posterior cuts chains of 2 or 3 draws into
 * two columns, of first and of last draws, with the chains as rows; so does this. */
static split cut(size_t chains, size_t n)
{
    if (n == 1) return (split){chains, 1, 1};
    if (n < 4 && chains > 1) return (split){2, chains, n};
    return (split){2 * chains, n / 2, 1};
}

static size_t begin(const gess__posterior_workspace *work, size_t column)
{
    size_t n = work->n;
    if (n == 1) return column;
    if (work->split.stride > 1) return column * (n - 1);
    return column / 2 * n + column % 2 * (n - n / 2);
}

int gess__posterior_workspace_new(gess__posterior_workspace **out, size_t chains, size_t n, gess_error *err)
{
    *out = NULL;
    if (chains == 0 || n == 0) return gess__fail(err, GESS_ERR_USAGE, "no draws to diagnose: run for longer");
    if (n > UINT32_MAX / chains)
        return gess__fail(err, GESS_ERR_USAGE,
                          "%zu chains of %zu draws are more than 2^32 draws: thin them before diagnosing", chains, n);
    GESS_ALLOC(out, 1, err);
    gess__posterior_workspace *work = *out;
    work->chains = chains;
    work->n = n;
    work->total = chains * n;
    work->split = cut(chains, n);
    GESS_ALLOC(&work->keys, work->total, err);
    GESS_ALLOC(&work->order, work->total, err);
    GESS_ALLOC(&work->spare_keys, work->total, err);
    GESS_ALLOC(&work->spare_order, work->total, err);
    GESS_ALLOC(&work->series, work->total, err);
    GESS_ALLOC(&work->means, work->split.columns, err);
    GESS_ALLOC(&work->rho, work->split.rows + 2, err);
    return gess__fft_init(&work->fft, work->split.rows, err);
}

void gess__posterior_workspace_free(gess__posterior_workspace *work)
{
    if (work == NULL) return;
    free(work->keys);
    free(work->order);
    free(work->spare_keys);
    free(work->spare_order);
    free(work->series);
    free(work->means);
    free(work->rho);
    gess__fft_free(&work->fft);
    free(work);
}

/* ---- sorting ---- */

/* Integers in the order of the doubles: -0 and 0 are one value, NaNs are last. */
static uint64_t key_of(double x)
{
    const uint64_t top = UINT64_C(1) << 63;
    if (x != x) return UINT64_MAX;
    uint64_t u = gess__bits(x + 0.0);
    return (u & top) != 0 ? ~u : u | top;
}

static double value_of(uint64_t key)
{
    const uint64_t top = UINT64_C(1) << 63;
    return gess__from_bits((key & top) != 0 ? key & ~top : ~key);
}

/* Radix sort of keys, from the lowest byte up; bytes that are all alike are skipped. */
static void sort_draws(gess__posterior_workspace *work)
{
    enum { BYTES = 8, VALUES = 256 };
    size_t total = work->total;
    uint32_t counts[BYTES][VALUES];
    memset(counts, 0, sizeof counts);
    work->numbers = total;
    for (size_t i = 0; i < total; i++) {
        uint64_t key = key_of(work->x[i]);
        work->keys[i] = key;
        work->order[i] = (uint32_t)i;
        if (key == UINT64_MAX) work->numbers--;
        for (unsigned b = 0; b < BYTES; b++) counts[b][key >> (8 * b) & 255]++;
    }
    for (unsigned b = 0; b < BYTES; b++) {
        if (counts[b][work->keys[0] >> (8 * b) & 255] == total) continue;
        uint32_t next[VALUES], sum = 0;
        for (unsigned v = 0; v < VALUES; v++) {
            next[v] = sum;
            sum += counts[b][v];
        }
        for (size_t i = 0; i < total; i++) {
            uint64_t key = work->keys[i];
            uint32_t place = next[key >> (8 * b) & 255]++;
            work->spare_keys[place] = key;
            work->spare_order[place] = work->order[i];
        }
        uint64_t *keys = work->keys;
        uint32_t *order = work->order;
        work->keys = work->spare_keys;
        work->order = work->spare_order;
        work->spare_keys = keys;
        work->spare_order = order;
    }
}

void gess__posterior_load(gess__posterior_workspace *work, const double *x)
{
    work->x = x;
    sort_draws(work);
}

/* ---- moments and quantiles ---- */

/* Sums are long double, as R's are: whether a variance is exactly zero decides what a figure is. */
static double mean_of(size_t n, const double *x, size_t stride)
{
    long double sum = 0.0L, left = 0.0L;
    for (size_t i = 0; i < n; i++) sum += (long double)x[i * stride];
    long double mean = sum / (long double)n;
    if (!isfinite((double)mean)) return (double)mean;
    for (size_t i = 0; i < n; i++) left += (long double)x[i * stride] - mean;
    return (double)(mean + left / (long double)n);
}

/* With the denominator n - 1; NaN for one value. */
static double variance_of(size_t n, const double *x, size_t stride, double mean)
{
    if (n < 2) return NAN;
    long double sum = 0.0L;
    for (size_t i = 0; i < n; i++) {
        long double distance = (long double)x[i * stride] - (long double)mean;
        sum += distance * distance;
    }
    return (double)(sum / (long double)(n - 1));
}

double gess__posterior_mean(const gess__posterior_workspace *work)
{
    return mean_of(work->total, work->x, 1);
}

double gess__posterior_sd(const gess__posterior_workspace *work)
{
    return sqrt(variance_of(work->total, work->x, 1, gess__posterior_mean(work)));
}

double gess__posterior_quantile(const gess__posterior_workspace *work, double p)
{
    if (work->numbers < work->total || !(p >= 0.0 && p <= 1.0)) return NAN;
    double index = 1.0 + (double)(work->total - 1) * p, below = floor(index);
    double low = value_of(work->keys[(size_t)below - 1]), high = value_of(work->keys[(size_t)ceil(index) - 1]);
    double share = index - below;
    return share > 0.0 && low != high ? (1.0 - share) * low + share * high : low;
}

/* R's median(), to the last bit: which folded draws tie depends on it. */
static double median(const gess__posterior_workspace *work)
{
    if (work->numbers < work->total) return NAN;
    size_t half = work->total / 2;
    double middle[2] = {value_of(work->keys[half - (work->total % 2 == 0)]), value_of(work->keys[half])};
    return work->total % 2 == 1 ? middle[1] : mean_of(2, middle, 1);
}

/* ---- normal scores ---- */

/* Replaces the draws that the split keeps by normal quantiles of their average ranks. `keys`
 * ascend; `order` says where in `series` each belongs. False where a kept one is NaN. */
static bool normal_scores(const gess__posterior_workspace *work, const uint64_t *keys, const uint32_t *order,
                          double *series)
{
    size_t n = work->n, total = work->total;
    bool drops = n % 2 == 1 && n > 1;
    double size = (double)(work->split.columns * work->split.rows) - 2.0 * 0.375 + 1.0;
    size_t rank = 0; /* kept draws below the group of ties at hand */
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

static bool bulk_scores(gess__posterior_workspace *work)
{
    return normal_scores(work, work->keys, work->order, work->series);
}

/* Scores of |x - median|. Distances grow both ways from the median, so merging the draws below it,
 * taken backwards, with those above sorts them. */
static bool folded_scores(gess__posterior_workspace *work)
{
    double centre = median(work);
    if (!isfinite(centre)) return false;
    size_t total = work->total, above = total / 2;
    while (above > 0 && value_of(work->keys[above - 1]) > centre) above--;
    while (above < total && value_of(work->keys[above]) <= centre) above++;
    size_t below = above; /* draws not yet taken on the lower side */
    for (size_t i = 0; i < total; i++) {
        double down = below > 0 ? fabs(value_of(work->keys[below - 1]) - centre) : INFINITY;
        double up = above < total ? fabs(value_of(work->keys[above]) - centre) : INFINITY;
        bool take_below = below > 0 && (above == total || down <= up);
        size_t from = take_below ? --below : above++;
        work->spare_keys[i] = key_of(take_below ? down : up);
        work->spare_order[i] = work->order[from];
    }
    return normal_scores(work, work->spare_keys, work->spare_order, work->series);
}

/* ---- R-hat and effective sample size of any series, cut as the draws are ---- */

/* Non-finite or constant among the values that the split keeps. */
static bool degenerate(const gess__posterior_workspace *work, const double *series)
{
    double low = INFINITY, high = -INFINITY, nothing = 0.0;
    for (size_t c = 0; c < work->split.columns; c++) {
        const double *column = series + begin(work, c);
        for (size_t i = 0; i < work->split.rows; i++) {
            double value = column[i * work->split.stride];
            low = value < low ? value : low;
            high = value > high ? value : high;
            nothing += value * 0.0;
        }
    }
    return nothing != 0.0 || !(fabs(high - low) >= DBL_EPSILON);
}

/* Plain double sums, as in the package matrixStats that posterior calls: far from zero, or where
 * columns are constant, their rounding shows in the answers. */
static void column_means(const gess__posterior_workspace *work, const double *series)
{
    for (size_t c = 0; c < work->split.columns; c++) {
        const double *column = series + begin(work, c);
        double sum = 0.0;
        for (size_t i = 0; i < work->split.rows; i++) sum += column[i * work->split.stride];
        work->means[c] = sum / (double)work->split.rows;
    }
}

static double variance_of_means(const gess__posterior_workspace *work)
{
    size_t columns = work->split.columns;
    return variance_of(columns, work->means, 1, mean_of(columns, work->means, 1));
}

static double rhat_of(gess__posterior_workspace *work, const double *series)
{
    size_t rows = work->split.rows, columns = work->split.columns;
    if (rows < 2 || degenerate(work, series)) return NAN;
    column_means(work, series);
    long double within = 0.0L;
    for (size_t c = 0; c < columns; c++)
        within += (long double)variance_of(rows, series + begin(work, c), work->split.stride, work->means[c]);
    double between = (double)rows * variance_of_means(work);
    return sqrt((between / (double)(within / (long double)columns) + (double)rows - 1.0) / (double)rows);
}

/* Leaves in fft.re the autocovariances with denominator `rows`, averaged over the columns. */
static void autocovariances(gess__posterior_workspace *work, const double *series)
{
    size_t rows = work->split.rows, columns = work->split.columns, stride = work->split.stride;
    gess__fft *fft = &work->fft;
    gess__fft_clear(fft);
    for (size_t c = 0; c < columns; c += 2) { /* an even number of columns wherever rows > 1 */
        const double *one = series + begin(work, c), *two = series + begin(work, c + 1);
        double mean_one = mean_of(rows, one, stride), mean_two = mean_of(rows, two, stride);
        for (size_t i = 0; i < rows; i++) fft->re[i] = one[i * stride] - mean_one;
        for (size_t i = 0; i < rows; i++) fft->im[i] = two[i * stride] - mean_two;
        gess__fft_add_power(fft, rows);
    }
    gess__fft_autocovariance(fft);
    double scale = 1.0 / ((double)rows * (double)columns);
    for (size_t i = 0; i < rows; i++) fft->re[i] *= scale;
}

/* Geyer's initial monotone sequence, with posterior's way of ending it. */
static double ess_of(gess__posterior_workspace *work, const double *series)
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

    /* posterior sums rho[1:end], which in R has the first element also where end = 0. */
    long double sum = 0.0L;
    for (size_t t = 0; t < (end > 0 ? end : 1); t++) sum += (long double)rho[t];
    double tau = -1.0 + 2.0 * (double)sum + rho[end];
    double draws = (double)work->split.columns * (double)rows, bound = 1.0 / log10(draws);
    return draws / (tau < bound ? bound : tau);
}

/* R's min() and max(): NA where either is. */
static double either_nan_or(double a, double b, double chosen)
{
    return isnan(a) || isnan(b) ? NAN : chosen;
}

/* ---- the figures ---- */

double gess__posterior_rhat(gess__posterior_workspace *work)
{
    double bulk = bulk_scores(work) ? rhat_of(work, work->series) : NAN;
    double folded = folded_scores(work) ? rhat_of(work, work->series) : NAN;
    return either_nan_or(bulk, folded, fmax(bulk, folded));
}

double gess__posterior_ess_bulk(gess__posterior_workspace *work)
{
    return bulk_scores(work) ? ess_of(work, work->series) : NAN;
}

double gess__posterior_ess_mean(gess__posterior_workspace *work)
{
    return ess_of(work, work->x);
}

double gess__posterior_ess_quantile(gess__posterior_workspace *work, double p)
{
    double lowest = value_of(work->keys[0]), highest = value_of(work->keys[work->total - 1]);
    bool finite = work->numbers == work->total && isfinite(lowest) && isfinite(highest);
    if (!finite || fabs(highest - lowest) < DBL_EPSILON) return NAN;
    if (p == 1.0) p = ((double)work->total - 0.5) / (double)work->total;
    double quantile = gess__posterior_quantile(work, p);
    for (size_t i = 0; i < work->total; i++) work->series[i] = work->x[i] <= quantile ? 1.0 : 0.0;
    return ess_of(work, work->series);
}

double gess__posterior_ess_tail(gess__posterior_workspace *work)
{
    double lower = gess__posterior_ess_quantile(work, 0.05), upper = gess__posterior_ess_quantile(work, 0.95);
    return either_nan_or(lower, upper, fmin(lower, upper));
}

double gess__posterior_mcse_mean(gess__posterior_workspace *work)
{
    return gess__posterior_sd(work) / sqrt(gess__posterior_ess_mean(work));
}

double gess__posterior_mcse_sd(gess__posterior_workspace *work)
{
    double *squares = work->series, mean = gess__posterior_mean(work);
    for (size_t i = 0; i < work->total; i++) squares[i] = (work->x[i] - mean) * (work->x[i] - mean);
    double ess = ess_of(work, squares), second = mean_of(work->total, squares, 1);
    for (size_t i = 0; i < work->total; i++) squares[i] *= squares[i];
    double fourth = mean_of(work->total, squares, 1);
    return sqrt((fourth - second * second) / ess / second / 4.0);
}

/* Half the distance between the draws that a beta distribution of the quantile's rank puts one
 * standard deviation below and above. */
static double mcse_quantile(const gess__posterior_workspace *work, double p, double ess)
{
    double size = (double)work->total;
    double low = gess__beta_quantile(0.1586553, ess * p + 1.0, ess * (1.0 - p) + 1.0);
    double high = gess__beta_quantile(0.8413447, ess * p + 1.0, ess * (1.0 - p) + 1.0);
    if (isnan(low) || isnan(high)) return NAN;
    size_t first = (size_t)fmax(floor(low * size), 1.0), last = (size_t)fmin(ceil(high * size), size);
    return (value_of(work->keys[last - 1]) - value_of(work->keys[first - 1])) / 2.0;
}

double gess__posterior_mcse_quantile(gess__posterior_workspace *work, double p)
{
    return mcse_quantile(work, p, gess__posterior_ess_quantile(work, p));
}

/* ---- chains ---- */

/* Quantiles of every chain in one pass over the sorted draws: the next of a chain is its next larger. */
static void chain_quantiles(gess__posterior_workspace *work, gess__posterior_chain *each)
{
    size_t n = work->n, quarter = n / 4, half = n / 2, upper = n - 1 - n / 4;
    uint32_t *seen = work->spare_order; /* draws of each chain so far */
    memset(seen, 0, work->chains * sizeof *seen);
    for (size_t i = 0; i < work->total; i++) {
        size_t chain = work->order[i] / n, rank = seen[chain]++;
        if (rank != 0 && rank != quarter && rank != half && rank != upper && rank != n - 1) continue;
        double value = work->keys[i] == UINT64_MAX ? NAN : value_of(work->keys[i]);
        gess__posterior_chain *c = &each[chain];
        if (rank == 0) c->lowest = value;
        if (rank == quarter) c->q25 = value;
        if (rank == half) c->median = value;
        if (rank == upper) c->q75 = value;
        if (rank == n - 1) c->highest = value;
    }
}

/* `series` holds the normal scores; that of a middle draw that the split drops is not among them. */
static void chain_scores(const gess__posterior_workspace *work, gess__posterior_chain *each)
{
    size_t n = work->n, rows = n / 2, skip = n % 2 == 1 && n > 1;
    for (size_t c = 0; c < work->chains; c++) {
        const double *first = work->series + c * n, *last = first + rows + skip;
        double sum[2] = {0.0, 0.0}, squares = 0.0;
        for (size_t i = 0; i < rows; i++) {
            sum[0] += first[i];
            sum[1] += last[i];
            squares += first[i] * first[i] + last[i] * last[i];
        }
        double count = 2.0 * (double)rows, mean = (sum[0] + sum[1]) / count;
        each[c].first = sum[0] / (double)rows;
        each[c].last = sum[1] / (double)rows;
        each[c].mean = mean;
        each[c].sd = sqrt(fmax(squares / count - mean * mean, 0.0));
    }
}

void gess__posterior_all(gess__posterior_workspace *work, const double *x, gess__posterior_figures *figures)
{
    gess__posterior_all_chains(work, x, figures, NULL);
}

void gess__posterior_all_chains(gess__posterior_workspace *work, const double *x, gess__posterior_figures *figures,
                                gess__posterior_chain *each)
{
    gess__posterior_load(work, x);
    double bulk = NAN;
    figures->ess_bulk = NAN;
    for (size_t c = 0; each != NULL && c < work->chains; c++)
        each[c].mean = each[c].sd = each[c].first = each[c].last = NAN;
    if (each != NULL) chain_quantiles(work, each);
    if (bulk_scores(work)) {
        if (each != NULL && work->n > 1) chain_scores(work, each);
        bulk = rhat_of(work, work->series);
        figures->ess_bulk = ess_of(work, work->series);
    }
    double folded = folded_scores(work) ? rhat_of(work, work->series) : NAN;
    figures->rhat = either_nan_or(bulk, folded, fmax(bulk, folded));

    double ess5 = gess__posterior_ess_quantile(work, 0.05), ess95 = gess__posterior_ess_quantile(work, 0.95);
    figures->ess_tail = either_nan_or(ess5, ess95, fmin(ess5, ess95));
    figures->q5 = gess__posterior_quantile(work, 0.05);
    figures->median = gess__posterior_quantile(work, 0.5);
    figures->q95 = gess__posterior_quantile(work, 0.95);
    figures->mcse_q5 = mcse_quantile(work, 0.05, ess5);
    figures->mcse_median = gess__posterior_mcse_quantile(work, 0.5);
    figures->mcse_q95 = mcse_quantile(work, 0.95, ess95);

    figures->mean = gess__posterior_mean(work);
    figures->sd = gess__posterior_sd(work);
    figures->ess_mean = gess__posterior_ess_mean(work);
    figures->mcse_mean = figures->sd / sqrt(figures->ess_mean);
    figures->mcse_sd = gess__posterior_mcse_sd(work);
}
