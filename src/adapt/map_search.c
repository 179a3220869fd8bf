#include "adapt/map_search.h"

#include "base/tiles.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/special.h"
#include "base/vmath.h"
#include "adapt/window.h"
#include "adapt/laplace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Points that candidates are judged by, of each half of the chains: enough for a covariance, and no more than it
 * takes. */
enum { JUDGED = 2000, JUDGED_A_DIMENSION = 60, MIN_POINTS = 400, MIN_A_DIMENSION = 10 };

/* Beyond this many dimensions neither maps nor mixtures are looked for: it would take tens of seconds. */
enum { MAX_DIMENSIONS = 100 };

/* Points whose levels the share of independence moves is chosen by. */
enum { WEIGHED = 4000 };

/* What a candidate must bring, in nats of log T for a draw; what makes warm-up wait for another refinement. */
#define WORTH 0.03
#define WAIT 0.05
/* The same of the draws an evaluation that are expected of independence moves. */
#define RISE 1.5
/* A refinement that makes less than this of them is undone. */
#define LOSS 0.7
/* Below so many draws an evaluation that are expected of independence moves, the target is hard; above so many, one t
 * serves well. */
#define HARD 0.03
#define WELL 0.1
/* A T better by ANEW begins a window; one worse by COMPARABLE is not taken for what a few draws far out say. */
#define ANEW 0.3
#define COMPARABLE 0.15

/* Moves until ellipses have freed a point where T is too small. */
#define LONGEST_WAIT 500.0

/* A map without warps, and what was learned behind it. */
typedef struct unwarped {
    gess__learned *map;
    gess__mixture *mixture;
    gess__approx *t;
    gess__fit_report fit;
    gess__warmup warmup;
} unwarped;

struct gess__map_search {
    gess__learner *learner;
    gess__mixture_fitter *mixer;
    gess__learned *identity, *before, *base, *trial; /* maps; NULL where none is learned */
    gess__learned *kept;                             /* the map before this refinement, to go back to */
    gess__mixture *mixture;                          /* and T behind it */
    unwarped bare;
    double *y;              /* points × dim: the window behind the learned map */
    double *w;              /* points × dim: the same in a candidate's sampling space */
    double *jacobians;      /* points: log |dw/dy| */
    double *level;          /* points: log π − log T */
    double *deltas, *terms; /* components × WEIGHED */
    double *scratch;
};

int gess__map_search_new(gess__map_search **refiner, const gess__ensemble *e, gess_error *err)
{
    size_t dim = e->target.dim, points = e->window.room * e->chains.count;
    GESS_ALLOC(refiner, 1, err);
    gess__map_search *r = *refiner;
    if (gess__mixture_room(dim) > 1) GESS_TRY(gess__mixture_fitter_new(&r->mixer, dim, points, e->team, err));
    size_t scratch = gess__mixture_scratch(dim, points);
    if (e->target.learned != NULL) {
        GESS_TRY(gess__learner_new(&r->learner, dim, points, e->team, err));
        GESS_TRY(gess__learned_new(&r->identity, dim, err));
        GESS_TRY(gess__learned_new(&r->before, dim, err));
        GESS_TRY(gess__learned_new(&r->base, dim, err));
        GESS_TRY(gess__learned_new(&r->trial, dim, err));
        GESS_TRY(gess__learned_new(&r->kept, dim, err));
        GESS_TRY(gess__mixture_new(&r->mixture, dim, err));
        GESS_TRY(gess__learned_new(&r->bare.map, dim, err));
        GESS_TRY(gess__mixture_new(&r->bare.mixture, dim, err));
        GESS_TRY(gess__approx_new(&r->bare.t, dim, err));
        size_t mapping = gess__learned_scratch(r->trial, points);
        if (mapping > scratch) scratch = mapping;
    }
    GESS_ALLOC(&r->y, points * dim, err);
    GESS_ALLOC(&r->w, points * dim, err);
    GESS_ALLOC(&r->jacobians, points, err);
    GESS_ALLOC(&r->level, points, err);
    GESS_ALLOC(&r->deltas, (size_t)WEIGHED * gess__mixture_room(dim), err);
    GESS_ALLOC(&r->terms, (size_t)WEIGHED * gess__mixture_room(dim), err);
    GESS_ALLOC(&r->scratch, scratch, err);
    return GESS_OK;
}

