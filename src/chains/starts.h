/* Starts: where chains begin, taken from a file, from draws of another run, from the model or from standard normals. */
#ifndef GESS_CHAINS_STARTS_H
#define GESS_CHAINS_STARTS_H

#include "base/options.h"
#include "chains/state.h"
#include "chains/tally.h"
#include "transform/target.h"

/* Puts every chain at its start, with its log density and blobs, and counts the evaluations. Starts are the rows of
 * options->points; without it, those of the CSV file options->init; without either, the model's own distribution or
 * standard normals, widened by options->start_scale. */
int gess__starts(const gess__target *target, uint64_t seed, const gess_options *options, gess__chains *chains,
                 gess__tally *tally, gess_error *err);

#endif
