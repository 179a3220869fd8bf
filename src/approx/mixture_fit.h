/* Inside of the fit of a mixture of t: its workspace and its steps, shared by mixture_fit.c (EM), mixture_size.c (the
 * choice of the size) and mixture_seed.c (where EM starts), and looked into by the tests.
 *
 * All of it works on whitened points, z = L⁻¹(x − μ) with μ and L of the single t, so that nothing depends on the
 * user's units and a ridge means that a component has collapsed beside the single t. */
#ifndef GESS_APPROX_MIXTURE_FIT_H
#define GESS_APPROX_MIXTURE_FIT_H

#include "approx/fit_blocks.h"
#include "approx/mixture.h"

#include <stdint.h>

enum { GESS__MIXTURE_HISTORY = 64 };

/* Sizes in doubles; M is GESS__MAX_COMPONENTS. */
struct gess__mixture_fitter {
    size_t dim, points;
    double pseudo;                       /* points that the prior of every Σ_j counts for */
    double *white, *rows;                /* points × dim: the whitened points; scratch */
    double *deltas, *shares;             /* M × points: δ of every point in every component; who made the point */
    double *logs, *best_logs;            /* points: log T of every point under the fit to the other half */
    double *factors, *packed, *distance; /* points: scratch */
    double *square, *scales, *mean;      /* dim × dim, dim, dim: scratch */
    gess__fit_blocks hands;
    double *inverses, *shifts;      /* M × dim × dim, M × dim: for deltas */
    double *within;                 /* dim × dim, lower: Σ within components, the prior's centre */
    gess__approx *metric;           /* its factor is that of distances between seeds */
    gess__approx *prior;            /* its factor */
    double *centres, *best_centres; /* M × dim */
    unsigned *labels;               /* points */
    gess__approx *standard;         /* its factor: distances between points, each coordinate beside its spread */
    gess__mixture *trial, *spare, *better, *best;
    double history[GESS__MIXTURE_HISTORY]; /* of the last climb since it last dropped a component: its objective */
    size_t recorded;
};

typedef struct gess__mixture_settings {
    unsigned max_iterations;
    double tolerance; /* of the objective for each point */
} gess__mixture_settings;

/* δ of every point in every component of f->trial. */
void gess__mixture_set_deltas(gess__mixture_fitter *f, size_t n, const double *white);

/* Shares, and log T into `logs`, of n points whose deltas are set. Returns the sum of log T. */
double gess__mixture_expect(gess__mixture_fitter *f, size_t n, double *logs);

/* EM from f->trial to n whitened points: the sum of log T, plus the log prior of every Σ_j where f->pseudo is not 0,
 * rises until it moves by less than the tolerance. Components that collapse are dropped; with none left
 * f->trial->count is 0. Returns the number of iterations. (Between gess__blas_begin() and gess__blas_end().) */
unsigned gess__mixture_em(gess__mixture_fitter *f, size_t n, const double *white, gess__mixture_settings settings);

/* Makes f->trial a mixture of up to `count` components to start from: k-means of the points, the outer ones drawn in
 * by the weights of a t with `nu` degrees of freedom; and sets the prior. Returns false where that cannot be. */
bool gess__mixture_seed(gess__mixture_fitter *f, size_t count, size_t n, const double *white, double nu,
                        uint32_t which);

/* μ_j from the points' shares and deltas, and Σ (share) u (z − μ_j)(z − μ_j)ᵀ into f->square, lower triangle.
 * Returns the sum of (share) u; the sum of shares goes to *share. */
double gess__mixture_scatter(gess__mixture_fitter *f, size_t j, size_t n, const double *white, double *share);

/* Makes f->within (lower triangle) the prior's centre. False where it needs a ridge. */
bool gess__mixture_set_prior(gess__mixture_fitter *f);

/* The M step; drops what collapses, and sets deltas. `held`: not ν, and not the deltas. */
void gess__mixture_maximise(gess__mixture_fitter *f, size_t n, const double *white, bool held);

#endif