void gess__map_search_free(gess__map_search *r)
{
    if (r == NULL) return;
    gess__learner_free(r->learner);
    gess__mixture_fitter_free(r->mixer);
    gess__learned_free(r->identity);
    gess__learned_free(r->before);
    gess__learned_free(r->base);
    gess__learned_free(r->trial);
    gess__learned_free(r->kept);
    gess__mixture_free(r->mixture);
    gess__learned_free(r->bare.map);
    gess__mixture_free(r->bare.mixture);
    gess__approx_free(r->bare.t);
    free(r->y);
    free(r->w);
    free(r->jacobians);
    free(r->level);
    free(r->deltas);
    free(r->terms);
    free(r->scratch);
    free(r);
}

int gess__map_search_due(const gess__ensemble *e)
{
    size_t dim = e->target.dim, points = e->window.draws * e->chains.count, least = MIN_A_DIMENSION * dim;
    if (points < (least > MIN_POINTS ? least : MIN_POINTS)) return 0;
    /* an ensemble that travels will have left what is learned from it */
    uint64_t last = e->warmup.refined_at, now = e->tally.evals - e->warmup.climbed;
    return e->warmup.refines == 0 || now >= (e->warmup.moved ? 2 * last : last + 2 * last / 5);
}

/* ---- maps ---- */

/* `count` of the `from` points, evenly, to `to`. */
static size_t take_some(size_t dim, size_t from, const double *points, size_t count, double *to)
{
    if (count > from) count = from;
    for (size_t i = 0; i < count; i++) memcpy(to + i * dim, points + i * from / count * dim, dim * sizeof *to);
    return count;
}

/* Mean log T of the second half's points, of a t fitted to the first half's, with log |dw/dy|: comparable between
 * maps. */
static double judge(gess__ensemble *e, size_t half, size_t rest, const gess__learned *map, const double *y)
{
    gess__map_search *r = e->refiner;
    const gess__fit_settings settings = {.tolerance = 1e-3, .max_iterations = 30};
    size_t dim = e->target.dim;
    gess__fit_report report;
    double sum = 0.0;
    gess__learned_in(map, half + rest, y, r->w, r->jacobians, r->scratch);
    for (size_t i = 0; i < half + rest; i++)
        if (!(r->jacobians[i] > -INFINITY)) return -INFINITY;
    gess__fit_student_t(e->fitter, dim, half, r->w, settings, e->spare, &report);
    for (size_t i = half; i < half + rest; i++) sum += r->jacobians[i];
    sum += gess__fit_log_likelihood(e->fitter, rest, r->w + half * dim, e->spare);
    return sum / (double)rest;
}

/* Kinds of layer are rows of transform/layers.def. */
enum { SCALE = GESS__LAYER_ROW_scale, KINDS = GESS__LAYER_ROWS };

/* The layers of a map, in their order, and what they bring. */
typedef struct recipe {
    size_t count;
    unsigned kind[GESS__MAX_LAYERS];
    double gain, scale; /* of all of them, and of a scale layer when it was found */
} recipe;

static int uses(const recipe *r, unsigned kind)
{
    int times = 0;
    for (size_t i = 0; i < r->count; i++) times += r->kind[i] == kind;
    return times;
}

/* Adds a layer of this kind to r->trial, learned from the first `half` points and checked with the `rest`, if there
 * are any; 0 where there is nothing to learn. */
static int add_layer(gess__map_search *r, unsigned kind, size_t dim, size_t half, size_t rest, const double *y)
{
    gess__learned_in(r->trial, half + rest, y, r->w, r->jacobians, r->scratch);
    gess__learner_check(r->learner, rest, r->w + half * dim);
    int found = gess__learned_add(r->trial, gess__layer_type_row(kind), r->learner, half, r->w);
    gess__learner_check(r->learner, 0, NULL);
    return found;
}

