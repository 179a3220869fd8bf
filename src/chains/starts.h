/* Starts: where chains begin, taken from a file, from the model or from standard normals. */
#ifndef GESS_CHAINS_STARTS_H
#define GESS_CHAINS_STARTS_H

#include "chains/state.h"
#include "chains/tally.h"
#include "transform/target.h"

/* Puts every chain at its start, with its log density and blobs, and counts the evaluations. `init`: a CSV file with
 * one row per chain; NULL: the model's own distribution, or standard normals in the sampling space. */
int gess__starts(const gess__target *target, uint64_t seed, const char *init, gess__chains *chains, gess__tally *tally,
                 gess_error *err);

#endif
