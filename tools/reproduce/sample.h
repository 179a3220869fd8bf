/* Samplers at work for the mixing figure: one run in memory, or a peer's, and both metrics of it. */
#ifndef GESS_REPRODUCE_SAMPLE_H
#define GESS_REPRODUCE_SAMPLE_H

#include "reproduce/reproduce.h"

/* What a run is made from. */
typedef struct gess__trial {
    const char *model;    /* specification */
    const char *settings; /* options over the defaults, NAME=VALUE, separated by commas */
    const char *peer;     /* emcee or zeus; NULL: gess */
    uint64_t seed, chains;
    uint64_t warmup; /* iterations, or GESS_AUTO; of a peer: evaluations */
    uint64_t draws;  /* of each chain; of a peer: evaluations */
    uint64_t reuse;  /* fits are made so often */
} gess__trial;

/* Runs it. The result has
 *   chains, draws, dim, evals_warmup, evals_sampling, seconds (of one core, of sampling),
 *   ess_log (CODA's effective size of Σ_k log π(x_k), times chains), geweke (of that sum),
 *   ess_bulk (smallest over parameters, rank-normalised), r_hat (worst), stride (one draw in so many is looked at;
 *   ess_bulk is still that of all draws)
 * or `error`, where the sampler or the model gave up. */
int gess__trial_run(const gess__trial *trial, json_t **result, gess_error *err);

#endif
