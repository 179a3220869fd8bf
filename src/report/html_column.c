/* The plots of one column: a histogram and a smoothed density, traces of some chains and the spread of all of them,
 * rank counts, autocorrelations, effective sample sizes of growing parts of the run, and a sample for the corner plot.
 */
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"
#include "diagnose/posterior.h"
#include "plot/density.h"
#include "report/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 64, FINE = 256, CURVE = 128, RANKS = 20, LAGS = 100, BANDS = 100, GROWTH = 7 };

gess__detail gess__detail_for(size_t chains, uint64_t draws, size_t columns)
{
    size_t n = (size_t)draws, all = chains * n;
    gess__detail d = {.chains = chains, .draws = n};
    size_t room = columns > 60 ? 240 : 500, rows = columns > 60 ? 40 : 100, sample = 390000 / (columns + 1);
    d.trace_chains = chains < 8 ? chains : 8;
    d.trace_points = n < room ? n : room;
    d.rank_rows = chains < rows ? chains : rows;
    if (sample > 8000) sample = 8000;
    d.sample = all < sample ? all : sample;
    return d;
}

/* ---- numbers in few bytes ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Base64 of 16-bit numbers, little-endian. */
static json_t *base64(const uint16_t *x, size_t count)
{
    const unsigned char *bytes = (const unsigned char *)x;
    size_t size = 2 * count, length = (size + 2) / 3 * 4;
    char *text = malloc(length + 1), *to = text;
    if (text == NULL) return NULL;
    for (size_t i = 0; i < size; i += 3) {
        unsigned long group = 0;
        size_t have = size - i < 3 ? size - i : 3;
        for (size_t k = 0; k < 3; k++) group = group << 8 | (k < have ? bytes[i + k] : 0U);
        for (size_t k = 0; k < 4; k++) *to++ = k <= have ? digits[group >> (18 - 6 * k) & 63] : '=';
    }
    json_t *result = json_stringn_nocheck(text, length);
    free(text);
    return result;
}

/* {"lo", "hi", "q"}: numbers as 65535 steps between the smallest and the largest, NaN as 65535. Whole
 * numbers from 0 to 65534 are exact if `whole`. */
static json_t *pack(const double *x, size_t count, bool whole)
{
    double lo = INFINITY, hi = -INFINITY;
    uint16_t *q = calloc(count > 0 ? count : 1, sizeof *q);
    if (q == NULL) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(x[i])) continue;
        if (x[i] < lo) lo = x[i];
        if (x[i] > hi) hi = x[i];
    }
    if (lo > hi) lo = hi = 0.0;
    if (whole && lo >= 0.0 && hi <= 65534.0) {
        lo = 0.0;
        hi = 65534.0;
    }
    double range = hi / 2.0 - lo / 2.0; /* halves: no overflow */
    for (size_t i = 0; i < count; i++) {
        double place = range > 0.0 ? (x[i] / 2.0 - lo / 2.0) / range * 65534.0 : 0.0;
        q[i] = isfinite(x[i]) ? (uint16_t)lrint(place) : 65535;
    }
    json_t *result = json_pack("{s:f, s:f, s:o}", "lo", lo, "hi", hi, "q", base64(q, count));
    free(q);
    return result;
}

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

/* ---- one column ---- */

typedef struct column {
    const gess__detail *detail;
    const double *x;
    size_t all;     /* number of draws of all chains */
    double *sorted; /* the finite draws */
    size_t count;   /* of finite draws */
    double *scratch;
} column;

static double quantile(const double *sorted, size_t count, double p)
{
    double place = p * (double)(count - 1);
    size_t below = (size_t)place;
    if (below + 1 >= count) return sorted[count - 1];
    double t = place - (double)below;
    return sorted[below] * (1.0 - t) + sorted[below + 1] * t;
}

/* How many of the sorted values are below v, or at most v. */
static size_t rank_of(const column *c, double v, bool inclusive)
{
    size_t low = 0, high = c->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->sorted[middle] < v || (inclusive && c->sorted[middle] == v))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- density ---- */

/* Counts in equal bins of [lo, hi]; draws outside are not counted. */
static void histogram(const column *c, double lo, double hi, size_t bins, double *counts)
{
    size_t before = rank_of(c, lo, false);
    for (size_t b = 0; b < bins; b++) {
        double t = (double)(b + 1) / (double)bins, edge = lo * (1.0 - t) + hi * t;
        size_t upto = b + 1 == bins ? rank_of(c, hi, true) : rank_of(c, edge, false);
        counts[b] = (double)(upto - before);
        before = upto;
    }
}

/* Silverman's rule, in fine bins, never below one. Its spread is that of the densest part, so that separate modes are
 * not smoothed into each other. */
