/* Finding the drivers of a scale layer: which coordinate's spread (or, through a square, mean) depends on which, and an
 * order in which drivers come first.
 *
 *   1. e_i: residual of the linear regression of y_i on all the others.
 *   2. Candidates k → i by the correlations of log e_i² with y_k (spread) and of e_i with y_k² (bend), outliers
 * clipped. Both see E[e_i² y_k] ≠ 0, in opposite directions: a funnel resembles a bend the other way round, a banana
 *      resembles a spread. So candidates are compared by the gain in log-likelihood of one candidate at a time.
 *   3. Candidates are taken from the largest gain down, unless they would close a cycle.
 *
 * One coordinate that drives the spreads of many, each of them weakly, is found by the sum of its correlations. */
#include "transform/scale_search.h"

#include "base/linalg.h"
#include "base/tiles.h"
#include "transform/regression.h"

#include <stdlib.h>

/* Spreads that a hub must drive. */
enum { MIN_SIBLINGS = 3 };

#define MIN_CORRELATION 0.1
#define MIN_POOLED_ERRORS 2.5 /* a sum of correlations, in standard errors */
#define MIN_EDGE_GAIN 0.005   /* nats per point, on the points that the edge is fitted to */
#define MIN_MEAN_CORRELATION 0.05

/* ---- memory ---- */

size_t gess__scale_search_bytes(size_t dim)
{
    return dim *
           (2 * sizeof(double) + GESS__MAX_EDGES * (sizeof(gess__edge) + sizeof(uint32_t)) + 3 * sizeof(uint32_t) + 2);
}

/* Lays the arrays out in the learner's scratch, those of the largest elements first. */
static void begin(gess__scale_search *s, gess__learner *l, size_t n, size_t m)
{
    size_t dim = l->dim;
    *s = (gess__scale_search){.learner = l, .m = m, .hub = dim};
    s->min_mean_correlation = gess__max(MIN_MEAN_CORRELATION, 2.0 / sqrt(gess__learn_effective(n)));
    s->correlations = l->scratch;
    s->ties = s->correlations + dim;
    s->edges = (gess__edge *)(void *)(s->ties + dim);
    s->parents = (uint32_t *)(void *)(s->edges + GESS__MAX_EDGES * dim);
    s->parent_count = s->parents + GESS__MAX_EDGES * dim;
    s->order = s->parent_count + dim;
    s->stack = s->order + dim;
    s->marks = (unsigned char *)(s->stack + dim);
    for (size_t j = 0; j < m; j++) l->vectors[j] = 1.0;
}

/* ---- 1. residuals ---- */

/* The inverse of the correlation matrix into b; false if it is singular. */
static bool precision(gess__learner *l, size_t m)
{
    size_t dim = l->dim;
    gess__gram(dim, m, 1.0 / (double)m, l->z, l->a);
    for (size_t i = 0; i < dim; i++) l->a[i * dim + i] += 1e-9;
    if (!gess__cholesky(dim, l->a)) return false;
    double *inverse = l->square;
    for (size_t i = 0; i < dim * dim; i++) inverse[i] = i % (dim + 1) == 0 ? 1.0 : 0.0;
    gess__solve_lower(dim, l->a, dim, inverse);
    gess__gram(dim, dim, 1.0, inverse, l->b);
    for (size_t i = 0; i < dim; i++)
        for (size_t k = 0; k < i; k++) l->b[i * dim + k] = l->b[k * dim + i];
    return true;
}

/* Residuals from b, and the ties: partial correlations above the threshold. */
static void set_residuals(gess__scale_search *s, double threshold)
{
    gess__learner *l = s->learner;
    size_t dim = l->dim;
    for (size_t i = 0; i < dim; i++) {
        s->ties[i] = 0.0;
        for (size_t k = 0; k < dim; k++) {
            double partial = l->b[i * dim + k] / sqrt(l->b[i * dim + i] * l->b[k * dim + k]);
            s->ties[i] += k != i && fabs(partial) > threshold ? 1.0 : 0.0;
        }
    }
    for (size_t i = 0; i < dim; i++) {
        double diagonal = l->b[i * dim + i];
        for (size_t k = 0; k < dim; k++) l->b[i * dim + k] /= diagonal;
    }
    gess__product(false, s->m, dim, dim, l->z, l->b, l->residuals);
}

