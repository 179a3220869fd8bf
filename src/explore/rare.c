/* Searches for maxima from the points of the window, and the peaks, that T covers least, and weighs the maxima by
 * importance sampling from the Laplace approximation there. */
#include "explore/rare.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"
#include "explore/component.h"
#include "explore/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points to ascend from; draws by which a maximum is weighed: DRAWS + DRAWS_PER_DIMENSION per dimension. */
enum { POINTS = 12, DRAWS = 200, DRAWS_PER_DIMENSION = 10 };

/* A search takes at most one in SHARE evaluations so far, and FEW more; climbs from CLIMBS peaks as many again. */
enum { SHARE = 30, CLIMBS = 3, FEW = 100 };

/* Climbs from outliers: they take at most one in OUTLIER_SHARE evaluations so far, and OUTLIER_FEW more. */
enum { OUTLIER_CLIMBS = 6, OUTLIER_SHARE = 50, OUTLIER_FEW = 50 };

/* Sets of draws are numbered from here on, beyond those of annealing, which has fewer steps. */
enum { FIRST_SET = 1000000 };

/* The share of the mass that makes a maximum a basin. */
#define MIN_SHARE 1e-3

/* T covers a point where log π − log T exceeds the median over the window by at most this. */
#define COVERED 1.0

/* Levels of the points of the window, twice; the caller frees them. */
static double *levels_of(const gess__window *w, const gess__ensemble *e)
{
    size_t n = gess__window_points(w);
    double *levels = NULL;
    if (gess__alloc_bytes(&levels, 2 * n + gess__levels_scratch(w->dim), sizeof *levels, "levels", NULL) != GESS_OK)
        return NULL;
    gess__set_levels(e->frozen.mixture, n, w->points, w->values, levels, levels + 2 * n);
    memcpy(levels + n, levels, n * sizeof *levels);
    return levels;
}

/* A third of the standard deviation of every coordinate of n points. */
static void set_scale(size_t dim, size_t n, const double *points, double *scale)
{
    for (size_t k = 0; k < dim; k++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < n; i++) mean += points[i * dim + k] / (double)n;
        for (size_t i = 0; i < n; i++) square += (points[i * dim + k] - mean) * (points[i * dim + k] - mean);
        scale[k] = square > 0.0 ? 0.3 * sqrt(square / (double)n) : 1.0;
    }
}

/* Notes the points with the highest levels, at most one per chain. */
static void note_points(const gess__learning *l, double *levels, gess__maxima *s)
{
    const gess__window *w = &l->adaptation->window;
    size_t n = gess__window_points(w);
    for (int j = 0; j < POINTS; j++) {
        size_t top = 0;
        for (size_t i = 1; i < n; i++)
            if (levels[i] > levels[top]) top = i;
        if (!(levels[top] > -INFINITY)) return;
        gess__maxima_note(s, w->points + top * w->dim, w->values[top]);
        for (size_t i = top % w->chains; i < n; i += w->chains) levels[i] = -INFINITY;
    }
}

/* Whether a point is close to one of n others. */
static int is_near(size_t n, size_t dim, const double *others, const double *point, const double *scale)
{
    for (size_t i = 0; i < n; i++) {
        double max = 0.0;
        for (size_t k = 0; k < dim; k++) max = gess__max(max, fabs(others[i * dim + k] - point[k]) / scale[k]);
        if (max < 0.2) return 1;
    }
    return 0;
}

/* Where climbs have led to. */
typedef struct climbs {
    const gess__peaks *peaks;
    gess__maxima *maxima;
    gess__ensemble *ensemble;
    const gess__record *record;
    double typical; /* level */
    size_t count;
    double *top; /* (CLIMBS + OUTLIER_CLIMBS) × dim */
} climbs;

/* Climbs from up to `max` of the peaks first .. last - 1 that stand out, and notes where T has too little mass. */
static int climb_from(climbs *c, size_t first, size_t last, double limit, size_t max, uint64_t max_evals,
                      gess_error *err)
{
    const gess__peaks *p = c->peaks;
    gess__maxima *s = c->maxima;
    uint64_t before = c->ensemble->tally.evals;
    size_t dim = s->dim, most = c->count + max;
    for (size_t i = first; i < last && c->count < most; i++) {
        double value = p->inside_values[i], at = p->levels[i], *point = c->top + c->count * dim;
        uint64_t spent = c->ensemble->tally.evals - before;
        if (spent >= max_evals || !(p->levels[i] > limit)) continue;
        if (is_near(c->count, dim, c->top, p->inside + i * dim, s->scale)) continue;
        memcpy(point, p->inside + i * dim, dim * sizeof *point);
        GESS_TRY(gess__climb(c->ensemble, c->record, s->scale, max_evals - spent, point, &value, &at, err));
        if (at > c->typical + COVERED && !is_near(c->count, dim, c->top, point, s->scale))
            gess__maxima_note(s, point, value);
        c->count++;
    }
    return GESS_OK;
}

