/* Angles evaluated in advance (kernel/ahead.h) by ranks that have no task.
 *
 * Rank 0 knows who has tasks and who has none, and lends idle ranks to busy ones: that is all it does of it. A rank
 * that runs an update, rank 0 or a guest, sends points from its desks straight to the helpers that were lent to it, one
 * for each of their threads, and these send the values straight back. They are evaluated with the same frozen map by
 * the same code, so they are the bits that the owner would have found itself.
 *
 * Nobody depends on a helper. It refuses what it cannot do now (it has a task, or not yet what is frozen), and is left
 * alone for a while then; a value that does not come in time is not waited for (ahead.h), and who owes one is asked
 * for nothing else. Messages go only where someone is idle; with a task for everyone there are none. */
#ifndef GESS_CLUSTER_REMOTE_SPECULATE_H
#define GESS_CLUSTER_REMOTE_SPECULATE_H

#include "cluster/wire.h"
#include "execute/speculation.h"

/* ---- rank 0: who is lent to whom ---- */

/* A rank, as rank 0 sees it. */
typedef struct gess__rank_load {
    unsigned tasks; /* that it has */
    unsigned idle;  /* its threads, where it has none; 0 elsewhere */
    int lent;       /* 1 + the rank that it is lent to; 0: none */
    unsigned given; /* threads that are, with that loan */
    unsigned has;   /* threads that are lent to it */
} gess__rank_load;

/* `helper` is lent to `owner` with so many threads; 0: not any more. */
typedef struct gess__assignment {
    int owner, helper;
    unsigned threads;
} gess__assignment;

/* The next change, so that every task has its share of the idle threads, and none more than `most`; false where all is
 * well. Notes it in parties[size]. */
int gess__assign_next(gess__rank_load *parties, int size, size_t most, gess__assignment *loan);

/* ---- the owner of an update ---- */

typedef struct gess__helper {
    unsigned room, out; /* points that it may have; that it has */
    unsigned refusals;  /* in a row */
    double again;       /* not to be asked before, by gess__seconds() */
} gess__helper;

typedef struct gess__helpers {
    gess_comm *comm;
    gess__speculation *ahead;    /* NULL: nothing is on offer */
    pthread_mutex_t *lock; /* of the desks, to be taken; NULL: the caller holds it */
    pthread_cond_t *wake;  /* of the thread that sends */
    size_t dim;
    gess__helper *of; /* of every rank */
    unsigned lent;    /* threads, of all of them */
    int first;        /* rank that is asked first, in turn */
    struct gess__remote_point *away;
    size_t count, room; /* points that are away */
    uint64_t ids;
    double each; /* seconds of an evaluation */
    double *point;
    gess__archive out;
} gess__helpers;

int gess__helpers_open(gess__helpers *helpers, gess_comm *comm, size_t dim, pthread_cond_t *wake, gess_error *err);
void gess__helpers_free(gess__helpers *helpers);

void gess__helpers_assign(gess__helpers *helpers, int rank, unsigned threads);

/* Whose desks they are from now on. */
void gess__helpers_attach(gess__helpers *helpers, gess__speculation *ahead, pthread_mutex_t *lock);

/* The desks are gone, or will be; what is away has nowhere to come back to. */
void gess__helpers_detach(gess__helpers *helpers);

/* Sends what is on the desks to helpers that have room; *sent: something was. */
int gess__helpers_send(gess__helpers *helpers, int *sent, gess_error *err);

/* A value has come. */
int gess__helpers_take(gess__helpers *helpers, const gess__message *message, gess_error *err);

/* ---- the helper ---- */

/* A point of another rank's. */
typedef struct gess__request {
    enum { GESS__REQUEST_NONE, GESS__REQUEST_ASKED, GESS__REQUEST_BEGUN, GESS__REQUEST_DONE } state;
    int from;
    uint64_t id;
    gess__frozen_label label;
    double *point;
    int status;
    double value;
} gess__request;

typedef struct gess__requests {
    size_t count, dim; /* one for each thread */
    double each;       /* seconds of an evaluation, as the owner has it */
    gess__request *of;
    double *points;
} gess__requests;

/* Seconds between two looks for messages, for those who take part: little beside those of an evaluation. */
double gess__remote_poll_seconds(double each);

int gess__requests_open(gess__requests *favours, size_t threads, size_t dim, gess_error *err);
void gess__requests_free(gess__requests *favours);

/* A point has come. It is refused where there is no room, where `able` is 0, or where generations[ensembles] says that
 * something else is frozen here. *asked: it was not. */
int gess__requests_take(gess__requests *favours, gess_comm *comm, const gess__message *message, int able,
                       const uint64_t *generations, size_t ensembles, int *asked, gess_error *err);

/* One that nobody has begun, or NULL. */
gess__request *gess__requests_next(gess__requests *favours);

/* Sends the values that are there; *sent: something was. `refuse`: also what was not begun, without a value. */
int gess__requests_send(gess__requests *favours, gess_comm *comm, int refuse, int *sent, gess_error *err);

#endif
