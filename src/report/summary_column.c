/* Computes the figures of one column with the functions of diagnose/. summary.c calls it for every column. */
#include "report/summary_column.h"

#include "base/mem.h"
#include "diagnose/coda.h"
#include "diagnose/drift.h"
#include "diagnose/emcee.h"
#include "diagnose/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t first_of(const gess__column_shape *s, size_t m)
{
    return gess__group_first(s->chains, s->ensembles, m);
}

int gess__column_workspace_new(gess__column_workspace *d, const gess__column_shape *s, gess_error *err)
{
    size_t scratch = 2 * (s->draws > s->chains ? s->draws : s->chains), all = s->chains * s->draws;
    if (scratch < all) scratch = all;
    GESS_TRY(gess__posterior_workspace_new(&d->chains, s->chains, s->draws, err));
    GESS_TRY(gess__posterior_workspace_new(&d->means, s->ensembles, s->draws, err));
    size_t groups = gess__compared_groups(s->chains, s->ensembles);
    if (groups > 0)
        GESS_TRY(
            gess__posterior_workspace_new(&d->groups, groups, s->draws * gess__group_common(s->chains, groups), err));
    GESS_TRY(gess__fft_init(&d->fft, s->draws, err));
    GESS_ALLOC(&d->scratch, scratch, err);
    GESS_ALLOC(&d->series, s->ensembles * s->draws, err);
    if (s->circular) GESS_ALLOC(&d->unwrapped, all, err);
    GESS_ALLOC(&d->chain, s->chains, err);
    return GESS_OK;
}

void gess__column_workspace_free(gess__column_workspace *d)
{
    gess__posterior_workspace_free(d->chains);
    gess__posterior_workspace_free(d->groups);
    gess__posterior_workspace_free(d->means);
    gess__fft_free(&d->fft);
    free(d->scratch);
    free(d->series);
    free(d->unwrapped);
    free(d->chain);
}

/* The mean over the chains of each ensemble at each draw. */
static void mean_series(const gess__column_shape *s, const double *x, double *series)
{
    memset(series, 0, s->ensembles * s->draws * sizeof *series);
    for (size_t m = 0; m < s->ensembles; m++) {
        size_t first = first_of(s, m), end = first_of(s, m + 1);
        for (size_t c = first; c < end; c++)
            for (size_t i = 0; i < s->draws; i++)
                series[m * s->draws + i] += x[c * s->draws + i] / (double)(end - first);
    }
}

/* Geweke's z of the mean over all chains at each draw, because the chains of an ensemble drift jointly. */
static double geweke_of_means(const gess__column_shape *s, const double *series, double *mean, double *scratch)
{
    memset(mean, 0, s->draws * sizeof *mean);
    for (size_t m = 0; m < s->ensembles; m++) {
        double share = (double)(first_of(s, m + 1) - first_of(s, m)) / (double)s->chains;
        for (size_t i = 0; i < s->draws; i++) mean[i] += share * series[m * s->draws + i];
    }
    return gess__coda_geweke(s->draws, mean, scratch);
}

/* drift_z of the mean over chains, in normal scores of ranks, so that it exists for any tail. Series that are
 * independent of each other: the chains or, if these interact, the means over the chains of each ensemble. */
static double drift_of(const gess__column_shape *s, gess__column_workspace *d)
{
    if (!gess__posterior_scores(d->chains, d->scratch)) return NAN;
    if (!s->interacting) return gess__drift_z(s->chains, s->draws, d->scratch);
    mean_series(s, d->scratch, d->series);
    return gess__drift_z(s->ensembles, s->draws, d->series);
}

