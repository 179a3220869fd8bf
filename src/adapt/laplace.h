/* A first T from the density itself: the highest point that a climb finds, and the curvature of the log density there.
 *
 * Chains tell a covariance of D (D + 1) / 2 entries only when they have been everywhere, and until then they travel
 * with a T that fits where they have been. Differences tell it at once where the log density is smooth: with about D²
 * evaluations, exactly where it is quadratic. The T that comes of it is one more candidate: it is used as long as
 * log π − log T varies less over the window with it than with the fit, and fits may lean towards it (pooled.c). So it
 * need not be right, nor need there be a summit: funnels have none. */
#ifndef GESS_ADAPT_LAPLACE_H
#define GESS_ADAPT_LAPLACE_H

#include "execute/ensemble.h"

/* Whether the evaluations that warm-up may take are enough for a climb in so many dimensions. */
int gess__laplace_affordable(const gess__ensemble *e);

int gess__laplace_new(gess__laplace **summit, const gess__ensemble *e, gess_error *err);
void gess__laplace_free(gess__laplace *summit);

/* After the first stage, from its highest chain. The evaluations are spread over the team and counted. A climb that is
 * stopped (GESS_ERR_STOPPED) goes on where it was when it is asked for again; one that meets an error of the model ends
 * without a summit. */
int gess__laplace_search(gess__ensemble *e, const gess__record *record, gess_error *err);

/* How a climb stands that was stopped (warmup.climbing). */
void gess__laplace_archive(gess__laplace *summit, gess__archive *archive);

/* Puts its T in the place of the fitted one where that is better, and says whether it has. */
int gess__laplace_prefer(gess__ensemble *e);

/* Its T, in the present sampling space; NULL where there is none. */
gess__approx *gess__laplace_t(const gess__ensemble *e);

/* The same in the space of the climb, for checkpoints; of use where warmup.summit says so. */
gess__approx *gess__laplace_approx(gess__laplace *summit);

#endif
