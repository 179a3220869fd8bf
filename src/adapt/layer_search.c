/* Builds candidate maps layer by layer and judges each by the likelihood of held-out draws. map_search.c decides when
 * to search and what to keep of the results. */
#include "adapt/layer_search.h"

#include "base/assert.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points of each half of the chains that candidates are judged by: enough for a covariance, and no more. */
enum { JUDGED = 2000, JUDGED_PER_DIMENSION = 60 };

/* Nats per draw that a scale layer must gain: it is right in tails of which the draws say little. */
#define MIN_SCALE_GAIN 0.01

struct gess__layer_search {
    size_t dim;
    gess__learner *learner;
    gess__learned *identity, *base, *best, *trial;
    double *y;         /* points × dim: in the space behind the learned map */
    double *w;         /* points × dim: the same in a candidate's sampling space */
    double *jacobians; /* points: log |dw/dy| */
    double *others;    /* points: those of a second map */
    double *scratch;
};

int gess__layer_search_new(gess__layer_search **search, size_t dim, size_t points, gess__team *team, gess_error *err)
{
    GESS_ALLOC(search, 1, err);
    gess__layer_search *r = *search;
    r->dim = dim;
    GESS_TRY(gess__learner_new(&r->learner, dim, points, team, err));
    GESS_TRY(gess__learned_new(&r->identity, dim, err));
    GESS_TRY(gess__learned_new(&r->base, dim, err));
    GESS_TRY(gess__learned_new(&r->best, dim, err));
    GESS_TRY(gess__learned_new(&r->trial, dim, err));
    GESS_ALLOC(&r->y, points * dim, err);
    GESS_ALLOC(&r->w, points * dim, err);
    GESS_ALLOC(&r->jacobians, points, err);
    GESS_ALLOC(&r->others, points, err);
    GESS_ALLOC(&r->scratch, gess__learned_scratch(r->trial, points), err);
    return GESS_OK;
}

void gess__layer_search_free(gess__layer_search *r)
{
    if (r == NULL) return;
    gess__learner_free(r->learner);
    gess__learned_free(r->identity);
    gess__learned_free(r->base);
    gess__learned_free(r->best);
    gess__learned_free(r->trial);
    free(r->y);
    free(r->w);
    free(r->jacobians);
    free(r->others);
    free(r->scratch);
    free(r);
}

int gess__recipe_uses(const gess__recipe *recipe, unsigned row)
{
    int times = 0;
    for (size_t i = 0; i < recipe->count; i++) times += recipe->row[i] == row;
    return times;
}

/* ---- candidates ---- */

/* What candidates are judged with: points in r->y, the first `half` learned from, the `rest` held out. */
typedef struct trial {
    gess__layer_search *search;
    gess__fitter *fitter;
    gess__approx *spare;
    size_t half, rest;
} trial;

/* Copies `count` of the `from` points, evenly spread; returns how many. */
static size_t take_some(size_t dim, size_t from, const double *points, size_t count, double *to)
{
    if (count > from) count = from;
    for (size_t i = 0; i < count; i++) memcpy(to + i * dim, points + i * from / count * dim, dim * sizeof *to);
    return count;
}

/* Takes points of the pool, behind `map`, for candidates. */
static trial open_trial(gess__layer_search *r, gess__fitter *fitter, gess__approx *spare, const gess__learned *map,
                        const gess__pool *pool)
{
    size_t dim = r->dim, max = JUDGED + JUDGED_PER_DIMENSION * dim;
    trial t = {.search = r, .fitter = fitter, .spare = spare};
    gess__learned_out(map, pool->half + pool->rest, pool->points, r->w, r->jacobians, r->scratch);
    t.half = take_some(dim, pool->half, r->w, max, r->y);
    t.rest = take_some(dim, pool->rest, r->w + pool->half * dim, max, r->y + t.half * dim);
    return t;
}

/* Mean log T of the held-out points, of a t fitted to the others, with log |dw/dy|: comparable between maps. */
static double judge(const trial *t, const gess__learned *map)
{
    gess__layer_search *r = t->search;
    const gess__fit_settings settings = {.tolerance = 1e-3, .max_iterations = 30};
    gess__fit_report report;
    double sum = 0.0;
    gess__learned_in(map, t->half + t->rest, r->y, r->w, r->jacobians, r->scratch);
    for (size_t i = 0; i < t->half + t->rest; i++)
        if (!(r->jacobians[i] > -INFINITY)) return -INFINITY;
    gess__fit_student_t(t->fitter, r->dim, t->half, r->w, settings, t->spare, &report);
    for (size_t i = t->half; i < t->half + t->rest; i++) sum += r->jacobians[i];
    sum += gess__fit_log_likelihood(t->fitter, t->rest, r->w + t->half * r->dim, t->spare);
    return sum / (double)t->rest;
}

