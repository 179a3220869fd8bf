/* Compares the chains of one column: is one stuck, is one in another place, do they drift?
 *
 * Places are medians of a chain's draws, spreads come from its quartiles, and shifts are of normal scores of ranks, so
 * a heavy tail raises no false alarm. The thresholds are in rules.h. */
#ifndef GESS_REPORT_CHAIN_CHECKS_H
#define GESS_REPORT_CHAIN_CHECKS_H

#include "diagnose/posterior.h"

typedef struct gess__column_chains {
    /* chains that never moved, while others did */
    size_t constant, first_constant;
    /* chains whose spread is below a twentieth of the usual one */
    size_t narrow, first_narrow;
    double min_spread; /* the smallest spread of a chain, over the usual one */
    /* the widest gap between neighbouring chains' medians, over the usual spread of a chain */
    double gap;
    size_t below, above;          /* number of chains on its sides */
    double place_low, place_high; /* medians of these chains' medians */
    size_t in_smaller;            /* the first chain of the smaller side; below, if both are equal */
    /* second half minus first half of the draws, in normal scores */
    double shift;       /* mean over chains; the only figure of a single chain */
    double chain_shift; /* the largest of a single chain, minus the median */
    double chain_score; /* that over 1.4826 times the median distance from the median */
    size_t shifted;     /* index of that chain */
    /* the chain whose mean, in normal scores, is furthest from the median of the chains' means */
    double own_shift; /* how far */
    double own_score; /* that over 1.4826 times the median distance from the median */
    size_t own_chain;
    /* the chain whose sd of normal scores differs most from the median of the chains' sds, as a logarithm */
    double own_spread;       /* its sd over the median */
    double own_spread_score; /* the logarithm over 1.4826 times the median distance of the chains' logarithms */
    size_t own_narrow;
} gess__column_chains;

/* Compares chain[count], each of `draws` draws; `scratch` holds 2 × count doubles. Figures stay NaN or 0 if a draw is
 * not finite or there are too few. */
void gess__compare_chains(size_t count, size_t draws, const gess__posterior_chain *chain, double *scratch,
                          gess__column_chains *out);

#endif
