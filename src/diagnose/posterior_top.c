/* Finds the highest draws, the few chains that reach above all others, and the scale of the upper tail of the rest. */
#include "base/assert.h"
#include "diagnose/posterior_workspace.h"

#include <string.h>

enum {
    FEW_SHARE = 8,    /* at most every eighth chain is one of a few */
    TAIL_SHARE = 100, /* every hundredth draw is of the upper tail */
    MIN_TAIL = 20     /* draws of the upper tail */
};

/* The mean excess of the highest `tail` draws over the draw below them; NaN if there are too few. Chains with a rank
 * from 1 to `few` are left out. *ties is the number of these draws that are no higher than the draw below. */
static double excess_of_tail(const gess__posterior_workspace *work, const uint32_t *rank, size_t few, size_t tail,
                             size_t *ties)
{
    size_t taken = 0, equal = 0; /* equal: of the draws taken last */
    double sum = 0.0, last = NAN;
    for (size_t i = work->total; i-- > 0;) {
        size_t r = rank[work->order[i] / work->n];
        if (r > 0 && r <= few) continue;
        double value = gess__draw_of_key(work->keys[i]);
        if (taken == tail) {
            *ties = value == last ? equal : 0;
            return sum / (double)tail - value;
        }
        equal = value == last ? equal + 1 : 1;
        last = value;
        sum += value;
        taken++;
    }
    return NAN;
}

/* Of the highest hundredth; of the upper half if the draws around the hundredth take only a few values. */
static double mean_excess(const gess__posterior_workspace *work, const uint32_t *rank, size_t few)
{
    size_t size = (work->chains - few) * work->n, tail = size / TAIL_SHARE, ties = 0;
    if (tail < MIN_TAIL) tail = MIN_TAIL;
    double excess = excess_of_tail(work, rank, few, tail, &ties);
    if (ties > tail / 4 && size / 2 > tail) excess = excess_of_tail(work, rank, few, size / 2, &ties);
    return excess > 0.0 ? excess : NAN;
}

const gess__posterior_top_figures gess__posterior_no_top =
    {.highest = NAN, .median = NAN, .others = NAN, .gap = NAN, .excess = NAN, .excess_all = NAN};

void gess__posterior_top(gess__posterior_workspace *work, gess__posterior_top_figures *top)
{
    GESS_ASSERT(work->total > 0 && top != NULL);
    *top = gess__posterior_no_top;
    if (work->numbers < work->total || !isfinite(gess__draw_of_key(work->keys[work->total - 1]))) return;
    size_t max_few = work->chains > FEW_SHARE ? work->chains / FEW_SHARE : 1, seen = 0, above = 0;
    uint32_t *rank = work->spare_order; /* per chain: 1 for that with the highest draw, …; 0: not seen yet */
    double last = NAN;
    memset(rank, 0, work->chains * sizeof *rank);
    top->highest = gess__draw_of_key(work->keys[work->total - 1]);
    top->median = gess__draw_of_key(work->keys[work->total / 2]);
    top->chain = work->order[work->total - 1] / work->n;
    top->draw = work->order[work->total - 1] % work->n;
    for (size_t i = work->total; i-- > 0 && seen <= max_few; above++) {
        size_t chain = work->order[i] / work->n;
        if (rank[chain] > 0) continue;
        double value = gess__draw_of_key(work->keys[i]);
        if (seen > 0 && !(last - value <= top->gap)) {
            top->gap = last - value;
            top->few = seen;
            top->above = above;
            top->others = value;
        }
        last = value;
        rank[chain] = (uint32_t)++seen;
    }
    top->excess_all = mean_excess(work, rank, 0);
    top->excess = mean_excess(work, rank, top->few);
}
