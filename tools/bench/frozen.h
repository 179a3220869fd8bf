/* A run whose warm-up is over, for benchmarks: it goes on in short pieces, so that what it is compared with can be
 * timed in between, on the same machine in the same state. */
#ifndef GESS_BENCH_FROZEN_H
#define GESS_BENCH_FROZEN_H

#include "bench/bench.h"

/* The densities of the paper: what a benchmark of speed takes where no others are asked for. */
#define GESS__FROZEN_MODELS \
    "funnel,mixture,german-credit,breast-cancer,stochastic-volatility,ionosphere,snp,wishart:dim=50"

typedef struct gess__frozen {
    const gess_model *inner;
    gess__timed timed;
    gess__team *team;
    gess__ensemble *ensemble;
    double *points, *logp;                /* chains × dimensions: where the chains are, in the user's space */
    double warmup_seconds, warmup_inside; /* of the warm-up: in all, and inside the density */
    uint64_t warmup_evals;
} gess__frozen;

/* Opens a model and warms up with at most `evals` evaluations; 0: no warm-up, T = t(30, 0, I). `schedule` NULL: fixed.
 * To be closed also after a failure. */
int gess__frozen_open(gess__frozen *f, const char *model, const char *schedule, unsigned threads, size_t chains,
                      uint64_t evals, gess_error *err);
void gess__frozen_close(gess__frozen *f);

/* `iterations` updates of every chain; draws are copied out of the chains, and dropped. Times of one thread only are
 * good for `inside`. */
typedef struct gess__lap {
    double seconds, inside; /* in all, and inside the density */
    uint64_t updates, evals;
} gess__lap;
int gess__frozen_run(gess__frozen *f, uint64_t iterations, gess__lap *lap, gess_error *err);

/* How many iterations take about `seconds`. */
int gess__frozen_pace(gess__frozen *f, double seconds, uint64_t *iterations, gess_error *err);

/* Sets `points` to where the chains are, and fails where the density is not what the chains say it is there. */
int gess__frozen_look(gess__frozen *f, gess_error *err);

#endif