/* Adds a layer to r->trial, learned from the first `half` points of r->y and checked with the `rest`, if there are any;
 * returns 0 if there is nothing to learn. */
static int add_layer(gess__layer_search *r, unsigned row, size_t half, size_t rest)
{
    gess__learned_in(r->trial, half + rest, r->y, r->w, r->jacobians, r->scratch);
    gess__learner_check(r->learner, rest, r->w + half * r->dim);
    int found = gess__learned_add(r->trial, gess__layer_type_row(row), r->learner, half, r->w);
    gess__learner_check(r->learner, 0, NULL);
    return found;
}

/* Learns the layers of a recipe into r->trial; returns 0 if there was nothing to learn for one of them. */
static int follow(gess__layer_search *r, const gess__recipe *recipe, size_t half, size_t rest)
{
    int all = 1;
    gess__learned_copy(r->trial, r->identity);
    for (size_t i = 0; i < recipe->count; i++) all = add_layer(r, recipe->row[i], half, rest) && all;
    return all;
}

/* ---- from outside ---- */

gess__recipe gess__layer_search_find(gess__layer_search *r, gess__fitter *fitter, gess__approx *spare,
                                     const gess__learned *map, const gess__pool *pool)
{
    trial t = open_trial(r, fitter, spare, map, pool);
    gess__recipe found = {0};
    int useless[GESS__LAYER_ROWS] = {0}; /* a kind that gained nothing is not tried again */
    gess__learned_copy(r->base, r->identity);
    double none = judge(&t, r->base), score = none;
    while (found.count < GESS__MAX_LAYERS) {
        double best = score;
        unsigned chosen = GESS__LAYER_ROWS;
        for (unsigned row = 0; row < GESS__LAYER_ROWS; row++) {
            if (useless[row] || gess__recipe_uses(&found, row) >= gess__layer_type_row(row)->max_uses) continue;
            gess__learned_copy(r->trial, r->base);
            double now = add_layer(r, row, t.half, t.rest) ? judge(&t, r->trial) : -INFINITY;
            useless[row] = !(now > score);
            if (!(now > best && now > score + (row == GESS__LAYER_ROW_scale ? MIN_SCALE_GAIN : GESS__MIN_GAIN)))
                continue;
            best = now;
            chosen = row;
            gess__learned_copy(r->best, r->trial);
        }
        if (chosen == GESS__LAYER_ROWS) break;
        if (chosen == GESS__LAYER_ROW_scale) found.scale_gain = best - score;
        score = best;
        found.row[found.count++] = chosen;
        gess__learned_copy(r->base, r->best);
    }
    found.gain = score - none;
    return found;
}

gess__recipe gess__layer_search_judge(gess__layer_search *r, gess__fitter *fitter, gess__approx *spare,
                                      const gess__learned *map, const gess__pool *pool, const gess__recipe *recipe)
{
    GESS_ASSERT(recipe->count <= GESS__MAX_LAYERS);
    trial t = open_trial(r, fitter, spare, map, pool);
    gess__recipe judged = *recipe;
    judged.gain = 0.0;
    if (!follow(r, &judged, t.half, t.rest)) return judged;
    double with = judge(&t, r->trial);
    judged.gain = with - judge(&t, r->identity);
    return judged;
}

const gess__learned *gess__layer_search_follow(gess__layer_search *r, const gess__recipe *recipe,
                                               const gess__learned *map, size_t n, const double *points)
{
    gess__learned_out(map, n, points, r->y, r->jacobians, r->scratch);
    follow(r, recipe, n, 0);
    return r->trial;
}

gess__learner *gess__layer_search_learner(gess__layer_search *r)
{
    return r->learner;
}

int gess__layer_search_move(gess__layer_search *r, const gess__learned *from, const gess__learned *to, size_t n,
                            double *points, double *values, int commit)
{
    gess__learned_out(from, n, points, r->y, r->jacobians, r->scratch);
    gess__learned_in(to, n, r->y, r->w, r->others, r->scratch);
    for (size_t i = 0; i < n; i++)
        if (!(r->jacobians[i] > -INFINITY && r->others[i] > -INFINITY)) return 0;
    if (!commit) return 1;
    memcpy(points, r->w, n * r->dim * sizeof *points);
    for (size_t i = 0; i < n; i++) values[i] -= r->jacobians[i] + r->others[i];
    return 1;
}
