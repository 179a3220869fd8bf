/* The wire: the messages between rank 0 (coordinator.c) and helper ranks (helper_rank.c), and how long to wait for
 * them.
 */
#ifndef GESS_CLUSTER_WIRE_H
#define GESS_CLUSTER_WIRE_H

#include "base/archive.h"
#include "execute/task.h"
#include "parallel/comm.h"

#include <pthread.h>

/* Tags. A number is never reused for another message: ranks may run different builds by mistake. */
enum {
    GESS__WIRE_HELLO = 1,    /* helper → 0: who it is */
    GESS__WIRE_SETUP,        /* 0 → helper: gess__setup */
    GESS__WIRE_FROZEN,       /* 0 → helper: the frozen state of an ensemble */
    GESS__WIRE_TASK,         /* 0 → helper */
    GESS__WIRE_RESULT,       /* helper → 0 */
    GESS__WIRE_REVOKE,       /* 0 → helper: a task that is not wanted any more */
    GESS__WIRE_PING,         /* both: still here */
    GESS__WIRE_STOP,         /* helper → 0: a stop was asked for there */
    GESS__WIRE_FAILED,       /* helper → 0: it cannot take part */
    GESS__WIRE_END,          /* 0 → helper: the run is over */
    GESS__WIRE_BYE,          /* helper → 0: the answer to that */
    GESS__WIRE_LEAVE,        /* 0 → helper: the command is over */
    GESS__WIRE_ASSIGN,       /* 0 → helper: a rank that speculates for it, or no longer does (remote_speculate.h) */
    GESS__WIRE_PREDICTED,    /* any → helper: a predicted point to evaluate */
    GESS__WIRE_VALUE,        /* helper → any: its value and blobs */
    GESS__WIRE_BATCH,        /* 0 → helper: gess__batch_order and points to evaluate (batches.h) */
    GESS__WIRE_BATCH_VALUES, /* helper → 0: the order, seconds, error and values */
};

#define GESS__PING_SECONDS 1.0
#define GESS__LOST_SECONDS 6.0 /* a rank that is silent for this long is gone */

/* What a helper rank must know to make its ensembles: the same for all of them. */
typedef struct gess__setup {
    uint64_t block;                                 /* chains per block, at most */
    int32_t learns_map, mixture, anneals, tempered; /* as in gess__ensemble_settings */
} gess__setup;

/* The numbers of a task. It has no pointers: each side decides where the outcome goes. */
typedef struct gess__order {
    uint64_t ensemble, serial, block; /* of the claim, as rank 0 knows it */
    uint64_t chain;                   /* number of the first chain, for random keys */
    uint64_t count, keep, start, iterations, warmup, from, thin, window_start, window_stride;
    int32_t rebind, phase, points; /* points: the window wants points, not only log densities */
    uint32_t coordinate;           /* as in gess__move_mix */
    uint64_t depth;                /* angles to predict */
    double sec_per_eval;           /* on rank 0 */
} gess__order;

/* A batch of points to evaluate. */
typedef struct gess__batch_order {
    uint64_t round, number; /* of the call on rank 0, and of the batch in it */
    uint64_t ensemble, n;
} gess__batch_order;

/* A message that has come, for reading; there is nothing to free. */
gess__archive gess__wire_open(const gess__message *message);

/* Status and text of an error. */
void gess__wire_error(gess__archive *archive, int *status, gess_error *error);

/* Backoff: a rank that hears nothing polls less and less often. */
typedef struct gess__backoff {
    double active;       /* when something happened last, by gess__seconds() */
    double max_seconds;  /* between two polls; 0: not known */
    int urgent;          /* a worker, here or elsewhere, has no task */
    double task_seconds; /* of the last task; 0: there was none */
} gess__backoff;

/* Waits on the condition, whose lock is held, until it is signalled or until it is time to poll again: a quarter of the
 * time for which nothing has happened. */
void gess__backoff_wait(gess__backoff *backoff, gess_comm *comm, pthread_cond_t *wake, pthread_mutex_t *lock);

/* A clock that stands still while this process is stopped or starved, so that other ranks do not count as silent for
 * that time. */
typedef struct gess__awake_clock {
    double last, seconds;
} gess__awake_clock;
double gess__awake_clock_seconds(gess__awake_clock *clock);

#endif
