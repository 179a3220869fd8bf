/* Chooses the points to ascend from, searches, and looks for a valley between two maxima. */
#include "explore/scout.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "explore/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ascents of a test, and points between two maxima. */
enum { MAX_ASCENTS = 6, BETWEEN = 9 };

/* A chain is explained if its log density is below the maximum by at least this share of what the curvature says. */
#define EXPLAINED 0.8

/* Two maxima have a valley between them if the log density falls by this much below the lower one. */
#define VALLEY 4.0

int gess__scout_new(gess__scout **scout, size_t dim, size_t chains, const double *start, const double *start_value,
                    gess_error *err)
{
    GESS_ALLOC(scout, 1, err);
    gess__scout *s = *scout;
    s->start = start;
    s->start_value = start_value;
    GESS_ALLOC(&s->ratio, 2 * chains, err);
    GESS_ALLOC(&s->delta, 2 * chains, err);
    GESS_ALLOC(&s->points, BETWEEN * dim, err);
    GESS_ALLOC(&s->values, BETWEEN, err);
    GESS_ALLOC(&s->top, dim, err);
    GESS_ALLOC(&s->scratch, dim + gess__triangular_scratch(dim), err);
    return gess__laplace_new(&s->searcher, dim, err);
}

void gess__scout_free(gess__scout *s)
{
    if (s == NULL) return;
    free(s->ratio);
    free(s->delta);
    free(s->points);
    free(s->values);
    free(s->top);
    free(s->scratch);
    gess__laplace_free(s->searcher);
    free(s);
}

static int is_start(const gess__chains *c, size_t i)
{
    return i < c->count;
}

/* Candidate i: a start, or the present point of a chain. */
static const double *point_of(const gess__scout *s, const gess__chains *c, size_t i)
{
    return is_start(c, i) ? s->start + i * c->dim : c->x + (i - c->count) * c->dim;
}

static double value_of(const gess__scout *s, const gess__chains *c, size_t i)
{
    return is_start(c, i) ? s->start_value[i] : c->value[i - c->count];
}

/* Squared distance from the first maximum, by the curvature there. */
static double distance(const gess__scout *s, const double *y)
{
    const gess__approx *t = s->maximum;
    double *z = s->scratch;
    gess__triangular_solves(t->dim, t->chol, t->inverse_diagonal, t->mu, 1, y, z, z + t->dim);
    return gess__dot(t->dim, z, z);
}

/* Squared distances that the bulk of a Gaussian stays below. */
static double bulk(size_t dim)
{
    double d = (double)dim;
    return d + 5.0 * sqrt(2.0 * d) + 10.0;
}

static int arrived(void *user, const double *y, double value)
{
    const gess__scout *s = user;
    double delta = distance(s, y);
    return delta < bulk(s->maximum->dim) && value > s->maximum_value - delta - 2.0;
}

/* Sets the share of its expected fall that the log density of every start and chain has fallen by. */
static void set_ratios(gess__scout *s, const gess__chains *c)
{
    s->state.unexplained = 0;
    for (size_t i = 0; i < 2 * c->count; i++) {
        s->delta[i] = distance(s, point_of(s, c, i));
        s->ratio[i] = (s->maximum_value - value_of(s, c, i)) / (0.5 * s->delta[i]);
        if (s->delta[i] < bulk(c->dim) || !(s->ratio[i] < EXPLAINED)) s->ratio[i] = INFINITY;
        s->state.unexplained += s->ratio[i] < EXPLAINED;
    }
}

/* The candidate to ascend from next: the least explained one; those near it, seen from the maximum, are left out later.
 * Returns twice the number of chains if there is none. */
static size_t next_chain(gess__scout *s, const gess__chains *c)
{
    size_t best = 2 * c->count;
    for (size_t i = 0; i < 2 * c->count; i++)
        if (s->ratio[i] < EXPLAINED && (best == 2 * c->count || s->ratio[i] < s->ratio[best])) best = i;
    if (best == 2 * c->count) return best;
    const double *x = point_of(s, c, best), *mu = s->maximum->mu;
    s->ratio[best] = INFINITY;
    for (size_t i = 0; i < 2 * c->count; i++) {
        if (!(s->ratio[i] < EXPLAINED)) continue;
        double difference = 0.0;
        for (size_t k = 0; k < c->dim; k++) s->points[k] = mu[k] + point_of(s, c, i)[k] - x[k];
        difference = distance(s, s->points);
        if (difference < 0.25 * s->delta[best]) s->ratio[i] = INFINITY;
    }
    return best;
}

