/* A Laplace approximation as a first T: the highest point that a search without gradients finds, and the curvature of
 * the log density there.
 *
 * Chains show a covariance of D (D + 1) / 2 entries only after they have been everywhere; until then T fits only where
 * they have been. If the log density is smooth, second differences show it at once, with about
 * D² evaluations, and exactly if it is quadratic. The T that comes of it is one more candidate: it is used for as long
 * as log π − log T varies less over the window with it than with the fit, and fits may lean towards it
 * (approx/fit_pooled.c). So it need not be right, and there need not be a mode: a funnel has none. */
#ifndef GESS_ADAPT_LAPLACE_H
#define GESS_ADAPT_LAPLACE_H

#include "adapt/learning.h"

/* Whether warm-up may take enough evaluations for a search in this many dimensions. */
int gess__laplace_affordable(const gess__learning *l);

int gess__laplace_new(gess__laplace **laplace, size_t dim, gess_error *err);
void gess__laplace_free(gess__laplace *laplace);

/* Searches for the maximum after the first stage, from its highest chain; later calls do nothing. The evaluations are
 * spread over the team and counted. A search that is stopped (GESS_ERR_STOPPED) goes on at the next call; one that
 * meets an error of the model ends without a result. */
int gess__laplace_search(gess__learning *l, const gess__record *record, gess_error *err);

/* The state of a search that was stopped (laplace_stopped). */
void gess__laplace_archive(gess__laplace *laplace, gess__archive *archive);

/* Puts the Laplace approximation in the place of the fitted T if it is better, and returns whether it did. */
int gess__laplace_prefer(gess__learning *l);

/* The Laplace approximation in the present sampling space; NULL if there is none. */
gess__approx *gess__laplace_t(const gess__learning *l);

/* The same in the space of the search, for checkpoints; valid if laplace_found. */
gess__approx *gess__laplace_approx(gess__laplace *laplace);

#endif