/* ---- 2. candidates ---- */

/* Gives the column mean 0 and mean square 1, or zeros if it is constant. */
static void standardise_column(size_t m, double *x)
{
    double mean = 0.0, square = 0.0;
    for (size_t j = 0; j < m; j++) mean += x[j];
    mean /= (double)m;
    for (size_t j = 0; j < m; j++) x[j] -= mean;
    square = gess__dot(m, x, x) / (double)m;
    double factor = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    for (size_t j = 0; j < m; j++) x[j] *= factor;
}

static double clip(double x, double at)
{
    return x > at ? at : x < -at ? -at : x;
}

/* The correlations of the 2 dim columns in pair: square[(dim + k) + i 2 dim] is that of column i of the first half with
 * column k of the second. */
static void correlate(gess__learner *l, size_t m)
{
    for (size_t i = 0; i < 2 * l->dim; i++) standardise_column(m, l->pair + i * m);
    gess__gram(2 * l->dim, m, 1.0 / (double)m, l->pair, l->square);
}

static void correlate_spreads(gess__learner *l, size_t m)
{
    double *second = l->pair + l->dim * m;
    gess__log_squares(l->dim * m, l->residuals, l->pair);
    for (size_t j = 0; j < l->dim * m; j++) second[j] = clip(l->z[j], 4.0);
    correlate(l, m);
}

/* The same with e² in place of log e²: noisier if e has heavy tails, but half as noisy if it is normal. */
static void correlate_squares(gess__learner *l, size_t m)
{
    double *second = l->pair + l->dim * m;
    for (size_t i = 0; i < l->dim; i++) {
        const double *e = l->residuals + i * m;
        double sd = sqrt(gess__dot(m, e, e) / (double)m) + 1e-300;
        for (size_t j = 0; j < m; j++) l->pair[i * m + j] = clip(e[j] / sd, 3.0) * clip(e[j] / sd, 3.0);
    }
    for (size_t j = 0; j < l->dim * m; j++) second[j] = clip(l->z[j], 4.0);
    correlate(l, m);
}

static void correlate_bends(gess__learner *l, size_t m)
{
    double *second = l->pair + l->dim * m;
    for (size_t i = 0; i < l->dim; i++) {
        const double *e = l->residuals + i * m;
        double sd = sqrt(gess__dot(m, e, e) / (double)m) + 1e-300;
        for (size_t j = 0; j < m; j++) l->pair[i * m + j] = clip(e[j] / sd, 4.0);
    }
    for (size_t j = 0; j < l->dim * m; j++) second[j] = clip(l->z[j], 3.0) * clip(l->z[j], 3.0);
    correlate(l, m);
}

/* Adds up to `max` candidates for coordinate i: one after the other, the strongest given those before it. */
static void add_candidates(gess__scale_search *s, uint32_t i, int bend, size_t max, double threshold)
{
    const gess__learner *l = s->learner;
    size_t dim = l->dim, wide = 2 * dim;
    double *left = s->correlations;
    for (size_t k = 0; k < dim; k++) left[k] = l->square[dim + k + i * wide];
    left[i] = 0.0;
    for (size_t c = 0; c < max; c++) {
        size_t best = 0;
        for (size_t k = 1; k < dim; k++)
            if (fabs(left[k]) > fabs(left[best])) best = k;
        if (!(fabs(left[best]) > threshold)) break;
        s->edges[s->edge_count++] = (gess__edge){.from = (uint32_t)best, .to = i, .bend = bend};
        double taken = left[best];
        for (size_t k = 0; k < dim; k++)
            if (k != i)
                left[k] -= taken * l->square[dim + (k > best ? k : best) + (dim + (k > best ? best : k)) * wide];
        left[best] = 0.0;
    }
}

