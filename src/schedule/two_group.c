/* The paper's two-group schedule (Algorithm 3 and section 4.5).
 *
 * The chains are two groups. In turn, T is fitted to the present states of one group and every
 * chain of the other is updated `reuse` times with it. Each half of a sweep leaves the product of
 * the targets invariant, because T depends on the other group alone: on its present states and on
 * nothing before them. Hence the fit starts cold, and hence draws may be kept from the first sweep
 * that is past the starts' memory. */
#include "base/mutant.h"
#include "execute/ensemble.h"

static int open(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    (void)options;
    e->half = e->chains.count / 2;
    return gess__fitter_new(&e->fitter, e->target.dim,
                            GESS__MUTANT(FIT_INCLUDES_GROUP) ? e->chains.count : e->chains.count - e->half, err);
}

static size_t first_of(const gess__ensemble *e, int group)
{
    return group == 0 ? 0 : e->half;
}

static size_t count_of(const gess__ensemble *e, int group)
{
    return group == 0 ? e->half : e->chains.count - e->half;
}

static void fit_to(gess__ensemble *e, int group)
{
    size_t first = first_of(e, group), count = count_of(e, group);
    if (GESS__MUTANT(FIT_INCLUDES_GROUP)) {
        first = 0;
        count = e->chains.count;
    }
    gess__fit(e->fitter, count, e->chains.x + first * e->chains.dim, GESS__FIT_QUICK, e->approx, &e->fit);
    e->fits++;
}

/* Iterations that the group whose turn it is does before the other's turn: up to the other's count
 * for the second group, `reuse` beyond it for the first. */
static uint64_t end_of_turn(const gess__ensemble *e, uint64_t until)
{
    if (e->turn == 1) return e->done[0];
    return until - e->done[1] < e->reuse ? until : e->done[1] + e->reuse;
}

static void next(gess__ensemble *e, uint64_t until, gess__stretch *stretch)
{
    *stretch = (gess__stretch){.approx = e->approx};
    if (e->done[1] >= until) return;
    if (!e->fitted) {
        fit_to(e, 1 - e->turn);
        e->turn_end = end_of_turn(e, until);
    }
    stretch->first = first_of(e, e->turn);
    stretch->count = count_of(e, e->turn);
    stretch->start = e->done[e->turn];
    stretch->iterations = e->turn_end - stretch->start;
    stretch->rebind = !e->fitted;
    e->fitted = 1;
}

static void ran(gess__ensemble *e, const gess__stretch *stretch)
{
    e->done[e->turn] += stretch->iterations;
    if (e->done[e->turn] < e->turn_end) return;
    e->turn = 1 - e->turn;
    e->fitted = 0;
}

/* Nothing is fitted to a window, and the mean log density has been looked at already. */
static int look(gess__ensemble *e)
{
    (void)e;
    return 0;
}

const gess__schedule gess__schedule_two_group = {
    .name = "two-group",
    .help = "the paper's: fit to one half, update the other, swap",
    .min_chains = 4,
    .open = open,
    .next = next,
    .ran = ran,
    .look = look,
};
