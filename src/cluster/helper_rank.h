/* A helper rank: any rank but 0. It runs tasks for rank 0 (coordinator.h). */
#ifndef GESS_CLUSTER_HELPER_RANK_H
#define GESS_CLUSTER_HELPER_RANK_H

#include "parallel/comm.h"

#include <stdatomic.h>

/* Serves rank 0 until the run is over; returns the run's status and puts its statistics (`size` bytes) into *stats.
 * `stop` becoming 1 asks the run to stop. */
int gess__helper_rank_serve(gess_comm *comm, const gess_model *model, const gess_options *options, atomic_int *stop,
                            void *stats, size_t size, gess_error *err);

/* Tells rank 0 that this rank cannot take part. */
void gess__helper_rank_failed(gess_comm *comm, int status, const gess_error *error);

/* Waits for rank 0 to leave; returns the status with which it does. */
int gess__helper_rank_wait(gess_comm *comm);

#endif
