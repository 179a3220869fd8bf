/* Updates of single chains.
 *
 * A kernel is one file and one row of kernels.def. It is written as three steps over the chains
 * ("lanes") of a block, which this folder's driver (update.c) runs until no lane is left:
 *
 *   begin     draw the auxiliary variables of every lane; set `proposals` and `lane`
 *   propose   write the points of the proposals
 *   consume   take their densities; set `proposals` and `lane` to what is still to be evaluated
 *
 * So the proposals of all lanes still at work go to the density in one call, and a kernel never
 * calls the density itself. What a kernel keeps for a chain between updates, such as a whitened
 * state or a step size, lives in `own` and is saved with the chain. Kernels draw random numbers
 * only through keys made of (seed, chain, iteration, purpose), so a chain's path does not depend
 * on its block, its thread or the batch sizes. */
#ifndef GESS_KERNEL_KERNEL_H
#define GESS_KERNEL_KERNEL_H

#include "approx/mixture.h"
#include "base/rng.h"
#include "chains/nans.h"
#include "chains/state.h"
#include "chains/tally.h"
#include "transform/target.h"

/* What a kernel may adapt. Frozen, nothing, whatever the kernel: for tests of invariance. */
enum gess__phase { GESS__SAMPLING, GESS__WARMING, GESS__FROZEN };

/* Which iterations are which kind of update; the number of the iteration alone decides. */
typedef struct gess__move_mix {
    unsigned independence, period; /* of `period` iterations, the first `independence` are independence moves */
    unsigned coordinate;           /* one iteration in `coordinate` is a coordinate slice update; 0: none is */
} gess__move_mix;

typedef struct gess__kernel gess__kernel;
typedef struct gess__update gess__update;

/* Another way to get the values of all proposals than one call of the density (execute/speculation.h). */
typedef struct gess__evaluator {
    int (*evaluate)(const gess__kernel *kernel, gess__update *u, gess_error *err);
    void (*finish)(gess__update *u); /* the update is over */
} gess__evaluator;

typedef struct gess__speculation_queue gess__speculation_queue;

/* One update of a block of chains: what is given, what is asked for, and the kernel's scratch. */
struct gess__update {
    /* given */
    _Alignas(128) const gess__target *target; /* workers' own lie side by side: none writes to a line of another's */
    const gess__approx *approx;
    const gess__mixture *mixture; /* T, where it has more than the component in `approx`; or NULL */
    gess__move_mix moves;
    gess__chains *chains;
    size_t first, count; /* the block: chains first .. first + count - 1 */
    uint64_t seed, iteration;
    int rebind; /* the approximation, or the point, is not the one of the chain's last update */
    enum gess__phase phase;
    uint64_t warmup; /* iterations of warm-up: those asked for, or what the kernel wants at least */
    unsigned worker;
    /* proposals, in the order of their lanes */
    size_t proposals;
    uint32_t *lane;    /* lane of each proposal */
    double *points;    /* proposals × dim */
    double *values;    /* proposals */
    double *gradients; /* proposals × dim, where the kernel needs them */
    /* the kernel's own, lasting one update */
    double *scratch;
    uint64_t round; /* calls of the density in this update */
    /* the driver's */
    double *mapped;                   /* scratch of the target */
    int measure;                      /* the next call of the density is to be timed: */
    double sec_per_eval;              /* as timed */
    const gess__evaluator *evaluator; /* NULL: the density is called for all proposals at once */
    gess__speculation_queue *queue;   /* the evaluator's */
    size_t depth;                     /* angles per lane that it may predict, at most */
    gess__tally tally;
    gess__nans nans;
};

enum { GESS__NEEDS_GRADIENT = 1, GESS__NEEDS_APPROX = 2, GESS__IGNORES_TAILS = 4 /* takes T for a Gaussian */ };

struct gess__kernel {
    const char *name, *help;
    unsigned needs;
    int exact;                                        /* leaves the target invariant while it adapts */
    uint64_t (*warmup)(size_t dim);                   /* iterations it adapts in at least, or NULL: none */
    size_t (*state_size)(size_t dim);                 /* doubles kept for a chain, zeros to begin with */
    size_t (*scratch_size)(size_t dim, size_t block); /* doubles for a block, lasting one update */
    void (*begin)(gess__update *u);
    void (*propose)(gess__update *u);
    int (*consume)(gess__update *u, gess_error *err);
    /* Where not NULL: the point that proposal number p leads to when it and `ahead` - 1 more are rejected; called
     * between propose and consume. False where that is not known. Lanes of proposals are in ascending order then. */
    int (*predict)(const gess__update *u, size_t p, size_t ahead, double *point);
};

/* Row i of the table, NULL past the end; and by name, NULL where there is none. */
const gess__kernel *gess__kernel_row(size_t i);
const gess__kernel *gess__kernel_find(const char *name);

/* Memory of one worker, for blocks of up to `block` chains. */
int gess__update_init(gess__update *u, const gess__kernel *kernel, const gess__target *target, size_t block,
                      gess_error *err);
void gess__update_free(gess__update *u);

/* Updates every chain of the block once. Allocates nothing. */
int gess__update_block(const gess__kernel *kernel, gess__update *u, gess_error *err);

/* For the driver: asks for the values of n proposals from number `first` on. */
int gess__update_ask(gess__update *u, size_t first, size_t n, gess_error *err);

/* For kernels: the value of proposal j as the sampler counts it. NaN is outside (-inf) and counted;
 * +inf is an error with the point printed. Call it once for each value that is used. */
int gess__update_value(gess__update *u, size_t j, double *value, gess_error *err);

/* For kernels: counts updates that ended at the present round. */
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
