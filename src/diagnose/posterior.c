/* Chooses the series behind each figure of a parameter (normal scores, distances from the median, indicators of
 * quantiles, squares) and combines the results into R-hat, bulk and tail ESS, quantiles and Monte Carlo standard
 * errors. posterior_series.c computes R-hat and ESS of such a series. */
#include "diagnose/posterior.h"

#include "base/assert.h"
#include "base/vmath.h"
#include "diagnose/distributions.h"
#include "diagnose/posterior_workspace.h"

#include <float.h>
#include <string.h>

double gess__posterior_mean(const gess__posterior_workspace *work)
{
    return gess__strided_mean(work->total, work->x, 1);
}

double gess__posterior_sd(const gess__posterior_workspace *work)
{
    return sqrt(gess__strided_variance(work->total, work->x, 1, gess__posterior_mean(work)));
}

double gess__posterior_quantile(const gess__posterior_workspace *work, double p)
{
    if (work->numbers < work->total || !(p >= 0.0 && p <= 1.0)) return NAN;
    double index = 1.0 + (double)(work->total - 1) * p, below = floor(index);
    double low = gess__draw_of_key(work->keys[(size_t)below - 1]),
           high = gess__draw_of_key(work->keys[(size_t)ceil(index) - 1]);
    double share = index - below;
    return share > 0.0 && low != high ? (1.0 - share) * low + share * high : low;
}

/* R's min() and max() are NA if either argument is. */
static double either_nan_or(double a, double b, double chosen)
{
    return isnan(a) || isnan(b) ? NAN : chosen;
}

/* ---- the figures ---- */

double gess__posterior_rhat(gess__posterior_workspace *work)
{
    double bulk = gess__bulk_scores(work) ? gess__series_rhat(work, work->series) : NAN;
    double folded = gess__folded_scores(work) ? gess__series_rhat(work, work->series) : NAN;
    return either_nan_or(bulk, folded, gess__max(bulk, folded));
}

double gess__posterior_ess_bulk(gess__posterior_workspace *work)
{
    return gess__bulk_scores(work) ? gess__series_ess(work, work->series) : NAN;
}

double gess__posterior_ess_mean(gess__posterior_workspace *work)
{
    return gess__series_ess(work, work->x);
}

double gess__posterior_ess_quantile(gess__posterior_workspace *work, double p)
{
    double lowest = gess__draw_of_key(work->keys[0]), highest = gess__draw_of_key(work->keys[work->total - 1]);
    bool finite = work->numbers == work->total && isfinite(lowest) && isfinite(highest);
    if (!finite || fabs(highest - lowest) < DBL_EPSILON) return NAN;
    if (p == 1.0) p = ((double)work->total - 0.5) / (double)work->total;
    double quantile = gess__posterior_quantile(work, p);
    for (size_t i = 0; i < work->total; i++) work->series[i] = work->x[i] <= quantile ? 1.0 : 0.0;
    return gess__series_ess(work, work->series);
}

double gess__posterior_ess_tail(gess__posterior_workspace *work)
{
    double lower = gess__posterior_ess_quantile(work, 0.05), upper = gess__posterior_ess_quantile(work, 0.95);
    return either_nan_or(lower, upper, gess__min(lower, upper));
}

double gess__posterior_mcse_mean(gess__posterior_workspace *work)
{
    return gess__posterior_sd(work) / sqrt(gess__posterior_ess_mean(work));
}

double gess__posterior_mcse_sd(gess__posterior_workspace *work)
{
    double *squares = work->series, mean = gess__posterior_mean(work);
    for (size_t i = 0; i < work->total; i++) squares[i] = (work->x[i] - mean) * (work->x[i] - mean);
    double ess = gess__series_ess(work, squares), second = gess__strided_mean(work->total, squares, 1);
    for (size_t i = 0; i < work->total; i++) squares[i] *= squares[i];
    double fourth = gess__strided_mean(work->total, squares, 1);
    return sqrt((fourth - second * second) / ess / second / 4.0);
}

/* Half the distance between two draws: those one standard deviation below and above the quantile, by the beta
 * distribution of its rank. */