/* Layer by layer, each time the kind that brings most, as long as that is worth it. The first `half` of y is learned
 * from, all of it is judged by. A kind that brought nothing is not tried again. */
static recipe search(gess__ensemble *e, size_t half, size_t rest, const double *y)
{
    gess__map_search *r = e->refiner;
    gess__learned *best = e->target.learned, *base = r->base;
    recipe found = {0};
    int useless[KINDS] = {0};
    gess__learned_copy(base, r->identity);
    double none = judge(e, half, rest, base, y), score = none;
    while (found.count < GESS__MAX_LAYERS) {
        double most = score + WORTH;
        unsigned chosen = KINDS;
        for (unsigned kind = 0; kind < KINDS; kind++) {
            if (useless[kind] || uses(&found, kind) >= gess__layer_type_row(kind)->max_uses) continue;
            gess__learned_copy(r->trial, base);
            double new =
                add_layer(r, kind, e->target.dim, half, rest, y) ? judge(e, half, rest, r->trial, y) : -INFINITY;
            useless[kind] = !(new > score);
            if (!(new > most)) continue;
            most = new;
            chosen = kind;
            gess__learned_copy(best, r->trial);
        }
        if (chosen == KINDS) break;
        if (chosen == SCALE) found.scale = most - score;
        score = most;
        found.kind[found.count++] = chosen;
        gess__learned_copy(base, best);
    }
    found.gain = score - none;
    return found;
}

/* The layers of a recipe into r->trial, from `half` points and checked with `rest`; 0 where there was nothing to learn
 * for one of them. */
static int follow(gess__map_search *r, const recipe *layers, size_t dim, size_t half, size_t rest, const double *y)
{
    int all = 1;
    gess__learned_copy(r->trial, r->identity);
    for (size_t i = 0; i < layers->count; i++) all = add_layer(r, layers->kind[i], dim, half, rest, y) && all;
    return all;
}

/* The layers that are in use, and what they bring now; a recipe without gain where they do not serve any more. */
static recipe judge_present(gess__ensemble *e, size_t half, size_t rest, const double *y)
{
    gess__map_search *r = e->refiner;
    const gess__warmup *u = &e->warmup;
    recipe present = {.count = u->layers};
    if (present.count > GESS__MAX_LAYERS) return (recipe){0};
    for (size_t i = 0; i < present.count; i++)
        if ((present.kind[i] = u->layer[i]) >= KINDS) return (recipe){0};
    if (!follow(r, &present, e->target.dim, half, rest, y)) return present;
    double with = judge(e, half, rest, r->trial, y);
    present.gain = with - judge(e, half, rest, r->identity, y);
    return present;
}

/* Moves n points and their log densities from the sampling space of one map to that of another, or, without `commit`,
 * only finds out whether that can be done; 0 where one of them has no place there, and then nothing is changed. */
static int move(gess__map_search *r, size_t dim, const gess__learned *from, const gess__learned *to, size_t n,
                double *points, double *values, int commit)
{
    gess__learned_out(from, n, points, r->y, r->jacobians, r->scratch);
    gess__learned_in(to, n, r->y, r->w, r->level, r->scratch);
    for (size_t i = 0; i < n; i++)
        if (!(r->jacobians[i] > -INFINITY && r->level[i] > -INFINITY)) return 0;
    if (!commit) return 1;
    memcpy(points, r->w, n * dim * sizeof *points);
    for (size_t i = 0; i < n; i++) values[i] -= r->jacobians[i] + r->level[i];
    return 1;
}

/* What `find` says of the layers, from some of the points. */
static recipe look_at(gess__ensemble *e, const gess__pool *pool,
                      recipe (*find)(gess__ensemble *, size_t, size_t, const double *))
{
    gess__map_search *r = e->refiner;
    size_t dim = e->target.dim, points = pool->half + pool->rest, most = JUDGED + JUDGED_A_DIMENSION * dim;
    gess__learned_copy(r->before, e->target.learned);
    /* all points of the window behind the map, and some of each half */
    gess__learned_out(r->before, points, pool->points, r->w, r->jacobians, r->scratch);
    size_t half = take_some(dim, pool->half, r->w, most, r->y);
    size_t rest = take_some(dim, pool->rest, r->w + pool->half * dim, most, r->y + half * dim);
    recipe found = find(e, half, rest, r->y);
    gess__learned_copy(e->target.learned, r->before);
    return found;
}

