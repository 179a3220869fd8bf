/* Finding a scale layer: which coordinate's spread (or, through a square, mean) depends on which, in an order in which
 * drivers come first; then a regression of mean and log variance for every coordinate that is driven.
 *
 *   1. e_i: residual of the linear regression of y_i on all the others.
 *   2. Candidates k → i by the correlations of log e_i² with y_k (spread) and of e_i with y_k² (bend), outliers cut.
 *      Both see E[e_i² y_k] ≠ 0, in opposite directions: a funnel looks like a bend the other way round, a banana like
 *      a spread. So what counts is the gain in log-likelihood of each candidate alone.
 *   3. Candidates are taken from the largest gain down, unless they would close a circle.
 *   4. For every driven coordinate in order: log variance h (gamma regression: Σ h/2 + r² e^−h/2, convex, by Newton's
 *      method) and mean a (weighted least squares, drivers by forward selection), in turns.
 *   5. Kept where the Gaussian log-likelihood of each half of the points under the fit to the other half rises. */
#include "transform/learn_saturated.h"

#include "base/tiles.h"
#include "base/linalg.h"
#include "base/vmath.h"

#include <float.h>
#include <stdlib.h>

enum { SIBLINGS = 3 };

#define MIN_CORRELATION 0.1
#define MIN_EDGE 0.005 /* nats, of one edge alone on the points it is fitted to */
#define MIN_GAIN 0.02  /* nats, held out */
#define WORTH_SATURATION 0.01
#define WORTH_SIBLINGS 0.003
#define MAX_CAP 8.0    /* of siblings: the driver must show */
#define MIN_MEAN 0.05 /* weighted correlation of a driver of the mean, or two standard errors */

typedef struct step_fit {
    gess__terms mean, scale;
} step_fit;

/* ---- 1. residuals ---- */

/* The inverse of the correlation matrix into b; false where there is none. */
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

/* Residuals from b; hubs[i]: how many coordinates i is tied to, given all the others. */
static void set_residuals(gess__learner *l, size_t m, double threshold, double *hubs)
{
    size_t dim = l->dim;
    for (size_t i = 0; i < dim; i++) {
        hubs[i] = 0.0;
        for (size_t k = 0; k < dim; k++) {
            double tie = l->b[i * dim + k] / sqrt(l->b[i * dim + i] * l->b[k * dim + k]);
            hubs[i] += k != i && fabs(tie) > threshold ? 1.0 : 0.0;
        }
    }
    for (size_t i = 0; i < dim; i++) {
        double diagonal = l->b[i * dim + i];
        for (size_t k = 0; k < dim; k++) l->b[i * dim + k] /= diagonal;
    }
    gess__product(false, m, dim, dim, l->z, l->b, l->residuals);
}

/* ---- regressions of the spread ---- */

/* Puts the constant term where it is best for the other factors. */
static double best_level(gess__terms *t, const double *r, size_t begin, size_t end, double *h, double *weights,
                         double *squares)
{
    double sum = 0.0;
    gess__regression_predict(t, begin, end, h);
    (void)gess__spread_loss(r, begin, end, h, weights, squares);
    for (size_t j = begin; j < end; j++) sum += squares[j];
    double shift = gess__log(sum / (double)(end - begin) + 1e-300);
    t->factors[0] += shift;
    for (size_t j = begin; j < end; j++) h[j] += shift;
    return gess__spread_loss(r, begin, end, h, weights, squares);
}

/* A start for Newton's method: log r² by least squares, or no drivers, whichever is better. */
static double start_spread(gess__terms *t, const double *r, size_t begin, size_t end, double *h, double *weights,
                           double *squares, double *work)
{
    gess__terms flat = *t;
    double a[GESS__MAX_TERMS * GESS__MAX_TERMS];
    for (size_t u = 0; u < t->count; u++) flat.factors[u] = 0.0;
    gess__log_squares(end - begin, r + begin, h + begin);
    for (size_t j = begin; j < end; j++) weights[j] = 1.0;
    gess__normal_equations(t, weights, h, begin, end, work, a, t->factors);
    gess__learn_solve(t->count, a, t->factors);
    double loss = best_level(t, r, begin, end, h, weights, squares);
    double flat_loss = best_level(&flat, r, begin, end, h, weights, squares);
    if (loss < flat_loss) return best_level(t, r, begin, end, h, weights, squares);
    *t = flat;
    return flat_loss;
}