static double bandwidth(const column *c, double width)
{
    double h = 0.9 * gess__local_scale(c->sorted, c->count) * gess__exp(-0.2 * gess__log((double)c->count)) / width;
    if (!(h >= 1.0)) return 1.0;
    return h < FINE / 8.0 ? h : FINE / 8.0;
}

/* Smooths counts by a Gaussian, mirrored at an end that is also the end of the draws. */
static void smooth(const double *counts, double h, bool mirror_low, bool mirror_high, double *out)
{
    long reach = lrint(ceil(4.0 * h));
    for (long i = 0; i < FINE; i++) {
        double sum = 0.0, weights = 0.0;
        for (long k = -reach; k <= reach; k++) {
            double weight = gess__exp(-0.5 * (double)(k * k) / (h * h));
            long from = i + k;
            weights += weight;
            if (from < 0 && mirror_low) from = -1 - from;
            if (from >= FINE && mirror_high) from = 2 * FINE - 1 - from;
            if (from >= 0 && from < FINE) sum += weight * counts[from];
        }
        out[i] = sum / weights;
    }
}

/* The range that is plotted: the middle of the draws and a margin, because a few extreme draws would squeeze all others
 * into one bin. */
static void view(const column *c, double *lo, double *hi)
{
    double min = c->sorted[0], max = c->sorted[c->count - 1];
    double a = quantile(c->sorted, c->count, 0.001), b = quantile(c->sorted, c->count, 0.999), margin = 0.15 * (b - a);
    *lo = a - margin > min ? a - margin : min;
    *hi = b + margin < max ? b + margin : max;
    if (!(*hi > *lo)) { /* nearly all draws are one number */
        *lo = min;
        *hi = max;
    }
}

static json_t *density(const column *c)
{
    double lo, hi, counts[BINS], fine[FINE], curve[FINE];
    view(c, &lo, &hi);
    double width = (hi - lo) / FINE;
    histogram(c, lo, hi, BINS, counts);
    histogram(c, lo, hi, FINE, fine);
    smooth(fine, bandwidth(c, width), lo <= c->sorted[0], hi >= c->sorted[c->count - 1], curve);
    double inside = 0.0;
    for (size_t b = 0; b < BINS; b++) inside += counts[b];
    for (size_t i = 0; i < CURVE; i++) /* counts of two fine bins become a density */
        curve[i] = (curve[2 * i] + curve[2 * i + 1]) / (2.0 * width * (double)c->count);
    return json_pack("{s:f, s:f, s:I, s:o, s:o}", "lo", lo, "hi", hi, "outside",
                     (json_int_t)((double)c->count - inside), "counts", pack(counts, BINS, true), "curve",
                     pack(curve, CURVE, false));
}

/* ---- traces ---- */

/* The chain whose mean is furthest from the others'. */
static size_t odd_chain(const column *c)
{
    size_t n = c->detail->draws, odd = 0;
    double overall = 0.0, furthest = -1.0, *means = c->scratch;
    for (size_t k = 0; k < c->detail->chains; k++) {
        means[k] = 0.0;
        for (size_t i = 0; i < n; i++) means[k] += c->x[k * n + i] / (double)n;
        overall += means[k] / (double)c->detail->chains;
    }
    for (size_t k = 0; k < c->detail->chains; k++) {
        if (!(fabs(means[k] - overall) > furthest)) continue;
        furthest = fabs(means[k] - overall);
        odd = k;
    }
    return odd;
}

/* Evenly spread chains; the odd one replaces the nearest of them. */
static void choose_chains(const column *c, size_t *chains)
{
    size_t shown = c->detail->trace_chains, odd = odd_chain(c), nearest = 0;
    for (size_t i = 0; i < shown; i++) {
        chains[i] = i * c->detail->chains / shown;
        if (chains[i] <= odd) nearest = i;
    }
    chains[nearest] = odd;
}

static json_t *trace(const column *c)
{
    size_t n = c->detail->draws, shown = c->detail->trace_chains, chains[8];
    size_t step = (n + c->detail->trace_points - 1) / c->detail->trace_points, points = (n - 1) / step + 1;
    json_t *list = json_array();
    choose_chains(c, chains);
    for (size_t k = 0; k < shown; k++) {
        json_array_append_new(list, json_integer((json_int_t)chains[k] + 1));
        for (size_t i = 0; i < points; i++) c->scratch[k * points + i] = c->x[chains[k] * n + i * step];
    }
    return json_pack("{s:I, s:I, s:o, s:o}", "step", (json_int_t)step, "points", (json_int_t)points, "chains", list,
                     "values", pack(c->scratch, shown * points, false));
}

