/* Elliptical slice sampling with a Gaussian approximation (the paper's Algorithm 1).
 *
 * The target is written as L(x) N(x; μ, Σ) with log L = log π + δ/2. Where the Gaussian is the
 * model's own prior this is Murray, Adams & MacKay's sampler; where it is an approximation with
 * lighter tails than the target, chains get stuck in the tails, which `gess` is the cure for. */
#include "kernel/ellipse.h"

static void root_scales(const gess__update *u, const double *deltas, double *roots)
{
    (void)deltas;
    for (size_t j = 0; j < u->count; j++) roots[j] = 1.0;
}

static const gess__ellipse_family family = {.gaussian = 1, .root_scales = root_scales};

GESS__ELLIPSE_KERNEL(ess, "elliptical slice sampling around a Gaussian")
