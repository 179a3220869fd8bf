/* The workspace and the steps of the fit of a mixture of t, shared by mixture_fit.c (EM), mixture_size.c (the choice of
 * the number of components), mixture_seed.c (the start of EM) and the tests.
 *
 * Everything works on whitened points, z = L⁻¹(x − μ) with μ and L of the single t, so that nothing depends on the
 * user's units. If a component needs a ridge, it has collapsed relative to the single t. */
#ifndef GESS_APPROX_MIXTURE_FIT_H
#define GESS_APPROX_MIXTURE_FIT_H

#include "approx/fit_blocks.h"
#include "approx/mixture.h"

#include <stdint.h>

enum { GESS__MIXTURE_HISTORY = 64 };

/* Sizes in doubles; M is GESS__MAX_COMPONENTS. */
struct gess__mixture_fitter {
    size_t dim, points;
    double pseudo;            /* weight of the prior of every Σ_j, in points */
    double *white, *rows;     /* points × dim: the whitened points; scratch */
    double *deltas, *shares;  /* M × points: δ of every point in every component; responsibilities r */
    double *logs, *best_logs; /* points: log T of every point under the fit to the other half: latest, best */
    double *factors, *packed, *distance; /* points: scratch */
    double *square, *scales, *mean;      /* dim × dim, dim, dim: scratch */
    gess__fit_blocks blocks;
    double *inverses, *shifts;      /* M × dim × dim, M × dim: for deltas */
    double *within;                 /* dim × dim, lower: the mean Σ within components, the prior's centre S */
    gess__approx *metric;           /* its factor defines distances between points for seeding */
    gess__approx *prior;            /* its factor is that of S */
    double *centres, *best_centres; /* M × dim */
    unsigned *labels;               /* points */
    gess__approx *standard;         /* its factor defines distances in units of each coordinate's spread */
    gess__mixture *trial, *spare, *better, *best;
    double history[GESS__MIXTURE_HISTORY]; /* the objective per iteration of the last EM, since it last dropped a
                                              component */
    size_t recorded;
};

typedef struct gess__mixture_settings {
    unsigned max_iterations;
    double tolerance; /* of the objective, nats per point */
} gess__mixture_settings;

/* Sets δ of every point in every component of f->trial. */
void gess__mixture_set_deltas(gess__mixture_fitter *f, size_t n, const double *white);

/* The E step: sets the shares of n points whose deltas are set, and log T in `logs`. Returns the sum of log T. */
double gess__mixture_expect(gess__mixture_fitter *f, size_t n, double *logs);

/* Fits f->trial, the start, to n whitened points by EM. The objective is the sum of log T plus, if f->pseudo is not 0,
 * the log prior of every Σ_j; iteration ends when it changes by less than the tolerance. Components that collapse are
 * dropped; if none is left, f->trial->count is 0. Returns the number of iterations. */
unsigned gess__mixture_em(gess__mixture_fitter *f, size_t n, const double *white, gess__mixture_settings settings);

/* Sets f->trial to a start for EM with up to `count` components, and sets the prior. The start is a k-means clustering
 * of the points, in which the weights of a t with `nu` degrees of freedom pull outer points inwards. `which` numbers
 * the attempts, which draw different random numbers. Returns false if there is no such start. */
bool gess__mixture_seed(gess__mixture_fitter *f, size_t count, size_t n, const double *white, double nu,
                        uint32_t which);

/* Sets μ_j from the points' shares r and deltas, and the lower triangle of f->square to Σ r u (z − μ_j)(z − μ_j)ᵀ.
 * Returns Σ r u; sets *share to Σ r. */
double gess__mixture_scatter(gess__mixture_fitter *f, size_t j, size_t n, const double *white, double *share);

/* Makes f->within (lower triangle) the prior's centre. Returns false if it needs a ridge. */
bool gess__mixture_set_prior(gess__mixture_fitter *f);

/* The M step: drops components that collapse, then sets the deltas. `held`: leaves ν and the deltas as they are. */
void gess__mixture_maximise(gess__mixture_fitter *f, size_t n, const double *white, bool held);

#endif
