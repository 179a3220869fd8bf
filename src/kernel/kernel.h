/* The interface of all kernels, and the driver that updates a block of chains with one of them.
 *
 * A kernel is one file and one row of kernels.def. It is written as three steps over the chains
 * ("lanes") of a block, which the driver (driver.c) repeats until no lane has a proposal left:
 *
 *   begin     draw the auxiliary variables of every lane; set `proposals` and `lane`
 *   propose   write the points of the proposals
 *   consume   take their densities; set `proposals` and `lane` to the next round's proposals
 *
 * So one call of the density serves the proposals of all unfinished lanes, and a kernel never calls
 * the density itself. A kernel keeps its state of a chain between updates, such as a whitened point
 * or a step size, in `chains->kernel_state`, which is saved with the chain. Kernels draw random
 * numbers only through keys made of (seed, chain, iteration, purpose), so a chain's path does not
 * depend on its block, its thread or the batch sizes. */
#ifndef GESS_KERNEL_KERNEL_H
#define GESS_KERNEL_KERNEL_H

#include "approx/mixture.h"
#include "base/rng.h"
#include "chains/nans.h"
#include "chains/state.h"
#include "chains/tally.h"
#include "kernel/move_mix.h"
#include "transform/target.h"

#include <string.h>

/* What a kernel may adapt. In the frozen phase no kernel adapts anything; the tests of invariance use it. */
enum gess__phase { GESS__SAMPLING, GESS__WARMING, GESS__FROZEN };

typedef struct gess__kernel gess__kernel;
typedef struct gess__update gess__update;

/* Replaces the single call of the density for all proposals (execute/speculation.h). */
typedef struct gess__evaluator {
    int (*evaluate)(const gess__kernel *kernel, gess__update *u, gess_error *err);
    void (*finish)(gess__update *u); /* called once at the end of an update */
} gess__evaluator;

typedef struct gess__speculation_queue gess__speculation_queue;

/* One update of a block of chains: inputs, proposals and the kernel's scratch. Each worker has one. */
struct gess__update {
    /* inputs */
    _Alignas(128) const gess__target *target; /* aligned so that no two workers share a cache line */
    const gess__approx *approx;
    const gess__mixture *mixture; /* T if it has several components, else NULL */
    gess__move_mix moves;
    gess__chains *chains;
    size_t first, count; /* the block: chains first .. first + count - 1 */
    size_t block;        /* the most chains that the memory holds */
    uint64_t seed, iteration;
    int rebind; /* the approximation or the point changed since the chain's last update */
    enum gess__phase phase;
    uint64_t warmup; /* iterations of warm-up: the user's number, or else the kernel's minimum */
    unsigned worker;
    /* proposals, in the order of their lanes */
    size_t proposals;
    uint32_t *lane;    /* lane of each proposal */
    double *points;    /* proposals × dim */
    double *values;    /* proposals */
    double *gradients; /* proposals × dim, or NULL if the kernel needs none */
    double *blobs;     /* proposals × blobs of the model, or NULL if it has none */
    /* the kernel's, valid during one update */
    double *scratch;
    double *held_blobs; /* lanes × kernel->held_blobs × blobs of the model, or NULL */
    uint64_t round;     /* calls of the density in this update */
    /* the driver's */
    double *mapped;                   /* scratch of the target */
    int measure;                      /* time the next call of the density */
    double sec_per_eval;              /* the result of that timing */
    const gess__evaluator *evaluator; /* NULL: call the density once for all proposals */
    gess__speculation_queue *queue;   /* the evaluator's */
    size_t depth;                     /* the evaluator predicts at most this many angles per lane */
    gess__tally tally;
    gess__nans nans;
};

enum { GESS__NEEDS_GRADIENT = 1, GESS__NEEDS_APPROX = 2, GESS__IGNORES_TAILS = 4 /* treats T as a Gaussian */ };

struct gess__kernel {
    const char *name, *help;
    unsigned needs;
    int exact;                                        /* leaves the target invariant while it adapts */
    uint64_t (*warmup)(size_t dim);                   /* minimum of warm-up iterations; NULL: 0 */
    size_t (*state_size)(size_t dim);                 /* doubles of state per chain, initially zeros */
    size_t (*scratch_size)(size_t dim, size_t block); /* doubles per block, valid during one update */
    size_t held_blobs;                                /* points per lane whose blobs it keeps from round to round */
    void (*begin)(gess__update *u);
    void (*propose)(gess__update *u);
    int (*consume)(gess__update *u, gess_error *err);
    /* Optional. Writes the lane's next proposal if proposal p and `rejections` - 1 more after it are rejected; returns
     * false if that point is not known. Called between propose and consume. A kernel with this function keeps the lanes
     * of its proposals in ascending order. */
    int (*predict)(const gess__update *u, size_t p, size_t rejections, double *point);
};

/* Row i of the table, NULL past the end; the row of that name, NULL if there is none. */
const gess__kernel *gess__kernel_row(size_t i);
const gess__kernel *gess__kernel_find(const char *name);

/* Allocates the memory of one worker for blocks of up to `block` chains. */
int gess__update_init(gess__update *u, const gess__kernel *kernel, const gess__target *target, size_t block,
                      gess_error *err);
void gess__update_free(gess__update *u);

/* Updates every chain of the block once. Allocates nothing. */
int gess__update_block(const gess__kernel *kernel, gess__update *u, gess_error *err);

/* For the driver and its evaluator: evaluates the n proposals from number `first` on. */
int gess__update_ask(gess__update *u, size_t first, size_t n, gess_error *err);

/* For kernels with a T: notes the proposals at which log π − log T is highest; log_ts: log T of each. */
void gess__note_levels(gess__update *u, const double *log_ts);

/* For kernels: the log density of proposal j. NaN counts as outside the support (-inf) and is tallied;
 * +inf is an error that names the point. Call it exactly once per value that is used. */
int gess__update_value(gess__update *u, size_t j, double *value, gess_error *err);

/* For kernels: the blobs of proposal p go with it when lane j's chain moves there. Call it wherever the chain's x and
 * value are set. */
static inline void gess__update_move_blobs(const gess__update *u, size_t j, size_t p)
{
    if (u->blobs == NULL) return;
    size_t count = u->chains->blob_count;
    memcpy(u->chains->blobs + (u->first + j) * count, u->blobs + p * count, count * sizeof *u->blobs);
}

/* For kernels: counts updates that ended in the present round. */
static inline void gess__count_ended(gess__update *u, size_t count)
{
    u->tally.by_evals[u->round < GESS__BINS ? u->round : GESS__BINS - 1] += count;
}

/* For kernels: a random key of lane `lane`. */
static inline gess__key gess__update_key(const gess__update *u, size_t lane, enum gess__purpose purpose)
{
    return (gess__key){.seed = u->seed,
                       .iteration = u->iteration,
                       .chain = u->chains->first + (uint32_t)(u->first + lane),
                       .purpose = purpose};
}

#endif