static double spread_gain(const gess__scale_search *s, gess__edge *edge)
{
    const gess__learner *l = s->learner;
    size_t m = s->m;
    const double *e = l->residuals + edge->to * m;
    double *v = l->vectors, *ones = v;
    gess__spread_work work = {.h = v + m, .weights = v + 2 * m, .squares = v + 3 * m, .work = v + 4 * m};
    gess__terms t = {2, {ones, l->z + edge->from * m}, {0}};
    double constant_loss = 0.5 * gess__log(gess__dot(m, e, e) / (double)m + 1e-300) + 0.5;
    double loss = gess__spread_start(&t, e, 0, m, &work);
    loss = gess__spread_fit(&t, e, 0, m, &work, loss);
    edge->slope = t.factors[1];
    return constant_loss - loss;
}

static double bend_gain(const gess__scale_search *s, const gess__edge *edge)
{
    const gess__learner *l = s->learner;
    size_t m = s->m;
    const double *e = l->residuals + edge->to * m, *z = l->z + edge->from * m;
    double *v = l->vectors, *ones = v, *square = v + m, *r = v + 2 * m;
    gess__multiply(m, z, z, square);
    gess__terms t = {3, {ones, z, square}, {0}};
    gess__fit_mean(&t, ones, e, 0, m, v + 3 * m, r);
    return 0.5 * gess__log((gess__dot(m, e, e) + 1e-300) / (gess__dot(m, r, r) + 1e-300));
}

/* From the largest gain to the smallest; no two edges compare equal, so the order does not depend on qsort(). */
static int by_gain(const void *a, const void *b)
{
    const gess__edge *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->bend - y->bend;
}

/* The coordinate whose correlations with the log e² of all the others have the largest sum, if that is significant:
 * long before a single member of a level shows its scale, all of them together do. Each counts up to the threshold for
 * single ones, so that one alone, such as a bend the other way round, is no level. The coordinate becomes the hub, with
 * the sign of the sum as its slope. */
static void pool_siblings(gess__scale_search *s, size_t n, double min_errors, double threshold)
{
    const gess__learner *l = s->learner;
    size_t dim = l->dim;
    double error = sqrt((double)(dim - 1) / gess__learn_effective(n)), max = min_errors * error;
    if (dim <= MIN_SIBLINGS) return;
    for (size_t k = 0; k < dim; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < dim; i++) sum += i == k ? 0.0 : clip(l->square[dim + k + i * 2 * dim], threshold);
        if (!(fabs(sum) > max)) continue;
        max = fabs(sum);
        s->hub = k;
        s->hub_slope = sum;
        s->hub_errors = max / error;
    }
}

static void find_edges(gess__scale_search *s, size_t n, double threshold)
{
    gess__learner *l = s->learner;
    correlate_squares(l, s->m);
    pool_siblings(s, n, MIN_POOLED_ERRORS, threshold);
    correlate_spreads(l, s->m);
    for (uint32_t i = 0; i < l->dim; i++) add_candidates(s, i, 0, GESS__MAX_DRIVERS, threshold);
    correlate_bends(l, s->m);
    for (uint32_t i = 0; i < l->dim; i++) add_candidates(s, i, 1, GESS__MAX_BENDS, threshold);
    for (size_t k = 0; k < s->edge_count; k++) {
        gess__edge *edge = &s->edges[k];
        edge->gain = edge->bend ? bend_gain(s, edge) : spread_gain(s, edge);
    }
    qsort(s->edges, s->edge_count, sizeof *s->edges, by_gain);
    while (s->edge_count > 0 && !(s->edges[s->edge_count - 1].gain > MIN_EDGE_GAIN)) s->edge_count--;
}

/* ---- 3. order ---- */

bool gess__scale_is_parent(const gess__scale_search *s, uint32_t i, size_t k)
{
    for (uint32_t j = 0; j < s->parent_count[i]; j++)
        if (s->parents[i * GESS__MAX_EDGES + j] == k) return true;
    return false;
}

/* Whether `ancestor` drives k, directly or through others. */
static bool drives(gess__scale_search *s, uint32_t ancestor, uint32_t k)
{
    size_t waiting = 0;
    memset(s->marks, 0, s->learner->dim);
    s->stack[waiting++] = k;
    s->marks[k] = 1;
    while (waiting > 0) {
        uint32_t node = s->stack[--waiting];
        if (node == ancestor) return true;
        for (uint32_t j = 0; j < s->parent_count[node]; j++) {
            uint32_t parent = s->parents[node * GESS__MAX_EDGES + j];
            if (s->marks[parent]) continue;
            s->marks[parent] = 1;
            s->stack[waiting++] = parent;
        }
    }
    return false;
}

