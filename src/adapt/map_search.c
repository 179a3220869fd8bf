/* Decides when to search for a map and a mixture, which results to keep and which to undo, and moves chains and window
 * into the sampling space of a new map. layer_search.c builds and judges the layers; approx/mixture_fit.h fits the
 * mixtures. */
#include "adapt/map_search.h"

#include "adapt/laplace.h"
#include "adapt/layer_search.h"
#include "adapt/move_mix.h"
#include "base/assert.h"
#include "base/mem.h"
#include "transform/scale.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A search needs this many points of the window. */
enum { MIN_POINTS = 400, MIN_POINTS_PER_DIMENSION = 10 };

/* In more dimensions no map and no mixture is searched: it would take tens of seconds. */
enum { MAX_DIMENSIONS = 100 };

/* Nats per draw, and the factor of the draws per evaluation expected of independence moves, that make warm-up wait for
 * another search. */
#define SEARCH_AGAIN_GAIN 0.05
#define SEARCH_AGAIN_FACTOR 1.5
/* A result with less than this factor of them is undone. */
#define UNDO_FACTOR 0.7
/* Draws per evaluation expected of independence moves, below which the target is hard. */
#define MAX_HARD_DRAWS 0.03
/* A T that is better by NEW_WINDOW_GAIN nats per draw starts a window. */
#define NEW_WINDOW_GAIN 0.3
/* A T that is worse by MAX_LOSS nats per draw is undone. */
#define MAX_LOSS 1.0
/* A T that is worse by COMPARABLE_GAIN nats per draw is not taken because of what a few draws far out say. */
#define COMPARABLE_GAIN 0.15

/* What was adopted, so that an alternative can be tried and undone. */
typedef struct saved {
    gess__learned *map;
    gess__mixture *mixture;
    gess__approx *t;
    gess__fit_report fit;
    gess__learning_state state;
} saved;

struct gess__map_search {
    gess__layer_search *layers; /* NULL: no map is learned */
    gess__mixture_fitter *mixer;
    gess__learned *present; /* scratch: the map in use */
    gess__learned *map;     /* the map before this search, to go back to */
    gess__mixture *mixture; /* and T behind it */
    saved unwarped;         /* a map without warps, and what was learned behind it */
};

int gess__map_search_new(gess__map_search **search, const gess__learning *l, gess_error *err)
{
    const gess__ensemble *e = l->ensemble;
    size_t dim = e->target.dim, points = l->adaptation->window.room * e->chains.count;
    GESS_ALLOC(search, 1, err);
    gess__map_search *r = *search;
    if (gess__mixture_room(dim) > 1) GESS_TRY(gess__mixture_fitter_new(&r->mixer, dim, points, e->team, err));
    if (e->frozen.map == NULL) return GESS_OK;
    GESS_TRY(gess__layer_search_new(&r->layers, dim, points, e->team, err));
    GESS_TRY(gess__learned_new(&r->present, dim, err));
    GESS_TRY(gess__learned_new(&r->map, dim, err));
    GESS_TRY(gess__mixture_new(&r->mixture, dim, err));
    GESS_TRY(gess__learned_new(&r->unwarped.map, dim, err));
    GESS_TRY(gess__mixture_new(&r->unwarped.mixture, dim, err));
    return gess__approx_new(&r->unwarped.t, dim, err);
}

void gess__map_search_free(gess__map_search *r)
{
    if (r == NULL) return;
    gess__layer_search_free(r->layers);
    gess__mixture_fitter_free(r->mixer);
    gess__learned_free(r->present);
    gess__learned_free(r->map);
    gess__mixture_free(r->mixture);
    gess__learned_free(r->unwarped.map);
    gess__mixture_free(r->unwarped.mixture);
    gess__approx_free(r->unwarped.t);
    free(r);
}

int gess__map_search_due(const gess__learning *l)
{
    const gess__learning_state *s = &l->state;
    size_t points = gess__window_points(&l->adaptation->window),
           min = MIN_POINTS_PER_DIMENSION * l->ensemble->target.dim;
    if (points < (min > MIN_POINTS ? min : MIN_POINTS)) return 0;
    /* while the ensemble travels, it leaves behind what is learned from it */
    uint64_t last = s->searched_at, now = l->ensemble->tally.evals - s->laplace_evals;
    return s->searches == 0 || s->unconfirmed ||
           now >= (l->adaptation->warmup.moved ? last + last / 2 : last + last / 5);
}