/* Moves everything from the sampling space of one map to that of another and makes this the target's; 0 where something
 * has no place there, and then nothing is changed. */
static int go_to(gess__ensemble *e, const gess__learned *from, const gess__learned *to)
{
    gess__map_search *r = e->refiner;
    size_t dim = e->target.dim, window = e->window.draws * e->chains.count;
    if (!move(r, dim, from, to, e->chains.count, e->chains.x, e->chains.value, 0) ||
        !move(r, dim, from, to, window, e->window.points, e->window.values, 1))
        return 0;
    move(r, dim, from, to, e->chains.count, e->chains.x, e->chains.value, 1);
    gess__learned_copy(e->target.learned, to);
    gess__window_mean_values(e); /* the log densities have another Jacobian now */
    return 1;
}

/* Learns these layers from all points and moves everything into the sampling space behind them, if everything has a
 * place there; fits the t there, to begin with, and packs the window anew. */
static void adopt(gess__ensemble *e, gess__pool *pool, const recipe *layers)
{
    gess__map_search *r = e->refiner;
    const gess__fit_settings cold = {.tolerance = 1e-3, .max_iterations = 30};
    gess__learned *old = r->before;
    size_t dim = e->target.dim, points = pool->half + pool->rest;
    if (layers->count == 0 && gess__learned_layers(e->target.learned) == 0) { /* it is as it was */
        e->warmup.map_gain = 0.0;
        return;
    }
    gess__learned_copy(old, e->target.learned);
    gess__learned_out(old, points, pool->points, r->y, r->jacobians, r->scratch);
    follow(r, layers, dim, points, 0, r->y);
    if (!go_to(e, old, r->trial)) return;
    e->warmup.map_gain = layers->gain;
    e->warmup.layers = (unsigned)layers->count;
    memcpy(e->warmup.layer, layers->kind, sizeof layers->kind);
    *pool = gess__window_pack(e);
    gess__fit_student_t(e->fitter, dim, points, pool->points, cold, e->approx, &e->fit);
}

/* ---- what independence moves are worth ---- */

/* What independence moves would bring: effective draws for an evaluation, and the share that is accepted, from the
 * levels l = log π − log T of draws of the target. A point at level l is left with probability
 *   α(l) = E_T min(1, e^(l' − l)),
 * an average over T that draws of π give with weights e^−l'. A chain of such moves alone has an autocorrelation time of
 * about E_π (2/α − 1); a point with a small α does not cost more than some ellipses take to free it. */
static double independence(size_t n, double *level, double *accepted)
{
    gess__sort(n, level);
    double least = level[0], all = 0.0, above = 0.0, time = 0.0;
    *accepted = 0.0;
    for (size_t i = 0; i < n; i++) all += level[i] = gess__exp(least - level[i]);
    for (size_t i = n; i-- > 0;) {
        above += level[i];
        double leave = (above + (double)i * level[i]) / all;
        *accepted += leave / (double)n;
        time += (2.0 / fmax(leave, 1.0 / LONGEST_WAIT) - 1.0) / (double)n;
    }
    return 1.0 / time;
}

/* Squared distances of the n points in r->w from every component. */
static void measure(gess__ensemble *e, size_t n)
{
    gess__map_search *r = e->refiner;
    size_t dim = e->target.dim, count = e->mixture->count;
    for (size_t j = 0; j < count; j++) {
        const gess__approx *t = e->mixture->component[j];
        gess__whitened_squares(dim, t->chol, t->inverse_diagonal, t->mu, n, r->w, r->deltas + j * n, r->scratch);
    }
}

