/* Fits T to clusters of particles, and weighs the modes by bridge sampling. */
#include "explore/weighing.h"

#include "adapt/move_mix.h"
#include "approx/bridge.h"
#include "base/assert.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "base/vmath.h"
#include "explore/component.h"
#include "explore/evaluate.h"
#include "explore/levels.h"
#include "explore/resampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cluster with fewer points than MIN_CLUSTER gets no component; with fewer than PER_DIMENSION per dimension its
 * covariance is shrunk towards the mean of all, and its tails are those of a t with SHRUNK_NU degrees of freedom. */
enum { MIN_CLUSTER = 6, PER_DIMENSION = 10 };
#define SHRUNK_NU 8.0

/* Draws of a component by which it is weighed: DRAWS + DRAWS_PER_DIMENSION per dimension. */
enum { DRAWS = 100, DRAWS_PER_DIMENSION = 10 };

/* A mode with a negligible weight is given up if the relative error of its weight is below MAX_ERROR. Any other mode
 * keeps at least MIN_KEPT particles, or MIN_KEPT_SHARE of them. */
#define MAX_ERROR 0.3
#define MIN_KEPT_SHARE 0.002
enum { MIN_KEPT = 3 * MIN_CLUSTER };

/* The smallest weight of a component. */
#define MIN_WEIGHT 0.002

/* ---- the fit ---- */

/* Copies the points of cluster k to the window's packed points; returns how many. */
static size_t gather(gess__annealing *a, size_t k)
{
    gess__window *w = &a->learning->adaptation->window;
    size_t count = 0;
    for (size_t i = 0; i < gess__window_points(w); i++)
        if (a->clusters->label[i] == k)
            memcpy(w->packed + count++ * w->dim, w->points + i * w->dim, w->dim * sizeof *w->points);
    return count;
}

/* Mean and covariance (lower triangle) of n packed points. */
static void set_moments(size_t n, size_t dim, const double *points, double *mean, double *square)
{
    memset(mean, 0, dim * sizeof *mean);
    memset(square, 0, dim * dim * sizeof *square);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < dim; k++) mean[k] += points[i * dim + k] / (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < dim; k++) {
            double x = points[i * dim + k] - mean[k];
            for (size_t m = k; m < dim; m++) square[m + k * dim] += x * (points[i * dim + m] - mean[m]) / (double)n;
        }
}

/* Adds `within`, scaled to the variances of this cluster, with the weight of D + 1 points. */
static void shrink(size_t n, size_t dim, const double *within, double *square)
{
    double log_ratio = 0.0, pseudo = (double)dim + 1.0, share = pseudo / ((double)n + pseudo);
    for (size_t k = 0; k < dim; k++) {
        double mine = square[k + k * dim], all = within[k + k * dim];
        log_ratio += mine > 0.0 && all > 0.0 ? gess__log(mine / all) / (double)dim : 0.0;
    }
    double ratio = gess__exp(log_ratio);
    for (size_t k = 0; k < dim; k++)
        for (size_t m = k; m < dim; m++)
            square[m + k * dim] = (1.0 - share) * square[m + k * dim] + share * ratio * within[m + k * dim];
}

/* The mean covariance within clusters. */
static void set_within(gess__annealing *a, double *mean, double *square, double *within)
{
    gess__window *w = &a->learning->adaptation->window;
    double total = (double)gess__window_points(w);
    memset(within, 0, w->dim * w->dim * sizeof *within);
    for (size_t k = 0; k < a->clusters->count; k++) {
        size_t n = gather(a, k);
        set_moments(n, w->dim, w->packed, mean, square);
        for (size_t i = 0; i < w->dim * w->dim; i++) within[i] += (double)n / total * square[i];
    }
}

