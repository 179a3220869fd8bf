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

/* Where an ascent begins, and when it ends. */
typedef struct gess__ascent {
    const double *point; /* dim */
    double value;        /* the log density there */
    const double *frame; /* dim × dim, column-major: directions as long as the density is wide along them; or NULL */
    const double *scale; /* dim: lengths along the coordinates, if there is no frame */
    uint64_t max_evals;
    /* Whether an ascent may end at this point, since the place is known; or NULL. */
    int (*arrived)(void *user, const double *point, double value);
    void *user;
} gess__ascent;

/* How an ascent ended: without a maximum, out of evaluations, at a place that is known, or at a maximum. */
enum gess__ascent_end { GESS__ASCENT_LOST, GESS__ASCENT_TOO_LONG, GESS__ASCENT_ARRIVED, GESS__ASCENT_FOUND };

/* Ascends to a maximum, which is then gess__laplace_top(), with the Laplace approximation there in
 * gess__laplace_approx() if *end is GESS__ASCENT_FOUND. The evaluations are counted in the ensemble's tally. An ascent
 * that the end of the run stops (GESS_ERR_STOPPED) counts nothing, and must begin again. An error of the model ends it
 * without a result. */
int gess__laplace_ascend(gess__laplace *laplace, gess__ensemble *ensemble, const gess__record *record,
                         const gess__ascent *ascent, enum gess__ascent_end *end, gess_error *err);

/* The highest point that the last ascent has reached, and its log density. */
const double *gess__laplace_top(const gess__laplace *laplace, double *value);

/* The state of a search that was stopped (laplace_stopped). */
void gess__laplace_archive(gess__laplace *laplace, gess__archive *archive);

/* Puts the Laplace approximation in the place of the fitted T if it is better, and returns whether it did. */
int gess__laplace_prefer(gess__learning *l);

/* The Laplace approximation in the present sampling space; NULL if there is none. */
gess__approx *gess__laplace_t(const gess__learning *l);

/* The same in the space of the search, for checkpoints; valid if laplace_found. */
gess__approx *gess__laplace_approx(gess__laplace *laplace);

#endif
