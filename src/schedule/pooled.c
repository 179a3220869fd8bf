/* Pooled adaptation: T is fitted to the draws of all chains in the last warm-up window, then frozen.
 *
 * While T is being learned, chains are updated with a T that depends on their own past, which is
 * not invariant: warm-up draws are thrown away. After it T does not change, so every chain is plain
 * generalized elliptical slice sampling, exact and independent of the others given T and where
 * warm-up left them. `auto` is this schedule with what refine.c adds. */
#include "adapt/window.h"
#include "adapt/map_search.h"
#include "adapt/laplace.h"
#include "schedule/all_chains.h"

#include <math.h>
#include <string.h>

static int open_pooled(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    (void)options;
    e->rebind = 1;
    if (e->warmup.over) return GESS_OK;
    GESS_TRY(gess__fitter_new_pooled(&e->fitter, e->target.dim, e->window.room * e->chains.count, e->team, err));
    return gess__approx_new(&e->spare, e->target.dim, err);
}

static int open_auto(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    GESS_TRY(open_pooled(e, options, err));
    e->period = 1;
    GESS_TRY(gess__mixture_new(&e->mixture, e->target.dim, err));
    if (e->warmup.over) return GESS_OK;
    if (gess__laplace_affordable(e)) GESS_TRY(gess__laplace_new(&e->summit, e, err));
    return gess__map_search_new(&e->refiner, e, err);
}

gess__pool gess__window_pack(gess__ensemble *e)
{
    gess__window *w = &e->window;
    size_t dim = e->target.dim, chains = e->chains.count, half = chains / 2;
    size_t new = w->draws - (size_t)((w->stage - w->start) / w->stride);
    double *first = w->packed, *second = w->packed + w->draws * half * dim;
    for (size_t i = 0; i < w->draws; i++) {
        const double *row = w->points + i * chains * dim;
        memcpy(first + i * half * dim, row, half * dim * sizeof *row);
        memcpy(second + i * (chains - half) * dim, row + half * dim, (chains - half) * dim * sizeof *row);
    }
    return (gess__pool){.half = w->draws * half,
                        .half_new = new *half,
                        .rest = w->draws *(chains - half),
                        .rest_new = new *(chains - half),
                        .points = w->packed};
}

/* What still counts, in nats of log T for a draw. A gain of the new fit over the old one on the
 * newest draws means that the ensemble has moved. A quarter of the gap is what the fit's own noise
 * costs: fits to all draws have half the noise of fits to half of them, and half of the gap is the
 * fitted half's flattery. */
static int weigh(gess__ensemble *e, const gess__pool *pool, const gess__pool_report *report)
{
    gess__warmup *u = &e->warmup;
    double dim = (double)e->target.dim;
    u->score = report->score;
    u->gap = report->gap;
    u->shrinkage = report->shrinkage;
    u->leans = report->leans;
    /* a window that is full has as many draws as it will ever have: p parameters cost p / 2n nats */
    double most = gess__fit_allowance(e->target.dim), parameters = 0.5 * dim * (dim + 3.0),
           count = (double)(pool->half + pool->rest);
    double least = e->window.stride > 1 ? 1.3 * parameters / (2.0 * count) : 0.0;
    return 0.25 * u->gap > (most > least ? most : least);
}

static void fit(gess__ensemble *e, const gess__pool *pool, gess__pool_report *report)
{
    gess__fit_pooled(e->fitter, pool, gess__laplace_t(e), e->approx, e->spare, report);
    e->fit = report->fit;
    e->fits++;
    e->rebind = 1;
    e->warmup.gain = report->gain;
    /* beside what the summit's T says of the draws, a gain is no news */
    if (!e->warmup.by_summit && report->gain > 2.0 * gess__fit_allowance(e->target.dim)) e->warmup.moved = 1;
}

static int look(gess__ensemble *e)
{
    gess__pool_report report = {0};
    gess__pool pool = gess__window_pack(e);
    fit(e, &pool, &report);
    return weigh(e, &pool, &report);
}

/* Whether the chains have hardly moved since the window began, by what its updates are worth: then that all looks alike
 * says nothing. */
static int idle(const gess__ensemble *e)
{
    const double least = 25.0;
    const gess__warmup *u = &e->warmup;
    double evals = (double)(gess__ensemble_done(e) - e->window.start) * u->each;
    return evals * fmax(u->ellipse, u->independence) < least;
}

static int look_auto(gess__ensemble *e)
{
    gess__pool_report report = {0};
    gess__pool pool = gess__window_pack(e);
    const double heavy = 30.0; /* a fit does not come down from no tails at all */
    if (e->mixture->count == 1 && e->warmup.fitted_nu[0] > 0.0)
        e->approx->nu = e->warmup.by_summit ? fmin(e->warmup.fitted_nu[0], heavy) : e->warmup.fitted_nu[0];
    fit(e, &pool, &report);
    if (gess__map_search_due(e))
        gess__map_search_run(e, &pool, &report);
    else
        gess__move_mix_choose(e);
    int more = e->warmup.refines == 0 || e->warmup.improving, noisy = weigh(e, &pool, &report);
    return (noisy && !e->warmup.by_summit) || more || idle(e);
}

const gess__schedule gess__schedule_pooled = {
    .name = "pooled",
    .help = "fit to all chains in warm-up, then freeze: no chain waits",
    .min_chains = 2,
    .fits_windows = 1,
    .open = open_pooled,
    .next = gess__all_chains_next,
    .ran = gess__all_chains_ran,
    .look = look,
};

const gess__schedule gess__schedule_auto = {
    .name = "auto",
    .help = "pooled, with learned maps, a mixture of t and independence moves where they pay",
    .min_chains = 2,
    .fits_windows = 1,
    .learns_maps = 1,
    .open = open_auto,
    .next = gess__all_chains_next,
    .ran = gess__all_chains_ran,
    .look = look_auto,
};
