/* A run after its warm-up, for benchmarks. It goes on in short pieces, so that the reference can be timed in between,
 * on the machine in the same state. */
#ifndef GESS_BENCH_FROZEN_H
#define GESS_BENCH_FROZEN_H

#include "bench/bench.h"

/* The densities of the paper: the default of benchmarks of speed. */
#define GESS__WARMED_MODELS \
    "funnel,mixture,german-credit,breast-cancer,stochastic-volatility,ionosphere,snp,wishart:dim=50"

typedef struct gess__warmed {
    gess_model *inner;
    gess__timed timed;
    gess__team *team;
    gess__sampler *sampler;
    gess__ensemble *ensemble;             /* the sampler's */
    double *points, *logp;                /* chains × dimensions: states of the chains in the user's space; chains */
    double warmup_seconds, warmup_inside; /* of the warm-up: total, and inside the density */
    uint64_t warmup_evals;
} gess__warmed;

/* Opens a model and warms up with at most `evals` evaluations; 0: no warm-up, T = t(30, 0, I). `schedule` NULL: fixed.
 * Close it also after a failure. */
int gess__warmed_open(gess__warmed *f, const char *model, const char *schedule, unsigned threads, size_t chains,
                      uint64_t evals, gess_error *err);
void gess__warmed_close(gess__warmed *f);

/* Updates every chain `iterations` times; draws are copied out of the chains, and dropped. `inside` is right for one
 * thread only. */
typedef struct gess__lap {
    double seconds, inside; /* total, and inside the density */
    uint64_t updates, evals;
} gess__lap;
int gess__warmed_run(gess__warmed *f, uint64_t iterations, gess__lap *lap, gess_error *err);

/* The number of iterations that take about `seconds`. */
int gess__warmed_pace(gess__warmed *f, double seconds, uint64_t *iterations, gess_error *err);

/* Sets `points` to the states of the chains. Fails if the density there differs from what the chains have stored. */
int gess__warmed_verify(gess__warmed *f, gess_error *err);

#endif
