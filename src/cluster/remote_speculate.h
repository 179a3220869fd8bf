/* Remote speculation: ranks that have no task evaluate predicted points (execute/speculation.h) for ranks that have
 * one.
 *
 * Rank 0 knows the load of every rank and assigns idle ranks to busy ones; that is all it does. A rank that runs an
 * update, rank 0 or a helper rank, sends points from its queues straight to the ranks assigned to it, one point per
 * thread of theirs, and these send the values straight back. They evaluate with the same frozen map and the same code,
 * so the values have the bits that the owner of the update would have found itself.
 *
 * Nobody depends on an assigned rank. It refuses what it cannot do at the moment (it has a task, or not yet the frozen
 * state), and gets no further points for a while. The owner does not wait for a value beyond its due time, and sends
 * nothing else to a rank that owes one. There are messages only while some rank is idle. */
#ifndef GESS_CLUSTER_REMOTE_SPECULATE_H
#define GESS_CLUSTER_REMOTE_SPECULATE_H

#include "cluster/wire.h"
#include "execute/speculation.h"

/* ---- rank 0: who speculates for whom ---- */

/* The load of a rank. */
typedef struct gess__rank_load {
    unsigned tasks;    /* that it has */
    unsigned idle;     /* its threads if it has no task, otherwise 0 */
    int owner;         /* 1 + the rank that it speculates for; 0: none */
    unsigned given;    /* its threads that do */
    unsigned assigned; /* threads of other ranks that speculate for it */
} gess__rank_load;

/* `helper` speculates for `owner` with this many threads; 0: not any more. */
typedef struct gess__assignment {
    int owner, helper;
    unsigned threads;
} gess__assignment;

/* Finds the next change that gives every task its share of the idle threads, at most `depth` each, and notes it in
 * loads[size]. Returns 0 if nothing needs to change. */
int gess__assign_next(gess__rank_load *loads, int size, size_t depth, gess__assignment *assignment);

/* ---- the owner of an update ---- */

/* A rank that speculates for this one. */
typedef struct gess__helper {
    unsigned room, out; /* points that it may have; that it has */
    unsigned refusals;  /* in a row */
    double again;       /* it gets no point before this time of gess__seconds() */
} gess__helper;

typedef struct gess__helpers {
    gess_comm *comm;
    gess__speculation *speculation; /* NULL: nothing is predicted */
    pthread_mutex_t *lock;          /* of the queues, to be taken; NULL: the caller holds it */
    pthread_cond_t *wake;           /* wakes the thread that sends */
    size_t dim, blob_count;
    gess__helper *of; /* per rank */
    unsigned threads; /* assigned to this rank, of all of them */
    int first;        /* the rank that gets a point first, in turn */
    struct gess__remote_point *away;
    size_t count, room; /* points that are away */
    uint64_t ids;
    double sec_per_eval;
    double *point;
    double *blobs; /* of a value that has come; NULL if there are none */
    gess__archive out;
} gess__helpers;

int gess__helpers_open(gess__helpers *helpers, gess_comm *comm, size_t dim, size_t blobs, pthread_cond_t *wake,
                       gess_error *err);
void gess__helpers_free(gess__helpers *helpers);

void gess__helpers_assign(gess__helpers *helpers, int rank, unsigned threads);

/* From now on points come from these queues. */
void gess__helpers_attach(gess__helpers *helpers, gess__speculation *speculation, pthread_mutex_t *lock);

/* The queues are gone, or will be: values that come back are dropped. */
void gess__helpers_detach(gess__helpers *helpers);

/* Sends queued points to ranks that have room; sets *sent if it sent one. */
int gess__helpers_send(gess__helpers *helpers, int *sent, gess_error *err);

/* Takes a value that has come. */
int gess__helpers_take(gess__helpers *helpers, const gess__message *message, gess_error *err);

/* ---- the rank that speculates ---- */

/* A point that another rank wants evaluated. */
typedef struct gess__request {
    enum { GESS__REQUEST_NONE, GESS__REQUEST_ASKED, GESS__REQUEST_BEGUN, GESS__REQUEST_DONE } state;
    int from;
    uint64_t id;
    gess__frozen_label label;
    double *point;
    int status;
    double value;
    double *blobs; /* NULL if there are none */
} gess__request;

typedef struct gess__requests {
    size_t count; /* one per thread */
    size_t dim, blob_count;
    double sec_per_eval; /* as the owner has it */
    gess__request *of;
    double *points, *blobs;
    gess__archive out;
} gess__requests;

/* Seconds between two polls for ranks that take part: a small part of an evaluation. */
double gess__remote_poll_seconds(double sec_per_eval);

int gess__requests_open(gess__requests *requests, size_t threads, size_t dim, size_t blobs, gess_error *err);
void gess__requests_free(gess__requests *requests);

/* Takes a point that has come. Refuses it if there is no room, if `able` is 0, or if generations[ensembles] says that
 * this rank has another frozen state; otherwise sets *asked. */
int gess__requests_take(gess__requests *requests, gess_comm *comm, const gess__message *message, int able,
                        const uint64_t *generations, size_t ensembles, int *asked, gess_error *err);

/* A request that nobody has begun, or NULL. */
gess__request *gess__requests_next(gess__requests *requests);

/* Sends the values that are there; sets *sent if it sent one. `refuse`: also refuses what was not begun. */
int gess__requests_send(gess__requests *requests, gess_comm *comm, int refuse, int *sent, gess_error *err);

#endif