/* ---- adopting a map or a mixture ---- */

/* Moves chains and window from the sampling space of one map to that of another, which becomes the target's. Returns 0,
 * with nothing changed, if a point has no place there. */
static int go_to(gess__learning *l, const gess__learned *from, const gess__learned *to)
{
    gess__layer_search *r = l->search->layers;
    gess__chains *c = &l->ensemble->chains;
    gess__window *w = &l->adaptation->window;
    if (!gess__layer_search_move(r, from, to, c->count, c->x, c->value, 0) ||
        !gess__layer_search_move(r, from, to, gess__window_points(w), w->points, w->values, 1))
        return 0;
    gess__layer_search_move(r, from, to, c->count, c->x, c->value, 1);
    gess__learned_copy(l->ensemble->frozen.map, to);
    gess__warmup_measure(l->adaptation); /* the log densities have another Jacobian now */
    return 1;
}

/* Learns these layers from all points, moves everything into the sampling space behind them if every point has a place
 * there, packs the window again and makes a first fit of the t. */
static void adopt(gess__learning *l, gess__pool *pool, const gess__recipe *recipe)
{
    const gess__fit_settings cold = {.tolerance = 1e-3, .max_iterations = 30};
    gess__learning_state *s = &l->state;
    gess__learned *map = l->ensemble->frozen.map, *old = l->search->present;
    size_t points = pool->half + pool->rest;
    if (recipe->count == 0 && gess__learned_layers(map) == 0) { /* it stays as it is */
        s->map_gain = 0.0;
        return;
    }
    gess__learned_copy(old, map);
    if (!go_to(l, old, gess__layer_search_follow(l->search->layers, recipe, old, points, pool->points))) return;
    s->map_gain = recipe->gain;
    s->layers = (unsigned)recipe->count;
    memcpy(s->layer, recipe->row, sizeof recipe->row);
    *pool = gess__window_pack(&l->adaptation->window);
    gess__fit_student_t(l->fitter, l->ensemble->target.dim, points, pool->points, cold, l->ensemble->frozen.approx,
                        &l->fit);
}

/* Fits a mixture in the present space, of `size` components if these are good enough, or of as many as are (0); returns
 * its gain over the one t. */
static double fit_mixture(gess__learning *l, const gess__pool *pool, size_t size)
{
    gess__mixture_report report = {0};
    gess__mixture *m = l->ensemble->frozen.mixture;
    m->count = 1;
    m->log_weight[0] = 0.0;
    gess__approx_copy(m->component[0], l->ensemble->frozen.approx);
    if (l->search->mixer != NULL) gess__fit_mixture(l->search->mixer, pool, size, m, &report);
    /* the gain is over one t that is not shrunk towards the Laplace approximation */
    int worse = l->state.layers == 0 && l->state.shrunk_to_laplace && report.score < l->state.score;
    if (!(report.gain > GESS__MIN_GAIN) || worse) {
        m->count = 1;
        report.gain = 0.0;
    }
    for (size_t j = 0; j < m->count; j++) l->state.fitted_nu[j] = m->component[j]->nu;
    return report.gain;
}

static double expected_draws(gess__learning *l)
{
    double unused;
    return gess__move_value_expected(l, &unused);
}

/* ---- a map, and a mixture behind it ---- */

/* Whether a recipe has the layers that are in use. */
static int is_present(const gess__recipe *recipe, const gess__learning_state *s)
{
    int equal = recipe->count == s->layers;
    for (size_t i = 0; equal && i < recipe->count; i++) equal = recipe->row[i] == s->layer[i];
    return equal;
}

/* The layers that are in use; none if there cannot be such. */
static gess__recipe present_layers(const gess__learning_state *s)
{
    gess__recipe present = {.count = s->layers};
    if (present.count > GESS__MAX_LAYERS) return (gess__recipe){0};
    for (size_t i = 0; i < present.count; i++)
        if ((present.row[i] = s->layer[i]) >= GESS__LAYER_ROWS) return (gess__recipe){0};
    return present;
}