static void fit_component(gess__annealing *a, size_t k, const double *within, double *mean, double *square)
{
    const gess__fit_settings cold = {.tolerance = 1e-3, .max_iterations = 30};
    gess__learning *l = a->learning;
    gess__window *w = &l->adaptation->window;
    gess__approx *t = l->ensemble->frozen.mixture->component[k];
    gess__fit_report report;
    size_t n = gather(a, k), dim = w->dim;
    if (n >= PER_DIMENSION * dim) {
        gess__fit_student_t(l->fitter, dim, n, w->packed, cold, t, &report);
        return;
    }
    set_moments(n, dim, w->packed, mean, square);
    shrink(n, dim, within, square);
    memcpy(t->mu, mean, dim * sizeof *mean);
    gess__ridged_cholesky(dim, square, mean, t->mu, t);
    t->nu = SHRUNK_NU;
    gess__approx_ready(t);
}

void gess__weighing_fit(gess__annealing *a)
{
    gess__learning *l = a->learning;
    gess__window *w = &l->adaptation->window;
    gess__mixture *m = l->ensemble->frozen.mixture;
    size_t n = gess__window_points(w), dim = w->dim;
    double *mean = NULL, *square, *within;
    m->count = 1;
    m->log_weight[0] = 0.0;
    gess__approx_copy(m->component[0], l->ensemble->frozen.approx);
    l->state.fitted_nu[0] = l->ensemble->frozen.approx->nu;
    gess__clusters_find(a->clusters, n, w->points, w->values, MIN_CLUSTER, gess__mixture_room(dim));
    a->state.clusters = a->clusters->count;
    if (a->clusters->count == 1 ||
        gess__alloc_bytes(&mean, dim * (2 * dim + 1), sizeof *mean, "moments", NULL) != GESS_OK)
        return;
    square = mean + dim;
    within = square + dim * dim;
    set_within(a, mean, square, within);
    m->count = a->clusters->count;
    for (size_t k = 0; k < m->count; k++) {
        fit_component(a, k, within, mean, square);
        m->log_weight[k] = gess__log((double)a->clusters->size[k] / (double)n);
        l->state.fitted_nu[k] = m->component[k]->nu;
    }
    free(mean);
}

/* ---- the weights ---- */

typedef struct weighing {
    size_t per, count;      /* draws per component, in all */
    double *points, *value; /* count × dim, count */
    double *log_t;          /* of particles and draws: components × (particles + count) */
    double *scratch;
} weighing;

/* Draws `per` points of every component. */
static void draw_points(const gess__annealing *a, weighing *g)
{
    const gess__ensemble *e = a->learning->ensemble;
    const gess__mixture *m = e->frozen.mixture;
    for (size_t i = 0; i < g->count; i++)
        gess__component_draw(m->component[i / g->per], e, a->state.steps, (uint32_t)i, g->scratch,
                             g->points + i * m->dim);
}

/* log t_k of n points. */
static void set_log_ts(const gess__approx *t, size_t n, const double *points, double *out, double *scratch)
{
    gess__whitened_squares(t->dim, t->chol, t->inverse_diagonal, t->mu, n, points, out, scratch);
    double norm = gess__approx_log_norm(t);
    for (size_t i = 0; i < n; i++) out[i] = gess__approx_log_t(t, out[i]) + norm;
}

/* The component that a point belongs to: the one that gives it the highest density. */
static size_t owner(const gess__mixture *m, const double *log_t, size_t stride, size_t i)
{
    size_t best = 0;
    for (size_t k = 1; k < m->count; k++)
        if (m->log_weight[k] + log_t[k * stride + i] > m->log_weight[best] + log_t[best * stride + i]) best = k;
    return best;
}

