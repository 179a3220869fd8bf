/* Elliptical slice sampling with a Gaussian approximation (the paper's Algorithm 1).
 *
 * The target is written as L(x) N(x; μ, Σ) with log L = log π + δ/2. If the Gaussian is the model's
 * prior, this is Murray, Adams & MacKay's sampler. If it is an approximation with lighter tails than
 * the target, chains get stuck in the tails; `gess` avoids that. */
#include "kernel/ellipse.h"

static void root_scales(const gess__update *u, const double *deltas, double *roots)
{
    (void)deltas;
    for (size_t j = 0; j < u->count; j++) roots[j] = 1.0;
}

static const gess__ellipse_family family = {.gaussian = 1, .root_scales = root_scales};

static void begin(gess__update *u)
{
    gess__ellipse_begin(u, &family);
}

static int consume(gess__update *u, gess_error *err)
{
    return gess__ellipse_consume(u, &family, err);
}

const gess__kernel gess__kernel_ess = {
    .name = "ess",
    .help = "elliptical slice sampling around a Gaussian",
    .needs = GESS__NEEDS_APPROX | GESS__IGNORES_TAILS,
    .exact = 1,
    .state_size = gess__ellipse_state_size,
    .scratch_size = gess__ellipse_scratch_size,
    .begin = begin,
    .propose = gess__ellipse_propose,
    .consume = consume,
    .predict = gess__ellipse_predict,
};