/* Climbs from the peaks, and from the outliers. If it is stopped, the next call begins again. */
static int note_peaks(const gess__peaks *p, gess__level_limit level, gess__maxima *s, gess__ensemble *e,
                      const gess__record *record, gess_error *err)
{
    uint64_t before = e->tally.evals;
    climbs c = {.peaks = p, .maxima = s, .ensemble = e, .record = record, .typical = level.typical};
    GESS_TRY(gess__alloc_bytes(&c.top, (CLIMBS + OUTLIER_CLIMBS) * s->dim, sizeof *c.top, "points", err));
    int status = climb_from(&c, 0, (size_t)p->count, level.limit, CLIMBS, before / SHARE + FEW, err);
    if (status == GESS_OK)
        status = climb_from(&c, (size_t)p->count, (size_t)p->count + p->outliers, -INFINITY, OUTLIER_CLIMBS,
                            before / OUTLIER_SHARE + OUTLIER_FEW, err);
    free(c.top);
    if (status != GESS_OK) e->tally.evals = before;
    return status;
}

/* Sets the importance weights of n draws of t, and returns the log of their mean over exp(typical). Draws that T
 * covers have weight 0: their mass is not the maximum's. */
static double set_weights(const gess__mixture *mixture, const gess__approx *t, size_t n, const double *points,
                          const double *values, double typical, double *weights, double *scratch)
{
    double max = -INFINITY, sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * t->dim;
        double log_mixture;
        weights[i] = -INFINITY;
        if (!(values[i] > -INFINITY)) continue;
        gess__mixture_log_ts(mixture, 1, x, &log_mixture, scratch);
        if (!(values[i] - log_mixture > typical + COVERED)) continue;
        weights[i] = values[i] - gess__component_log_density(t, x, scratch) - typical;
        max = gess__max(max, weights[i]);
    }
    if (!(max > -INFINITY)) return -INFINITY;
    for (size_t i = 0; i < n; i++) sum += weights[i] = gess__exp(weights[i] - max);
    return max + gess__log(sum / (double)n);
}

/* Weighs maximum number k of the search, and makes it a basin if it is not negligible: *added is then one more. */
static int weigh(gess__rare_state *state, gess__maxima *s, gess__basins *b, gess__learning *l, size_t k, double typical,
                 const gess__record *record, size_t *added, gess_error *err)
{
    const gess__mixture *mixture = l->ensemble->frozen.mixture;
    size_t dim = s->dim, n = DRAWS + DRAWS_PER_DIMENSION * dim, scratch = gess__mixture_scratch(dim, 1);
    double *points = NULL, mean = 0.0, squares = 0.0;
    GESS_TRY(gess__alloc_bytes(&points, n * (dim + 2) + dim + scratch, sizeof *points, "draws", err));
    double *values = points + n * dim, *weights = values + n, *z = weights + n;
    for (size_t i = 0; i < n; i++)
        gess__component_draw(s->t[k], l->ensemble, FIRST_SET + state->found * 16 + k, (uint32_t)i, z, points + i * dim);
    int status = gess__evaluate_points(l->ensemble, record, n, points, values, err);
    double log_ratio =
        status == GESS_OK ? set_weights(mixture, s->t[k], n, points, values, typical, weights, z) : -INFINITY;
    double share = 1.0 / (1.0 + gess__exp(-log_ratio));
    for (size_t i = 0; log_ratio > -INFINITY && i < n; i++) {
        mean += weights[i] / (double)n;
        squares += weights[i] * weights[i] / (double)n;
    }
    if (share > MIN_SHARE) {
        double error = share * sqrt(gess__max(squares / (mean * mean) - 1.0, 0.0) / (double)n);
        if (b->count == 0) gess__basins_add_window(b, l);
        *added += gess__basins_add(b, l, n, points, values, weights, share, error);
    }
    free(points);
    return status;
}