/* log T of them, with the degrees of freedom that the components have now, into r->level. */
static void weigh(gess__ensemble *e, size_t n)
{
    gess__map_search *r = e->refiner;
    const gess__mixture *t = e->mixture;
    for (size_t j = 0; j < t->count; j++) {
        double *terms = r->terms + j * n, norm = t->log_weight[j] + gess__approx_log_norm(t->component[j]);
        gess__approx_log_ts(t->component[j], 0, n, r->deltas + j * n, terms);
        for (size_t i = 0; i < n; i++) terms[i] += norm;
    }
    gess__log_sums(t->count, n, n, r->terms, r->level);
}

/* Draws an evaluation that are expected of moves with the present T, its tails made as heavy as costs little: what the
 * window has not seen of the target's tails is where chains would wait longest. *acceptance: the share that is
 * accepted. */
static double expect_with(gess__ensemble *e, double *acceptance)
{
    static const double caps[] = {INFINITY, 100.0, 50.0, 30.0, 20.0, 12.0, 8.0, 5.0, 3.0};
    enum { CAPS = sizeof caps / sizeof *caps };
    const double worth = 0.9;
    gess__map_search *r = e->refiner;
    gess__mixture *t = e->mixture;
    const gess__window *w = &e->window;
    size_t points = w->draws * e->chains.count, dim = e->target.dim,
           n = take_some(dim, points, w->points, WEIGHED, r->w);
    double fitted[GESS__MAX_COMPONENTS], draws[CAPS] = {0}, accepted[CAPS] = {0}, best = 0.0;
    size_t chosen = 0;
    measure(e, n);
    for (size_t j = 0; j < t->count; j++) fitted[j] = e->warmup.fitted_nu[j];
    for (size_t k = 0; k < CAPS; k++) {
        for (size_t j = 0; j < t->count; j++) t->component[j]->nu = fmin(fitted[j], caps[k]);
        weigh(e, n);
        for (size_t i = 0; i < n; i++) r->level[i] = w->values[i * points / n] - r->level[i];
        draws[k] = independence(n, r->level, &accepted[k]);
        if (draws[k] > best) best = draws[k];
        if (draws[k] < 0.5 * best) break;
    }
    for (size_t k = 0; k < CAPS; k++)
        if (draws[k] >= worth * best) chosen = k;
    for (size_t j = 0; j < t->count; j++) t->component[j]->nu = fmin(fitted[j], caps[chosen]);
    *acceptance = accepted[chosen];
    return draws[chosen];
}

/* T has been fitted: its degrees of freedom are what the data say. */
static void note_fitted(gess__ensemble *e)
{
    for (size_t j = 0; j < e->mixture->count; j++) e->warmup.fitted_nu[j] = e->mixture->component[j]->nu;
}

/* Where T has one component, it is the t. */
static void set_single(gess__ensemble *e)
{
    if (e->mixture->count > 1) return;
    gess__approx_copy(e->mixture->component[0], e->approx);
    e->warmup.fitted_nu[0] = e->approx->nu;
}

static double expect(gess__ensemble *e)
{
    double unused;
    return expect_with(e, &unused);
}

/* ---- all of it ---- */

/* The mixture in the present space, of `size` components where these serve, or of as many as do (0); returns its gain
 * over the one t. */
static double mix(gess__ensemble *e, const gess__pool *pool, size_t size)
{
    gess__mixture_report mixed = {0};
    e->mixture->count = 1;
    e->mixture->log_weight[0] = 0.0;
    gess__approx_copy(e->mixture->component[0], e->approx);
    if (e->refiner->mixer != NULL) gess__fit_mixture(e->refiner->mixer, pool, size, e->mixture, &mixed);
    if (!(mixed.gain > WORTH)) {
        e->mixture->count = 1;
        mixed.gain = 0.0;
    }
    note_fitted(e);
    return mixed.gain;
}

/* Whether a recipe has the layers that are in use. */
static int same(const recipe *layers, const gess__warmup *u)
{
    int equal = layers->count == u->layers;
    for (size_t i = 0; equal && i < layers->count; i++) equal = layers->kind[i] == u->layer[i];
    return equal;
}

