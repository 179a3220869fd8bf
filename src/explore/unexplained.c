/* Compares the particles' log densities with those that the known maxima predict, and searches for maxima from the
 * least explained ones. */
#include "explore/unexplained.h"

#include "base/assert.h"
#include "base/mem.h"
#include "explore/component.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point is explained if its log density is below the maximum by at least this share of what the curvature says. */
#define EXPLAINED 0.8

/* In the bulk of a maximum it is explained too, unless it is this much higher than the maximum. */
#define HIGHER 1.0

/* The searches take at most one in SHARE evaluations of annealing, and ASCENTS ascents more. In more dimensions there
 * is none. */
enum { SHARE = 8, ASCENTS = 3, MAX_DIM = 50 };

/* Particles and maxima in both scales: predictions are made in y and, since a density may be Gaussian in the user's
 * scale only, along the straight lines of x too. */
typedef struct view {
    gess__annealing *annealing;
    size_t n, dim;
    int in_x;             /* every coordinate of y belongs to one parameter */
    double *x, *jacobian; /* n × outer, n */
    double *sd;           /* dim: of the particles, in y */
    double *centre;       /* GESS__MAX_MAXIMA × dim: the maxima in x */
    double *slope;        /* GESS__MAX_MAXIMA × dim: dx/dy there */
    double *log_jacobian; /* GESS__MAX_MAXIMA */
    double *point, *z;    /* dim; dim */
} view;

static const gess__bounds *bounds_of(const view *v)
{
    return &v->annealing->learning->ensemble->target.bounds;
}

/* The maximum in the user's scale. */
static void set_maximum(view *v, size_t k)
{
    const gess__bounds *bounds = bounds_of(v);
    const double h = 1e-4, *mu = v->annealing->maxima->t[k]->mu;
    memcpy(v->point, mu, v->dim * sizeof *mu);
    v->log_jacobian[k] = gess__bounds_out(bounds, mu, v->z);
    for (size_t i = 0; v->in_x && i < v->dim; i++) {
        v->centre[k * v->dim + i] = v->z[i];
        v->point[i] = mu[i] + h;
        double up = gess__bounds_one(bounds, i, v->point);
        v->point[i] = mu[i] - h;
        v->slope[k * v->dim + i] = (up - gess__bounds_one(bounds, i, v->point)) / (2.0 * h);
        v->point[i] = mu[i];
    }
}

static int open_view(view *v, gess__annealing *a, gess_error *err)
{
    const gess__window *w = &a->learning->adaptation->window;
    const gess__bounds *bounds = &a->learning->ensemble->target.bounds;
    size_t n = gess__window_points(w), dim = w->dim, outer = bounds->outer > dim ? bounds->outer : dim;
    *v = (view){.annealing = a, .n = n, .dim = dim, .in_x = bounds->aligned && bounds->outer == dim};
    GESS_ALLOC(&v->x, n * outer + n + 2 * GESS__MAX_MAXIMA * dim + GESS__MAX_MAXIMA + dim + 2 * outer, err);
    v->jacobian = v->x + n * outer;
    v->centre = v->jacobian + n;
    v->slope = v->centre + GESS__MAX_MAXIMA * dim;
    v->log_jacobian = v->slope + GESS__MAX_MAXIMA * dim;
    v->sd = v->log_jacobian + GESS__MAX_MAXIMA;
    v->point = v->sd + dim;
    v->z = v->point + outer;
    gess__bounds_out_rows(bounds, n, w->points, v->x, v->jacobian);
    for (size_t k = 0; k < dim; k++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < n; i++) mean += w->points[i * dim + k] / (double)n;
        for (size_t i = 0; i < n; i++) square += (w->points[i * dim + k] - mean) * (w->points[i * dim + k] - mean);
        v->sd[k] = square > 0.0 ? sqrt(square / (double)n) : 1.0;
    }
    for (size_t k = 0; k < a->maxima->state.count; k++) set_maximum(v, k);
    return GESS_OK;
}

/* |L⁻¹ u|² of a maximum's t. */
static double square_of(const gess__approx *t, const double *u, double *z)
{
    double square = 0.0;
    for (size_t i = 0; i < t->dim; i++) {
        double sum = u[i];
        for (size_t j = 0; j < i; j++) sum -= t->chol[i + j * t->dim] * z[j];
        z[i] = sum * t->inverse_diagonal[i];
        square += z[i] * z[i];
    }
    return square;
}

/* Squared distances that the bulk of a Gaussian stays below. */
static double bulk(size_t dim)
{
    double d = (double)dim;
    return d + 5.0 * sqrt(2.0 * d) + 10.0;
}

/* By how much a log density exceeds what maximum k predicts, at a distance of `square`; −INFINITY if that explains it.
 */
static double excess(double fall, double square, size_t dim)
{
    if (fall < -HIGHER) return 0.5 * square - fall;
    return square < bulk(dim) || fall >= EXPLAINED * 0.5 * square ? -INFINITY : 0.5 * square - fall;
}