/* The figures of draws on a line. */
static void summarise_line(gess__figures *f, const gess__column_shape *s, const double *x, gess__column_workspace *d)
{
    gess__posterior_figures p;
    gess__tail_index tail;
    gess__posterior_all_chains(d->chains, x, &p, d->chain);
    gess__tail_index_of(d->chains, &tail);
    double drift = drift_of(s, d);
    mean_series(s, x, d->series);
    gess__posterior_load(d->means, d->series);
    *f = (gess__figures){
        .mean = p.mean,
        .sd = p.sd,
        .mcse_mean = p.mcse_mean,
        .q5 = p.q5,
        .q50 = p.median,
        .q95 = p.q95,
        .ess_bulk = p.ess_bulk,
        .ess_tail = p.ess_tail,
        .ess_coda = gess__coda_effective_size(s->chains, s->draws, x, d->scratch),
        .geweke = geweke_of_means(s, d->series, d->scratch, d->scratch + s->draws),
        .tau = gess__emcee_time(&d->fft, s->chains, s->draws, x, d->scratch),
        .mcse_sd = p.mcse_sd,
        .mcse_q5 = p.mcse_q5,
        .mcse_q50 = p.mcse_median,
        .mcse_q95 = p.mcse_q95,
        /* the overall mean is the mean of the ensembles' series */
        .mcse_series = gess__posterior_mcse_mean(d->means),
        .r_hat = p.rhat,
        .r_hat_chains = p.rhat,
        .r_hat_ensembles = NAN,
        .r_hat_nested = NAN,
        .tail_index = tail.index,
        .tail_index_se = tail.se,
        .tail = tail,
        .drift_z = drift,
        .circle_length = NAN,
    };
    size_t groups = gess__compared_groups(s->chains, s->ensembles);
    if (groups > 0 &&
        (s->ensembles > 1 || !s->interacting)) { /* groups of one ensemble must not influence each other */
        double rhat = gess__rhat_of_groups(d->groups, s->chains, groups, s->draws, x, d->scratch);
        *(s->ensembles > 1 ? &f->r_hat_ensembles : &f->r_hat_nested) = rhat;
        if (s->ensembles > 1 && !(rhat <= f->r_hat)) f->r_hat = rhat;
    }
    gess__compare_chains(s->chains, s->draws, d->chain, d->scratch, &f->chains);
}

/* The figures of draws on a circle: those of a line for the draws as they lie from the cut on, but for mean, sd and
 * their errors. */
static void summarise_circle(gess__figures *f, const gess__column_shape *s, const gess__circle *circle, const double *x,
                             gess__column_workspace *d)
{
    static const gess__tail_index none = {.index = NAN,
                                          .se = NAN,
                                          .far_index = NAN,
                                          .far_se = NAN,
                                          .inefficiency = NAN};
    size_t all = s->chains * s->draws;
    gess__circular_figures c;
    gess__circular_of(circle, all, x, &c);
    gess__posterior_load(d->chains, x);
    gess__line_moments raw = {gess__posterior_mean(d->chains), gess__posterior_sd(d->chains),
                              gess__posterior_mcse_mean(d->chains), gess__posterior_mcse_sd(d->chains)};
    gess__circular_errors(circle, all, x, d->chains, d->scratch, &c);
    if (isfinite(c.cut)) gess__circular_unwrap(circle, c.cut, all, x, d->unwrapped);
    summarise_line(f, s, isfinite(c.cut) ? d->unwrapped : x, d);
    f->mean = c.mean;
    f->sd = c.sd;
    f->mcse_mean = c.mcse_mean;
    f->mcse_sd = c.mcse_sd;
    f->tail = none;
    f->tail_index = f->tail_index_se = NAN;
    f->circle_length = c.length;
    f->circle_cut = c.cut;
    f->moments = raw;
}

void gess__summarise_column(gess__figures *f, const gess__column_shape *s, const gess__circle *circle, const double *x,
                            gess__column_workspace *d)
{
    if (gess__is_circle(circle)) {
        summarise_circle(f, s, circle, x, d);
        return;
    }
    summarise_line(f, s, x, d);
    if (circle->interval) { /* moments exist; how slow its tails are is still of interest */
        f->tail.index = f->tail.se = f->tail.far_index = f->tail.far_se = NAN;
        f->tail_index = f->tail_index_se = NAN;
    }
    f->moments = (gess__line_moments){f->mean, f->sd, f->mcse_mean, f->mcse_sd};
}

gess__figures gess__figures_shown(const gess__figures *figures)
{
    gess__figures f = *figures;
    gess__moments_known moments = gess__moments_of(&f.tail);
    if (moments >= GESS__NO_SD) f.sd = f.mcse_sd = f.mcse_mean = f.mcse_series = NAN;
    if (moments >= GESS__NO_MEAN) f.mean = NAN;
    if (gess__circular_no_mean(f.ess_bulk, f.circle_length)) f.mean = f.mcse_mean = NAN;
    return f;
}