/* What has been adopted, for another try to be made. */
static void remember(gess__ensemble *e)
{
    unwarped *b = &e->refiner->bare;
    gess__learned_copy(b->map, e->target.learned);
    gess__mixture_copy(b->mixture, e->mixture);
    gess__approx_copy(b->t, e->approx);
    b->fit = e->fit;
    b->warmup = e->warmup;
}

/* What is said of map and mixture, as it was. */
static void say_again(gess__warmup *u, const gess__warmup *old)
{
    u->map_gain = old->map_gain;
    u->mixture_gain = old->mixture_gain;
    u->layers = old->layers;
    memcpy(u->layer, old->layer, sizeof u->layer);
    memcpy(u->fitted_nu, old->fitted_nu, sizeof u->fitted_nu);
}

/* Back to what was remembered, if everything has a place there. */
static void recall(gess__ensemble *e, gess__pool *pool)
{
    const unwarped *b = &e->refiner->bare;
    gess__learned_copy(e->refiner->before, e->target.learned);
    if (!go_to(e, e->refiner->before, b->map)) return;
    gess__mixture_copy(e->mixture, b->mixture);
    gess__approx_copy(e->approx, b->t);
    e->fit = b->fit;
    say_again(&e->warmup, &b->warmup);
    *pool = gess__window_pack(e);
}

/* A map, and a mixture behind it. Both describe a target that is not a t: warps bend several modes together that a
 * mixture keeps apart, a mixture leaves tails to wait in that a warp follows. So a mixture without warps is asked too,
 * and what independence moves would make of either decides, since that counts the tails. */
static void choose(gess__ensemble *e, gess__pool *pool)
{
    gess__warmup *u = &e->warmup;
    recipe all = look_at(e, pool, search), bare = {.kind = {SCALE}};
    double without = 0.0, drawn = 0.0;
    /* the search takes the best layer each time, which need not lead to the best map */
    if (u->layers > 0 && !same(&all, u)) {
        recipe present = look_at(e, pool, judge_present);
        present.scale = all.scale;
        if (present.gain > all.gain) all = present;
    }
    bare.count = uses(&all, SCALE) > 0;
    int apart = e->mixture->count > 1 && u->layers <= bare.count;
    bare.gain = bare.count > 0 ? all.scale : 0.0;
    if (all.count > bare.count && (apart || u->refines <= 4 || u->refines % 3 == 0)) {
        adopt(e, pool, &bare);
        without = u->mixture_gain = mix(e, pool, 0);
        drawn = expect(e);
        remember(e);
    }
    adopt(e, pool, &all);
    u->mixture_gain = mix(e, pool, 0);
    /* a single draw far out can make either look bad: what most draws say must not be much worse */
    int comparable = bare.gain + without > all.gain + u->mixture_gain - COMPARABLE;
    if (without > 0.0 && comparable && drawn > expect(e)) recall(e, pool);
}

/* Searching costs several times what it costs to learn again what was found, so every search that brings nothing makes
 * the next one wait for one more refinement than it did; for one where nothing was ever found. */
static void search_anew(gess__ensemble *e, gess__pool *pool, double before)
{
    gess__warmup *u = &e->warmup;
    choose(e, pool);
    int more = u->refines <= 3 || u->map_gain + u->mixture_gain > before + WAIT;
    int found = u->layers > 0 || e->mixture->count > 1;
    u->skips = more ? 0 : found ? u->skips + 1 : 1;
    u->skip = more && found && u->refines > 3 ? 1 : u->skips;
}

/* The present map and mixture learned anew; 0 where they do not serve any more. */
static int renew(gess__ensemble *e, gess__pool *pool)
{
    gess__warmup *u = &e->warmup;
    size_t size = e->mixture->count;
    if (u->layers > 0) {
        recipe present = look_at(e, pool, judge_present);
        if (!(present.gain > WORTH)) return 0;
        adopt(e, pool, &present);
    }
    u->mixture_gain = size > 1 ? mix(e, pool, size) : 0.0;
    return size == 1 || u->mixture_gain > 0.0;
}

/* The map and the mixture that were there before, where what was learned makes independence moves much worse on the
 * same draws: means of log T, which choose it, hardly see the few draws that chains would wait at. 0 where nothing was
 * put back. */
