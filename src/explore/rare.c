/* Searches for maxima from the points of the window that T covers least, and weighs the maxima by importance sampling
 * from the Laplace approximation there. */
#include "explore/rare.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/vmath.h"
#include "explore/component.h"
#include "explore/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points to ascend from; draws by which a maximum is weighed: DRAWS + DRAWS_PER_DIMENSION per dimension. */
enum { POINTS = 12, DRAWS = 200, DRAWS_PER_DIMENSION = 10 };

/* A search takes at most one in SHARE evaluations so far. */
enum { SHARE = 30 };

/* Sets of draws are numbered from here on, beyond those of annealing, which has fewer steps. */
enum { FIRST_SET = 1000000 };

/* The share of the mass that makes a maximum a basin. */
#define MIN_SHARE 1e-3

/* T covers a point where log π − log T exceeds the median over the window by at most this. */
#define COVERED 1.0

/* Levels log π − log T of the points of the window; the caller frees them. */
static double *levels_of(const gess__learning *l)
{
    enum { CHUNK = 64 };
    const gess__window *w = &l->adaptation->window;
    size_t n = gess__window_points(w), scratch = gess__mixture_scratch(w->dim, CHUNK);
    double *levels = NULL;
    if (gess__alloc_bytes(&levels, 2 * n + scratch, sizeof *levels, "levels", NULL) != GESS_OK) return NULL;
    for (size_t i = 0; i < n; i += CHUNK)
        gess__mixture_log_ts(l->ensemble->frozen.mixture, n - i < CHUNK ? n - i : CHUNK, w->points + i * w->dim,
                             levels + i, levels + 2 * n);
    for (size_t i = 0; i < n; i++) levels[i] = w->values[i] - levels[i];
    return levels;
}

/* The median level, and the standard deviation of every coordinate in `scale`. */
static double typical_level(const gess__learning *l, double *levels, double *scale)
{
    const gess__window *w = &l->adaptation->window;
    size_t n = gess__window_points(w);
    memcpy(levels + n, levels, n * sizeof *levels);
    gess__sort(n, levels + n);
    for (size_t k = 0; k < w->dim; k++) {
        double mean = 0.0, square = 0.0;
        for (size_t i = 0; i < n; i++) mean += w->points[i * w->dim + k] / (double)n;
        for (size_t i = 0; i < n; i++)
            square += (w->points[i * w->dim + k] - mean) * (w->points[i * w->dim + k] - mean);
        scale[k] = square > 0.0 ? 0.3 * sqrt(square / (double)n) : 1.0;
    }
    return levels[n + n / 2];
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

int gess__rare_search(gess__rare_state *state, gess__maxima *s, gess__basins *b, gess__learning *l,
                      const gess__record *record, size_t *found, gess_error *err)
{
    const gess__warmup *u = &l->adaptation->warmup;
    gess__ensemble *e = l->ensemble;
    uint64_t before = e->tally.evals;
    *found = 0;
    if (!state->under_way && state->stage == u->stages + 1) return GESS_OK;
    double *levels = levels_of(l);
    if (levels == NULL) return GESS_OK;
    double typical = typical_level(l, levels, s->scale);
    if (!state->under_way) {
        s->state = (gess__maxima_state){0};
        note_points(l, levels, s);
        state->under_way = 1;
        state->weighing = 0;
        state->stage = u->stages + 1;
        state->searches++;
    }
    free(levels);
    int status = GESS_OK;
    if (!state->weighing)
        status = gess__maxima_search(s, e, record, typical, s->scale, (e->tally.evals - s->state.evals) / SHARE, err);
    if (status == GESS_OK) state->weighing = 1;
    uint64_t searched = e->tally.evals;
    for (size_t k = 0; status == GESS_OK && k < s->state.count; k++)
        status = weigh(state, s, b, l, k, typical, record, found, err);
    if (status != GESS_OK && state->weighing) { /* weigh all of them again */
        e->tally.evals = searched;
        gess__basins_remove(b, found);
    }
    state->evals += e->tally.evals - before;
    l->adaptation->warmup.before.evals += e->tally.evals - before; /* they belong to no update of the stage */
    GESS_TRY(status);
    state->found += *found;
    state->under_way = state->weighing = 0;
    return GESS_OK;
}
