/* Generalized elliptical slice sampling (R. Nishihara, I. Murray & R. P. Adams, "Parallel MCMC with
 * generalized elliptical slice sampling", JMLR 15 (2014); the paper's Algorithm 2).
 *
 * T is a scale mixture of Gaussians, T = ∫ IG(s; ν/2, ν/2) N(μ, sΣ) ds. Given x, s is drawn from
 * its conditional InvGamma((D + ν)/2, (ν + δ)/2), then x by an elliptical slice update with
 * covariance sΣ and log-likelihood log π − log T. At the cap of ν, s = 1.
 *
 * If T is a mixture, the ellipse is centred on one of its components (ellipse_mixture.h). Some iterations are
 * independence moves instead (independence.h), and some in warm-up are slice updates along a coordinate
 * (coordinate_slice.h); the schedule sets how many in `moves`. */
#include "base/mutant.h"
#include "base/vmath.h"
#include "kernel/coordinate_slice.h"
#include "kernel/ellipse.h"
#include "kernel/ellipse_mixture.h"
#include "kernel/independence.h"

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

static size_t scratch_size(size_t dim, size_t block)
{
    size_t sizes[] = {gess__ellipse_scratch_size(dim, block), gess__ellipse_mixture_scratch_size(dim, block),
                      gess__independence_scratch_size(dim, block), gess__slice_scratch_size(dim, block)};
    size_t largest = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] > largest) largest = sizes[i];
    return largest;
}

static void begin(gess__update *u)
{
    if (gess__coordinate_slice_before(u)) u->rebind = 1;
    if (gess__coordinate_slice_turn(u))
        gess__coordinate_slice_begin(u);
    else if (gess__independence_turn(u))
        gess__independence_begin(u);
    else if (u->mixture != NULL)
        gess__ellipse_mixture_begin(u);
    else
        gess__ellipse_begin(u, &family);
}

static void propose(gess__update *u)
{
    if (gess__coordinate_slice_turn(u))
        gess__slice_propose(u);
    else if (gess__independence_turn(u))
        return; /* begin drew the points */
    else if (u->mixture != NULL)
        gess__ellipse_mixture_propose(u);
    else
        gess__ellipse_propose(u);
}

static int consume(gess__update *u, gess_error *err)
{
    if (gess__coordinate_slice_turn(u)) return gess__coordinate_slice_consume(u, err);
    if (gess__independence_turn(u)) return gess__independence_consume(u, err);
    return u->mixture != NULL ? gess__ellipse_mixture_consume(u, err) : gess__ellipse_consume(u, &family, err);
}

static int predict(const gess__update *u, size_t p, size_t rejections, double *point)
{
    /* the points of a slice depend on densities; an independence move has only one */
    if (gess__coordinate_slice_turn(u) || gess__independence_turn(u)) return 0;
    return u->mixture != NULL ? gess__ellipse_mixture_predict(u, p, rejections, point)
                              : gess__ellipse_predict(u, p, rejections, point);
}

const gess__kernel gess__kernel_gess = {
    .name = "gess",
    .help = "generalized elliptical slice sampling around a multivariate t, or a mixture of them",
    .needs = GESS__NEEDS_APPROX,
    .exact = 1,
    .state_size = gess__ellipse_state_size,
    .scratch_size = scratch_size,
    .begin = begin,
    .propose = propose,
    .consume = consume,
    .predict = predict,
};
