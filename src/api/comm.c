/* gess_comm of <gess/gess.h>: joins the processes that mpirun, srun or another launcher has started. MPI itself is in
 * libgess_mpi.so, which is loaded only then, so that one process needs no MPI. */
#include "api/argument.h"
#include "base/library.h"
#include "cluster/coordinator.h"
#include "cluster/helper_rank.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char library_name[] = "libgess_mpi.so." GESS_SOVERSION;

/* The variables in which launchers give the number of processes and the rank. SLURM_NTASKS is of no use: it is set in
 * the batch script, too, which is one process. SLURM_STEP_NUM_TASKS is set only in processes that srun started. */
static const struct launcher {
    const char *size, *rank;
} launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                 {"PMI_SIZE", "PMI_RANK"},
                 {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
                 {"PALS_SIZE", "PALS_RANKID"},
                 {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
                 {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
                 {NULL, "PMIX_RANK"}};

static int number_of(const char *name, int fallback)
{
    const char *text = name != NULL ? getenv(name) : NULL;
    if (text == NULL) return fallback;
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && value >= 0 && value < 1 << 30 ? (int)value : fallback;
}

int gess_comm_launched(int *rank, int *size, gess_error *err)
{
    GESS_REQUIRE(rank, err);
    GESS_REQUIRE(size, err);
    *rank = 0;
    *size = 1;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        int processes = number_of(launchers[i].size, -1), number = number_of(launchers[i].rank, -1);
        if (launchers[i].size != NULL ? processes <= 1 : number < 0) continue;
        *rank = number > 0 ? number : 0;
        *size = launchers[i].size != NULL ? processes : 0;
        break;
    }
    return GESS_OK;
}

/* ---- joining ---- */

static int refuse(int size, const char *why, gess_error *err)
{
    char processes[64] = "one of several processes";
    if (size > 1) snprintf(processes, sizeof processes, "one of %d processes", size);
    return gess__fail(err, GESS_ERR_USAGE,
                      "gess was started as %s (mpirun, srun), but they cannot join one run: %s; nothing was run",
                      processes, why);
}

static int refuse_library(int size, const char *reason, gess_error *err)
{
    char why[512];
    snprintf(why, sizeof why, "%.300s (build gess where MPI is found, or start one process)",
             reason != NULL ? reason : library_name);
    return refuse(size, why, err);
}

static int join(gess_comm **comm, int size, gess_error *err)
{
    gess__library library;
    int (*world)(gess_comm **, gess_error *) = NULL;
    if (!gess__library_open(&library, library_name, true)) return refuse_library(size, library.why, err);
    void *symbol = gess__library_symbol(&library, "gess_mpi_world");
    if (symbol == NULL) return refuse_library(size, dlerror(), err);
    memcpy(&world, &symbol, sizeof world);
    GESS_TRY(world(comm, err));
    if ((*comm)->abi != GESS__COMM_ABI) return refuse(size, "libgess_mpi.so is of another version", err);
    if ((*comm)->size > 1) return GESS_OK;
    if (size > 1)
        return refuse(size,
                      "MPI sees one process only, so the launcher does not belong to the MPI that libgess_mpi.so was "
                      "built with (srun: try --mpi=pmix or --mpi=pmi2)",
                      err);
    (*comm)->close(*comm);
    *comm = NULL;
    return GESS_OK;
}

int gess_comm_join(gess_comm **comm, gess_error *err)
{
    int rank, size;
    GESS_REQUIRE(comm, err);
    *comm = NULL;
    GESS_TRY(gess_comm_launched(&rank, &size, err));
    if (size == 1) return GESS_OK;
    int status = join(comm, size, err);
    if (status != GESS_OK) *comm = NULL;
    return status;
}

int gess_comm_info(const gess_comm *comm, int *rank, int *size, gess_error *err)
{
    GESS_REQUIRE(comm, err);
    GESS_REQUIRE(rank, err);
    GESS_REQUIRE(size, err);
    *rank = comm->rank;
    *size = comm->size;
    return GESS_OK;
}

int gess_comm_call(gess_comm *comm, gess_body_fn *body, void *data, gess_error *err)
{
    gess__coordinator *ranks = NULL;
    GESS_REQUIRE(body, err);
    if (comm != NULL && comm->rank == 0) GESS_TRY(gess__coordinator_of(comm, &ranks, err));
    return gess__with_comm_thread(ranks, body, data, err);
}

/* ---- leaving ---- */

static void leave_first(gess_comm *comm, int status)
{
    gess__coordinator *ranks = comm->ranks;
    if (ranks == NULL && gess__coordinator_of(comm, &ranks, NULL) != GESS_OK) comm->abort(comm, status, NULL);
    if (gess__coordinator_broken(ranks)) comm->abort(comm, status, NULL);
    gess__coordinator_leave(ranks, status);
}

void gess_comm_leave(gess_comm *comm, int status, const gess_error *error)
{
    if (comm == NULL) return;
    if (comm->rank == 0) {
        leave_first(comm, status);
    } else {
        if (comm->runs == 0 && status != GESS_OK && error != NULL) gess__helper_rank_failed(comm, status, error);
        gess__helper_rank_wait(comm);
    }
    comm->close(comm);
}

int gess_comm_library(char *path, size_t size, gess_error *err)
{
    gess__library library;
    GESS_REQUIRE(path, err);
    if (size > 0) path[0] = '\0';
    if (!gess__library_open(&library, library_name, true))
        return gess__fail(err, GESS_ERR_USAGE, "%s cannot be loaded: %s", library_name, library.why);
    snprintf(path, size, "%s", library.path);
    return GESS_OK;
}
