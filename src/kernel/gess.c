/* Generalized elliptical slice sampling (R. Nishihara, I. Murray & R. P. Adams, "Parallel MCMC with
 * generalized elliptical slice sampling", JMLR 15 (2014); the paper's Algorithm 2).
 *
 * T is a scale mixture of Gaussians, T = ∫ IG(s; ν/2, ν/2) N(μ, sΣ) ds. Given x, s is drawn from
 * its conditional InvGamma((D + ν)/2, (ν + δ)/2), then x by an elliptical slice update with
 * covariance sΣ and log-likelihood log π − log T. At the cap of ν, s = 1. */
#include "base/mutant.h"
#include "base/vmath.h"
#include "kernel/ellipse.h"

static void root_scales(const gess__update *u, const double *deltas, double *roots)
{
    enum { CHUNK = 64 };
    double nu = u->approx->nu, shape = 0.5 * ((double)u->target->dim + nu);
    if (GESS__MUTANT(SCALE_SHAPE)) shape *= 1.05;
    for (size_t done = 0; done < u->count; done += CHUNK) {
        size_t n = u->count - done < CHUNK ? u->count - done : CHUNK;
        uint32_t chains[CHUNK];
        double gammas[CHUNK];
        for (size_t j = 0; j < n; j++) chains[j] = gess__update_key(u, done + j, GESS__FOR_SCALE).chain;
        if (isinf(nu)) {
            for (size_t j = 0; j < n; j++) roots[done + j] = 1.0;
            continue;
        }
        gess__gammas(gess__update_key(u, 0, GESS__FOR_SCALE), shape, n, chains, gammas);
        for (size_t j = 0; j < n; j++) roots[done + j] = sqrt(0.5 * (nu + deltas[done + j]) / gammas[j]);
    }
}

static const gess__ellipse_family family = {.gaussian = 0, .root_scales = root_scales};

GESS__ELLIPSE_KERNEL(gess, "generalized elliptical slice sampling around a multivariate t")