static void keep_edges(gess__scale_search *s)
{
    memset(s->parent_count, 0, s->learner->dim * sizeof *s->parent_count);
    for (size_t e = 0; e < s->edge_count; e++) {
        gess__edge *edge = &s->edges[e];
        edge->kept = !(edge->bend && edge->to == s->hub) && !drives(s, edge->to, edge->from);
        if (edge->kept) s->parents[edge->to * GESS__MAX_EDGES + s->parent_count[edge->to]++] = edge->from;
    }
}

static void find_hub(gess__scale_search *s)
{
    size_t max = MIN_SIBLINGS - 1;
    for (size_t k = 0; k < s->learner->dim; k++) {
        size_t driven = 0;
        double sum = 0.0;
        for (size_t e = 0; e < s->edge_count; e++) {
            if (!s->edges[e].kept || s->edges[e].bend || s->edges[e].from != k) continue;
            driven++;
            sum += s->edges[e].slope;
        }
        if (driven <= max) continue;
        s->hub_slope = sum;
        max = driven;
        s->hub = k;
    }
}

/* Makes the hub a parent of every coordinate that it may drive. */
static void adopt_siblings(gess__scale_search *s)
{
    uint32_t hub = (uint32_t)s->hub;
    for (uint32_t i = 0; i < s->learner->dim; i++) {
        if (gess__scale_is_parent(s, i, hub) || s->parent_count[i] == GESS__MAX_EDGES || drives(s, i, hub)) continue;
        s->parents[i * GESS__MAX_EDGES + s->parent_count[i]++] = hub;
    }
}

/* Whether all parents of i are in the order already. */
static bool ready(const gess__scale_search *s, const unsigned char *placed, uint32_t i)
{
    for (uint32_t j = 0; j < s->parent_count[i]; j++)
        if (!placed[s->parents[i * GESS__MAX_EDGES + j]]) return false;
    return true;
}

/* Parents first. Among the coordinates that may come next, those with more ties (by powers of two, so that noise does
 * not decide), then those of lower number. */
static void set_order(gess__scale_search *s)
{
    size_t dim = s->learner->dim;
    unsigned char *placed = s->marks + dim;
    memset(placed, 0, dim);
    for (size_t p = 0; p < dim; p++) {
        int best_class = -1;
        for (uint32_t i = 0; i < dim; i++) {
            int class = ilogb(s->ties[i] + 1.0);
            if (placed[i] || class <= best_class || !ready(s, placed, i)) continue;
            best_class = class;
            s->order[p] = i;
        }
        placed[s->order[p]] = 1;
    }
}

bool gess__scale_find_drivers(gess__scale_search *s, gess__learner *l, size_t n, size_t m)
{
    double threshold = gess__max(MIN_CORRELATION, 4.0 / sqrt(gess__learn_effective(n)));
    begin(s, l, n, m);
    if (!precision(l, m)) return false;
    set_residuals(s, threshold);
    find_edges(s, n, threshold);
    if (s->edge_count == 0 && s->hub == l->dim) return false;
    keep_edges(s);
    find_hub(s);
    if (s->hub < l->dim) adopt_siblings(s);
    set_order(s);
    return true;
}

size_t gess__scale_likeliest_hub(gess__learner *l, size_t n, const double *points, double *errors)
{
    gess__scale_search s;
    size_t m = gess__learn_points(l, n, GESS__SCALE_POINTS);
    *errors = 0.0;
    if (m == 0 || !gess__learn_standardise(l, n, points, m, true)) return 0;
    begin(&s, l, n, m);
    if (!precision(l, m)) return 0;
    set_residuals(&s, MIN_CORRELATION);
    correlate_squares(l, m);
    pool_siblings(&s, n, 0.0, INFINITY);
    *errors = s.hub_errors;
    return s.hub < l->dim ? s.hub : 0;
}
