/* Tail index of one parameter: how fast the outermost draws thin out, and whether mean and sd exist.
 *
 * The index k is the shape of the generalised Pareto distribution, P(X > u + y) = (1 + k y / σ)^(-1/k), of the draws
 * beyond a threshold u: 1 for a Cauchy, 1/ν for a t, 0 for an exponential tail, negative for a bounded one. Moments of
 * order 1/k and above do not exist. Estimator: J. Zhang and M. A. Stephens, "A new and efficient estimation method for
 * the generalized Pareto distribution", Technometrics 51 (2009), 316-325, as in R's packages loo and posterior, without
 * their prior on k. docs/specification.md has the formulas. */
#ifndef GESS_DIAGNOSE_TAIL_INDEX_H
#define GESS_DIAGNOSE_TAIL_INDEX_H

#include "diagnose/posterior.h"

typedef struct gess__tail_index {
    double index, se; /* of the outer tenth of the draws on each side, or on the heavier side; NaN: not known */
    double far_index; /* local index further out; below `index` if the tail becomes lighter, as a lognormal's */
    double far_se;
    double inefficiency; /* draws in the tail per independent one, at least 1 */
    bool beside_heavy;   /* another parameter of the run has no mean; the caller's to set */
} gess__tail_index;

/* Of the draws loaded last, which the call does not change. All NaN for fewer than 500 draws, non-finite draws, and
 * draws that mostly tie. */
void gess__tail_index_of(gess__posterior_workspace *work, gess__tail_index *out);

/* What the index says about the moments, in ascending order of what is lost. */
typedef enum gess__moments_known {
    GESS__MOMENTS_EXIST,
    GESS__SD_DOUBTFUL, /* an index of 1/2 is within one standard error, or the index is above it by less than two */
    GESS__NO_SD,       /* the index is above 1/2 beyond its error */
    /* it cannot be shown to be below 1, or is above 0.65 to 0.7; beside a parameter without mean, above 0.6; in tails
     * that chains explore slowly, above a limit that is lower by its error */
    GESS__NO_MEAN
} gess__moments_known;

gess__moments_known gess__moments_of(const gess__tail_index *tail);

/* Whether draws in the tails are so correlated that the tails have hardly been explored. */
bool gess__tails_slow(const gess__tail_index *tail);

#endif
