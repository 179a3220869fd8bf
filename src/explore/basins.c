/* Keeps the basins that annealing has found, and sees to it that T covers them. */
#include "explore/basins.h"

#include "adapt/move_mix.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "explore/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* T covers a basin if the typical level of its points exceeds that of the window by at most this. */
#define COVERED 4.0

/* A basin has been left if it holds less than this part of its share of the final window. */
#define MIN_LEFT 0.05

/* Basins are one mode if no coordinate of their centres differs by this much, in units of the sum of their spreads. */
#define SAME 1.8

/* The smallest weight of a component that is given back, and its degrees of freedom. */
#define MIN_WEIGHT 0.01
#define BASIN_NU 8.0

/* Points of the window that the typical level is taken from. */
enum { SAMPLED = 1000 };

int gess__basins_new(gess__basins **basins, size_t dim, gess_error *err)
{
    GESS_ALLOC(basins, 1, err);
    gess__basins *b = *basins;
    b->dim = dim;
    b->room = gess__mixture_room(dim) > 1 ? GESS__MAX_BASINS : 1;
    size_t points = b->room * GESS__BASIN_POINTS;
    GESS_ALLOC(&b->points, points * dim, err);
    GESS_ALLOC(&b->raw, points, err);
    GESS_ALLOC(&b->centre, b->room * dim, err);
    GESS_ALLOC(&b->spread, b->room * dim, err);
    if (b->room > 1) GESS_ALLOC(&b->w, (GESS__BASIN_POINTS + 1) * dim + dim * dim, err);
    GESS_ALLOC(&b->log_t, SAMPLED + 2 * GESS__BASIN_POINTS, err);
    return GESS_OK;
}

void gess__basins_free(gess__basins *b)
{
    if (b == NULL) return;
    free(b->points);
    free(b->raw);
    free(b->centre);
    free(b->spread);
    free(b->w);
    free(b->log_t);
    free(b->scratch);
    free(b);
}

/* Centre and spread of basin k from its points. One that was given up holds none, and has its centre in place of the
 * first. */
static void set_centre(gess__basins *b, size_t k)
{
    size_t n = b->basin[k].held > 0 ? (size_t)b->basin[k].held : 1, dim = b->dim;
    const double *points = b->points + k * GESS__BASIN_POINTS * dim;
    b->log_volume[k] = 0.0;
    for (size_t i = 0; i < dim; i++) {
        double mean = 0.0, square = 0.0;
        for (size_t j = 0; j < n; j++) mean += points[j * dim + i] / (double)n;
        for (size_t j = 0; j < n; j++) square += (points[j * dim + i] - mean) * (points[j * dim + i] - mean);
        b->centre[k * dim + i] = mean;
        b->spread[k * dim + i] = square > 0.0 ? sqrt(square / (double)n) : 1.0;
        b->log_volume[k] += 2.0 * gess__log(b->spread[k * dim + i]);
    }
}

/* Adds a basin that was given up: it has a centre, and no points. */
static void add_given_up(gess__basins *b, const double *centre, double weight, double error)
{
    if (b->count == b->room) return;
    size_t k = (size_t)b->count++;
    b->basin[k] = (gess__basin){.value = -INFINITY, .weight = weight, .error = error};
    memcpy(b->points + k * GESS__BASIN_POINTS * b->dim, centre, b->dim * sizeof *centre);
    set_centre(b, k);
}

/* The cluster of the particle that is nearest to a point. */
static size_t nearest_cluster(const gess__annealing *a, const double *y)
{
    const gess__window *w = &a->learning->adaptation->window;
    const gess__clusters *c = a->clusters;
    size_t best = 0;
    double min = INFINITY;
    for (size_t i = 0; i < gess__window_points(w); i++) {
        double sum = 0.0;
        for (size_t k = 0; k < w->dim; k++) {
            double z = (w->points[i * w->dim + k] - y[k]) / c->metric[k];
            sum += z * z;
        }
        if (!(sum < min)) continue;
        min = sum;
        best = c->label[i];
    }
    return best;
}

/* Gives the basins the weights that annealing has found. A cluster that was not weighed keeps its share of the
 * particles. */
