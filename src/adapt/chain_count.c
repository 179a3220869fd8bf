/* Chooses the number of chains. Fewer chains make shorter stages of warm-up, and an easy run is little else; but halves
 * of the chains check learned maps and mixtures, chains look for modes, and a T in many dimensions takes many. */
#include "adapt/chain_count.h"

#include <string.h>

/* An ensemble has PER_DIMENSION chains per dimension, or one per GOAL_PER_CHAIN effective draws if that is more, within
 * these limits and in multiples of the 8 groups of the nested R-hat. */
enum { MIN_CHAINS = 32, MAX_CHAINS = 64, PER_DIMENSION = 2, GOAL_PER_CHAIN = 32, GROUPS = 8 };

uint64_t gess__auto_chains(size_t dim, const gess_options *options)
{
    uint64_t goal = options->target_ess / options->ensembles / GOAL_PER_CHAIN, chains = PER_DIMENSION * (uint64_t)dim;
    if (chains < goal) chains = goal;
    /* draws per chain are a goal that more chains do not reach sooner, and halves of `two-group` need twice D */
    if (options->draws != GESS_AUTO || strcmp(options->schedule, "two-group") == 0) chains = MAX_CHAINS;
    if (chains < MIN_CHAINS) chains = MIN_CHAINS;
    if (chains > MAX_CHAINS) chains = MAX_CHAINS;
    return (chains + GROUPS - 1) / GROUPS * GROUPS * options->ensembles;
}
