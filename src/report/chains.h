/* Chains of one column held against each other: is one stuck, is one elsewhere, do they drift?
 *
 * Places and spreads are medians and quartiles of the chains' own draws; shifts are of normal scores of
 * ranks. So no tail is long enough to raise an alarm alone. docs/statistics.md has the thresholds. */
#ifndef GESS_REPORT_CHAINS_H
#define GESS_REPORT_CHAINS_H

#include "diagnose/posterior.h"

typedef struct gess__column_chains {
    /* chains that never moved, while others did */
    size_t constant, first_constant;
    /* chains that moved less than a twentieth of what is usual */
    size_t narrow, first_narrow;
    double least_spread; /* the smallest spread of a chain, over the usual one */
    /* the widest gap between neighbouring chains' medians, over the usual spread of a chain */
    double gap;
    size_t below, above;          /* chains on its sides */
    double place_low, place_high; /* medians of these chains' medians */
    size_t alone;                 /* a chain of the smaller side */
    /* the second half less the first, in normal scores */
    double shift;       /* mean over chains */
    double shift_error; /* its standard error, from the differences between chains */
    double chain_shift; /* the largest of a single chain, less the median */
    double chain_score; /* that over 1.4826 times the median distance from the median */
    size_t shifted;     /* this chain */
} gess__column_chains;

/* Compares `count` chains of `draws` draws; `scratch` is 2 × count doubles. */
void gess__compare_chains(size_t count, size_t draws, const gess__posterior_chain *each, double *scratch,
                          gess__column_chains *out);

#endif
