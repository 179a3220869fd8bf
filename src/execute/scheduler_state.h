/* The scheduler's state, shared by scheduler.c (workers), claims.c (who gets which block), segments.c (draws in order)
 * and speculation_depth.c (how much to speculate). Nobody else includes it. */
#ifndef GESS_EXECUTE_SCHEDULER_STATE_H
#define GESS_EXECUTE_SCHEDULER_STATE_H

#include "execute/scheduler.h"

/* How many segments hold their draws at the same time, at least and at most. */
enum { GESS__MIN_HELD_SEGMENTS = 4, GESS__MAX_HELD_SEGMENTS = 4096 };

/* A worker counts as slow if it takes SLOW times as long as others do. */
#define GESS__SLOW 1.5

/* How a block stands. */
typedef struct gess__block_state {
    uint64_t done;   /* its segments that are done */
    uint64_t serial; /* of the claim on it; 0: it is idle */
    int rank;        /* whose claim that is */
    int locked;      /* it must not be taken over */
    double since, expected;
    unsigned takeovers; /* of its present segment */
} gess__block_state;

struct gess__scheduler {
    double *rows; /* GESS__MIN_HELD_SEGMENTS × capacity doubles, in `slots` slots */
    size_t capacity;
    gess__block_state *state; /* one per block */
    pthread_mutex_t lock;
    pthread_cond_t changed;         /* idle workers wait for it */
    unsigned idle;                  /* how many do */
    unsigned free;                  /* workers in the stretch that neither run a task nor evaluate a point */
    gess__speculation *speculation; /* NULL: nothing is predicted */
    double sec_per_eval;            /* as measured; 0: not yet */
    /* one stretch */
    gess__ensemble *ensemble;
    const gess__stretch *stretch;
    const gess__record *record;
    size_t blocks;
    uint64_t max_length;        /* iterations per segment with which GESS__MIN_HELD_SEGMENTS fit into `rows` */
    size_t slots;               /* segments that are held, at most */
    uint64_t length;            /* iterations per segment in this stretch */
    double sec_per_iteration;   /* of a block in this process, as measured; 0: not yet */
    uint64_t segments;          /* to be run; falls when the stretch is stopped */
    uint64_t delivered;         /* segments that the sink has got */
    size_t *remaining;          /* per slot: blocks that are not done with the segment in it */
    uint64_t evals, updates;    /* of tasks that are done */
    uint64_t serial;            /* of the last claim */
    uint64_t takeovers;         /* claims that lost their block to another */
    size_t claims;              /* that are being run */
    double typical;             /* seconds per iteration of a block, on any rank; 0: not known */
    double evals_per_iteration; /* of a block, likewise */
    gess__tally remote_tally;   /* of tasks that other ranks did */
    uint64_t remote_unused;     /* speculative evaluations for such tasks, not used, since the ensemble was made */
    int delivering, status;
    gess_error error;
};

/* All of the following are called with the lock held. */

/* The first failure ends the stretch. */
void gess__scheduler_set_error(gess__scheduler *scheduler, int status, const gess_error *error);

/* ---- segments.c ---- */

/* Cuts a stretch into segments. */
void gess__segments_plan(gess__scheduler *scheduler, gess__ensemble *e, const gess__stretch *stretch,
                         const gess__record *record);

/* The first iteration of segment k, or the end of the stretch; the draws that it keeps of a chain; where they are held.
 */
uint64_t gess__segment_start(const gess__scheduler *scheduler, uint64_t k);
uint64_t gess__segment_kept(const gess__scheduler *scheduler, uint64_t k);
double *gess__segment_rows(const gess__scheduler *scheduler, uint64_t k);

/* Hands complete segments to the sink; without the lock while the sink works. */
void gess__segments_deliver(gess__scheduler *scheduler);

/* ---- claims.c ---- */

/* Claims a block for a worker of `rank` that takes sec_per_iteration for an iteration (0: not known) and has `waiting`
 * tasks to do before; with none, it may take over another rank's. Returns 0 if there is none. */
int gess__claim_block(gess__scheduler *scheduler, int rank, double sec_per_iteration, size_t waiting,
                      gess__claim *claim);

/* Ends a claim whose outcome is in its place. The workers of this process deliver the segments that it completes: the
 * thread that carries messages must not wait for a disk. */
void gess__claim_finish(gess__scheduler *scheduler, const gess__claim *claim, const gess__outcome *outcome);

/* ---- speculation_depth.c ---- */

/* Whether points are predicted at all, as far as is known; and how many angles per task. */
int gess__speculates(const gess__scheduler *scheduler);
size_t gess__predict_depth(const gess__scheduler *scheduler);

#endif
