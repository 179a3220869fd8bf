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
 * often, by the refusals so far (section 5.4 there), and freezes them. */
#include "schedule/tempering.h"

#include "base/mem.h"
#include "base/mutant.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Iterations before the first tuning; each later one waits twice as long as the one before. */
enum { FIRST_ROUND = 200 };

static int open(gess__sampler *s, const gess_options *options, gess_error *err)
{
    gess__ensemble *e = &s->ensemble;
    size_t count = e->chains.count, steps = count > 1 ? count - 1 : 1;
    int tuned = strcmp(options->ladder, "tuned") == 0;
    if (!tuned && strcmp(options->ladder, "geometric") != 0)
        return gess__fail(err, GESS_ERR_USAGE, "--ladder %s: it must be geometric or tuned", options->ladder);
    gess__ladder *l = NULL;
    GESS_ALLOC(&l, 1, err);
    s->state = l;
    GESS_ALLOC(&l->refused, count, err);
    GESS_ALLOC(&l->scratch, 2 * count, err);
    for (size_t k = 0; k < count; k++)
        e->chains.powers[k] = gess__exp(-gess__log(options->hottest) * (double)k / (double)steps);
    l->round = tuned ? FIRST_ROUND : 0;
    e->kept = 1;
    e->rebind = 0;
    return GESS_OK;
}

static void free_state(void *state)
{
    gess__ladder *l = state;
    free(l->refused);
    free(l->scratch);
    free(l);
}

static void archive(gess__sampler *s, gess__archive *a)
{
    gess__ladder *l = s->state;
    size_t count = s->ensemble.chains.count;
    int tuned = l->round > 0;
    gess__archive_bytes(a, l->refused, count * sizeof *l->refused);
    GESS_ARCHIVE(a, &l->round);
    GESS_ARCHIVE(a, &l->from);
    if (tuned != (l->round > 0) || l->from > s->ensemble.done[0]) a->bad = 1;
    for (size_t k = 0; k < count; k++)
        if (!isfinite(l->refused[k])) a->bad = 1;
}

/* One iteration: an exchange follows it. */
static void next(gess__sampler *s, uint64_t until, gess__stretch *stretch)
{
    const gess__ensemble *e = &s->ensemble;
    int left = until > e->done[0];
    *stretch = (gess__stretch){.count = left ? e->chains.count : 0,
                               .start = e->done[0],
                               .iterations = (uint64_t)left,
                               .approx = e->frozen.approx,
                               .rebind = 1};
}

/* Exchanges row k of an array with the next one. */
static void exchange_rows(double *rows, size_t k, size_t width)
{
    double *x = rows + k * width, *y = x + width;
    for (size_t i = 0; i < width; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

static void exchange_points(gess__chains *c, size_t k)
{
    exchange_rows(c->x, k, c->dim);
    exchange_rows(c->value, k, 1);
    if (c->blobs != NULL) exchange_rows(c->blobs, k, c->blob_count);
}

static void exchange(gess__sampler *s, uint64_t iteration)
{
    gess__ensemble *e = &s->ensemble;
    gess__chains *c = &e->chains;
    gess__ladder *l = s->state;
    for (size_t k = iteration % 2; k + 1 < c->count; k += 2) {
        gess__key key = {.seed = e->seed,
                         .iteration = iteration,
                         .chain = c->first + (uint32_t)k,
                         .purpose = GESS__FOR_SWAP};
        double ratio = (c->powers[k] - c->powers[k + 1]) * (c->value[k + 1] - c->value[k]);
        if (GESS__MUTANT(SWAP_SIGN)) ratio = -ratio;
        if (ratio < 0.0 && !s->adaptation.warmup.over) l->refused[k] += 1.0 - gess__exp(ratio);
        e->tally.swaps++;
        if (!(ratio > gess__log(gess__uniform(key, 0)))) continue;
        exchange_points(c, k);
        e->tally.swapped++;
    }
}

static void ran(gess__sampler *s, const gess__stretch *stretch)
{
    gess__ensemble *e = &s->ensemble;
    if (stretch->iterations == 0) return;
    e->done[0] += stretch->iterations;
    e->done[1] = e->done[0];
    exchange(s, stretch->start);
}

/* Temperatures between the two ends, such that the barrier Λ, the refusals summed along the ladder, rises by equal
 * steps; between the old temperatures it is taken as linear in log t. */
static void tune(gess__sampler *s)
{
    const gess__ladder *l = s->state;
    size_t count = s->ensemble.chains.count, at = 0;
    double *powers = s->ensemble.chains.powers, *barrier = l->scratch, *logs = barrier + count;
    double tries = (double)(s->ensemble.done[0] - l->from) / 2.0;
    barrier[0] = 0.0;
    for (size_t k = 0; k < count; k++) logs[k] = gess__log(powers[k]);
    /* 1e-3 more per pair, so that the barrier rises even between pairs that refused nothing */
    for (size_t k = 0; k + 1 < count; k++) barrier[k + 1] = barrier[k] + l->refused[k] / tries + 1e-3;
    for (size_t k = 1; k + 1 < count; k++) {
        double wanted = barrier[count - 1] * (double)k / (double)(count - 1);
        while (at + 2 < count && barrier[at + 1] < wanted) at++;
        double share = (wanted - barrier[at]) / (barrier[at + 1] - barrier[at]);
        powers[k] = gess__exp(gess__fma(share, logs[at + 1] - logs[at], logs[at]));
    }
}

/* Whether enough iterations have passed since the ladder was tuned last, and enough of warm-up is left for step sizes
 * to follow. */
static int is_due(const gess__sampler *s)
{
    const gess__ladder *l = s->state;
    uint64_t done = s->ensemble.done[0], past = done - l->from, fixed = s->adaptation.warmup.fixed;
    if (l->round == 0 || past < l->round) return 0;
    return fixed == GESS_AUTO || (fixed > done && fixed - done >= past / 2);
}

static int assess(gess__sampler *s)
{
    gess__ladder *l = s->state;
    uint64_t done = s->ensemble.done[0];
    int due = is_due(s);
    if (due) {
        tune(s);
        memset(l->refused, 0, s->ensemble.chains.count * sizeof *l->refused);
        l->round = 2 * (done - l->from);
        l->from = done;
    }
    return due || gess__ensemble_done(&s->ensemble) < gess__warmup_min_iterations(&s->adaptation);
}

const gess__schedule gess__schedule_tempering = {
    .name = "tempering",
    .help = "parallel tempering: one temperature per chain, and the draws of the coldest are kept; with --kernel mh or "
            "the like",
    .min_chains = 2,
    .no_approx = 1,
    .tempered = 1,
    .open = open,
    .free = free_state,
    .archive = archive,
    .next = next,
    .ran = ran,
    .assess = assess,
};