/* The gamma regression of r² on the terms, from where they are. Leaves h and weights at the result. */
static double fit_spread(gess__terms *t, const double *r, size_t begin, size_t end, double *h, double *weights,
                         double *squares, double *work, double loss)
{
    size_t p = t->count;
    double totals[GESS__MAX_TERMS] = {0};
    for (size_t u = 0; u < p; u++)
        for (size_t j = begin; j < end; j++) totals[u] += t->columns[u][j];
    for (int iteration = 0; iteration < 25; iteration++) {
        double a[GESS__MAX_TERMS * GESS__MAX_TERMS], b[GESS__MAX_TERMS], before[GESS__MAX_TERMS], old = loss,
                                                                                                      step = 1.0;
        memcpy(before, t->factors, sizeof before);
        gess__normal_equations(t, squares, NULL, begin, end, work, a, b);
        for (size_t u = 0; u < p; u++) b[u] = a[u] - totals[u]; /* a[u]: the first term is 1 */
        gess__learn_solve(p, a, b);
        for (int halving = 0; halving < 12; halving++, step *= 0.5) {
            for (size_t u = 0; u < p; u++) t->factors[u] = before[u] + step * b[u];
            gess__regression_predict(t, begin, end, h);
            loss = gess__spread_loss(r, begin, end, h, weights, squares);
            if (loss <= old) break;
        }
        if (!(loss <= old)) {
            memcpy(t->factors, before, sizeof before);
            gess__regression_predict(t, begin, end, h);
            return gess__spread_loss(r, begin, end, h, weights, squares);
        }
        if (old - loss < 1e-7) break;
    }
    return loss;
}

/* ---- 2. candidates ---- */

static void unit_column(size_t m, double *x)
{
    double mean = 0.0, square = 0.0;
    for (size_t j = 0; j < m; j++) mean += x[j];
    mean /= (double)m;
    for (size_t j = 0; j < m; j++) x[j] -= mean;
    square = gess__dot(m, x, x) / (double)m;
    double factor = square > 0.0 ? 1.0 / sqrt(square) : 0.0;
    for (size_t j = 0; j < m; j++) x[j] *= factor;
}

static double cut(double x, double at)
{
    return x > at ? at : x < -at ? -at : x;
}

/* The correlations of what is in pair: square[(dim + k) + i 2 dim] is that of the i-th of the first half with the k-th
 * of the second. */
static void correlate(gess__learner *l, size_t m)
{
    for (size_t i = 0; i < 2 * l->dim; i++) unit_column(m, l->pair + i * m);
    gess__gram(2 * l->dim, m, 1.0 / (double)m, l->pair, l->square);
}

static void correlate_spreads(gess__learner *l, size_t m)
{
    double *second = l->pair + l->dim * m;
    gess__log_squares(l->dim * m, l->residuals, l->pair);
    for (size_t j = 0; j < l->dim * m; j++) second[j] = cut(l->z[j], 4.0);
    correlate(l, m);
}

static void correlate_bends(gess__learner *l, size_t m)
{
    double *second = l->pair + l->dim * m;
    for (size_t i = 0; i < l->dim; i++) {
        const double *e = l->residuals + i * m;
        double sd = sqrt(gess__dot(m, e, e) / (double)m) + 1e-300;
        for (size_t j = 0; j < m; j++) l->pair[i * m + j] = cut(e[j] / sd, 4.0);
    }
    for (size_t j = 0; j < l->dim * m; j++) second[j] = cut(l->z[j], 3.0) * cut(l->z[j], 3.0);
    correlate(l, m);
}

/* Up to `most` candidates for coordinate i, each the strongest beside what those before it explain. */
static size_t candidates(gess__learner *l, uint32_t i, int bend, size_t most, double threshold, size_t count)
{
    size_t dim = l->dim, wide = 2 * dim;
    double *left = l->small;
    for (size_t k = 0; k < dim; k++) left[k] = l->square[dim + k + i * wide];
    left[i] = 0.0;
    for (size_t s = 0; s < most; s++) {
        size_t best = 0;
        for (size_t k = 1; k < dim; k++)
            if (fabs(left[k]) > fabs(left[best])) best = k;
        if (!(fabs(left[best]) > threshold)) break;
        l->edges[count++] = (gess__edge){.from = (uint32_t)best, .to = i, .bend = bend};
        double taken = left[best];
        for (size_t k = 0; k < dim; k++)
            if (k != i)
                left[k] -= taken * l->square[dim + (k > best ? k : best) + (dim + (k > best ? best : k)) * wide];
        left[best] = 0.0;
    }
    return count;
}