static gess__recipe search_layers(gess__learning *l, const gess__pool *pool)
{
    return gess__layer_search_find(l->search->layers, l->fitter, l->spare, l->ensemble->frozen.map, pool);
}

static gess__recipe judge_present(gess__learning *l, const gess__pool *pool)
{
    gess__recipe present = present_layers(&l->state);
    return gess__layer_search_judge(l->search->layers, l->fitter, l->spare, l->ensemble->frozen.map, pool, &present);
}

/* Saves what has been adopted, before an alternative is tried. */
static void save(gess__learning *l, saved *b)
{
    gess__learned_copy(b->map, l->ensemble->frozen.map);
    gess__mixture_copy(b->mixture, l->ensemble->frozen.mixture);
    gess__approx_copy(b->t, l->ensemble->frozen.approx);
    b->fit = l->fit;
    b->state = l->state;
}

/* Puts back what is noted of map and mixture. */
static void restore_notes(gess__learning_state *s, const gess__learning_state *old)
{
    s->map_gain = old->map_gain;
    s->mixture_gain = old->mixture_gain;
    s->layers = old->layers;
    memcpy(s->layer, old->layer, sizeof s->layer);
    memcpy(s->fitted_nu, old->fitted_nu, sizeof s->fitted_nu);
}

/* Goes back to what was saved, if every point has a place there. */
static void restore(gess__learning *l, const saved *b, gess__pool *pool)
{
    gess__learned *present = l->search->present;
    gess__learned_copy(present, l->ensemble->frozen.map);
    if (!go_to(l, present, b->map)) return;
    gess__mixture_copy(l->ensemble->frozen.mixture, b->mixture);
    gess__approx_copy(l->ensemble->frozen.approx, b->t);
    l->fit = b->fit;
    restore_notes(&l->state, &b->state);
    *pool = gess__window_pack(&l->adaptation->window);
}

/* Chooses a map, and a mixture behind it. Both describe a target that is not a t: warps bend several modes together
 * that a mixture keeps apart; behind a mixture chains wait in tails that a warp follows. So a mixture without warps is
 * tried too, and the expected independence moves decide, since these count the tails. */
static void choose(gess__learning *l, gess__pool *pool)
{
    enum { SCALE = GESS__LAYER_ROW_scale };
    gess__learning_state *s = &l->state;
    gess__recipe all = search_layers(l, pool), unwarped = {.row = {SCALE}};
    double mixture_gain = 0.0, draws = 0.0;
    /* the search is greedy, so its map need not be the best */
    if (s->layers > 0 && !is_present(&all, s)) {
        gess__recipe present = judge_present(l, pool);
        present.scale_gain = all.scale_gain;
        if (present.gain > all.gain) all = present;
    }
    unwarped.count = gess__recipe_uses(&all, SCALE) > 0;
    unwarped.gain = unwarped.count > 0 ? all.scale_gain : 0.0;
    int mixed = l->ensemble->frozen.mixture->count > 1 && s->layers <= unwarped.count;
    if (all.count > unwarped.count && (mixed || s->searches <= 4 || s->searches % 3 == 0)) {
        adopt(l, pool, &unwarped);
        mixture_gain = s->mixture_gain = fit_mixture(l, pool, 0);
        draws = expected_draws(l);
        save(l, &l->search->unwarped);
    }
    adopt(l, pool, &all);
    s->mixture_gain = fit_mixture(l, pool, 0);
    /* a single outlier can spoil the expected draws, so the gain must be comparable, too */
    int comparable = unwarped.gain + mixture_gain > all.gain + s->mixture_gain - COMPARABLE_GAIN;
    if (mixture_gain > 0.0 && comparable && draws > expected_draws(l)) restore(l, &l->search->unwarped, pool);
}

/* ---- one search ---- */

/* Whether one t without a map is all that there is, so that there is nothing to refit. */
static int nothing_found(const gess__learning *l)
{
    return l->state.layers == 0 && l->ensemble->frozen.mixture->count == 1;
}

/* A search costs several times as much as a refit. So every search that finds nothing new makes the next one wait for
 * one more refit than it did; for none if nothing was ever found. */
