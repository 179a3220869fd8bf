/* Tallies: how many evaluations, updates, failures, NaNs, accepted moves and swaps there were, and histograms of
 * accepted angles and of evaluations per update. Workers count; the ensemble adds up. All are unsigned sums, so the
 * order of adding does not matter. */
#ifndef GESS_CHAINS_TALLY_H
#define GESS_CHAINS_TALLY_H

#include <stdint.h>

enum { GESS__BINS = 32 };

/* All counts but the first four start at the end of warm-up. */
typedef struct gess__tally {
    uint64_t evals, updates, failures, nans;
    uint64_t independence, independence_accepted; /* independence moves: proposed, accepted */
    uint64_t coordinate, coordinate_evals;        /* coordinate slice updates, and their evaluations */
    uint64_t tried, taken;                        /* Metropolis proposals, and those accepted */
    uint64_t divergent;                           /* trajectories that ended because their energy diverged */
    uint64_t swaps, swapped;                      /* exchanges between temperatures: proposed, accepted */
    uint64_t angles[GESS__BINS];                  /* accepted angles, in turns, over (-1/2, 1/2] */
    uint64_t by_evals[GESS__BINS];                /* updates by their number of evaluations; the last bin: or more */
} gess__tally;

/* Adds `from` to `to`. */
void gess__tally_add(gess__tally *to, const gess__tally *from);

/* Sets to zero what is counted from the end of warm-up on. */
void gess__tally_end_warmup(gess__tally *tally);

#endif
