/* The coordinator: a run on several ranks, as rank 0 sees it.
 *
 * The run lives on rank 0: chains, warm-up, fits, files, stop rules. The other ranks are helpers (helper_rank.h): they
 * hold a copy of the frozen state and run tasks (execute/task.h) on their threads. A task travels with the states of
 * its chains; its result travels back with the new states, draws, points and counts. These are the same whoever ran it,
 * so no draw depends on the number of ranks.
 *
 * On rank 0 the calling thread carries messages for as long as it is inside gess; what it was called for runs on a
 * second thread meanwhile (gess__with_comm_thread). So a rank that is gone is noticed during a fit, too. */
#ifndef GESS_CLUSTER_COORDINATOR_H
#define GESS_CLUSTER_COORDINATOR_H

#include "execute/ensemble.h"
#include "parallel/comm.h"

typedef struct gess__coordinator gess__coordinator;

/* With `coordinator` NULL there are no other ranks, and these functions do nothing. */

/* The coordinator of a communicator, which frees it when it is closed; NULL if there are no other ranks. */
int gess__coordinator_of(gess_comm *comm, gess__coordinator **coordinator, gess_error *err);

/* Another run begins on the same communicator. */
void gess__coordinator_next_run(gess__coordinator *coordinator);

/* Calls body(data) on a second thread, and carries messages until it returns. */
int gess__with_comm_thread(gess__coordinator *coordinator, int (*body)(void *data, gess_error *err), void *data,
                           gess_error *err);

/* ---- called by that second thread ---- */

/* Waits for all helper ranks, and shares the blocks of `count` ensembles with them. Calls stop(user) if a stop is asked
 * for on a helper rank. */
int gess__coordinator_gather(gess__coordinator *coordinator, size_t count, gess__ensemble **ensemble,
                             const gess_options *options, void (*stop)(void *user), void *user, gess_error *err);

/* Tells the helper ranks that the run is over, how it ended, and its statistics (`size` bytes). */
void gess__coordinator_dismiss(gess__coordinator *coordinator, int status, const gess_error *error, const void *stats,
                               size_t size);

/* Whether a helper rank is gone or does not answer: then MPI cannot be shut down in good order. */
int gess__coordinator_broken(const gess__coordinator *coordinator);

/* What helper rank number `index` = 0, 1, … did, for the log; returns 0 past the end. */
int gess__coordinator_describe(const gess__coordinator *coordinator, size_t index, char *text, size_t size);

/* The host, the threads and the updates so far of helper rank number `index`, from any thread while a run is gathered;
 * returns 0 past the end. */
typedef struct gess__rank_share {
    const char *host;
    unsigned threads;
    uint64_t updates;
} gess__rank_share;
int gess__coordinator_share(gess__coordinator *coordinator, size_t index, gess__rank_share *share);

/* Lets the helper ranks go when the command is over. */
void gess__coordinator_leave(gess__coordinator *coordinator, int status);

#endif