static double spread_gain(gess__learner *l, size_t m, gess__edge *edge, const double *ones)
{
    const double *e = l->residuals + edge->to * m;
    double *v = l->vectors;
    gess__terms t = {2, {ones, l->z + edge->from * m}, {0}};
    double flat = 0.5 * gess__log(gess__dot(m, e, e) / (double)m + 1e-300) + 0.5;
    double loss = start_spread(&t, e, 0, m, v + m, v + 2 * m, v + 3 * m, v + 4 * m);
    loss = fit_spread(&t, e, 0, m, v + m, v + 2 * m, v + 3 * m, v + 4 * m, loss);
    edge->slope = t.factors[1];
    return flat - loss;
}

static double bend_gain(gess__learner *l, size_t m, const gess__edge *edge, const double *ones)
{
    const double *e = l->residuals + edge->to * m, *z = l->z + edge->from * m;
    double *v = l->vectors, *square = v + m, *r = v + 2 * m;
    gess__multiply(m, z, z, square);
    gess__terms t = {3, {ones, z, square}, {0}};
    gess__fit_mean(&t, ones, e, 0, m, v + 3 * m, r);
    return 0.5 * gess__log((gess__dot(m, e, e) + 1e-300) / (gess__dot(m, r, r) + 1e-300));
}

static int by_gain(const void *a, const void *b)
{
    const gess__edge *x = a, *y = b;
    if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->bend - y->bend;
}

static size_t find_edges(gess__learner *l, size_t m, double threshold, const double *ones)
{
    size_t count = 0;
    correlate_spreads(l, m);
    for (uint32_t i = 0; i < l->dim; i++) count = candidates(l, i, 0, GESS__MAX_DRIVERS, threshold, count);
    correlate_bends(l, m);
    for (uint32_t i = 0; i < l->dim; i++)
        count = candidates(l, i, 1, GESS__MAX_EDGES - GESS__MAX_DRIVERS, threshold, count);
    for (size_t k = 0; k < count; k++) {
        gess__edge *edge = &l->edges[k];
        edge->gain = edge->bend ? bend_gain(l, m, edge, ones) : spread_gain(l, m, edge, ones);
    }
    qsort(l->edges, count, sizeof *l->edges, by_gain);
    while (count > 0 && !(l->edges[count - 1].gain > MIN_EDGE)) count--;
    return count;
}

/* ---- 3. order ---- */

/* Whether `ancestor` drives k, directly or through others. */
static bool drives(gess__learner *l, uint32_t ancestor, uint32_t k)
{
    size_t waiting = 0;
    memset(l->marks, 0, l->dim);
    l->stack[waiting++] = k;
    l->marks[k] = 1;
    while (waiting > 0) {
        uint32_t node = l->stack[--waiting];
        if (node == ancestor) return true;
        for (uint32_t j = 0; j < l->parents[node]; j++) {
            uint32_t parent = l->parent[node * GESS__MAX_EDGES + j];
            if (l->marks[parent]) continue;
            l->marks[parent] = 1;
            l->stack[waiting++] = parent;
        }
    }
    return false;
}

static void keep_edges(gess__learner *l, size_t count)
{
    memset(l->parents, 0, l->dim * sizeof *l->parents);
    for (size_t e = 0; e < count; e++) {
        gess__edge *edge = &l->edges[e];
        edge->kept = !drives(l, edge->to, edge->from);
        if (edge->kept) l->parent[edge->to * GESS__MAX_EDGES + l->parents[edge->to]++] = edge->from;
    }
}

/* The coordinate that drives most spreads, where it drives SIBLINGS or more, or dim: it is the scale of a level of a
 * hierarchy, and those of its members that the data know best show it least. *slope: of the sign that it has in most.
 */
static size_t find_hub(const gess__learner *l, size_t count, double *slope)
{
    size_t most = SIBLINGS - 1, hub = l->dim;
    *slope = 0.0;
    for (size_t k = 0; k < l->dim; k++) {
        size_t driven = 0;
        double sum = 0.0;
        for (size_t e = 0; e < count; e++) {
            if (!l->edges[e].kept || l->edges[e].bend || l->edges[e].from != k) continue;
            driven++;
            sum += l->edges[e].slope;
        }
        if (driven <= most) continue;
        *slope = sum;
        most = driven;
        hub = k;
    }
    return hub;
}