static void search_again(gess__learning *l, gess__pool *pool, double gain_before)
{
    gess__learning_state *s = &l->state;
    choose(l, pool);
    int more = s->searches <= 3 || s->map_gain + s->mixture_gain > gain_before + SEARCH_AGAIN_GAIN;
    int found = !nothing_found(l);
    s->skips = more || !found ? 0 : s->skips + 1;
    s->skip = more && found && s->searches > 3 ? 1 : s->skips;
}

/* Learns the present map and mixture again; returns 0 if they are not good enough any more. */
static int refit(gess__learning *l, gess__pool *pool)
{
    gess__learning_state *s = &l->state;
    size_t size = l->ensemble->frozen.mixture->count;
    if (s->layers > 0) {
        gess__recipe present = judge_present(l, pool);
        if (!(present.gain > GESS__MIN_GAIN)) return 0;
        adopt(l, pool, &present);
    }
    s->mixture_gain = size > 1 ? fit_mixture(l, pool, size) : 0.0;
    return size == 1 || s->mixture_gain > 0.0;
}

/* Mean log T of the window's draws less their mean log density, so that spaces can be compared: of the t by the score
 * of its fit. */
static double relative_score(const gess__learning *l, const gess__pool_report *report)
{
    const gess__window *w = &l->adaptation->window;
    double sum = 0.0;
    size_t points = gess__window_points(w);
    for (size_t i = 0; i < points; i++) sum += w->values[i];
    return report->score + l->state.mixture_gain - sum / (double)points;
}

/* Undoes a result that makes independence moves much worse on the same draws: means of log T, which choose it, hardly
 * see the few draws at which chains would wait. Also one with which T is worse than the one before: behind a map there
 * is no Laplace approximation to shrink the fit towards. Returns 0 if nothing was undone. */
static int undo(gess__learning *l, gess__pool *pool, const gess__learning_state *old, double draws_before, int worse)
{
    gess__map_search *r = l->search;
    gess__learned_copy(r->present, l->ensemble->frozen.map);
    if (!(worse || expected_draws(l) < UNDO_FACTOR * draws_before) || !go_to(l, r->present, r->map)) return 0;
    gess__mixture_copy(l->ensemble->frozen.mixture, r->mixture);
    restore_notes(&l->state, old);
    l->state.acceptance = old->acceptance;
    *pool = gess__window_pack(&l->adaptation->window);
    return 1;
}

/* Fits the one t in the new space if the map is new, and chooses the mix of moves. */
static void fit_and_mix(gess__learning *l, const gess__pool *pool, int mapped, gess__pool_report *report)
{
    if (mapped) gess__fit_pooled(l->fitter, pool, gess__laplace_t(l), l->ensemble->frozen.approx, l->spare, report);
    gess__move_mix_choose(l);
}

/* Refits or searches. Never end warm-up after only a refit: search first if the last search helped. */
static void learn(gess__learning *l, gess__pool *pool, gess__pool_report *report)
{
    gess__learning_state *s = &l->state;
    int search = s->skip == 0 || nothing_found(l);
    gess__move_mix_set_single(l);
    const gess__learning_state old = *s;
    double draws_before = expected_draws(l), gain_before = old.map_gain + old.mixture_gain;
    double score_before = relative_score(l, report);
    gess__learned_copy(l->search->map, l->ensemble->frozen.map);
    gess__mixture_copy(l->search->mixture, l->ensemble->frozen.mixture);
    for (;;) {
        search = search || !refit(l, pool);
        if (search) search_again(l, pool, gain_before);
        fit_and_mix(l, pool, old.layers + s->layers > 0, report);
        int better = s->map_gain + s->mixture_gain > gain_before + SEARCH_AGAIN_GAIN ||
                     s->independence > SEARCH_AGAIN_FACTOR * s->independence_before;
        if (search || better || s->skips > 0) break;
        search = 1;
        s->acceptance = old.acceptance;
    }
    int worse = old.layers == 0 && s->layers > 0 && relative_score(l, report) < score_before - MAX_LOSS;
    if (undo(l, pool, &old, draws_before, worse))
        fit_and_mix(l, pool, 1, report); /* the t belongs to the map that was undone */
    if (!search) s->skip--;
}

