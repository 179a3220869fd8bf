/* Runs samplers for the benchmarks of the method: gess, and the peers of bench/peers, with the same figures for both.
 */
#ifndef GESS_BENCH_MEASURE_H
#define GESS_BENCH_MEASURE_H

#include "bench/bench.h"

/* The densities of the paper and the hierarchical ones. */
#define GESS__BENCH_MODELS                                                                                   \
    "funnel,mixture,breast-cancer,german-credit,stochastic-volatility,ionosphere,snp,wishart,eight-schools," \
    "eight-schools:centred=0,rats,seeds"

/* A run of gess with default settings, one thread and the model's starts. */
typedef struct gess__plan {
    const char *model;    /* specification */
    const char *settings; /* options over the defaults; NULL: none */
    uint64_t seed;
    uint64_t chains;      /* 0: the default */
    uint64_t max_warmup;  /* evaluations; 0: the default */
    uint64_t sampling;    /* evaluations after warm-up; 0: `total` minus those of warm-up */
    uint64_t total;       /* evaluations of warm-up and sampling */
    uint64_t target_ess;  /* the goal that warm-up works for; 0: as many draws as `sampling` evaluations bring */
    uint64_t max_held;    /* draws per chain to hold; longer runs are thinned; 0: hold none, sums only */
    const double *centre; /* per parameter: measure the mean distance from it; NULL: do not */
    double start_scale;   /* chains start at normals times this; 0: where the model says */
    int halves;           /* no warm-up: the first half of `total`, or of `draws`, is discarded */
    uint64_t draws;       /* with `halves`: draws per chain, however many evaluations they take; 0: `total` decides */
} gess__plan;

/* The result of a sampler. */
typedef struct gess__sampled {
    size_t dim, chains;
    uint64_t draws;       /* per chain, after warm-up */
    uint64_t held;        /* draws per chain in `values` */
    const double *values; /* (parameter · chains + chain) · held + draw */
    double *mean, *sd;    /* per parameter, over all draws; NULL from a peer */
    double *spread;       /* per parameter: mean distance from the plan's centre, if it has one */
    uint64_t evals_warmup, evals_sampling;
    double seconds, seconds_sampling; /* total, and after warm-up */
    double seconds_learning;          /* gess only: fits of T and of maps */
    double seconds_outside;           /* outside the density; NaN with several threads */
    double seconds_cpu;               /* peers only: processor time */
    char fault[256];                  /* why a peer gave up; "": it did not */
    char version[32];                 /* peers only */
    void *owned, *mapped;             /* memory and mapping to release */
    size_t mapped_size;
} gess__sampled;

int gess__sample_gess(const gess__plan *plan, gess__sampled *out, gess_error *err);
void gess__sampled_free(gess__sampled *sampled);

/* Smallest rank-normalised bulk ESS over the parameters and largest R-hat, of the held draws. A parameter that never
 * moved has an ESS of 0 and an infinite R-hat. */
int gess__sampled_figures(const gess__sampled *sampled, double *ess, double *rhat, gess_error *err);

/* ---- efficiency.c and cost.c, for one model ---- */

/* Appends a row of `gess bench efficiency`, or `cost`, to `rows`, and prints it if options->text is set. */
int gess__bench_efficiency_row(const gess__bench_options *options, const char *sampler, const char *model,
                               uint64_t seeds, uint64_t evals, json_t *rows, gess_error *err);
int gess__bench_cost_row(const gess__bench_options *options, const char *sampler, const char *model, uint64_t seeds,
                         uint64_t max_evals, json_t *rows, gess_error *err);

/* ---- peers.c ---- */

/* Whether the virtual environment of the peers exists: $GESS_PEERS, or `peers` beside the command. `python` (1024
 * bytes) gets the path of its interpreter. */
int gess__peers_found(char *python);

/* The samplers to run: those of the options, or else gess and, if they are installed, the peers. */
int gess__bench_samplers(const gess__bench_options *options, gess__bench_list *samplers, gess_error *err);

/* The models and samplers asked for, or the usual ones. */
int gess__bench_lists(const gess__bench_options *options, gess__bench_list *models, gess__bench_list *samplers,
                      gess_error *err);

/* Runs a peer for `warmup` evaluations, then for `evals` more, whose draws it keeps. */
int gess__sample_peer(const char *sampler, const char *model, uint64_t seed, uint64_t warmup, uint64_t evals,
                      gess__sampled *out, gess_error *err);

/* The means over the walkers at every iteration of a peer, `draws` rows of 1 + 2 dim numbers in `values`: the
 * evaluations so far, the mean of every parameter, and the mean of its distance from `centre`. */
int gess__peer_means(const char *sampler, const char *model, uint64_t seed, uint64_t evals, size_t dim,
                     const double *centre, gess__sampled *out, gess_error *err);

/* ---- truth.c ---- */

/* True values to measure errors against. Per parameter: mean, sd, and mean distance from the mean. */
typedef struct gess__truth {
    double *mean, *sd, *spread;
    int known; /* exact, not from a long run */
} gess__truth;

/* Exact if it is known, else from bench/reference; GESS_ERR_FILE if there is neither. Free it also after a failure. */
int gess__truth_find(gess__truth *truth, const gess_model *model, const char *specification, gess_error *err);
void gess__truth_free(gess__truth *truth);

/* ---- scaling.c ---- */

/* One trial of a cell of the scaling experiment: 2K chains, a budget of `evals_per_core` evaluations per core. */
typedef struct gess__scaling {
    size_t dim, cores, chains; /* chains: 2K */
    uint64_t evals_per_core, seed;
    const char *settings;        /* as in gess__plan */
    int halves;                  /* discard the first half of the budget; 0: warm-up decides when it ends */
    uint64_t iterations;         /* of every chain, in place of a budget of evaluations; with `halves`; 0: none */
    uint64_t matrix;             /* seed of the matrix; 0: 1 */
    double start;                /* chains start at N(0, start² I); 0: 10 */
    double sd_error, mean_error; /* squared errors, summed over the coordinates */
    double evals, evals_warmup;
} gess__scaling;

int gess__scaling_run(gess__scaling *trial, gess_error *err);

/* The paper's result for a cell: log10 of error and error bar, and whether the error is below 1 (printed in blue). */
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
