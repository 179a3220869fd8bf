/* Adds tallies, and clears the counts that start anew at the end of warm-up. */
#include "chains/tally.h"

#include <stddef.h>

void gess__tally_add(gess__tally *to, const gess__tally *from)
{
    to->evals += from->evals;
    to->updates += from->updates;
    to->failures += from->failures;
    to->nans += from->nans;
    to->independence += from->independence;
    to->independence_accepted += from->independence_accepted;
    to->coordinate += from->coordinate;
    to->coordinate_evals += from->coordinate_evals;
    to->tried += from->tried;
    to->taken += from->taken;
    to->divergent += from->divergent;
    to->swaps += from->swaps;
    to->swapped += from->swapped;
    for (size_t i = 0; i < GESS__BINS; i++) {
        to->angles[i] += from->angles[i];
        to->by_evals[i] += from->by_evals[i];
    }
}

void gess__tally_end_warmup(gess__tally *t)
{
    *t = (gess__tally){.evals = t->evals, .updates = t->updates, .failures = t->failures, .nans = t->nans};
}
