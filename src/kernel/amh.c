/* Adaptive Metropolis: G. O. Roberts & J. S. Rosenthal, "Examples of adaptive MCMC", JCGS 18 (2009), section 2.
 *
 * Each chain adapts to its history of n states, in warm-up and after it. For n ≤ 2D the proposal is
 * N(x, 0.1² I / D), afterwards 0.95 N(x, 2.38² Σ_n / D) + 0.05 N(x, 0.1² I / D), Σ_n being the history's covariance.
 * Steps that depend on the past leave no distribution invariant, but Σ_n changes less and less, so averages converge.
 */
#include "kernel/metropolis.h"
#include "kernel/running_cov.h"
#include "kernel/tempered.h"

#define SMALL_SHARE 0.05

static uint64_t warmup(size_t dim)
{
    return 2000 + 20 * dim;
}

static void draw_step(const gess__update *u, size_t j, double *step)
{
    size_t dim = u->target->dim;
    double *history = gess__tempered_state(u, j), *normals = u->scratch + dim, count = gess__running_cov_count(history);
    double root = sqrt((double)dim);
    gess__normals(gess__update_key(u, j, GESS__FOR_NORMALS), dim, normals);
    double uniform = gess__uniform(gess__update_key(u, j, GESS__FOR_COMPONENT), 0);
    if (count <= 2.0 * (double)dim || uniform < SMALL_SHARE) {
        for (size_t i = 0; i < dim; i++) step[i] = 0.1 / root * normals[i];
        return;
    }
    gess__packed_product(dim, gess__running_cov_chol(dim, history), normals, step);
    double size = 2.38 / root / sqrt(count - 1.0);
    for (size_t i = 0; i < dim; i++) step[i] *= size;
    /* the mistake: a proposal centred near the history's mean */
    for (size_t i = 0; GESS__MUTANT(AMH_CENTRE) && i < dim; i++)
        step[i] += 0.1 * (history[1 + i] - u->chains->x[(u->first + j) * dim + i]);
}

static void remember(const gess__update *u, size_t j, double chance)
{
    (void)chance;
    if (u->phase == GESS__FROZEN) return;
    size_t dim = u->target->dim;
    gess__running_cov_add(dim, gess__tempered_state(u, j), u->chains->x + (u->first + j) * dim, u->scratch);
}

static const gess__walk walk = {.step = draw_step, .learn = remember};

static void propose(gess__update *u)
{
    gess__walk_propose(u, &walk);
}

static int consume(gess__update *u, gess_error *err)
{
    return gess__walk_consume(u, &walk, err);
}

const gess__kernel gess__kernel_amh = {
    .name = "amh",
    .help = "adaptive Metropolis: steps with the covariance of the chain's past",
    .warmup = warmup,
    .state_size = gess__running_cov_size,
    .scratch_size = gess__walk_scratch_size,
    .begin = gess__walk_begin,
    .propose = propose,
    .consume = consume,
};