static int put_back(gess__ensemble *e, gess__pool *pool, const gess__warmup *old, double had)
{
    gess__map_search *r = e->refiner;
    gess__warmup *u = &e->warmup;
    gess__learned_copy(r->before, e->target.learned);
    if (!(expect(e) < LOSS * had) || !go_to(e, r->before, r->kept)) return 0;
    gess__mixture_copy(e->mixture, r->mixture);
    say_again(u, old);
    u->acceptance = old->acceptance;
    *pool = gess__window_pack(e);
    return 1;
}

/* Renews or searches, fits the one t in the new space, and chooses the share. A refinement that only renews must not be
 * the one after which warm-up ends where the last search brought something, nor, where nothing was found so far, while
 * one t does not serve well: then it searches after all. */
static void learn(gess__ensemble *e, gess__pool *pool, gess__pool_report *report)
{
    gess__warmup *u = &e->warmup;
    int search = u->skip == 0;
    gess__blas_begin();
    set_single(e);
    const gess__warmup old = *u;
    double had = expect(e), before = old.map_gain + old.mixture_gain;
    gess__learned_copy(e->refiner->kept, e->target.learned);
    gess__mixture_copy(e->refiner->mixture, e->mixture);
    for (;;) {
        search = search || !renew(e, pool);
        if (search) search_anew(e, pool, before);
        if (old.layers + u->layers > 0) /* otherwise it is fitted */
            gess__fit_pooled(e->fitter, pool, gess__laplace_t(e), e->approx, e->spare, report);
        gess__move_mix_choose(e);
        int better = u->map_gain + u->mixture_gain > before + WAIT || u->independence > RISE * u->drawn;
        int found = u->layers > 0 || e->mixture->count > 1, well = u->refines > 4 && u->independence > WELL;
        if (search || better || (found ? u->skips > 0 : well)) break;
        search = 1;
        u->acceptance = old.acceptance;
    }
    if (put_back(e, pool, &old, had)) {
        if (old.layers + u->layers > 0)
            gess__fit_pooled(e->fitter, pool, gess__laplace_t(e), e->approx, e->spare, report);
        gess__move_mix_choose(e);
    }
    gess__blas_end();
    if (!search) u->skip--;
}

void gess__map_search_run(gess__ensemble *e, gess__pool *pool, gess__pool_report *report)
{
    gess__warmup *u = &e->warmup;
    double before = u->map_gain + u->mixture_gain;
    /* nothing was found, and one t serves nearly as well as T can; or learning would cost too much */
    double enough = u->refines >= 3 ? 0.4 : 0.9;
    int fine = (before == 0.0 && u->independence > enough) || e->target.dim > MAX_DIMENSIONS;
    u->refines++;
    u->refined_at = e->tally.evals - u->climbed;
    if (fine) {
        e->mixture->count = 1;
        gess__move_mix_choose(e);
    } else if (e->target.learned != NULL) {
        learn(e, pool, report);
    } else {
        u->mixture_gain = mix(e, pool, 0);
        gess__move_mix_choose(e);
    }
    double drawn = u->drawn;
    u->drawn = u->independence;
    /* what was drawn with a T so much worse tells of the places that T let chains reach */
    if (u->map_gain + u->mixture_gain > before + ANEW) u->moved = 1;
    int better = u->refines < 3 || u->map_gain + u->mixture_gain > before + WAIT || u->drawn > RISE * drawn;
    /* where sampling will take long, one refinement that brings nothing does not say that there is nothing to come */
    u->vain = better ? 0 : u->vain + 1;
    u->improving = u->vain < (u->drawn < HARD ? 2 : 1);
}

/* ---- the share of independence moves ---- */

/* What updates around ellipses brought in the last stage. A coordinate's deviation from the centre is multiplied by the
 * cosine of the accepted angle, so the mean cosine is the autocorrelation of an update. */
