/* Searches for maxima from the points of the window, and the peaks, that T covers least, and weighs the maxima by
 * importance sampling from the Laplace approximation there. */
#include "explore/rare.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/tiles.h"
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

/* Wide tails around a narrow core are no maximum. So PROBES points are drawn from T's components, as if they were
 * normal and up to PROBE_WIDTH times as wide. Where the level of some exceeds the typical one by TAIL_EXCESS, the one
 * that counts most is a usual draw of a t with TAIL_NU degrees of freedom by which the tails are weighed, or of one
 * that is up to WIDER times WIDENING times as wide. */
enum { PROBES = 64, PROBE_ORDER = 37, WIDER = 4, FIRST_PROBE_SET = 2000000 };
#define PROBE_WIDTH 10.0
#define WIDENING 3.0
#define KNOWN 0.3 /* relative error of a weight */
#define TAIL_EXCESS 3.0
#define TAIL_NU 4.0

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

/* ---- tails ---- */

/* Draws the probes: from each component in proportion to its weight, all widths alike often. log_t: the density that
 * a point was drawn with. */
static void draw_probes(const gess__ensemble *e, uint64_t set, gess__approx *t, double *points, double *log_t,
                        uint32_t *owner, double *z)
{
    const gess__mixture *m = e->frozen.mixture;
    double below = 0.0;
    uint32_t i = 0;
    for (size_t k = 0; k < m->count; k++) {
        below += gess__exp(m->log_weight[k]);
        gess__approx_copy(t, m->component[k]);
        t->nu = INFINITY;
        for (; i < PROBES && (((double)i + 0.5) / PROBES < below || k + 1 == m->count); i++) {
            double *x = points + i * t->dim, place = ((double)(i * PROBE_ORDER % PROBES) + 0.5) / PROBES,
                   log_width = place * gess__log(PROBE_WIDTH), width = gess__exp(log_width);
            gess__component_draw(t, e, set, i, z, x);
            log_t[i] = gess__component_log_density(t, x, z) - (double)t->dim * log_width;
            for (size_t j = 0; j < t->dim; j++) x[j] = t->mu[j] + width * (x[j] - t->mu[j]);
            owner[i] = (uint32_t)k;
        }
    }
}

static void multiply(gess__approx *t, double factor)
{
    for (size_t i = 0; i < t->dim * t->dim; i++) t->chol[i] *= factor;
    t->nu = TAIL_NU;
    gess__approx_ready(t);
}

/* Makes t so wide that the point, seen from its centre, is a usual draw; 0 if it is one already. */
static int widen(gess__approx *t, const double *point, double *scratch)
{
    double square;
    gess__whitened_squares(t->dim, t->chol, t->inverse_diagonal, t->mu, 1, point, &square, scratch);
    double factor = sqrt(square / (double)t->dim);
    if (!(factor > 1.0 && factor < INFINITY)) return 0;
    multiply(t, factor);
    return 1;
}

/* Weighs the tails by maximum number k, and, as they may reach much further than the point that showed them, by wider
 * ones until the weight is known. */
static int weigh_tails(gess__rare_state *state, gess__maxima *s, gess__basins *b, gess__learning *l, size_t k,
                       double typical, const gess__record *record, size_t *found, gess_error *err)
{
    double before[GESS__MAX_BASINS];
    for (size_t i = 0; i < b->count; i++) before[i] = b->basin[i].weight;
    for (int i = 0;; i++) {
        GESS_TRY(weigh(state, s, b, l, k, typical, record, found, err));
        const gess__basin *last = *found > 0 ? &b->basin[b->count - 1] : NULL;
        if (i == WIDER || (last != NULL && last->error < KNOWN * last->weight)) return GESS_OK;
        gess__basins_remove(b, found);
        for (size_t j = 0; j < b->count; j++) b->basin[j].weight = before[j];
        multiply(s->t[k], WIDENING);
    }
}

/* Looks for tails that T lacks, and makes a basin of one that is not negligible. */
static int probe_tails(gess__rare_state *state, gess__maxima *s, gess__basins *b, gess__learning *l, double typical,
                       const gess__record *record, size_t *found, gess_error *err)
{
    const gess__ensemble *e = l->ensemble;
    size_t dim = s->dim, k = (size_t)s->state.count, scratch = gess__levels_scratch(dim), best = PROBES;
    uint64_t set = FIRST_PROBE_SET + l->adaptation->warmup.economy.commitments;
    uint32_t owner[PROBES];
    double *points = NULL;
    if (k == GESS__MAX_MAXIMA) return GESS_OK;
    GESS_TRY(gess__alloc_bytes(&points, PROBES * (dim + 3) + scratch, sizeof *points, "probes", err));
    double *values = points + PROBES * dim, *log_t = values + PROBES, *levels = log_t + PROBES, *z = levels + PROBES;
    draw_probes(e, set, s->t[k], points, log_t, owner, z);
    int status = gess__evaluate_points(l->ensemble, record, PROBES, points, values, err);
    if (status == GESS_OK) gess__set_levels(e->frozen.mixture, PROBES, points, values, levels, z);
    for (size_t i = 0; status == GESS_OK && i < PROBES; i++) {
        if (!(levels[i] > typical + TAIL_EXCESS && levels[i] < INFINITY)) continue;
        if (best == PROBES || values[i] - log_t[i] > values[best] - log_t[best]) best = i;
    }
    if (best < PROBES) {
        gess__approx_copy(s->t[k], e->frozen.mixture->component[owner[best]]);
        if (widen(s->t[k], points + best * dim, z)) {
            s->state.value[s->state.count++] = values[best];
            status = weigh_tails(state, s, b, l, k, typical, record, found, err);
        }
    }
    free(points);
    return status;
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
        if (status == GESS_OK && *found == 0) status = probe_tails(state, s, b, l, level.typical, record, found, err);
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