static int weigh(gess__annealing *a, weighing *g, gess__mode_weight *out)
{
    const gess__mixture *m = a->learning->ensemble->frozen.mixture;
    const gess__window *w = &a->learning->adaptation->window;
    size_t n = gess__window_points(w), all = n + g->count;
    double *level = g->scratch, max = -INFINITY;
    for (size_t k = 0; k < m->count; k++) {
        set_log_ts(m->component[k], n, w->points, g->log_t + k * all, g->scratch);
        set_log_ts(m->component[k], g->count, g->points, g->log_t + k * all + n, g->scratch);
    }
    for (size_t i = 0; i < n; i++) a->clusters->label[i] = (uint32_t)owner(m, g->log_t, all, i);
    memset(a->clusters->size, 0, m->count * sizeof *a->clusters->size);
    for (size_t i = 0; i < n; i++) a->clusters->size[a->clusters->label[i]]++;
    /* `level` is that of n1 points of the target, then of draws of t_k, −inf if another component owns them */
    for (size_t k = 0; k < m->count; k++) {
        size_t n1 = 0;
        for (size_t i = 0; i < n; i++)
            if (a->clusters->label[i] == k) level[n1++] = w->values[i] - g->log_t[k * all + i];
        for (size_t j = k * g->per; j < (k + 1) * g->per; j++)
            level[n1 + j - k * g->per] =
                owner(m, g->log_t, all, n + j) == k ? g->value[j] - g->log_t[k * all + n + j] : -INFINITY;
        const gess__bridge bridge = {.n1 = n1,
                                     .n2 = g->per,
                                     .level = level,
                                     .share = (double)n1 / (double)(n1 + g->per),
                                     .max_iterations = 200};
        out[k].log_mass = gess__bridge_solve(&bridge, &out[k].error);
        max = gess__max(max, out[k].log_mass);
    }
    return max > -INFINITY;
}

/* Adds the draws of components that have next to no particles behind the particles, if the window has room for them, so
 * that resampling can take them; returns the number of points. */
static size_t add_draws(gess__annealing *a, const weighing *g, const double *share)
{
    const gess__mixture *m = a->learning->ensemble->frozen.mixture;
    gess__window *w = &a->learning->adaptation->window;
    size_t n = gess__window_points(w), all = n + g->count, room = w->room * w->chains, points = n;
    for (size_t k = 0; k < m->count; k++) {
        double sum = 0.0, max = -INFINITY;
        if (a->clusters->size[k] >= MIN_CLUSTER) continue;
        if (points + g->per > room) {
            if (!a->state.given_up[k]) a->state.unplaced = 1;
            continue;
        }
        for (size_t i = 0; i < n; i++)
            if (a->clusters->label[i] == k) a->weight[i] = 0.0; /* its draws stand for them */
        for (size_t i = 0; i < g->per; i++) {
            size_t j = k * g->per + i;
            double level = owner(m, g->log_t, all, n + j) == k ? g->value[j] - g->log_t[k * all + n + j] : -INFINITY;
            memcpy(w->points + (points + i) * w->dim, g->points + j * w->dim, w->dim * sizeof *w->points);
            a->raw[points + i] = g->value[j];
            a->weight[points + i] = level;
            max = gess__max(max, level);
        }
        for (size_t i = 0; i < g->per; i++) {
            double *weight = &a->weight[points + i];
            *weight = *weight > -INFINITY ? gess__exp(*weight - max) : 0.0;
            sum += *weight;
        }
        for (size_t i = 0; i < g->per; i++) a->weight[points + i] *= sum > 0.0 ? share[k] / sum : 0.0;
        points += g->per;
    }
    return points;
}

/* Sets the weights of the modes; share[k] becomes the share of the particles that mode k gets. */
static void set_shares(gess__annealing *a, const gess__mode_weight *mass, double *share)
{
    const gess__mixture *m = a->learning->ensemble->frozen.mixture;
    gess__annealing_state *s = &a->state;
    double max = -INFINITY, sum = 0.0, n = (double)gess__window_points(&a->learning->adaptation->window);
    for (size_t k = 0; k < m->count; k++) max = gess__max(max, mass[k].log_mass);
    for (size_t k = 0; k < m->count; k++) sum += gess__exp(mass[k].log_mass - max);
    s->weighed = m->count;
    for (size_t k = 0; k < m->count; k++) {
        s->weight[k] = gess__exp(mass[k].log_mass - max) / sum;
        s->weight_error[k] = s->weight[k] * mass[k].error;
        s->given_up[k] = s->weight[k] < GESS__NEGLIGIBLE && mass[k].error < MAX_ERROR;
        share[k] = s->given_up[k] ? s->weight[k] : gess__max(s->weight[k], gess__max(MIN_KEPT_SHARE, MIN_KEPT / n));
        memcpy(a->centre + k * m->dim, m->component[k]->mu, m->dim * sizeof *a->centre);
    }
}

