/* What travels between ranks, for ranks.c and guest.c. */
#ifndef GESS_CLUSTER_WIRE_H
#define GESS_CLUSTER_WIRE_H

#include "base/archive.h"
#include "execute/task.h"
#include "parallel/comm.h"

#include <pthread.h>

/* Tags. A number is never used again for something else: ranks may run different builds by mistake. */
enum {
    GESS__WIRE_HELLO = 1, /* guest → 0: who it is */
    GESS__WIRE_SETUP,     /* 0 → guest: how large blocks are */
    GESS__WIRE_FROZEN,    /* 0 → guest: T, map, … of an ensemble */
    GESS__WIRE_TASK,      /* 0 → guest */
    GESS__WIRE_RESULT,    /* guest → 0 */
    GESS__WIRE_REVOKE,    /* 0 → guest: a task that is not wanted any more */
    GESS__WIRE_PING,      /* both: still here */
    GESS__WIRE_STOP,      /* guest → 0: asked to stop */
    GESS__WIRE_FAILED,    /* guest → 0: it cannot take part */
    GESS__WIRE_END,       /* 0 → guest: the run is over */
    GESS__WIRE_BYE,       /* guest → 0: the answer to that */
    GESS__WIRE_LEAVE,     /* 0 → guest: the command is over */
    GESS__WIRE_ASSIGN,      /* 0 → guest: a rank that helps it, or does no more (lend.h) */
    GESS__WIRE_PREDICTED,     /* any → guest: a point to be evaluated in advance */
    GESS__WIRE_VALUE,     /* guest → any: its value */
};

#define GESS__PING_SECONDS 1.0
#define GESS__LOST_SECONDS 6.0 /* a rank that has not been heard of for so long is gone */

/* A message that has come, for reading; nothing to free. */
gess__archive gess__wire_open(const gess__message *message);

/* Status and text of an error. */
void gess__wire_error(gess__archive *archive, int *status, gess_error *error);

/* The numbers of a task; where it goes is each side's own. */
typedef struct gess__order {
    uint64_t ensemble, serial, block; /* whose, as rank 0 knows it */
    uint64_t chain;                   /* number of the first, for random keys */
    uint64_t count, keep, start, iterations, warmup, from, thin, window_start, window_stride;
    int32_t rebind, phase, points; /* points: the window wants them, not their log densities alone */
    uint32_t axes;
    uint64_t ahead; /* angles to lay out for others */
    double each;    /* seconds of an evaluation on rank 0 */
} gess__order;

/* The states of chains first .. first + count - 1. */
void gess__wire_states(gess__archive *archive, const gess__chains *chains, size_t first, size_t count);

/* Who hears nothing polls less and less often. */
typedef struct gess__backoff {
    double active; /* when something happened last */
    double most;   /* seconds between two polls, at most; 0: not known */
    int keen;      /* a worker, here or elsewhere, has no task */
    double task;   /* seconds of the last task; 0: there was none */
} gess__backoff;

/* Waits on the condition, whose lock is held, until it is signalled or it is time to poll again: a quarter of the
 * time that nothing has happened for. */
void gess__backoff_wait(gess__backoff *patience, gess_comm *comm, pthread_cond_t *wake, pthread_mutex_t *lock);

/* A clock of one's own that does not run while the process is stopped or starved, so that silence is not held
 * against others then. */
typedef struct gess__awake_clock {
    double last, time;
} gess__awake_clock;
double gess__awake_clock_seconds(gess__awake_clock *awake);

/* A condition that waits by the monotonic clock. */
void gess__wake_init(pthread_cond_t *wake);

#endif