static void set_weights(gess__basins *b, const gess__annealing *a)
{
    const gess__annealing_state *s = &a->state;
    double weight[GESS__MAX_BASINS] = {0}, square[GESS__MAX_BASINS] = {0}, sum = 0.0;
    size_t clusters = (size_t)b->count;
    for (size_t i = 0; i < s->weighed; i++) {
        if (s->given_up[i]) continue;
        size_t k = nearest_cluster(a, a->centre + i * b->dim);
        if (k >= clusters) continue;
        weight[k] += s->weight[i];
        square[k] += s->weight_error[i] * s->weight_error[i];
    }
    for (size_t k = 0; k < clusters; k++) {
        gess__basin *basin = &b->basin[k];
        if (weight[k] > 0.0) basin->weight = weight[k];
        if (weight[k] > 0.0) basin->error = sqrt(square[k]);
        sum += basin->weight;
    }
    for (size_t k = 0; k < clusters; k++) {
        b->basin[k].weight /= sum;
        b->basin[k].error /= sum;
    }
    for (size_t i = 0; i < s->weighed; i++)
        if (s->given_up[i]) add_given_up(b, a->centre + i * b->dim, s->weight[i], s->weight_error[i]);
}

void gess__basins_take(gess__basins *b, const gess__annealing *a)
{
    const gess__window *w = &a->learning->adaptation->window;
    const gess__clusters *c = a->clusters;
    size_t n = gess__window_points(w), dim = b->dim;
    GESS_ASSERT(a->state.done && a->learning->state.layers == 0);
    b->count = c->count < b->room ? c->count : b->room;
    for (size_t k = 0; k < b->count; k++) {
        size_t seen = 0, take = c->size[k] < GESS__BASIN_POINTS ? c->size[k] : GESS__BASIN_POINTS;
        gess__basin *basin = &b->basin[k];
        *basin = (gess__basin){.particles = c->size[k],
                               .value = -INFINITY,
                               .weight = (double)c->size[k] / (double)n,
                               .error = sqrt((double)c->size[k]) / (double)n};
        for (size_t i = 0; i < n; i++) {
            if (c->label[i] != k) continue;
            if (w->values[i] > basin->value) basin->value = w->values[i];
            if (seen++ * take / c->size[k] < basin->held) continue;
            size_t to = k * GESS__BASIN_POINTS + (size_t)basin->held++;
            memcpy(b->points + to * dim, w->points + i * dim, dim * sizeof *b->points);
            b->raw[to] = w->values[i];
        }
        set_centre(b, k);
    }
    set_weights(b, a);
}

/* Stores a point of the sampling space as point number `at` of basin k. */
static void store_point(gess__basins *b, const gess__learning *l, size_t k, size_t at, const double *w, double value)
{
    const gess__target *target = &l->ensemble->target;
    double *y = l->ensemble->updates[0].mapped;
    double jacobian = gess__target_out(target, w, y, y + b->dim);
    size_t to = k * GESS__BASIN_POINTS + at;
    memcpy(b->points + to * b->dim, y, b->dim * sizeof *y);
    b->raw[to] = value - jacobian;
    if (b->raw[to] > b->basin[k].value) b->basin[k].value = b->raw[to];
}

void gess__basins_add_window(gess__basins *b, const gess__learning *l)
{
    const gess__window *w = &l->adaptation->window;
    size_t n = gess__window_points(w), take = n < GESS__BASIN_POINTS ? n : GESS__BASIN_POINTS;
    GESS_ASSERT(b->count == 0);
    b->count = 1;
    b->basin[0] = (gess__basin){.held = take, .value = -INFINITY, .weight = 1.0};
    for (size_t i = 0; i < take; i++) {
        size_t at = i * n / take;
        store_point(b, l, 0, i, w->points + at * b->dim, w->values[at]);
    }
    set_centre(b, 0);
}

size_t gess__basins_add(gess__basins *b, const gess__learning *l, size_t n, const double *points, const double *values,
                        const double *weights, double share, double error)
{
    if (b->count == b->room) return 0;
    size_t k = (size_t)b->count++, from = 0;
    for (size_t i = 0; i < k; i++) b->basin[i].weight *= 1.0 - share;
    double sum = 0.0, below = weights[0];
    b->basin[k] = (gess__basin){.held = GESS__BASIN_POINTS, .value = -INFINITY, .weight = share, .error = error};
    for (size_t i = 0; i < n; i++) sum += weights[i];
    for (size_t j = 0; j < GESS__BASIN_POINTS; j++) {
        double at = ((double)j + 0.5) / GESS__BASIN_POINTS * sum;
        while (from + 1 < n && below < at) below += weights[++from];
        store_point(b, l, k, j, points + from * b->dim, values[from]);
    }
    set_centre(b, k);
    return 1;
}

void gess__basins_remove(gess__basins *b, size_t *count)
{
    GESS_ASSERT(*count <= b->count);
    b->count -= *count;
    *count = 0;
}

double gess__basins_distance(const gess__basins *b, size_t k, const double *y)
{
    double sum = b->log_volume[k];
    for (size_t i = 0; i < b->dim; i++) {
        double z = (y[i] - b->centre[k * b->dim + i]) / b->spread[k * b->dim + i];
        sum += z * z;
    }
    return sum;
}

