/* Runs a sampler for the mixing figure, gess in memory or a peer, and measures it by both metrics. */
#ifndef GESS_REPRODUCE_SAMPLE_H
#define GESS_REPRODUCE_SAMPLE_H

#include "base/options.h"
#include "reproduce/reproduce.h"

/* The settings of a run. */
typedef struct gess__trial {
    const char *model;    /* specification */
    const char *settings; /* options over the defaults, NAME=VALUE, separated by commas */
    const char *peer;     /* emcee or zeus; NULL: gess */
    uint64_t seed, chains;
    uint64_t warmup; /* iterations, or GESS_AUTO; for a peer: evaluations */
    uint64_t draws;  /* per chain; for a peer: evaluations */
    uint64_t reuse;  /* iterations between fits */
} gess__trial;

/* Runs it. The result has
 *   chains, draws, dim, evals_warmup, evals_sampling, seconds (of sampling, on one core),
 *   ess_log (CODA's effective size of Σ_k log π(x_k), times chains), geweke (of that sum),
 *   ess_bulk (smallest over parameters, rank-normalised), r_hat (worst), stride (every stride-th draw is used;
 *   ess_bulk is still that of all draws)
 * or `error`, if the sampler or the model gave up. */
int gess__trial_run(const gess__trial *trial, json_t **result, gess_error *err);

#endif