/* Sets the weights of T by these masses, and resamples the particles by them. */
static void apply(gess__annealing *a, const weighing *g, const gess__mode_weight *mass)
{
    gess__mixture *m = a->learning->ensemble->frozen.mixture;
    gess__window *w = &a->learning->adaptation->window;
    size_t n = gess__window_points(w);
    double share[GESS__MAX_COMPONENTS] = {0}, floored = 0.0;
    set_shares(a, mass, share);
    for (size_t k = 0; k < m->count; k++) {
        m->log_weight[k] = gess__max(a->state.weight[k], MIN_WEIGHT);
        floored += m->log_weight[k];
    }
    for (size_t k = 0; k < m->count; k++) m->log_weight[k] = gess__log(m->log_weight[k] / floored);
    for (size_t i = 0; i < n; i++) {
        size_t k = a->clusters->label[i];
        a->weight[i] = share[k] / (double)a->clusters->size[k];
    }
    memcpy(a->raw, w->values, n * sizeof *a->raw);
    gess__annealing_resample(a, add_draws(a, g, share));
    memcpy(w->values, a->raw, n * sizeof *a->raw);
}

/* The typical level of the particles: about the log of the target's integral. */
static double typical_level(gess__annealing *a)
{
    const gess__window *w = &a->learning->adaptation->window;
    size_t n = gess__window_points(w);
    gess__set_levels(a->learning->ensemble->frozen.mixture, n, w->points, w->values, a->weight, a->scratch);
    return gess__level_limits(n, a->weight).typical;
}

/* Searches from noted points that T does not cover, and makes every maximum found a component. */
static int find_maxima(gess__annealing *a, const gess__record *record, gess_error *err)
{
    gess__ensemble *e = a->learning->ensemble;
    gess__mixture *m = e->frozen.mixture;
    gess__maxima *s = a->maxima;
    uint64_t spent = e->tally.evals - a->state.evals - s->state.evals;
    GESS_TRY(gess__maxima_search(s, e, record, typical_level(a), a->clusters->metric, spent / 4 + 1000, err));
    for (size_t k = 0; k < s->state.count && m->count < gess__mixture_room(m->dim); k++) {
        gess__approx_copy(m->component[m->count], s->t[k]);
        m->log_weight[m->count] = gess__log(MIN_WEIGHT);
        a->learning->state.fitted_nu[m->count] = s->t[k]->nu;
        m->count++;
    }
    return GESS_OK;
}

int gess__weighing_run(gess__annealing *a, const gess__record *record, gess_error *err)
{
    gess__ensemble *e = a->learning->ensemble;
    gess__mixture *m = e->frozen.mixture;
    gess__window *w = &a->learning->adaptation->window;
    if (!a->state.searched) GESS_TRY(find_maxima(a, record, err));
    a->state.searched = 1;
    size_t dim = m->dim, n = gess__window_points(w), per = DRAWS + DRAWS_PER_DIMENSION * dim;
    if (m->count == 1) return GESS_OK;
    weighing g = {.per = per, .count = per * m->count};
    size_t all = n + g.count, scratch = gess__triangular_scratch(dim);
    if (scratch < all) scratch = all;
    int status = gess__alloc_bytes(&g.points, g.count * dim + g.count + m->count * all + scratch + dim,
                                   sizeof *g.points, "draws of T", err);
    if (status != GESS_OK) return status;
    g.value = g.points + g.count * dim;
    g.log_t = g.value + g.count;
    g.scratch = g.log_t + m->count * all;
    draw_points(a, &g);
    status = gess__evaluate_points(e, record, g.count, g.points, g.value, err);
    gess__mode_weight mass[GESS__MAX_COMPONENTS];
    if (status == GESS_OK && weigh(a, &g, mass)) apply(a, &g, mass);
    free(g.points);
    return status;
}