size_t gess__basins_find(const gess__basins *b, const double *y)
{
    size_t best = 0;
    double min = INFINITY;
    for (size_t k = 0; k < b->count; k++) {
        if (b->basin[k].held == 0) continue;
        double distance = gess__basins_distance(b, k, y);
        if (!(distance < min)) continue;
        min = distance;
        best = k;
    }
    return best;
}

int gess__basins_same(const gess__basins *a, size_t j, const gess__basins *b, size_t k)
{
    for (size_t i = 0; i < a->dim; i++) {
        double apart = fabs(a->centre[j * a->dim + i] - b->centre[k * b->dim + i]);
        if (apart >= SAME * (a->spread[j * a->dim + i] + b->spread[k * b->dim + i])) return 0;
    }
    return 1;
}

/* The typical level of some points of the window. */
static double typical_level(gess__basins *b, const gess__learning *l)
{
    const gess__window *w = &l->adaptation->window;
    size_t points = gess__window_points(w), n = points < SAMPLED ? points : SAMPLED;
    for (size_t i = 0; i < n; i++) {
        size_t at = i * points / n;
        gess__set_levels(l->ensemble->frozen.mixture, 1, w->points + at * b->dim, &w->values[at], &b->log_t[i],
                         b->scratch);
    }
    return gess__level_limits(n, b->log_t).typical;
}

/* Puts the points of basin k into b->w, in the sampling space, and returns the median of their levels; NaN
 * if the map has no place for one. */
static double basin_level(gess__basins *b, const gess__learning *l, size_t k)
{
    const gess__frozen *f = &l->ensemble->frozen;
    size_t n = (size_t)b->basin[k].held, dim = b->dim;
    double *jacobians = b->log_t + SAMPLED, *levels = jacobians + GESS__BASIN_POINTS;
    const double *y = b->points + k * GESS__BASIN_POINTS * dim;
    memset(jacobians, 0, n * sizeof *jacobians);
    if (f->map != NULL && gess__learned_layers(f->map) > 0)
        gess__learned_in(f->map, n, y, b->w, jacobians, b->scratch);
    else
        memcpy(b->w, y, n * dim * sizeof *y);
    for (size_t i = 0; i < n * dim; i++)
        if (!isfinite(b->w[i])) return NAN;
    for (size_t i = 0; i < n; i++) levels[i] = b->raw[k * GESS__BASIN_POINTS + i] - jacobians[i];
    gess__set_levels(f->mixture, n, b->w, levels, levels, b->scratch);
    return gess__level_limits(n, levels).typical;
}

/* Fits t to the n points in b->w: their moments, the covariance shrunk towards its diagonal. */
static void fit_basin(gess__basins *b, size_t n, gess__approx *t)
{
    size_t dim = b->dim;
    double share = ((double)dim + 1.0) / ((double)(n + dim) + 1.0), *square = b->w + (GESS__BASIN_POINTS + 1) * dim;
    double *scales = b->w + GESS__BASIN_POINTS * dim;
    memset(t->mu, 0, dim * sizeof *t->mu);
    memset(square, 0, dim * dim * sizeof *square);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < dim; k++) t->mu[k] += b->w[i * dim + k] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < dim; k++)
            for (size_t m = k; m < dim; m++)
                square[m + k * dim] += (b->w[i * dim + k] - t->mu[k]) * (b->w[i * dim + m] - t->mu[m]) / (double)n *
                                       (m > k ? 1.0 - share : 1.0);
    gess__ridged_cholesky(dim, square, scales, t->mu, t);
    t->nu = BASIN_NU;
    gess__approx_ready(t);
}

/* Adds a component for the basin whose points are in b->w, in place of the lightest one if there is no room. */
static void add_component(gess__basins *b, gess__learning *l, size_t k)
{
    gess__mixture *m = l->ensemble->frozen.mixture;
    double weight = gess__max(b->basin[k].weight, MIN_WEIGHT), sum = 0.0;
    size_t at = m->count;
    if (m->count < gess__mixture_room(m->dim)) {
        m->count++;
    } else {
        at = 0;
        for (size_t j = 1; j < m->count; j++)
            if (m->log_weight[j] < m->log_weight[at]) at = j;
    }
    fit_basin(b, (size_t)b->basin[k].held, m->component[at]);
    l->state.fitted_nu[at] = m->component[at]->nu;
    m->log_weight[at] = -INFINITY;
    for (size_t j = 0; j < m->count; j++) sum += gess__exp(m->log_weight[j]);
    for (size_t j = 0; j < m->count; j++) m->log_weight[j] += gess__log((1.0 - weight) / sum);
    m->log_weight[at] = gess__log(weight);
    b->basin[k].restored++;
}