static bool has_parent(const gess__learner *l, uint32_t i, size_t k)
{
    for (uint32_t j = 0; j < l->parents[i]; j++)
        if (l->parent[i * GESS__MAX_EDGES + j] == k) return true;
    return false;
}

/* Puts the hub in front of every coordinate that it may drive. */
static void adopt_siblings(gess__learner *l, uint32_t hub)
{
    for (uint32_t i = 0; i < l->dim; i++) {
        if (has_parent(l, i, hub) || l->parents[i] == GESS__MAX_EDGES || drives(l, i, hub)) continue;
        l->parent[i * GESS__MAX_EDGES + l->parents[i]++] = hub;
    }
}

static bool ready(const gess__learner *l, const unsigned char *placed, uint32_t i)
{
    for (uint32_t j = 0; j < l->parents[i]; j++)
        if (!placed[l->parent[i * GESS__MAX_EDGES + j]]) return false;
    return true;
}

/* Drivers first; among those that may come next, hubs (by powers of two, so that noise does not decide), then the one
 * that comes first anyway. */
static void set_order(gess__learner *l, const double *hubs)
{
    unsigned char *placed = l->marks + l->dim;
    memset(placed, 0, l->dim);
    for (size_t p = 0; p < l->dim; p++) {
        int best_class = -1;
        for (uint32_t i = 0; i < l->dim; i++) {
            int class = ilogb(hubs[i] + 1.0);
            if (placed[i] || class <= best_class || !ready(l, placed, i)) continue;
            best_class = class;
            l->order[p] = i;
        }
        placed[l->order[p]] = 1;
    }
}

/* ---- 4. one coordinate ---- */

/* Correlation of r with the column, both centred, under the weights. */
GESS__VECTOR
static double weighted_correlation(size_t m, const double *restrict weights, const double *restrict r,
                                   const double *restrict x)
{
    double s[5][GESS__LANES] = {{0}}, total[5] = {0};
    for (size_t j = 0; j + GESS__LANES <= m; j += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) {
            double w = weights[j + l], a = r[j + l], b = x[j + l];
            s[0][l] += w;
            s[1][l] += w * b;
            s[2][l] += w * b * b;
            s[3][l] += w * a * b;
            s[4][l] += w * a * a;
        }
    for (size_t u = 0; u < 5; u++)
        for (size_t l = 0; l < GESS__LANES; l++) total[u] += s[u][l];
    double spread = total[2] - total[1] * total[1] / total[0];
    if (!(spread > 1e-10 * total[2]) || !(total[4] > 0.0)) return 0.0;
    return total[3] / sqrt(spread * total[4]); /* r has weighted mean 0 */
}

/* Adds drivers of the mean from the coordinates in front of position p. */
static void select_means(gess__learner *l, size_t m, size_t p, uint32_t i, step_fit *fit, gess__scale_step *step,
                         const double *weights, double *work, double *r)
{
    const double *y = l->z + i * m;
    gess__fit_mean(&fit->mean, weights, y, 0, m, work, r);
    for (step->means = 0; step->means < GESS__MAX_DRIVERS; step->means++) {
        double most = l->least_mean;
        size_t best = l->dim;
        for (size_t q = 0; q < p; q++) {
            double size = fabs(weighted_correlation(m, weights, r, l->z + l->order[q] * m));
            if (!(size > most)) continue;
            most = size;
            best = l->order[q];
        }
        if (best == l->dim) return;
        step->mean_from[step->means] = (uint32_t)best;
        fit->mean.columns[fit->mean.count++] = l->z + best * m;
        gess__fit_mean(&fit->mean, weights, y, 0, m, work, r);
    }
}

/* Mean and spread in turns on [begin, end). */
static void fit_both(step_fit *fit, const double *y, size_t begin, size_t end, double *v, size_t m)
{
    double *r = v + m, *h = v + 2 * m, *weights = v + 3 * m, *squares = v + 4 * m, *work = v + 5 * m, loss;
    for (size_t j = begin; j < end; j++) weights[j] = 1.0;
    for (int pass = 0; pass < 3; pass++) {
        gess__fit_mean(&fit->mean, weights, y, begin, end, work, r);
        if (pass == 0)
            loss = start_spread(&fit->scale, r, begin, end, h, weights, squares, work);
        else
            loss = best_level(&fit->scale, r, begin, end, h, weights, squares);
        (void)fit_spread(&fit->scale, r, begin, end, h, weights, squares, work, loss);
    }
    gess__fit_mean(&fit->mean, weights, y, begin, end, work, r);
    (void)best_level(&fit->scale, r, begin, end, h, weights, squares);
}

