/* Levels: at which log densities chains end, and which chains end at the highest.
 *
 * The level of a chain is the median of lp__ over the last half of its draws, its spread their interquartile range over
 * 1.349. Chains within 3 spreads (at least 10 nats) of the highest level are at it: modes of comparable probability
 * differ by less. Chains more than 10 spreads (at least 100 nats) below it are far below: no chain that mixes is so far
 * from the others. */
#ifndef GESS_DIAGNOSE_LEVELS_H
#define GESS_DIAGNOSE_LEVELS_H

#include <stdbool.h>
#include <stddef.h>

/* One chain; NaN if a draw is not finite. */
typedef struct gess__level {
    double median, spread;
} gess__level;

/* Several chains, in nats. */
typedef struct gess__levels {
    double highest;   /* of the chains' medians */
    double near, far; /* distances from it */
} gess__levels;

/* The first draw of the last half of n. */
#define GESS__LAST_HALF(n) ((n) / 2)

/* The level of a chain from x[n], n > 0, the values of lp__ in the last half of its draws; sorts x. */
void gess__level_of(size_t n, double *x, gess__level *level);

/* Compares level[count]; scratch has room for 2 × count doubles. False if there are fewer than two chains or one has no
 * level. The spread is the median over chains or, if that is smaller, the largest among the eighth of the chains with
 * the highest medians: chains that still climb have wide spreads and must not hide how far below they are. */
bool gess__levels_compare(size_t count, const gess__level *level, double *scratch, gess__levels *levels);

/* Whether a chain is at the highest level; whether it is far below. */
bool gess__level_is_high(const gess__levels *levels, const gess__level *level);
bool gess__level_is_far(const gess__levels *levels, const gess__level *level);

#endif