static double mcse_quantile(const gess__posterior_workspace *work, double p, double ess)
{
    double size = (double)work->total;
    double low = gess__beta_quantile(0.1586553, ess * p + 1.0, ess * (1.0 - p) + 1.0);
    double high = gess__beta_quantile(0.8413447, ess * p + 1.0, ess * (1.0 - p) + 1.0);
    if (isnan(low) || isnan(high)) return NAN;
    size_t first = (size_t)gess__max(floor(low * size), 1.0), last = (size_t)gess__min(ceil(high * size), size);
    return (gess__draw_of_key(work->keys[last - 1]) - gess__draw_of_key(work->keys[first - 1])) / 2.0;
}

double gess__posterior_mcse_quantile(gess__posterior_workspace *work, double p)
{
    return mcse_quantile(work, p, gess__posterior_ess_quantile(work, p));
}

/* ---- chains ---- */

/* Quantiles of every chain in one pass over the sorted draws: the k-th draw of a chain that comes up is its k-th
 * smallest. */
static void chain_quantiles(gess__posterior_workspace *work, gess__posterior_chain *chains)
{
    size_t n = work->n, quarter = n / 4, half = n / 2, upper = n - 1 - n / 4;
    uint32_t *seen = work->spare_order; /* per chain: draws so far */
    memset(seen, 0, work->chains * sizeof *seen);
    for (size_t i = 0; i < work->total; i++) {
        size_t chain = work->order[i] / n, rank = seen[chain]++;
        if (rank != 0 && rank != quarter && rank != half && rank != upper && rank != n - 1) continue;
        double value = work->keys[i] == UINT64_MAX ? NAN : gess__draw_of_key(work->keys[i]);
        gess__posterior_chain *c = &chains[chain];
        if (rank == 0) c->lowest = value;
        if (rank == quarter) c->q25 = value;
        if (rank == half) c->median = value;
        if (rank == upper) c->q75 = value;
        if (rank == n - 1) c->highest = value;
    }
}

/* `series` holds the normal scores. The middle draw of an odd n, which the split drops, has none. */
static void chain_scores(const gess__posterior_workspace *work, gess__posterior_chain *chains)
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
        chains[c].first = sum[0] / (double)rows;
        chains[c].last = sum[1] / (double)rows;
        chains[c].mean = mean;
        chains[c].sd = sqrt(gess__max(squares / count - mean * mean, 0.0));
    }
}

bool gess__posterior_scores(gess__posterior_workspace *work, double *scores)
{
    size_t n = work->n;
    if (!gess__bulk_scores(work)) return false;
    memcpy(scores, work->series, work->total * sizeof *scores);
    for (size_t c = 0; c < work->chains && n % 2 == 1 && n > 1; c++) {
        double *middle = scores + c * n + n / 2;
        *middle = 0.5 * (middle[-1] + middle[1]);
    }
    return true;
}

void gess__posterior_all(gess__posterior_workspace *work, const double *x, gess__posterior_figures *figures)
{
    gess__posterior_all_chains(work, x, figures, NULL);
}

void gess__posterior_all_chains(gess__posterior_workspace *work, const double *x, gess__posterior_figures *figures,
                                gess__posterior_chain *chains)
{
    GESS_ASSERT(figures != NULL);
    gess__posterior_load(work, x);
    double bulk = NAN;
    figures->ess_bulk = NAN;
    for (size_t c = 0; chains != NULL && c < work->chains; c++)
        chains[c].mean = chains[c].sd = chains[c].first = chains[c].last = NAN;
    if (chains != NULL) chain_quantiles(work, chains);
    if (gess__bulk_scores(work)) {
        if (chains != NULL && work->n > 1) chain_scores(work, chains);
        bulk = gess__series_rhat(work, work->series);
        figures->ess_bulk = gess__series_ess(work, work->series);
    }
    double folded = gess__folded_scores(work) ? gess__series_rhat(work, work->series) : NAN;
    figures->rhat = either_nan_or(bulk, folded, gess__max(bulk, folded));

    double ess5 = gess__posterior_ess_quantile(work, 0.05), ess95 = gess__posterior_ess_quantile(work, 0.95);
    figures->ess_tail = either_nan_or(ess5, ess95, gess__min(ess5, ess95));
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