/* Minus the log-likelihood a point, but a constant, on [begin, end). */
static double loss_of(const step_fit *fit, const double *y, size_t begin, size_t end, double *v, size_t m)
{
    double *r = v + m, *h = v + 2 * m;
    gess__regression_predict(&fit->mean, begin, end, r);
    for (size_t j = begin; j < end; j++) r[j] = y[j] - r[j];
    gess__regression_predict(&fit->scale, begin, end, h);
    return gess__spread_loss(r, begin, end, h, v + 3 * m, v + 4 * m);
}

/* The loss of each half under the fit to the other, on average. */
static double held_out_loss(step_fit fit, const double *y, size_t m, double *v)
{
    double loss = 0.0;
    size_t half = m / 2;
    for (int side = 0; side < 2; side++) {
        size_t begin = side ? half : 0, end = side ? m : half, from = side ? 0 : half, to = side ? half : m;
        fit_both(&fit, y, begin, end, v, m);
        loss += 0.5 * loss_of(&fit, y, from, to, v, m);
    }
    return loss;
}

/* The drivers that the kept edges give coordinate i: of the spread where `scales`, a square where `bends`. */
static void collect(gess__learner *l, size_t m, size_t edges, uint32_t i, bool scales, bool bends, step_fit *fit,
                    gess__scale_step *step, double *square)
{
    for (size_t e = 0; e < edges; e++) {
        const gess__edge *edge = &l->edges[e];
        if (!edge->kept || edge->to != i) continue;
        if (!edge->bend && scales && step->scales < GESS__MAX_DRIVERS) {
            step->scale_from[step->scales++] = edge->from;
            fit->scale.columns[fit->scale.count++] = l->z + edge->from * m;
        } else if (edge->bend && bends && !step->bends) {
            step->bends = 1;
            step->bend_from = edge->from;
            gess__multiply(m, l->z + edge->from * m, l->z + edge->from * m, square);
            fit->mean.columns[fit->mean.count++] = square;
        }
    }
}

/* From standardised coordinates to those of the points. */
static void write_step(const gess__learner *l, const step_fit *fit, gess__scale_step *s)
{
    double sd = l->sd[s->at];
    size_t first = 1 + s->bends;
    s->shift = l->mean[s->at] + sd * fit->mean.factors[0];
    s->spread = sd * gess__exp(0.5 * fit->scale.factors[0]);
    if (s->bends) s->bend = sd * fit->mean.factors[1] / (l->sd[s->bend_from] * l->sd[s->bend_from]);
    for (size_t j = 0; j < s->means; j++) s->mean[j] = sd * fit->mean.factors[first + j] / l->sd[s->mean_from[j]];
    for (size_t j = 0; j < s->scales; j++) s->scale[j] = fit->scale.factors[1 + j] / l->sd[s->scale_from[j]];
}

/* One choice of drivers for the coordinate at position p; returns what it gains over a linear mean and one variance,
 * held out, or 0. *plain_loss: of the latter. */
static double try_step(gess__learner *l, size_t m, size_t edges, size_t p, bool scales, bool bends,
                       gess__scale_step *step, double *plain_loss)
{
    uint32_t i = l->order[p];
    double *v = l->vectors, *ones = v, *square = v + 6 * m;
    const double *y = l->z + i * m;
    step_fit fit = {{1, {ones}, {0}}, {1, {ones}, {0}}}, plain;
    *step = (gess__scale_step){.at = i};
    collect(l, m, edges, i, scales, bends, &fit, step, square);
    if (step->scales + step->bends == 0) return 0.0;
    fit_both(&fit, y, 0, m, v, m);
    select_means(l, m, p, i, &fit, step, v + 3 * m, v + 5 * m, v + m);
    plain = (step_fit){{1, {ones}, {0}}, {1, {ones}, {0}}};
    for (size_t j = 0; j < step->means; j++)
        plain.mean.columns[plain.mean.count++] = l->z + (size_t)step->mean_from[j] * m;
    *plain_loss = held_out_loss(plain, y, m, v);
    double gain = *plain_loss - held_out_loss(fit, y, m, v);
    fit_both(&fit, y, 0, m, v, m);
    write_step(l, &fit, step);
    return gain > MIN_GAIN ? gain : 0.0;
}

