/* Parallel tempering (C. J. Geyer, "Markov chain Monte Carlo maximum likelihood", Interface 1991).
 *
 * Chain k samples the density of the sampling space raised to 1/t_k, from t = 1 (the cold chain) to --hottest. After
 * every iteration neighbours offer each other their points, even and odd pairs in turn (S. Syed et al., JRSS B 84
 * (2022): this non-reversible order is the better one), and exchange them with probability
 *   min(1, exp((1/t_k − 1/t_l) (log π(x_l) − log π(x_k)))),
 * which leaves the product of the tempered densities invariant. A draw is what the cold chain's update left, before
 * the exchange; only the cold chain's draws are kept. What a kernel keeps for a chain, such as a step size, belongs to
 * the temperature and stays there.
 *
 * The ladder is geometric. `--ladder tuned` moves its temperatures in warm-up so that all pairs are refused equally
 * often, by the refusals that were met (section 5.4 there), and freezes them. */
#include "base/mem.h"
#include "base/mutant.h"
#include "base/vmath.h"
#include "execute/ensemble.h"

#include <string.h>

/* Iterations before the first tuning; each later one waits twice as long as the one before. */
enum { FIRST_ROUND = 200 };

static int open(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    size_t count = e->chains.count, steps = count > 1 ? count - 1 : 1;
    int tuned = strcmp(options->ladder, "tuned") == 0;
    if (!tuned && strcmp(options->ladder, "geometric") != 0)
        return gess__fail(err, GESS_ERR_USAGE, "--ladder %s: it must be geometric or tuned", options->ladder);
    GESS_ALLOC(&e->chains.powers, count, err);
    GESS_ALLOC(&e->ladder.refused, count, err);
    GESS_ALLOC(&e->ladder.scratch, 2 * count, err);
    for (size_t k = 0; k < count; k++)
        e->chains.powers[k] = gess__exp(-gess__log(options->hottest) * (double)k / (double)steps);
    e->ladder.round = tuned ? FIRST_ROUND : 0;
    e->kept = 1;
    return GESS_OK;
}

/* One iteration: an exchange follows it. */
static void next(gess__ensemble *e, uint64_t until, gess__stretch *stretch)
{
    int left = until > e->done[0];
    *stretch = (gess__stretch){.count = left ? e->chains.count : 0,
                               .start = e->done[0],
                               .iterations = (uint64_t)left,
                               .approx = e->approx,
                               .rebind = 1};
}

static void exchange_points(gess__chains *c, size_t k)
{
    double *x = c->x + k * c->dim, *y = x + c->dim;
    for (size_t i = 0; i < c->dim; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
    double value = c->value[k];
    c->value[k] = c->value[k + 1];
    c->value[k + 1] = value;
}

static void exchange(gess__ensemble *e, uint64_t iteration)
{
    gess__chains *c = &e->chains;
    for (size_t k = iteration % 2; k + 1 < c->count; k += 2) {
        gess__key key = {.seed = e->seed,
                         .iteration = iteration,
                         .chain = c->first + (uint32_t)k,
                         .purpose = GESS__FOR_SWAP};
        double ratio = (c->powers[k] - c->powers[k + 1]) * (c->value[k + 1] - c->value[k]);
        if (GESS__MUTANT(SWAP_SIGN)) ratio = -ratio;
        if (ratio < 0.0 && !e->warmup.over) e->ladder.refused[k] += 1.0 - gess__exp(ratio);
        e->tally.swaps++;
        if (!(ratio > gess__log(gess__uniform(key, 0)))) continue;
        exchange_points(c, k);
        e->tally.swapped++;
    }
}

static void ran(gess__ensemble *e, const gess__stretch *stretch)
{
    if (stretch->iterations == 0) return;
    e->done[0] += stretch->iterations;
    e->done[1] = e->done[0];
    exchange(e, stretch->start);
}

/* Temperatures between the two ends, such that the barrier Λ, the refusals summed along the ladder, rises by equal
 * steps; between the old temperatures it is taken as linear in log t. */
static void tune(gess__ensemble *e)
{
    size_t count = e->chains.count, at = 0;
    double *powers = e->chains.powers, *barrier = e->ladder.scratch, *logs = barrier + count;
    double tries = (double)(e->done[0] - e->ladder.from) / 2.0;
    barrier[0] = 0.0;
    for (size_t k = 0; k < count; k++) logs[k] = gess__log(powers[k]);
    /* a little everywhere, so that it rises where nothing was refused */
    for (size_t k = 0; k + 1 < count; k++) barrier[k + 1] = barrier[k] + e->ladder.refused[k] / tries + 1e-3;
    for (size_t k = 1; k + 1 < count; k++) {
        double wanted = barrier[count - 1] * (double)k / (double)(count - 1);
        while (at + 2 < count && barrier[at + 1] < wanted) at++;
        double share = (wanted - barrier[at]) / (barrier[at + 1] - barrier[at]);
        powers[k] = gess__exp(gess__fma(share, logs[at + 1] - logs[at], logs[at]));
    }
}

/* Whether enough was met since the ladder was tuned last, and enough of warm-up is left for steps to follow. */
static int is_due(const gess__ensemble *e)
{
    uint64_t done = e->done[0], past = done - e->ladder.from, fixed = e->warmup.fixed;
    if (e->ladder.round == 0 || past < e->ladder.round) return 0;
    return fixed == GESS_AUTO || (fixed > done && fixed - done >= past / 2);
}

static int look(gess__ensemble *e)
{
    gess__ladder *l = &e->ladder;
    int due = is_due(e);
    if (due) {
        tune(e);
        memset(l->refused, 0, e->chains.count * sizeof *l->refused);
        l->round = 2 * (e->done[0] - l->from);
        l->from = e->done[0];
    }
    return due || gess__ensemble_done(e) < gess__warmup_min_iterations(e);
}

const gess__schedule gess__schedule_tempering = {
    .name = "tempering",
    .help =
        "parallel tempering: a temperature for each chain, of which the coldest is kept; with --kernel mh or the like",
    .min_chains = 2,
    .alone = 1,
    .open = open,
    .next = next,
    .ran = ran,
    .look = look,
};
