/* Samplers at work for the benchmarks of the method: gess itself, and the peers of bench/peers, with the
 * same figures of both. */
#ifndef GESS_BENCH_MEASURE_H
#define GESS_BENCH_MEASURE_H

#include "bench/bench.h"

/* The densities of the paper and the hierarchical ones. */
#define GESS__BENCH_MODELS                                                                                   \
    "funnel,mixture,breast-cancer,german-credit,stochastic-volatility,ionosphere,snp,wishart,eight-schools," \
    "eight-schools:centred=0,rats,seeds"

/* A run of gess: default settings, one thread, the model's starts. */
typedef struct gess__plan {
    const char *model;    /* specification */
    const char *settings; /* options over the defaults; NULL: none */
    uint64_t seed;
    uint64_t chains;      /* 0: the default */
    uint64_t max_warmup;  /* evaluations; 0: the default */
    uint64_t sampling;    /* evaluations after warm-up; 0: what warm-up leaves of `total` */
    uint64_t total;       /* evaluations in all */
    uint64_t most_held;   /* draws of a chain to hold, one in so many beyond; 0: hold none, sums only */
    const double *centre; /* of each parameter; its mean distance from it is wanted; NULL: not */
    double start_scale;   /* chains start at normals times this; 0: where the model says */
    int halves;           /* no warm-up: the first half of `total` is discarded */
} gess__plan;

/* What a sampler did. */
typedef struct gess__sampled {
    size_t dim, chains;
    uint64_t draws;       /* of a chain, after warm-up */
    uint64_t held;        /* of these, in `values` */
    const double *values; /* (parameter · chains + chain) · held + draw */
    double *mean, *sd;    /* of each parameter over all draws; NULL from a peer */
    double *spread;       /* mean distance from the plan's centre, where it has one */
    uint64_t evals_warmup, evals_sampling;
    double seconds, seconds_sampling; /* in all, and after warm-up */
    double seconds_learning;          /* of gess: T fitted, maps learned */
    double seconds_outside;           /* the density; NaN with several threads */
    double seconds_cpu;               /* a peer's: of processors */
    char fault[256];                  /* why a peer gave up; empty where it did not */
    char version[32];                 /* a peer's */
    void *own, *mapped;               /* what to release */
    size_t mapped_size;
} gess__sampled;

int gess__sample_own(const gess__plan *plan, gess__sampled *out, gess_error *err);
void gess__sampled_free(gess__sampled *sampled);

/* Smallest rank-normalised bulk ESS over the parameters and largest R-hat, of the draws held. A parameter
 * that never moved has an ESS of 0 and an infinite R-hat. */
int gess__sampled_figures(const gess__sampled *sampled, double *ess, double *rhat, gess_error *err);

/* ---- efficiency.c and cost.c, for one model ---- */

/* Appends a row of `gess bench efficiency`, or `cost`, to `rows`, and prints it where options->text is set. */
int gess__bench_efficiency_row(const gess__bench_options *options, const char *sampler, const char *model,
                               uint64_t seeds, uint64_t evals, json_t *rows, gess_error *err);
int gess__bench_cost_row(const gess__bench_options *options, const char *sampler, const char *model, uint64_t seeds,
                         uint64_t most, json_t *rows, gess_error *err);

/* ---- peers.c ---- */

/* Whether the virtual environment of the peers is there: `peers` beside the command, or where GESS_PEERS
 * says. `python` (1024 bytes) gets its interpreter. */
int gess__peers_found(char *python);

/* Which of gess and the peers to run: those that were asked for, or gess and, where they are found, the
 * peers. */
int gess__bench_samplers(const gess__bench_options *options, gess__bench_list *samplers, gess_error *err);

/* A peer with its draws after `warmup` evaluations, `evals` more. */
int gess__sample_peer(const char *sampler, const char *model, uint64_t seed, uint64_t warmup, uint64_t evals,
                      gess__sampled *out, gess_error *err);

/* The means over the walkers at every iteration of a peer: rows of 1 + 2 dim numbers, the evaluations so far,
 * the mean of each parameter and that of its distance from `centre`, in `values`; their number is `draws`. */
int gess__peer_means(const char *sampler, const char *model, uint64_t seed, uint64_t evals, size_t dim,
                     const double *centre, gess__sampled *out, gess_error *err);

/* ---- truth.c ---- */

/* What errors are measured against: of each parameter its mean, its sd, and its mean distance from the mean. */
typedef struct gess__truth {
    double *mean, *sd, *spread;
    int known; /* exact, not a long run's */
} gess__truth;

/* Exact where it is known, else from bench/reference; GESS_ERR_FILE where there is neither. To be freed also
 * after a failure. */
int gess__truth_find(gess__truth *truth, const gess_model *model, const char *specification, gess_error *err);
void gess__truth_free(gess__truth *truth);

/* ---- scaling.c ---- */

/* One trial of a cell of the scaling experiment: 2K chains, a budget of `each` evaluations for each of C cores. */
typedef struct gess__scaling {
    size_t dim, cores, chains; /* chains: 2K */
    uint64_t each, seed;
    const char *settings; /* as in gess__plan */
    int halves;           /* the first half of the budget is discarded; otherwise warm-up may end itself before */
    double sd_error, mean_error; /* squared errors, summed over the coordinates */
    double evals, evals_warmup;
} gess__scaling;

int gess__scaling_run(gess__scaling *trial, gess_error *err);

/* What the paper has for a cell: log10 of error and error bar, and whether it is below 1 (printed in blue). */
typedef struct gess__scaling_paper {
    double log_error, log_bar;
    int below;
} gess__scaling_paper;

/* data/paper_scaling.csv, [dimension][cores][K / C - 1]. */
enum { GESS__SCALING_SIZES = 5, GESS__SCALING_DIM = 50, GESS__SCALING_CORES = 20 };
typedef struct gess__scaling_table {
    gess__scaling_paper of[GESS__SCALING_SIZES][GESS__SCALING_SIZES][GESS__SCALING_SIZES];
} gess__scaling_table;

int gess__scaling_read(gess__scaling_table *table, gess_error *err);

/* The name of the stored reference: letters, digits and dashes, `.csv`. */
void gess__reference_name(const char *specification, char name[GESS__BENCH_ITEM + 8]);

#endif