/* The same for particle i and all maxima, in y and in x: the least. */
static double least_excess(const view *v, size_t i)
{
    const gess__annealing *a = v->annealing;
    const gess__maxima *s = a->maxima;
    const double *y = a->learning->adaptation->window.points + i * v->dim;
    double least = INFINITY;
    for (size_t k = 0; k < s->state.count && least > -INFINITY; k++) {
        double fall = s->state.value[k] - a->raw[i];
        for (size_t j = 0; j < v->dim; j++) v->point[j] = y[j] - s->t[k]->mu[j];
        least = gess__min(least, excess(fall, square_of(s->t[k], v->point, v->z), v->dim));
        if (!v->in_x) continue;
        fall += v->jacobian[i] - v->log_jacobian[k];
        for (size_t j = 0; j < v->dim; j++)
            v->point[j] = (v->x[i * v->dim + j] - v->centre[k * v->dim + j]) / v->slope[k * v->dim + j];
        least = gess__min(least, excess(fall, square_of(s->t[k], v->point, v->z), v->dim));
    }
    return least;
}

/* Whether particle i is near one from which an ascent of this step has failed. */
static int is_near_failure(const view *v, size_t i)
{
    const gess__annealing_state *s = &v->annealing->state;
    const double *points = v->annealing->learning->adaptation->window.points;
    for (unsigned f = 0; f < s->failures; f++) {
        double square = 0.0;
        for (size_t k = 0; k < v->dim; k++) {
            double z = (points[i * v->dim + k] - points[s->failed[f] * v->dim + k]) / v->sd[k];
            square += z * z;
        }
        if (square < 0.5 * (double)v->dim) return 1;
    }
    return 0;
}

/* The particle to ascend from: the highest one at first, then the least explained one; n if there is none. */
static size_t choose_particle(const view *v)
{
    const gess__annealing *a = v->annealing;
    size_t best = v->n;
    double max = -INFINITY;
    for (size_t i = 0; i < v->n; i++) {
        if (!(a->raw[i] > -INFINITY) || is_near_failure(v, i)) continue;
        double score = a->maxima->state.count == 0 ? a->raw[i] : least_excess(v, i);
        if (!(score > max)) continue;
        max = score;
        best = i;
    }
    return best;
}

/* Whether an ascent has come to a maximum that is known. */
static int is_known(void *user, const double *y, double value)
{
    const view *v = user;
    const gess__maxima *s = v->annealing->maxima;
    for (size_t k = 0; k < s->state.count; k++) {
        for (size_t j = 0; j < v->dim; j++) v->point[j] = y[j] - s->t[k]->mu[j];
        double square = square_of(s->t[k], v->point, v->z);
        if (value > s->state.value[k] + HIGHER) continue;
        if (square < bulk(v->dim) && value > s->state.value[k] - square - 2.0) return 1;
    }
    return 0;
}

/* Evaluations of an ascent at most. */
static uint64_t max_ascent(size_t dim)
{
    return 20 * (2 * dim + 12) + 5 * dim * dim;
}

static int ascend_from(view *v, size_t particle, const gess__record *record, gess_error *err)
{
    gess__annealing *a = v->annealing;
    gess__ensemble *e = a->learning->ensemble;
    gess__reference *r = e->target.reference;
    const gess__window *w = &a->learning->adaptation->window;
    double power = r->power, value;
    uint64_t before = e->tally.evals;
    size_t dim = v->dim;
    enum gess__ascent_end end;
    for (size_t k = 0; k < dim; k++) v->sd[k] *= 0.1;
    gess__ascent ascent = {.point = w->points + particle * dim,
                           .value = a->raw[particle],
                           .scale = v->sd,
                           .max_evals = max_ascent(dim),
                           .arrived = is_known,
                           .user = v};
    r->power = 1.0;
    int status = gess__laplace_ascend(a->maxima->searcher, e, record, &ascent, &end, err);
    r->power = power;
    for (size_t k = 0; k < dim; k++) v->sd[k] *= 10.0;
    GESS_TRY(status);
    a->state.ascents++;
    a->state.ascent_evals += e->tally.evals - before;
    a->learning->adaptation->warmup.before.evals += e->tally.evals - before; /* they belong to no update */
    const double *top = gess__laplace_top(a->maxima->searcher, &value);
    if (end == GESS__ASCENT_FOUND && !is_known(v, top, value)) {
        gess__maxima_keep(a->maxima);
        set_maximum(v, a->maxima->state.count - 1);
    } else {
        a->state.failed[a->state.failures++] = particle;
    }
    return GESS_OK;
}

/* Whether another ascent may be made. */
static int may_ascend(const gess__annealing *a)
{
    const gess__annealing_state *s = &a->state;
    uint64_t spent = a->learning->ensemble->tally.evals - s->evals;
    return s->failures < GESS__MAX_FAILURES && a->maxima->state.count < GESS__MAX_MAXIMA &&
           s->ascent_evals < spent / SHARE + ASCENTS * max_ascent(a->maxima->dim);
}

int gess__unexplained_search(gess__annealing *a, const gess__record *record, gess_error *err)
{
    view v;
    if (a->learning->adaptation->window.dim > MAX_DIM) return GESS_OK;
    int status = open_view(&v, a, err);
    while (status == GESS_OK && may_ascend(a)) {
        size_t particle = choose_particle(&v);
        if (particle == v.n) break;
        status = ascend_from(&v, particle, record, err);
    }
    free(v.x);
    return status;
}