/* The best of: spread and bend, spread alone, bend alone. `alone`: the second, or the first where there is no bend. */
static double best_linear(gess__learner *l, size_t m, size_t edges, size_t p, gess__scale_step *step,
                          gess__scale_step *alone, double *plain_loss)
{
    double best = 0.0, plain;
    for (int kind = 0; kind < 3; kind++) {
        gess__scale_step other;
        double gain = try_step(l, m, edges, p, kind != 2, kind != 1, &other, kind == 2 ? &plain : plain_loss);
        if (kind < 2) *alone = other;
        if (gain > best) {
            best = gain;
            *step = other;
        }
        if (kind == 0 && other.scales * other.bends == 0) return best;
    }
    return best;
}

/* No drivers but those of the mean. */
static double plain_step(gess__learner *l, size_t m, size_t p, gess__scale_step *step)
{
    double *v = l->vectors, *weights = v + 3 * m;
    uint32_t i = l->order[p];
    step_fit fit = {{1, {v}, {0}}, {1, {v}, {0}}};
    *step = (gess__scale_step){.at = i};
    for (size_t j = 0; j < m; j++) weights[j] = 1.0;
    select_means(l, m, p, i, &fit, step, weights, v + 5 * m, v + m);
    return held_out_loss(fit, l->z + i * m, m, v);
}

/* The best linear step, or a spread that saturates where that is as good: it is likelier to be right far out. */
static double best_step(gess__learner *l, size_t m, size_t edges, size_t p, size_t hub, double slope,
                        gess__scale_step *step)
{
    double plain_loss = 0.0, best, gain;
    gess__scale_step alone = {0}, other;
    best = best_linear(l, m, edges, p, step, &alone, &plain_loss);
    if (alone.scales > 0) {
        gain = plain_loss - gess__learn_saturated(l, m, &alone, &other);
        if (gain > MIN_GAIN && gain > best - WORTH_SATURATION) {
            best = gain;
            *step = other;
        }
    }
    if (hub == l->dim || !has_parent(l, l->order[p], hub) || (alone.scales > 0 && alone.scale_from[0] == hub))
        return best;
    if (alone.scales == 0) plain_loss = plain_step(l, m, p, &alone);
    alone.scales = 1;
    alone.scale_from[0] = (uint32_t)hub;
    alone.scale[0] = slope;
    gain = plain_loss - gess__learn_saturated(l, m, &alone, &other);
    if (!(gain > best - WORTH_SIBLINGS) || !(fmax(other.cap, other.floor) < MAX_CAP)) return best;
    *step = other;
    return fmax(gain, DBL_MIN);
}

/* ---- the layer ---- */

int gess__learn_scale(gess__learner *l, size_t n, const double *points, gess__learned *map)
{
    size_t m = gess__learn_points(l, n, GESS__SCALE_POINTS);
    if (m == 0 || map->count == GESS__MAX_LAYERS || !gess__learn_standardise(l, n, points, m, true)) return 0;
    double threshold = fmax(MIN_CORRELATION, 4.0 / sqrt(gess__learn_effective(n))), *hubs = l->small + l->dim;
    double *ones = l->vectors;
    l->least_mean = fmax(MIN_MEAN, 2.0 / sqrt(gess__learn_effective(n)));
    if (!precision(l, m)) return 0;
    set_residuals(l, m, threshold, hubs);
    for (size_t j = 0; j < m; j++) ones[j] = 1.0;
    size_t edges = find_edges(l, m, threshold, ones);
    if (edges == 0) return 0;
    keep_edges(l, edges);
    double slope;
    size_t hub = find_hub(l, edges, &slope);
    if (hub < l->dim) adopt_siblings(l, (uint32_t)hub);
    set_order(l, hubs);
    gess__layer *layer = &map->layers[map->count];
    layer->kind = GESS__SCALE_LAYER;
    layer->count = 0;
    memcpy(layer->centre, l->mean, l->dim * sizeof *l->mean);
    for (size_t p = 1; p < l->dim; p++)
        if (best_step(l, m, edges, p, hub, slope, &layer->steps[layer->count]) > 0.0) layer->count++;
    if (!gess__layer_possible(layer, l->dim)) return 0;
    gess__layer_finish(layer);
    map->count++;
    return 1;
}