void gess__map_search_run(gess__learning *l, gess__pool *pool, gess__pool_report *report)
{
    GESS_ASSERT(l->search != NULL && pool->points == l->adaptation->window.packed);
    gess__learning_state *s = &l->state;
    double gain_before = s->map_gain + s->mixture_gain;
    /* nothing was found, and one t is nearly as good as any T; or learning would cost too much */
    double enough = s->searches >= 3 ? 0.4 : 0.9;
    int one = l->ensemble->frozen.mixture->count == 1; /* annealing may have found more without a search */
    int single = (one && gain_before == 0.0 && s->independence > enough) || l->ensemble->target.dim > MAX_DIMENSIONS;
    s->searches++;
    s->searched_at = l->ensemble->tally.evals - s->laplace_evals;
    if (single) {
        l->ensemble->frozen.mixture->count = 1;
        gess__move_mix_choose(l);
    } else if (l->ensemble->frozen.map != NULL) {
        learn(l, pool, report);
    } else {
        s->mixture_gain = fit_mixture(l, pool, 0);
        gess__move_mix_choose(l);
    }
    double draws_before = s->independence_before, gain = s->map_gain + s->mixture_gain;
    s->independence_before = s->independence;
    /* a much worse T confined the chains, so the draws made with it do not represent the target */
    s->unconfirmed = gain > gain_before + NEW_WINDOW_GAIN;
    if (s->unconfirmed) l->adaptation->warmup.moved = 1;
    int better = s->searches < 3 || gain > gain_before + SEARCH_AGAIN_GAIN ||
                 s->independence_before > SEARCH_AGAIN_FACTOR * draws_before;
    /* if sampling will take long, one search that finds nothing does not mean that there is nothing to find */
    s->futile = better ? 0 : s->futile + 1;
    s->improving = s->futile < (s->independence_before < MAX_HARD_DRAWS ? 2 : 1);
}

/* A coordinate that drives others, as far as these draws tell, though the map has no scale layer; the dimension if
 * there is none. */
static size_t hidden_hub(gess__learning *l, const gess__pool *pool)
{
    const double min_errors = 2.0;
    const gess__learned *map = l->ensemble->frozen.map;
    double errors;
    if (map == NULL || gess__scale_driver(map, 0.5) < map->dim) return l->ensemble->target.dim;
    size_t hub = gess__scale_likeliest_hub(gess__layer_search_learner(l->search->layers), pool->half + pool->rest,
                                           pool->points, &errors);
    return errors > min_errors ? hub : map->dim;
}

/* The excess of the tails along which the map extrapolates, and of those of the hub, if there is one. */
static double excess_with(gess__learning *l, size_t hub)
{
    enum { MAX_COORDINATES = 8 };
    uint32_t along[MAX_COORDINATES + 1];
    const gess__learned *map = l->ensemble->frozen.map;
    if (map == NULL) return 0.0;
    size_t count = gess__learned_extrapolated(map, MAX_COORDINATES, along);
    if (hub < map->dim) along[count++] = (uint32_t)hub;
    return gess__move_value_tail_excess(l, count, along);
}

double gess__map_search_tail_excess(gess__learning *l)
{
    if (l->state.searches == 0 || gess__window_points(&l->adaptation->window) == 0) return 0.0;
    gess__pool pool = gess__window_pack(&l->adaptation->window);
    return excess_with(l, hidden_hub(l, &pool));
}

int gess__map_search_doubts(gess__learning *l, const gess__pool *pool)
{
    const double max_excess = 1.2, max_hidden_excess = 0.6;
    gess__learning_state *s = &l->state;
    uint64_t evals = l->ensemble->tally.evals;
    int enough = pool->half + pool->rest >= GESS__SCALE_POINTS;
    if (enough && s->doubted_at == 0) s->doubted_at = evals;
    if (enough && evals >= 2 * s->doubted_at) return 0;
    size_t hub = hidden_hub(l, pool);
    double excess = excess_with(l, hub);
    if (enough) return excess > max_excess;
    uint32_t at = (uint32_t)hub;
    int hidden = hub < l->ensemble->target.dim && gess__move_value_tail_excess(l, 1, &at) > max_hidden_excess;
    if (hidden) s->skip = 0;
    return hidden || excess > max_excess;
}