/* Searches from the noted points, and weighs the maxima. If it is stopped, the next call goes on. */
static int search_and_weigh(gess__rare_state *state, gess__maxima *s, gess__basins *b, gess__learning *l,
                            double typical, const gess__record *record, size_t *found, gess_error *err)
{
    gess__ensemble *e = l->ensemble;
    int status = GESS_OK;
    if (!state->weighing)
        status =
            gess__maxima_search(s, e, record, typical, s->scale, (e->tally.evals - s->state.evals) / SHARE + FEW, err);
    if (status == GESS_OK) state->weighing = 1;
    uint64_t searched = e->tally.evals;
    for (size_t k = 0; status == GESS_OK && k < s->state.count; k++)
        status = weigh(state, s, b, l, k, typical, record, found, err);
    if (status != GESS_OK && state->weighing) { /* weigh all of them again */
        e->tally.evals = searched;
        gess__basins_remove(b, found);
    }
    return status;
}

int gess__rare_search(gess__rare_state *state, gess__maxima *s, gess__peaks *p, gess__basins *b, gess__learning *l,
                      const gess__record *record, size_t *found, gess_error *err)
{
    const gess__window *w = &l->adaptation->window;
    gess__warmup *u = &l->adaptation->warmup;
    gess__ensemble *e = l->ensemble;
    uint64_t before = e->tally.evals;
    size_t n = gess__window_points(w);
    *found = 0;
    if (!state->under_way && state->stage == u->stages + 1) return GESS_OK;
    double *levels = levels_of(w, e);
    if (levels == NULL) return GESS_OK;
    gess__level_limit level = gess__level_limits(n, levels + n);
    set_scale(w->dim, n, w->points, s->scale);
    int status = GESS_OK;
    if (!state->under_way) {
        s->state = (gess__maxima_state){0};
        note_points(l, levels, s);
        status = note_peaks(p, level, s, e, record, err);
        state->under_way = status == GESS_OK;
        if (status == GESS_OK) p->count = 0;
    }
    free(levels);
    GESS_TRY(status);
    if (state->stage != u->stages + 1) state->searches++;
    state->stage = u->stages + 1;
    status = search_and_weigh(state, s, b, l, level.typical, record, found, err);
    state->evals += e->tally.evals - before;
    u->before.evals += e->tally.evals - before; /* they belong to no update of the stage */
    GESS_TRY(status);
    state->found += *found;
    state->under_way = state->weighing = 0;
    return GESS_OK;
}

/* The chains are a basin if no other one is known. */
static size_t add_chains(gess__basins *b, const gess__learning *l, double *levels)
{
    const gess__chains *c = &l->ensemble->chains;
    if (b->count > 0) return 0;
    for (size_t i = 0; i < c->count; i++) levels[i] = 1.0;
    return gess__basins_add(b, l, c->count, c->x, c->value, levels, 1.0, 0.0);
}

int gess__rare_look(gess__rare_state *state, gess__peaks *p, gess__basins *b, gess__learning *l,
                    const gess__record *record, size_t *found, gess_error *err)
{
    gess__ensemble *e = l->ensemble;
    const gess__chains *c = &e->chains;
    gess__rare_state kept = *state;
    uint64_t before = e->tally.evals;
    size_t added = 0;
    double *levels = NULL;
    gess__maxima *s = NULL;
    *found = 0;
    int status = gess__maxima_new(&s, c->dim, err);
    if (status == GESS_OK) {
        size_t room = c->count + gess__levels_scratch(c->dim);
        status = gess__alloc_bytes(&levels, room, sizeof *levels, "levels", err);
    }
    if (status == GESS_OK) {
        gess__set_levels(e->frozen.mixture, c->count, c->x, c->value, levels, levels + c->count);
        gess__level_limit level = gess__level_limits(c->count, levels);
        set_scale(c->dim, c->count, c->x, s->scale);
        status = gess__peaks_add_outliers(p, l, err);
        if (status == GESS_OK) status = note_peaks(p, level, s, e, record, err);
        if (status == GESS_OK) added = add_chains(b, l, levels);
        state->weighing = 0;
        if (status == GESS_OK) status = search_and_weigh(state, s, b, l, level.typical, record, found, err);
    }
    *state = kept;
    if (status == GESS_OK) {
        state->found += *found;
        state->evals += e->tally.evals - before;
        p->count = 0;
        p->outliers = 0;
    }
    if (status != GESS_OK) e->tally.evals = before; /* a stop: the next call begins again */
    if (status != GESS_OK || *found == 0) gess__basins_remove(b, &added);
    free(levels);
    gess__maxima_free(s);
    return status;
}
