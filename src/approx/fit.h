/* Fits of the approximation T to points.
 *
 * The paper's rule (section 4.2): with at least 2D points the maximum-likelihood t by ECME; with
 * fewer, a t in the span of the first principal components, padded to full rank. Both are
 * deterministic functions of the points (and of the warm start, if there is one), never fail, and
 * allocate nothing.
 *
 * A warm start makes the result depend on the earlier fit in its last digits. The two-group
 * schedule must therefore start cold: its fit may depend on the other group's present states and
 * on nothing else. */
#ifndef GESS_APPROX_FIT_H
#define GESS_APPROX_FIT_H

#include "approx/fit_blocks.h"

typedef struct gess__fitter gess__fitter;

/* Workspace for fits of up to `points` points in `dim` dimensions: O(points·dim + dim²) memory. */
int gess__fitter_new(gess__fitter **fitter, size_t dim, size_t points, gess_error *err);
void gess__fitter_free(gess__fitter *fitter);

typedef struct gess__fit_settings {
    double tolerance; /* of the log-likelihood per point and of every parameter */
    unsigned max_iterations;
    int warm;     /* start from the approximation passed in */
    int thorough; /* make a second cold start, from the Gaussian, and keep the better result */
} gess__fit_settings;

/* For samplers, which need no more than a T close to the maximum. */
#define GESS__FIT_QUICK ((gess__fit_settings){1e-5, 100, 0, 0})
/* For the command `gess fit`. */
#define GESS__FIT_EXACT ((gess__fit_settings){1e-11, 20000, 0, 1})

typedef struct gess__fit_report {
    double loglik; /* of all points under the fitted T */
    unsigned iterations;
    int converged;
    int ridged;  /* a ridge was needed to make Σ positive definite */
    size_t rank; /* D, or the dimension of the projection */
} gess__fit_report;

/* Fits by the paper's rule. `points` is count × dim, row-major, all finite; count >= 1. */
void gess__fit(gess__fitter *fitter, size_t count, const double *points, gess__fit_settings settings,
               gess__approx *approx, gess__fit_report *report);

/* ECME for any count >= 1 (fit_ecme.c). `dim` may be less than the fitter's. */
void gess__fit_student_t(gess__fitter *fitter, size_t dim, size_t count, const double *points,
                         gess__fit_settings settings, gess__approx *approx, gess__fit_report *report);

/* The projected fit, count < 2 dim (fit_projected.c). */
void gess__fit_projected(gess__fitter *fitter, size_t count, const double *points, gess__fit_settings settings,
                         gess__approx *approx, gess__fit_report *report);

/* The points of a warm-up window: `half` from one half of the chains, then `rest` from the other half. The last
 * `half_new` and `rest_new` points of the halves are the newest. */
typedef struct gess__pool {
    size_t half, half_new, rest, rest_new;
    const double *points;
} gess__pool;

typedef struct gess__pool_report {
    double gain;      /* mean log T of the newest draws: under the new fit (to the other half) minus under the old T */
    double score;     /* mean log T of draws under the fit to the other half, for the best λ */
    double gap;       /* mean log T of draws under the fit to their own half, minus the score */
    double shrinkage; /* λ */
    int shrunk_to_target; /* the shrinkage target is `target`, not the diagonal */
    gess__fit_report fit;
} gess__pool_report;

/* Fits T to a warm-up window (fit_pooled.c). `approx` is the warm start and the result, `spare` scratch. `target`, if
 * not NULL, is a second T that Σ may be shrunk towards. */
void gess__fit_pooled(gess__fitter *fitter, const gess__pool *pool, const gess__approx *target, gess__approx *approx,
                      gess__approx *spare, gess__pool_report *report);

/* Convergence tolerance of mean log T, nats per draw. */
double gess__fit_allowance(size_t dim);

/* Allocates what thorough fits need. */
int gess__fitter_thorough(gess__fitter *fitter, gess_error *err);

/* A fitter for gess__fit_pooled() only. The team, if not NULL, shares the work. */
int gess__fitter_new_pooled(gess__fitter **fitter, size_t dim, size_t points, gess__team *team, gess_error *err);

/* Log-likelihood of the points under T; uses the fitter's workspace (fit_ecme.c). */
double gess__fit_log_likelihood(gess__fitter *fitter, size_t count, const double *points, const gess__approx *approx);

/* The workspace of all fits of this folder but the mixture's. Sizes in doubles. */
struct gess__fitter {
    size_t dim, points;
    double *weights; /* points */
    double *deltas;  /* points */
    double *centred; /* points × dim */
    gess__fit_blocks blocks;
    double *solved;                      /* dim × rank */
    double *square;                      /* dim × dim */
    double *mean;                        /* dim */
    double *previous_mu, *previous_chol; /* dim, dim × dim: the parameters before an iteration */
    gess__approx *saved;                 /* thorough fits only: the first of two results */
    double *scales;                      /* dim */
    /* projected fit only (points < 2 dim) */
    double *projected;   /* points × rank */
    double *gram;        /* points × points */
    double *values;      /* points */
    double *axes;        /* dim × rank */
    double *eigen_work;  /* gess__eigen_work(points) */
    gess__approx *inner; /* rank dimensions */
    /* pooled fit only */
    gess__approx *other, *trial; /* dim dimensions */
};

/* Sets approx->chol to the Cholesky factor of the scale matrix whose lower triangle is in `square`, which
 * is overwritten. Adds a ridge if the factor does not exist, and then returns 1. `scales` is scratch (dim). */
int gess__ridged_cholesky(size_t dim, double *square, double *scales, const double *centre, gess__approx *approx);

#endif
