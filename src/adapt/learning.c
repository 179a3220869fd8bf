/* Refits T after every stage of warm-up, calls the map search or the choice of moves for `auto`, and tells stages.c
 * whether there is still something to learn. schedule/pooled.c calls it. */
#include "adapt/learning.h"

#include "adapt/laplace.h"
#include "adapt/map_search.h"
#include "adapt/move_mix.h"
#include "base/assert.h"
#include "base/mem.h"
#include "transform/scale.h"

#include <math.h>
#include <stdlib.h>

int gess__learning_new(gess__learning **learning, gess__adaptation *a, int all, gess_error *err)
{
    GESS_ASSERT(a->ensemble != NULL && (!all || a->ensemble->frozen.mixture != NULL));
    gess__ensemble *e = a->ensemble;
    GESS_ALLOC(learning, 1, err);
    gess__learning *l = *learning;
    l->adaptation = a;
    l->ensemble = e;
    if (a->warmup.over) return GESS_OK;
    GESS_TRY(gess__fitter_new_pooled(&l->fitter, e->target.dim, a->window.room * e->chains.count, e->team, err));
    GESS_TRY(gess__approx_new(&l->spare, e->target.dim, err));
    if (!all) return GESS_OK;
    if (gess__laplace_affordable(l)) GESS_TRY(gess__laplace_new(&l->laplace, e->target.dim, err));
    GESS_TRY(gess__move_value_new(&l->value, e->target.dim, err));
    return gess__map_search_new(&l->search, l, err);
}

void gess__learning_free(gess__learning *l)
{
    if (l == NULL) return;
    gess__fitter_free(l->fitter);
    gess__approx_free(l->spare);
    gess__laplace_free(l->laplace);
    gess__map_search_free(l->search);
    gess__move_value_free(l->value);
    free(l);
}

/* ---- T from the window ---- */

void gess__learning_fit(gess__learning *l, const gess__pool *pool, gess__pool_report *report)
{
    gess__learning_state *s = &l->state;
    gess__fit_pooled(l->fitter, pool, gess__laplace_t(l), l->ensemble->frozen.approx, l->spare, report);
    l->fit = report->fit;
    s->fits++;
    l->ensemble->rebind = 1;
    s->gain = report->gain;
    s->score = report->score; /* mixtures are compared with it */
    s->shrunk_to_laplace = report->shrunk_to_target;
    /* a gain over the fit is no news while T comes from the Laplace approximation */
    if (!s->by_laplace && report->gain > 2.0 * gess__fit_allowance(l->ensemble->target.dim))
        l->adaptation->warmup.moved = 1;
}

/* Whether the noise of the fit still matters, in nats of log T per draw. It costs a quarter of the gap: a fit to all
 * draws has half the noise of a fit to half of them, and half of the gap is the overfit to the fitted half. */
static int is_noisy(gess__learning *l, const gess__pool *pool, const gess__pool_report *report)
{
    gess__learning_state *s = &l->state;
    double dim = (double)l->ensemble->target.dim;
    s->score = report->score;
    s->gap = report->gap;
    s->shrinkage = report->shrinkage;
    s->shrunk_to_laplace = report->shrunk_to_target;
    /* a full window has as many draws as it will ever have: p parameters cost p / 2n nats */
    double max = gess__fit_allowance(l->ensemble->target.dim), parameters = 0.5 * dim * (dim + 3.0),
           count = (double)(pool->half + pool->rest);
    double min = l->adaptation->window.stride > 1 ? 1.3 * parameters / (2.0 * count) : 0.0;
    return 0.25 * s->gap > (max > min ? max : min);
}

/* ---- what `auto` adds ---- */

/* Whether the chains have hardly moved since the window began, judged by the draws that its updates are worth. If so,
 * similar draws do not mean that T is good. */
static int hardly_moved(const gess__learning *l)
{
    const double min_draws = 25.0;
    const gess__learning_state *s = &l->state;
    double evals = (double)(gess__ensemble_done(l->ensemble) - l->adaptation->window.start) *
                   l->adaptation->warmup.evals_per_update;
    return evals * gess__max(s->ellipse, s->independence) < min_draws;
}

/* Whether T with a learned map has become much better in the last stage. A map is learned from where the chains are,
 * and opens the way to where they are not yet, such as the necks of funnels: as long as it improves, they have not
 * arrived. */
static int rises(const gess__economy *e)
{
    const double rise = 1.3;
    return e->rate > rise * e->rate_before;
}

/* Whether too few slices along the drivers of a scale layer, one in sixteen iterations, have brought chains into the
 * necks and the wide ends that the map opens. */
static int hardly_sliced(const gess__learning *l)
{
    const uint64_t min_iterations = 64;
    const gess__ensemble *e = l->ensemble;
    if (e->frozen.map == NULL || gess__scale_driver(e->frozen.map, 0.5) == e->target.dim) return 0;
    return gess__ensemble_done(e) - l->adaptation->window.start < min_iterations;
}

/* Starts the next fit from the ν that the data gave, not from the one that was capped for independence moves. */
static void restore_nu(gess__learning *l)
{
    const double heavy = 30.0; /* a fit does not come down from no tails at all */
    const gess__learning_state *s = &l->state;
    gess__frozen *f = &l->ensemble->frozen;
    if (f->mixture->count == 1 && s->fitted_nu[0] > 0.0)
        f->approx->nu = s->by_laplace ? gess__min(s->fitted_nu[0], heavy) : s->fitted_nu[0];
}

int gess__learning_assess(gess__learning *l)
{
    gess__pool_report report = {0};
    gess__pool pool = gess__window_pack(&l->adaptation->window);
    if (l->search == NULL) {
        gess__learning_fit(l, &pool, &report);
        return is_noisy(l, &pool, &report);
    }
    restore_nu(l);
    gess__learning_fit(l, &pool, &report);
    if (gess__map_search_due(l))
        gess__map_search_run(l, &pool, &report);
    else
        gess__move_mix_choose(l);
    gess__economy *economy = &l->adaptation->warmup.economy;
    economy->rate = l->state.searches > 0 ? l->state.rate : 0.0;
    economy->unsure = l->state.layers > 0 && (l->state.unconfirmed || rises(economy) || hardly_sliced(l));
    if (l->state.searches > 0 && gess__map_search_doubts(l, &pool)) economy->unsure = 1;
    int more = l->state.searches == 0 || l->state.improving, noisy = is_noisy(l, &pool, &report);
    return (noisy && !l->state.by_laplace) || more || hardly_moved(l);
}

/* ---- checkpoints ---- */

void gess__learning_archive(gess__learning *l, gess__archive *a)
{
    gess__learning_state *s = &l->state;
    GESS_ARCHIVE(a, s);
    GESS_ARCHIVE(a, &l->fit);
    if (a->bad) return;
    /* the run may have been made for fewer evaluations to come */
    if ((s->laplace_found || s->laplace_stopped) && l->laplace == NULL &&
        gess__laplace_new(&l->laplace, l->ensemble->target.dim, NULL) != GESS_OK)
        a->bad = 1;
    if (s->laplace_found && !a->bad) gess__frozen_archive_approx(gess__laplace_approx(l->laplace), a);
    if (s->laplace_stopped && !a->bad) gess__laplace_archive(l->laplace, a);
}
