/* A run whose warm-up is over, for benchmarks: it goes on in short pieces, so that what it is compared with can be
 * timed in between, on the same machine in the same state. */
#ifndef GESS_BENCH_WARMED_H
#define GESS_BENCH_WARMED_H

#include "bench/bench.h"

/* The densities of the paper: what a benchmark of speed takes where no others are asked for. */
#define GESS__WARMED_MODELS \
    "funnel,mixture,german-credit,breast-cancer,stochastic-volatility,ionosphere,snp,wishart:dim=50"

typedef struct gess__warmed {
    const gess_model *inner;
    gess__timed timed;
    gess__team *team;
    gess__sampler *sampler;
    gess__ensemble *ensemble;             /* the sampler's */
    double *points, *logp;                /* chains × dimensions: where the chains are, in the user's space */
    double warmup_seconds, warmup_inside; /* of the warm-up: in all, and inside the density */
    uint64_t warmup_evals;
} gess__warmed;

/* Opens a model and warms up with at most `evals` evaluations; 0: no warm-up, T = t(30, 0, I). `schedule` NULL: fixed.
 * To be closed also after a failure. */
int gess__warmed_open(gess__warmed *f, const char *model, const char *schedule, unsigned threads, size_t chains,
                      uint64_t evals, gess_error *err);
void gess__warmed_close(gess__warmed *f);

/* `iterations` updates of every chain; draws are copied out of the chains, and dropped. Times of one thread only are
 * good for `inside`. */
typedef struct gess__lap {
    double seconds, inside; /* in all, and inside the density */
    uint64_t updates, evals;
} gess__lap;
int gess__warmed_run(gess__warmed *f, uint64_t iterations, gess__lap *lap, gess_error *err);

/* How many iterations take about `seconds`. */
int gess__warmed_pace(gess__warmed *f, double seconds, uint64_t *iterations, gess_error *err);

/* Sets `points` to where the chains are, and fails where the density is not what the chains say it is there. */
int gess__warmed_verify(gess__warmed *f, gess_error *err);

#endif