/* Makes room for the map's scratch; returns 0 if there is none. */
static int make_scratch(gess__basins *b, const gess__learning *l)
{
    const gess__frozen *f = &l->ensemble->frozen;
    size_t map = f->map != NULL ? gess__learned_scratch(f->map, GESS__BASIN_POINTS) : 0,
           mixture = gess__levels_scratch(b->dim);
    if (b->scratch != NULL) free(b->scratch);
    b->scratch = NULL;
    return gess__alloc_bytes(&b->scratch, map > mixture ? map : mixture, sizeof *b->scratch, "scratch", NULL) ==
           GESS_OK;
}

size_t gess__basins_cover(gess__basins *b, gess__learning *l)
{
    size_t added = 0;
    if (b->count < 2 || !make_scratch(b, l)) return 0;
    double typical = typical_level(b, l);
    for (size_t k = 0; k < b->count; k++) {
        if (b->basin[k].weight < GESS__NEGLIGIBLE || b->basin[k].held == 0) continue;
        if (!(basin_level(b, l, k) > typical + COVERED)) continue;
        if (l->ensemble->frozen.mixture->count == 1) gess__move_mix_set_single(l);
        add_component(b, l, k);
        added++;
    }
    if (added > 0) gess__move_mix_choose(l);
    return added;
}

/* Whether basin k is the same mode as one that holds points. */
static int is_merged(const gess__basins *b, size_t k, const uint64_t *counts)
{
    for (size_t j = 0; j < b->count; j++)
        if (counts[j] > 0 && gess__basins_same(b, j, b, k)) return 1;
    return 0;
}

void gess__basins_judge(gess__basins *b, const gess__learning *l, size_t n, const double *starts)
{
    const gess__window *w = &l->adaptation->window;
    const gess__target *target = &l->ensemble->target;
    uint64_t counts[GESS__MAX_BASINS] = {0};
    double *y = l->ensemble->updates[0].mapped, *rest = y + b->dim;
    if (b->count == 0) return;
    for (size_t k = 0; k < b->count; k++) b->basin[k].starts = 0;
    for (size_t i = 0; i < n; i++) b->basin[gess__basins_find(b, starts + i * b->dim)].starts++;
    for (size_t i = 0; i < gess__window_points(w); i++) {
        gess__target_out(target, w->points + i * b->dim, y, rest);
        counts[gess__basins_find(b, y)]++;
    }
    for (size_t k = 0; k < b->count; k++) /* stray points of other basins do not count */
        if ((double)counts[k] < MIN_LEFT * b->basin[k].weight * (double)gess__window_points(w)) counts[k] = 0;
    for (size_t k = 0; k < b->count; k++) {
        gess__basin *basin = &b->basin[k];
        int negligible =
            basin->weight < GESS__NEGLIGIBLE && basin->weight + 2.0 * basin->error < 10.0 * GESS__NEGLIGIBLE;
        basin->fate = counts[k] > 0             ? GESS__FATE_KEPT
                      : is_merged(b, k, counts) ? GESS__FATE_MERGED
                      : negligible              ? GESS__FATE_GIVEN_UP
                                                : GESS__FATE_LOST;
    }
}

void gess__basins_count_chains(const gess__basins *b, const gess__ensemble *e, uint32_t *counts)
{
    double *y = e->updates[0].mapped, *rest = y + b->dim;
    memset(counts, 0, GESS__MAX_BASINS * sizeof *counts);
    for (size_t c = 0; c < e->chains.count; c++) {
        gess__target_out(&e->target, e->chains.x + c * b->dim, y, rest);
        counts[gess__basins_find(b, y)]++;
    }
}

void gess__basins_archive(gess__basins *b, gess__archive *a)
{
    size_t points = GESS__BASIN_POINTS;
    GESS_ARCHIVE(a, &b->count);
    if (b->count > b->room) a->bad = 1;
    for (size_t k = 0; k < b->count && !a->bad; k++) {
        GESS_ARCHIVE(a, &b->basin[k]);
        if (b->basin[k].held > points || b->basin[k].fate < 0 || b->basin[k].fate > GESS__FATE_LOST) a->bad = 1;
        if (a->bad) return;
        gess__archive_bytes(a, b->points + k * points * b->dim, points * b->dim * sizeof *b->points);
        gess__archive_bytes(a, b->raw + k * points, points * sizeof *b->raw);
        if (a->reading && !a->bad) set_centre(b, k);
    }
}