static double ellipses(const gess__tally *before, const gess__tally *after)
{
    double moved = 0.0, sum = 0.0;
    for (size_t i = 0; i < GESS__BINS; i++) {
        double count = (double)(after->angles[i] - before->angles[i]);
        moved += count;
        sum += count * cos(2.0 * M_PI * (((double)i + 0.5) / GESS__BINS - 0.5));
    }
    double moves = (double)(after->globals - before->globals), evals = (double)(after->evals - before->evals) - moves;
    double updates = (double)(after->updates - before->updates) - moves;
    updates -= (double)(after->axes - before->axes);
    evals -= (double)(after->coordinate_evals - before->coordinate_evals);
    if (!(updates > 0.0 && moved > 0.0)) return NAN;
    double correlation = (sum + updates - moved) / updates;
    return (1.0 - correlation) / (1.0 + correlation) * updates / evals;
}

/* Effective draws for an evaluation, of a pattern of k independence moves and one ellipse. Autocorrelations of the
 * two kinds of update multiply. */
static double pattern(double independence, double ellipse, double cost, unsigned k)
{
    double one = fmin(ellipse * cost, 0.98), other = fmin(independence, 0.98), moves = (double)k;
    double logs = log((1.0 - one) / (1.0 + one)) + moves * log((1.0 - other) / (1.0 + other));
    double correlation = exp(logs / (moves + 1.0));
    return (1.0 - correlation) / (1.0 + correlation) * (moves + 1.0) / (moves + cost);
}

/* Ellipses are worth less than the mean cosine says where their angles differ between states, and where the scale s of
 * a heavy-tailed T, which moves by a factor of about 1 ± √(2/(D + ν)) an update, is slow; around a mixture they stay
 * near one component. A point that T is too small at waits for ellipses, and more than one of them, so there are not
 * many moves between two where such points are common; and never none, where moves succeed at all, since each kind
 * frees chains that the other is slow with. The numbers were set by what was measured (docs/statistics.md). */
static void choose_share(gess__ensemble *e)
{
    static const unsigned shares[] = {0, 1, 2, 4, 8};
    gess__warmup *u = &e->warmup;
    const gess__tally *b = &u->before, *t = &e->tally;
    double moves = (double)(t->globals - b->globals), dim = (double)e->target.dim, nu = e->approx->nu, best = 0.0;
    double along = (double)(t->axes - b->axes), along_evals = (double)(t->coordinate_evals - b->coordinate_evals);
    double cost =
        ((double)(t->evals - b->evals) - moves - along_evals) / ((double)(t->updates - b->updates) - moves - along);
    double ellipse = u->ellipse * fmin(1.0, u->ellipse / 0.2);
    unsigned most = u->independence > 0.5 ? 8 : u->independence > 0.1 ? 4 : 2;
    unsigned least = u->independence > 0.3 ? 2 : u->independence > 0.03;
    u->cost = cost;
    if (e->mixture->count > 1) ellipse *= 0.25;
    e->globals = 0;
    if (!(cost >= 1.0 && ellipse > 0.0 && u->independence > 0.0)) return;
    if (isfinite(nu)) {
        double slow = 1.0 - fmin(2.0 / (dim + nu) / gess__trigamma(0.5 * nu), 1.0);
        ellipse = fmin(ellipse, sqrt(ellipse * (1.0 - slow) / (1.0 + slow) / cost));
    }
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        double value = pattern(u->independence, ellipse, cost, shares[i]);
        if (shares[i] < least || shares[i] > most || !(value > best)) continue;
        e->globals = shares[i];
        best = value;
    }
}

void gess__move_mix_choose(gess__ensemble *e)
{
    gess__warmup *u = &e->warmup;
    /* what the last stage's moves did, against what was expected of them */
    double trust = 1.0, expected = u->acceptance;
    if (e->tally.globals > u->before.globals && expected > 0.0) trust = fmin(1.0, u->accepted / expected);
    u->ellipse = ellipses(&u->before, &e->tally);
    u->by_summit = gess__laplace_prefer(e);
    set_single(e);
    u->independence = expect_with(e, &u->acceptance) * trust;
    if (e->mixture->count == 1) e->approx->nu = e->mixture->component[0]->nu;
    choose_share(e);
    e->period = e->globals + 1;
}
