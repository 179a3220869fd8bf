/* A helper rank's state, shared by helper_rank.c (messages), helper_tasks.c (tasks and their workers) and
 * helper_batches.c (points to evaluate). Nobody else
 * includes it. */
#ifndef GESS_CLUSTER_HELPER_STATE_H
#define GESS_CLUSTER_HELPER_STATE_H

#include "cluster/helper_rank.h"
#include "cluster/remote_speculate.h"
#include "cluster/wire.h"
#include "execute/scheduler.h"

enum gess__slot_state { GESS__SLOT_FREE, GESS__SLOT_WAITING, GESS__SLOT_RUNNING, GESS__SLOT_DONE };

/* A task of this rank, with its memory. */
typedef struct gess__slot {
    enum gess__slot_state state;
    atomic_int revoked;
    gess__order order;
    gess__task task;
    gess__chains chains; /* the block */
    double *rows, *points, *values;
    size_t rows_room, points_room, values_room;
    gess__outcome outcome;
    gess__nans nans;
} gess__slot;

/* A batch of points to evaluate, with its memory. */
typedef struct gess__batch {
    enum gess__slot_state state;
    gess__batch_order order;
    double *points, *values, *scratch; /* one allocation */
    double seconds;
    int status;
    gess_error error;
} gess__batch;

typedef struct gess__helper_rank {
    gess_comm *comm;
    const gess_model *model;
    const gess_options *options;
    gess__team *team;
    gess__setup setup;
    size_t ensembles, slots;
    gess__ensemble **ensemble; /* each is made when its frozen state first comes */
    gess__slot *slot;
    size_t batches;
    gess__batch *batch;             /* made when the first one comes */
    uint64_t *generation;           /* per ensemble: of its frozen state */
    gess__speculation *speculation; /* queues of the workers; NULL: nothing is predicted */
    gess__helpers helpers;          /* ranks that speculate for this one */
    gess__requests requests;        /* points of other ranks */
    double *points;                 /* per worker: a point of a queue here */
    size_t speculating;             /* workers that evaluate a predicted point */
    uint64_t unused;                /* unused evaluations for tasks here, as far as rank 0 was told */
    pthread_mutex_t lock;
    pthread_cond_t wake; /* wakes the thread that carries messages */
    pthread_cond_t work; /* wakes workers */
    int quit;
    gess__backoff backoff;
    gess__awake_clock awake;
    double heard, spoken;
    int rank0_runs;        /* rank 0 has a comm thread, so it must be heard of */
    int asked_to_stop;     /* rank 0 was told of the stop */
    int held;              /* `message` waits for running tasks */
    int ending;            /* the run is over but for tasks that run here: nothing more is received */
    gess__message message; /* that came last */
    gess__archive out;
    int over, status;
    gess_error error;
    void *stats;
    size_t stats_size;
} gess__helper_rank;

/* ---- helper_tasks.c ---- */

/* Runs the team until r->quit: tasks, and predicted points of this rank and of others. */
void *gess__helper_run_team(void *helper_rank);

/* All of the following hold the lock. */

/* Makes the slots, and what it takes to speculate, once the size of a block is known. */
int gess__helper_make_slots(gess__helper_rank *r, const gess__ensemble *e, gess_error *err);
void gess__helper_free_slots(gess__helper_rank *r);

/* Takes a task from a message. */
int gess__helper_take_task(gess__helper_rank *r, gess__archive *archive, gess_error *err);

/* Sends the result of a slot, and frees it. */
int gess__helper_send_result(gess__helper_rank *r, gess__slot *slot, gess_error *err);

/* ---- helper_batches.c ---- */

/* Takes a batch of points from a message. */
int gess__helper_take_batch(gess__helper_rank *r, gess__archive *archive, gess_error *err);

/* Evaluates a batch that waits, without the lock meanwhile; returns 0 if there is none. */
int gess__helper_run_batch(gess__helper_rank *r, unsigned worker);

/* Sends the values of batches that are done; sets *sent if there is one. */
int gess__helper_send_batches(gess__helper_rank *r, int *sent, gess_error *err);

/* Batches that are being evaluated. */
size_t gess__helper_batches_begun(const gess__helper_rank *r);
void gess__helper_free_batches(gess__helper_rank *r);

/* ---- helper_rank.c ---- */

int gess__helper_send(gess__helper_rank *r, int tag, const void *bytes, size_t count, gess_error *err);

/* The error for a message that is cut short or impossible. */
int gess__helper_bad_message(gess_error *err);

#endif
