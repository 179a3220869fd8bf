/* The number of chains of `--chains auto`: a function of the dimension and of the goal alone, so that it is the same
 * for any number of threads or ranks. */
#ifndef GESS_ADAPT_CHAIN_COUNT_H
#define GESS_ADAPT_CHAIN_COUNT_H

#include "base/options.h"

/* Of all ensembles of a run in `dim` dimensions. */
uint64_t gess__auto_chains(size_t dim, const gess_options *options);

#endif
