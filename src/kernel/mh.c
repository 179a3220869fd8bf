/* Random-walk Metropolis with spherical Gaussian steps, with a step size per chain, tuned in warm-up.
 *
 * In warm-up the log of the step follows H. Robbins & S. Monro, Ann. Math. Stat. 22 (1951), towards the acceptance of
 * 0.234 that is best in many dimensions (G. O. Roberts, A. Gelman & W. R. Gilks, Ann. Appl. Prob. 7 (1997)); after
 * warm-up the step is fixed, so that sampling is exact. The state of a chain is one number, log(step √D / 2.38). */
#include "kernel/metropolis.h"
#include "kernel/tempered.h"

#define BEST_ACCEPTANCE 0.234
/* The gain of iteration n is GAIN n^-0.6: 1 / (0.234 · 0.766), the inverse of acceptance's slope, in round figures. */
#define GAIN 5.0

static uint64_t warmup(size_t dim)
{
    (void)dim;
    return 2000;
}

static size_t state_size(size_t dim)
{
    (void)dim;
    return 1;
}

static void draw_step(const gess__update *u, size_t j, double *step)
{
    size_t dim = u->target->dim;
    double size = 2.38 / sqrt((double)dim) * gess__exp(*gess__tempered_state(u, j));
    gess__normals(gess__update_key(u, j, GESS__FOR_NORMALS), dim, step);
    for (size_t i = 0; i < dim; i++) step[i] *= size;
    if (GESS__MUTANT(WALK_DRIFT)) step[0] += 0.05 * size;
}

static void tune(const gess__update *u, size_t j, double chance)
{
    if (u->phase != GESS__WARMING) return;
    double gain = GAIN * gess__exp(-0.6 * gess__log((double)u->iteration + 1.0));
    *gess__tempered_state(u, j) += (gain < 1.0 ? gain : 1.0) * (chance - BEST_ACCEPTANCE);
}

static const gess__walk walk = {.step = draw_step, .learn = tune};

static void propose(gess__update *u)
{
    gess__walk_propose(u, &walk);
}

static int consume(gess__update *u, gess_error *err)
{
    return gess__walk_consume(u, &walk, err);
}

const gess__kernel gess__kernel_mh = {
    .name = "mh",
    .help = "random-walk Metropolis with spherical steps, tuned in warm-up",
    .warmup = warmup,
    .state_size = state_size,
    .scratch_size = gess__walk_scratch_size,
    .begin = gess__walk_begin,
    .propose = propose,
    .consume = consume,
};
