/* Fits a T to the draws of most of the series, for bridging those of the others: layers of a map
 * (adapt/layer_search.h), and a t or a mixture of t behind them, as warm-up fits them to a window. */
#include "adapt/layer_search.h"
#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "evidence/part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Draws that a T is fitted to: at most MAX_POINTS, and MAX_NUMBERS coordinates; at least PER_DIMENSION per dimension.
 */
enum { MAX_POINTS = 20000, MAX_NUMBERS = 1 << 22, PER_DIMENSION = 10, MIN_POINTS = 200 };

/* Folds in which layers are searched; dimensions with a map, at most. */
enum { SEARCHED = 3, MAX_MAPPED = 100 };

/* Draws that the T of a part may be fitted to: those of the series that it is not bridged with. */
static size_t others_of(const gess__part *p)
{
    return (p->stored->series - p->series) * p->stored->n;
}

/* Copies up to `max` of them, evenly spaced within their series, to points: those of every other series first, then the
 * rest; as the pool of the fits wants them. */
static gess__pool gather(const gess__part *p, size_t max, double *points)
{
    const gess__stored *s = p->stored;
    size_t stride = (others_of(p) + max - 1) / max, count[2] = {0, 0}, at = 0;
    for (size_t half = 0; half < 2; half++)
        for (size_t k = 0, other = 0; k < s->series; k++) {
            if (k % p->step == p->first || other++ % 2 != half) continue;
            for (size_t i = stride - 1; i < s->n; i += stride, count[half]++)
                memcpy(points + at++ * s->dim, s->w + (k * s->n + i) * s->dim, s->dim * sizeof *points);
        }
    return (
        gess__pool){.half = count[0], .half_new = count[0], .rest = count[1], .rest_new = count[1], .points = points};
}

/* ---- the layers of a map ---- */

typedef struct refit {
    gess__team *team;
    size_t dim, max;            /* points, at most */
    double *points;             /* max × dim */
    double *mapped;             /* max × dim, and what follows it: jacobians and scratch */
    gess__layer_search *search; /* NULL: no map is learned */
    gess__learned *identity;
    gess__fitter *fitter;
    gess__mixture_fitter *mixer; /* NULL: no mixture is fitted */
} refit;

/* The layers that gain most of those that are found in the first few folds: a search judges by half of a fold's points,
 * so one alone may miss what there is. */
static gess__recipe find_layers(refit *r, size_t folds, const gess__part *part)
{
    gess__recipe best = {0};
    for (size_t k = 0; k < folds && k < SEARCHED && r->search != NULL; k++) {
        gess__pool pool = gather(&part[k], r->max, r->points);
        gess__recipe found = gess__layer_search_find(r->search, r->fitter, part[k].t->component[0], r->identity, &pool);
        if (found.gain > best.gain) best = found;
    }
    return best;
}

/* Learns these layers from the points, and maps them. A map that has no place for one of them is dropped. */
static int learn_map(refit *r, gess__part *p, const gess__recipe *recipe, size_t count, gess_error *err)
{
    if (recipe->count == 0) return GESS_OK;
    const gess__learned *map = gess__layer_search_follow(r->search, recipe, r->identity, count, r->points);
    double *jacobians = r->mapped + r->max * r->dim;
    gess__learned_in(map, count, r->points, r->mapped, jacobians, jacobians + r->max);
    for (size_t i = 0; i < count; i++)
        if (!(jacobians[i] > -INFINITY)) return GESS_OK;
    if (gess__learned_layers(map) == 0) return GESS_OK;
    GESS_TRY(gess__learned_new(&p->map, r->dim, err));
    gess__learned_copy(p->map, map);
    memcpy(r->points, r->mapped, count * r->dim * sizeof *r->points);
    return GESS_OK;
}

/* ---- one part ---- */

static int fit(refit *r, gess__part *p, const gess__recipe *recipe, gess_error *err)
{
    gess__fit_report report;
    gess__mixture_report mixed;
    gess__pool pool = gather(p, r->max, r->points);
    size_t count = pool.half + pool.rest;
    GESS_TRY(learn_map(r, p, recipe, count, err));
    gess__fit(r->fitter, count, r->points, GESS__FIT_QUICK, p->t->component[0], &report);
    if (r->mixer != NULL && pool.half > 0 && pool.rest > 0) gess__fit_mixture(r->mixer, &pool, 0, p->t, &mixed);
    /* what is left of one t is mostly skewness, which pairs of mirrored draws cancel */
    p->mirrored = p->t->count == 1;
    return gess__part_levels(p, err);
}

/* ---- all parts of a source ---- */

static int open_refit(refit *r, gess_error *err)
{
    GESS_ALLOC(&r->points, r->max * r->dim, err);
    GESS_TRY(gess__fitter_new(&r->fitter, r->dim, r->max, err));
    if (gess__mixture_room(r->dim) > 1) GESS_TRY(gess__mixture_fitter_new(&r->mixer, r->dim, r->max, r->team, err));
    if (r->dim > MAX_MAPPED) return GESS_OK;
    GESS_TRY(gess__learned_new(&r->identity, r->dim, err));
    GESS_TRY(gess__layer_search_new(&r->search, r->dim, r->max, r->team, err));
    GESS_ALLOC(&r->mapped, r->max * (r->dim + 1) + gess__learned_scratch(r->identity, r->max), err);
    return GESS_OK;
}

static void close_refit(refit *r)
{
    gess__mixture_fitter_free(r->mixer);
    gess__fitter_free(r->fitter);
    gess__layer_search_free(r->search);
    gess__learned_free(r->identity);
    free(r->mapped);
    free(r->points);
}

static int refit_all(refit *r, size_t folds, gess__part *part, gess_error *err)
{
    GESS_TRY(open_refit(r, err));
    const gess__recipe recipe = find_layers(r, folds, part);
    for (size_t k = 0; k < folds; k++) GESS_TRY(fit(r, &part[k], &recipe, err));
    return GESS_OK;
}

int gess__parts_refit(size_t folds, gess__part *part, gess__team *team, int *done, gess_error *err)
{
    size_t dim = part[0].target->dim, others = others_of(&part[0]), fewest = PER_DIMENSION * dim;
    refit r = {.team = team, .dim = dim, .max = MAX_NUMBERS / dim < MAX_POINTS ? MAX_NUMBERS / dim : MAX_POINTS};
    *done = 0;
    if (others < fewest || others < MIN_POINTS || r.max < fewest) return GESS_OK;
    if (r.max > others) r.max = others;
    int status = refit_all(&r, folds, part, err);
    close_refit(&r);
    *done = status == GESS_OK;
    return status;
}
