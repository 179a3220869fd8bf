/* A run on several ranks.
 *
 * The run lives on rank 0: chains, warm-up, fits, files, stop rules. The other ranks are its guests: they hold a copy
 * of what is frozen (T, mixture, map) and run tasks (task.h) on their threads. A task travels with the states of its
 * chains, its result with the new states, draws, points and counts; whoever ran it, they are the same, so no draw
 * depends on the number of ranks, and nothing that is sent grows with it.
 *
 * On rank 0 the calling thread carries messages, all the time that it is inside gess; what it was called for runs on a
 * second thread meanwhile (gess__with_comm_thread). So a rank that is gone is noticed during a fit, too. */
#ifndef GESS_CLUSTER_COORDINATOR_H
#define GESS_CLUSTER_COORDINATOR_H

#include "execute/ensemble.h"
#include "parallel/comm.h"

/* ---- rank 0. Where `ranks` is NULL there are no others, and these do nothing. ---- */

/* Those of a communicator, which frees them when it is closed; NULL where there are none. */
int gess__coordinator_of(gess_comm *comm, gess__coordinator **ranks, gess_error *err);

/* Another run begins on the same communicator. */
void gess__coordinator_next_run(gess__coordinator *ranks);

/* Calls body(data) on a second thread and carries messages until it returns. */
int gess__with_comm_thread(gess__coordinator *ranks, int (*body)(void *data, gess_error *err), void *data, gess_error *err);

/* The following are called by the covered thread. */

/* Waits for all guests, and shares blocks of `count` ensembles with them. `halt`: set where a guest is asked to stop.
 */
int gess__coordinator_gather(gess__coordinator *ranks, size_t count, gess__ensemble **ensemble, const gess_options *options,
                       void (*stop)(void *user), void *user, gess_error *err);

/* Tells the guests that the run is over, how, and what else they should know of it (`size` bytes). */
void gess__coordinator_dismiss(gess__coordinator *ranks, int status, const gess_error *error, const void *news, size_t size);

/* A stretch begins and ends: in between, guests get tasks of the stream. */
int gess__coordinator_begin(gess__coordinator *ranks, gess__scheduler *stream, gess_error *err);
void gess__coordinator_end(gess__coordinator *ranks);

/* Threads of all ranks, this one's included; 0 where they are not known. */
unsigned gess__coordinator_workers(const gess__coordinator *ranks);

/* A guest is gone or does not answer: MPI cannot be ended in good order. */
int gess__coordinator_broken(const gess__coordinator *ranks);

/* What the ranks did, for the log: one line for `index` = 0, 1, …; returns 0 past the end. */
int gess__coordinator_describe(const gess__coordinator *ranks, size_t index, char *text, size_t size);

/* ---- the others (guest.c) ---- */

/* Serves rank 0 until the run is over. Its status is returned, and its news (`size` bytes) are put in *news. `stop`
 * becoming 1 asks the run to stop. */
int gess__helper_rank_serve(gess_comm *comm, const gess_model *model, const gess_options *options, atomic_int *stop,
                      void *news, size_t size, gess_error *err);

/* Tells rank 0 that this rank cannot take part. */
void gess__helper_rank_failed(gess_comm *comm, int status, const gess_error *error);

/* Waits for rank 0 to leave; returns the status with which it does. */
int gess__helper_rank_wait(gess_comm *comm);
void gess__coordinator_leave(gess__coordinator *ranks, int status); /* rank 0: lets them go */

#endif
