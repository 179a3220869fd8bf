/* Mean, quantiles, R-hat, ESS and Monte Carlo standard errors of one parameter, equal to those of R's package posterior
 * 1.4.0, after which the files posterior* are named.
 *
 * A. Vehtari, A. Gelman, D. Simpson, B. Carpenter and P.-C. Bürkner, "Rank-normalization, folding,
 * and localization: an improved R-hat", Bayesian Analysis 16 (2021), 667-718.
 *
 * Draws are chains × n: x[chain * n + draw]. A figure is NaN if posterior returns NA: for constant draws (a range
 * below 2.2e-16, whatever the scale), mostly for non-finite draws, and for series too short to split. A figure
 * depends only on x. Only _new() allocates. */
#ifndef GESS_DIAGNOSE_POSTERIOR_H
#define GESS_DIAGNOSE_POSTERIOR_H

#include "base/status.h"

/* Scratch memory for one thread: about 32 bytes per draw. */
typedef struct gess__posterior_workspace gess__posterior_workspace;

/* Room for chains × n draws, both at least 1, their product below 2^32. */
int gess__posterior_workspace_new(gess__posterior_workspace **out, size_t chains, size_t n, gess_error *err);
void gess__posterior_workspace_free(gess__posterior_workspace *work);

/* Sorts the draws. They stay the caller's, and must not change while figures of them are computed. Every function below
 * is about the draws loaded last. */
void gess__posterior_load(gess__posterior_workspace *work, const double *x);

double gess__posterior_mean(const gess__posterior_workspace *work);
double gess__posterior_sd(const gess__posterior_workspace *work);
double gess__posterior_quantile(const gess__posterior_workspace *work, double p); /* R's type 7 */

/* Split R-hat of normal scores: the larger of the R-hat of the draws and the R-hat of their distances from the median.
 */
double gess__posterior_rhat(gess__posterior_workspace *work);

/* Effective sample sizes; that of a quantile is of the indicator of being at or below it. */
double gess__posterior_ess_bulk(gess__posterior_workspace *work);
double gess__posterior_ess_tail(gess__posterior_workspace *work);
double gess__posterior_ess_mean(gess__posterior_workspace *work);
double gess__posterior_ess_quantile(gess__posterior_workspace *work, double p);

/* Monte Carlo standard errors, in units of the parameter. */
double gess__posterior_mcse_mean(gess__posterior_workspace *work);
double gess__posterior_mcse_sd(gess__posterior_workspace *work);
double gess__posterior_mcse_quantile(gess__posterior_workspace *work, double p);

/* All figures of a parameter; intermediate results are shared. */
typedef struct gess__posterior_figures {
    double mean, sd, q5, median, q95;
    double rhat, ess_bulk, ess_tail, ess_mean;
    double mcse_mean, mcse_sd, mcse_q5, mcse_median, mcse_q95;
} gess__posterior_figures;

void gess__posterior_all(gess__posterior_workspace *work, const double *x, gess__posterior_figures *figures);

/* Figures of one chain. Normal scores are those of R-hat: of ranks among the draws of all chains, so that their means
 * exist for any tail. NaN if there are no scores. */
typedef struct gess__posterior_chain {
    double lowest, q25, median, q75, highest; /* of the chain's draws */
    double mean, sd;                          /* of its normal scores */
    double first, last;                       /* means of the scores of its first and last half */
} gess__posterior_chain;

/* The same figures, and one entry of `chains` per chain; NULL: none. */
void gess__posterior_all_chains(gess__posterior_workspace *work, const double *x, gess__posterior_figures *figures,
                                gess__posterior_chain *chains);

/* The normal scores of the draws loaded last, scores[chains × n]. The middle draw of an odd n, which R-hat drops, gets
 * the mean of its neighbours'. False if there are none. */
bool gess__posterior_scores(gess__posterior_workspace *work, double *scores);

/* The highest draws of a parameter, and whether a few chains alone reach them: at most every eighth, but at least one.
 * Of the possible numbers of such chains it is the one with the widest gap to the highest draw of the others. The mean
 * excess is that of the highest 1 % of draws, at least 20, over the draw below them; of the upper half, if more than a
 * quarter of them are equal to that draw. NaN if draws are not finite, too few, or all equal. (posterior_top.c) */
typedef struct gess__posterior_top_figures {
    double highest;     /* of all draws */
    double median;      /* of all draws */
    size_t chain, draw; /* where it is */
    size_t few;         /* chains that reach above all others; 0: there is one chain */
    size_t above;       /* their draws above all draws of the others */
    double others;      /* the highest draw of the other chains */
    double gap;         /* the lowest of the few chains' highest draws, minus that */
    double excess;      /* mean excess of the other chains */
    double excess_all;  /* mean excess of all chains */
} gess__posterior_top_figures;

extern const gess__posterior_top_figures gess__posterior_no_top; /* all of it unknown */

/* Of the draws loaded last. */
void gess__posterior_top(gess__posterior_workspace *work, gess__posterior_top_figures *top);

#endif