/* Whether there is a valley between the first maximum and the point where the last ascent has ended. */
static int find_valley(gess__scout *s, gess__ensemble *e, const gess__record *record, int *valley, gess_error *err)
{
    size_t dim = e->target.dim;
    double value, min = INFINITY;
    const double *top = gess__laplace_top(s->searcher, &value), *mu = s->maximum->mu;
    for (size_t i = 0; i < BETWEEN; i++) {
        double share = (double)(i + 1) / (BETWEEN + 1.0);
        for (size_t k = 0; k < dim; k++) s->points[i * dim + k] = mu[k] + share * (top[k] - mu[k]);
    }
    GESS_TRY(gess__evaluate_points(e, record, BETWEEN, s->points, s->values, err));
    for (size_t i = 0; i < BETWEEN; i++) min = gess__min(min, s->values[i]);
    *valley = min < gess__min(value, s->maximum_value) - VALLEY;
    s->state.second = value;
    s->state.valley = min;
    memcpy(s->top, top, dim * sizeof *top);
    return GESS_OK;
}

static int ascend_from(gess__scout *s, gess__ensemble *e, const gess__record *record, size_t chain, uint64_t max_evals,
                       gess_error *err)
{
    enum gess__ascent_end end;
    const gess__chains *c = &e->chains;
    gess__ascent ascent = {.point = point_of(s, c, chain),
                           .value = value_of(s, c, chain),
                           .frame = s->maximum->chol,
                           .max_evals = max_evals,
                           .arrived = arrived,
                           .user = s};
    GESS_TRY(gess__laplace_ascend(s->searcher, e, record, &ascent, &end, err));
    s->state.ascents++;
    double value;
    const double *top = gess__laplace_top(s->searcher, &value);
    if (end == GESS__ASCENT_ARRIVED || distance(s, top) < bulk(c->dim)) return GESS_OK;
    /* an ascent from a start may get lost on the way in; the chain itself has come nearer */
    if (end == GESS__ASCENT_TOO_LONG || (end == GESS__ASCENT_LOST && is_start(c, chain))) return GESS_OK;
    return find_valley(s, e, record, &s->state.several, err);
}

static int run(gess__scout *s, gess__learning *l, const gess__record *record, gess_error *err)
{
    gess__ensemble *e = l->ensemble;
    uint64_t before = e->tally.evals, step = 2 * e->target.dim + 12,
             max = 300 + 20 * step + e->target.dim * e->target.dim;
    s->state = (gess__scout_state){.tested = 1, .first = s->maximum_value};
    set_ratios(s, &e->chains);
    for (int i = 0; i < MAX_ASCENTS && !s->state.several && e->tally.evals - before < max; i++) {
        size_t chain = next_chain(s, &e->chains);
        if (chain == 2 * e->chains.count) break;
        GESS_TRY(ascend_from(s, e, record, chain, max - (e->tally.evals - before), err));
    }
    s->state.evals = e->tally.evals - before;
    return GESS_OK;
}

int gess__scout_run(gess__scout *s, gess__learning *l, const gess__record *record, gess_error *err)
{
    gess__ensemble *e = l->ensemble;
    uint64_t before = e->tally.evals;
    if (s->state.done || l->laplace == NULL) return GESS_OK;
    s->maximum = gess__laplace_t(l);
    if (s->maximum == NULL) {
        s->state.done = 1;
        return GESS_OK;
    }
    gess__laplace_top(l->laplace, &s->maximum_value);
    int status = run(s, l, record, err);
    if (status != GESS_OK) {
        e->tally.evals = before;
        return status;
    }
    s->state.done = 1;
    l->state.laplace_evals += s->state.evals;
    l->adaptation->warmup.before.evals += s->state.evals; /* they belong to no update of the stage */
    return GESS_OK;
}