/* Quantiles (5 %, 50 %, 95 %) of all chains over the course of the run, each from a few thousand draws; null if there
 * are too few draws. */
static json_t *band(const column *c)
{
    size_t n = c->detail->draws, width = (n + BANDS - 1) / BANDS;
    while (width < n && width * c->detail->chains < 40) width++;
    size_t pieces = n / width, step = width * c->detail->chains / 4000 + 1;
    double levels[3 * BANDS];
    if (pieces < 4 || c->detail->chains < 2) return json_null();
    for (size_t p = 0; p < pieces; p++) {
        size_t got = 0;
        for (size_t k = 0; k < c->detail->chains; k++)
            for (size_t i = p * width; i < (p + 1) * width; i += step)
                if (isfinite(c->x[k * n + i])) c->scratch[got++] = c->x[k * n + i];
        gess__sort(got, c->scratch);
        const double at[3] = {0.05, 0.5, 0.95};
        for (size_t q = 0; q < 3; q++) levels[q * pieces + p] = got > 0 ? quantile(c->scratch, got, at[q]) : NAN;
    }
    return json_pack("{s:I, s:I, s:o}", "width", (json_int_t)width, "pieces", (json_int_t)pieces, "levels",
                     pack(levels, 3 * pieces, false));
}

/* ---- ranks ---- */

/* The bin of equal draws, which have the ranks `before` to `after` - 1: that of their middle rank. */
static size_t bin_of(const column *c, size_t before, size_t after)
{
    size_t bin = (size_t)(0.5 * (double)(before + after) / (double)c->count * RANKS);
    return bin < RANKS ? bin : RANKS - 1;
}

/* The rank of the first draw of bin b. */
static size_t first_of_bin(const column *c, size_t b)
{
    size_t p = b * c->count / RANKS;
    while (p > 0 && bin_of(c, p - 1, p) >= b) p--;
    while (p + 1 < c->count && bin_of(c, p, p + 1) < b) p++;
    return p;
}

/* The bin of a draw: compared with the first draw of each bin, or by its middle rank if it equals one of these. */
static size_t rank_bin(const column *c, const double *edges, double x)
{
    size_t bin = 0;
    bool at_edge = false;
    for (size_t b = 1; b < RANKS; b++) {
        bin += edges[b] <= x;
        at_edge |= edges[b] == x;
    }
    return at_edge ? bin_of(c, rank_of(c, x, false), rank_of(c, x, true)) : bin;
}

/* For each chain, or group of neighbouring chains: how many of its draws fall into each twentieth of all draws by rank.
 * Equal draws share their middle rank. */
static int ranks(const column *c, json_t **out, gess_error *err)
{
    size_t n = c->detail->draws, chains = c->detail->chains, max = c->detail->rank_rows;
    size_t group = (chains + max - 1) / max, rows = (chains + group - 1) / group;
    double *counts = NULL, edges[RANKS] = {0};
    GESS_ALLOC(&counts, rows * RANKS, err);
    for (size_t b = 1; b < RANKS; b++) edges[b] = c->sorted[first_of_bin(c, b)];
    for (size_t k = 0; k < chains; k++)
        for (size_t i = 0; i < n; i++)
            if (isfinite(c->x[k * n + i])) counts[k / group * RANKS + rank_bin(c, edges, c->x[k * n + i])] += 1.0;
    *out = json_pack("{s:I, s:I, s:I, s:o}", "rows", (json_int_t)rows, "bins", (json_int_t)RANKS, "group",
                     (json_int_t)group, "counts", pack(counts, rows * RANKS, true));
    free(counts);
    return GESS_OK;
}

/* ---- autocorrelation ---- */

/* Σ over chains of Σ (x_i − m)(x_{i+lag} − m), m the chain's mean; x has been centred into scratch. */
static double product(const column *c, size_t lag)
{
    size_t n = c->detail->draws;
    double sum = 0.0;
    for (size_t k = 0; k < c->detail->chains; k++) {
        const double *y = c->scratch + k * n;
        double part[4] = {0};
        size_t i = 0;
        for (; i + lag + 3 < n; i += 4)
            for (size_t j = 0; j < 4; j++) part[j] += y[i + j] * y[i + j + lag];
        for (; i + lag < n; i++) part[0] += y[i] * y[i + lag];
        sum += part[0] + part[1] + (part[2] + part[3]);
    }
    return sum;
}

