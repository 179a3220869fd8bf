/* The coordinator's state, shared by coordinator.c (a run's beginning and end), dispatch.c (tasks go out), batches.c
 * (points go out), receive.c (messages come in) and comm_thread.c (the thread that carries messages). Nobody else
 * includes it. */
#ifndef GESS_CLUSTER_COORDINATOR_STATE_H
#define GESS_CLUSTER_COORDINATOR_STATE_H

#include "cluster/batches.h"
#include "cluster/coordinator.h"
#include "cluster/remote_speculate.h"
#include "cluster/wire.h"
#include "execute/scheduler.h"

/* A task that a helper rank has. */
typedef struct gess__outstanding {
    uint64_t ensemble, serial;
    size_t block;
    int revoked;
} gess__outstanding;

/* A helper rank, as rank 0 knows it. */
typedef struct gess__peer {
    char host[64];
    unsigned threads;
    int present;              /* it has said hello and not bye */
    int bye;                  /* it has answered the last farewell */
    uint64_t run;             /* in which run */
    uint64_t stopped;         /* the run that it asked to stop; 0: none */
    uint64_t latest;          /* the run that it began, or failed to begin, last: failures may put it ahead of rank 0 */
    double heard, spoken;     /* last message from it and to it, by the awake clock */
    double sec_per_iteration; /* of a block; 0: not known */
    double sec_per_eval;      /* of its tasks; varies less by luck; 0: not known */
    size_t count, room;       /* outstanding tasks: how many, and at most */
    gess__outstanding *outstanding;
    uint64_t *generation; /* per ensemble: of the frozen state that it has */
    uint64_t tasks, wasted, iterations, bytes_out, bytes_in;
    _Atomic uint64_t updates; /* `iterations`, for other threads */
    size_t batches;           /* batches of points that it has (batches.c) */
    uint64_t evaluated;       /* points of such batches */
    uint64_t assignments;     /* times that it was assigned to speculate for another rank */
    double busy;              /* seconds in tasks, of all its threads */
} gess__peer;

/* The frozen state of an ensemble, as it is sent. */
typedef struct gess__packed_frozen {
    gess__archive packed;
    uint64_t generation;
} gess__packed_frozen;

struct gess__coordinator {
    gess__remote remote; /* first: what execution knows of it */
    gess_comm *comm;
    pthread_mutex_t lock; /* guards everything below; not held while a task runs */
    pthread_cond_t wake;  /* wakes the thread that carries messages */
    pthread_cond_t news;  /* wakes the second thread */
    gess__backoff backoff;
    gess__awake_clock awake;
    gess__peer *peers; /* ranks 1 .. size - 1, at rank - 1 */
    int first;         /* the peer to give a task first, in turn */
    /* one run */
    size_t ensembles;
    gess__packed_frozen *frozen;       /* per ensemble */
    gess__scheduler *scheduler;        /* NULL: no stretch is running */
    struct gess__batch_round *batches; /* NULL: no points are being evaluated */
    uint64_t rounds;                   /* of them so far */
    uint64_t takeovers;                /* of which helper ranks have been told */
    gess__rank_load *loads;            /* per rank, this one included: who speculates for whom */
    int assigned;                      /* some rank does */
    gess__helpers helpers;             /* the ranks that speculate for this one */
    uint64_t unused;                   /* unused speculative evaluations for helpers' tasks, still to be noted */
    void (*stop)(void *user);
    void *stop_user;
    gess__setup setup;
    int announced;     /* the setup was sent */
    gess__archive out; /* the message that is being written */
    /* the second thread */
    int has_comm_thread, finished;
    int (*body)(void *data, gess_error *err);
    void *data;
    int body_status;
    gess_error body_error;
    /* the end */
    const gess__archive *farewell; /* still to be sent */
    int farewell_sent;             /* and no run has begun since */
    double farewell_time;
    int status; /* a helper rank failed or is gone */
    gess_error error;
    double failed; /* when, by the awake clock */
    int broken;
    struct {
        uint64_t run; /* 0: none */
        int status;
        gess_error error;
    } early; /* a helper rank failed in a run that has not begun here */
};

static inline int gess__peer_count(const gess__coordinator *c)
{
    return c->comm->size - 1;
}

/* All of the following hold the lock, and are called by the thread that carries messages. */

/* The first failure of a helper rank ends the run. */
void gess__coordinator_fail(gess__coordinator *c, int status, const gess_error *error);

/* Sends a message to peer i. */
void gess__coordinator_send(gess__coordinator *c, int i, int tag, const void *bytes, size_t count);

/* dispatch.c: gives out tasks, takes back those that were taken over, and assigns idle ranks. Returns whether anything
 * was sent. */
int gess__dispatch_tasks(gess__coordinator *c);
int gess__dispatch(gess__coordinator *c);

/* Sends peer i the frozen state of an ensemble, unless it has it. */
void gess__dispatch_frozen(gess__coordinator *c, int i, size_t ensemble);

/* coordinator.c: packs the frozen state of an ensemble, for gess__dispatch_frozen(). */
int gess__coordinator_pack(gess__coordinator *c, gess__ensemble *e, gess_error *err);

/* batches.c: gives out batches of points, and takes values that have come from peer i. */
int gess__dispatch_batches(gess__coordinator *c);
int gess__receive_batch(gess__coordinator *c, int i, gess__archive *archive, gess_error *err);

/* receive.c: takes a message that has come. */
int gess__coordinator_receive(gess__coordinator *c, const gess__message *message, gess_error *err);

/* Passes c->unused on to the scheduler. */
void gess__coordinator_note_unused(gess__coordinator *c);

#endif
