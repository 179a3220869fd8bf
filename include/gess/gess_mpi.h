/* gess over MPI: a communicator for the options of a run, in a separate library (link with -lgess_mpi).
 *
 *   MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
 *   gess_comm *comm;
 *   gess_mpi_comm(&comm, MPI_COMM_WORLD, &err);
 *   gess_options_set_comm(options, comm, &err);
 *   ... gess_run_new, gess_run_go, gess_run_free on every rank, with the same model and options ...
 *   gess_mpi_free(comm);
 *   MPI_Finalize();
 *
 * The run lives on rank 0: its files, draws, callbacks. The threads of the other ranks work for it inside
 * gess_run_go(), which returns on all ranks with the same status. The thread that calls gess_run_new() and
 * gess_run_go() is the only one that calls MPI. */
#ifndef GESS_GESS_MPI_H
#define GESS_GESS_MPI_H

#include <gess/gess.h>
#include <mpi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Collective over `of`, which is duplicated and stays the caller's. MPI must have been initialised with
 * MPI_THREAD_FUNNELED at least. */
GESS_API int gess_mpi_comm(gess_comm **comm, MPI_Comm of, gess_error *err);

/* Collective. Call it after gess_run_free() and before MPI_Finalize(). */
GESS_API void gess_mpi_free(gess_comm *comm);

/* For programs that leave MPI to gess, as the command does: initialises it if that has not been done, and takes
 * all ranks; gess_mpi_free() then ends MPI too. */
GESS_API int gess_mpi_world(gess_comm **comm, gess_error *err);

#ifdef __cplusplus
}
#endif

#endif