/* As many lags as the correlations need to fade: six times the draws per effective draw. */
static json_t *autocorrelation(const column *c, double ess)
{
    size_t n = c->detail->draws, half = n / 2;
    double values[LAGS + 1], draws_per_ess = ess > 0.0 ? (double)c->all / ess : 1.0, longest = 6.0 * draws_per_ess;
    if (n < 4) return json_null();
    if (!(longest > 20.0)) longest = 20.0;
    if (longest > (double)half) longest = (double)half;
    size_t step = ((size_t)longest + LAGS - 1) / LAGS, lags = (size_t)longest / step + 1;
    for (size_t k = 0; k < c->detail->chains; k++) {
        double mean = 0.0;
        for (size_t i = 0; i < n; i++) mean += c->x[k * n + i] / (double)n;
        for (size_t i = 0; i < n; i++) c->scratch[k * n + i] = c->x[k * n + i] - mean;
    }
    double variance = product(c, 0);
    if (!(variance > 0.0)) return json_null();
    for (size_t l = 0; l < lags; l++) values[l] = product(c, l * step) / variance;
    return json_pack("{s:I, s:I, s:o}", "step", (json_int_t)step, "lags", (json_int_t)lags, "values",
                     pack(values, lags, false));
}

/* ---- effective sample sizes of the first draws ---- */

static int prefix_sizes(const column *c, size_t first, double *bulk, double *tail, gess_error *err)
{
    size_t n = c->detail->draws;
    gess__posterior_workspace *work = NULL;
    for (size_t k = 0; k < c->detail->chains; k++)
        memcpy(c->scratch + k * first, c->x + k * n, first * sizeof *c->scratch);
    GESS_TRY(gess__posterior_workspace_new(&work, c->detail->chains, first, err));
    gess__posterior_load(work, c->scratch);
    *bulk = gess__posterior_ess_bulk(work);
    *tail = gess__posterior_ess_tail(work);
    gess__posterior_workspace_free(work);
    return GESS_OK;
}

static int growth(const column *c, const gess__figures *figures, json_t **out, gess_error *err)
{
    static const double parts[GROWTH] = {0.05, 0.1, 0.2, 0.35, 0.5, 0.75, 1.0};
    json_t *draws = json_array(), *bulk = json_array(), *tail = json_array();
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && i < GROWTH; i++) {
        size_t n = c->detail->draws, first = i + 1 < GROWTH ? (size_t)(parts[i] * (double)n) : n;
        double b = figures->ess_bulk, t = figures->ess_tail;
        if (first < 8) continue;
        if (first < n) status = prefix_sizes(c, first, &b, &t, err);
        json_array_append_new(draws, json_integer((json_int_t)first));
        json_array_append_new(bulk, number(b));
        json_array_append_new(tail, number(t));
    }
    *out = json_pack("{s:o, s:o, s:o}", "draws", draws, "bulk", bulk, "tail", tail);
    return status;
}

/* ---- all plots ---- */

/* The same draws of every column, evenly spread. */
static json_t *sample(const column *c)
{
    for (size_t i = 0; i < c->detail->sample; i++)
        c->scratch[i] = c->x[(size_t)((double)i * ((double)c->all / (double)c->detail->sample))];
    return pack(c->scratch, c->detail->sample, false);
}

static int plots_of(const column *c, const gess__figures *figures, json_t *plots, gess_error *err)
{
    json_t *part = NULL;
    json_object_set_new(plots, "trace", trace(c));
    json_object_set_new(plots, "band", band(c));
    json_object_set_new(plots, "sample", sample(c));
    if (c->sorted[0] == c->sorted[c->count - 1]) return GESS_OK;
    json_object_set_new(plots, "density", density(c));
    GESS_TRY(ranks(c, &part, err));
    json_object_set_new(plots, "ranks", part);
    if (c->count < c->all) return GESS_OK; /* a series with gaps has no autocorrelations */
    json_object_set_new(plots, "acf", autocorrelation(c, figures->ess_bulk));
    int status = growth(c, figures, &part, err);
    json_object_set_new(plots, "growth", part);
    return status;
}

int gess__column_plots(json_t **plots, const gess__detail *detail, const double *x, const gess__figures *figures,
                       gess_error *err)
{
    column c = {.detail = detail, .x = x, .all = detail->chains * detail->draws};
    int status = gess__alloc_bytes(&c.sorted, c.all, sizeof *c.sorted, "sorted draws", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&c.scratch, c.all, sizeof *c.scratch, "scratch", err);
    if (status == GESS_OK) {
        for (size_t i = 0; i < c.all; i++)
            if (isfinite(x[i])) c.sorted[c.count++] = x[i];
        gess__sort(c.count, c.sorted);
        *plots = json_pack("{s:I}", "missing", (json_int_t)(c.all - c.count));
        if (*plots == NULL) status = gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    }
    if (status == GESS_OK && c.count > 0) status = plots_of(&c, figures, *plots, err);
    free(c.sorted);
    free(c.scratch);
    return status;
}
