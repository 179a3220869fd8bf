/* Loads libgess_mpi.so if a launcher started this process; otherwise the command needs no MPI. */
#include "launch.h"

#include "cluster/coordinator.h"
#include "cluster/helper_rank.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static gess_comm *comm;
static gess__coordinator *ranks;
static int idle, rank;

/* Commands that several processes run as one. */
static const char *const parallel_commands[] = {"sample", "resume"};

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

static long number_of(const char *name, long fallback)
{
    const char *text = name != NULL ? getenv(name) : NULL;
    if (text == NULL) return fallback;
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    return end != text && *end == '\0' && errno == 0 && value >= 0 && value < 1 << 30 ? value : fallback;
}

/* The number of processes by the environment (0: a launcher does not say), and the rank of this one. */
static long count_processes(int *this_rank)
{
    *this_rank = 0;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        long size = number_of(launchers[i].size, -1), number = number_of(launchers[i].rank, -1);
        if (launchers[i].size != NULL ? size <= 1 : number < 0) continue;
        *this_rank = number > 0 ? (int)number : 0;
        return launchers[i].size != NULL ? size : 0;
    }
    return 1;
}

/* ---- the library ---- */

static const char library_name[] = "libgess_mpi.so";

/* Searched beside the command, in the library folder of its installation, and in the linker's path. */
static void *load(char *path, size_t size)
{
    char folder[2048] = "";
    if (readlink("/proc/self/exe", folder, sizeof folder - 1) > 0 && strrchr(folder, '/') != NULL)
        *strrchr(folder, '/') = '\0';
    static const char *const places[] = {"", "/../lib", "/../" GESS_LIBDIR};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, size, "%s%s/%s", folder, places[i], library_name);
        if (access(path, R_OK) != 0) continue;
        void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        if (library != NULL) return library;
    }
    snprintf(path, size, "%s", library_name);
    return dlopen(library_name, RTLD_NOW | RTLD_GLOBAL);
}

const char *launch_library(void)
{
    static char path[4096];
    void *library = load(path, sizeof path);
    if (library == NULL) return NULL;
    dlclose(library);
    return path;
}

static int refuse(long size, const char *why, gess_error *err)
{
    char processes[64] = "one of several processes";
    if (size > 1) snprintf(processes, sizeof processes, "one of %ld processes", size);
    return gess__fail(err, GESS_ERR_USAGE,
                      "gess was started as %s (mpirun, srun), but they cannot join one run: %s; nothing was run",
                      processes, why);
}

static int join_world(long size, gess_error *err)
{
    char path[4096], why[512];
    int (*world)(gess_comm **, gess_error *) = NULL;
    void *library = load(path, sizeof path);
    void *symbol = library != NULL ? dlsym(library, "gess_mpi_world") : NULL;
    if (symbol == NULL) {
        const char *reason = dlerror();
        snprintf(why, sizeof why, "%.300s (build gess where MPI is found, or start one process)",
                 reason != NULL ? reason : library_name);
        return refuse(size, why, err);
    }
    memcpy(&world, &symbol, sizeof world);
    GESS_TRY(world(&comm, err));
    if (comm->abi != GESS__COMM_ABI) return refuse(size, "libgess_mpi.so is of another version", err);
    if (comm->size > 1) return GESS_OK;
    if (size > 1)
        return refuse(size,
                      "MPI sees one process only, so the launcher does not belong to the MPI that libgess_mpi.so was "
                      "built with (srun: try --mpi=pmix or --mpi=pmi2)",
                      err);
    comm->close(comm);
    comm = NULL;
    return GESS_OK;
}

/* Needed because argp may end the process. */
static void at_exit(int status, void *argument)
{
    (void)argument;
    launch_close(status, NULL);
}

int launch_open(const char *command, gess_error *err)
{
    long size = count_processes(&rank);
    int parallel = 0;
    if (size == 1) return GESS_OK;
    for (size_t i = 0; i < sizeof parallel_commands / sizeof *parallel_commands; i++)
        parallel |= strcmp(command, parallel_commands[i]) == 0;
    if (!parallel) {
        idle = rank > 0;
        return GESS_OK;
    }
    int status = join_world(size, err);
    if (status != GESS_OK) {
        comm = NULL;
        return status;
    }
    if (comm == NULL) return GESS_OK;
    rank = comm->rank;
    if (comm->rank == 0) GESS_TRY(gess__coordinator_of(comm, &ranks, err));
    on_exit(at_exit, NULL);
    return GESS_OK;
}

gess_comm *launch_comm(void)
{
    return comm;
}

int launch_rank(void)
{
    return rank;
}

int launch_idle(void)
{
    return idle;
}

int launch_with_comm_thread(int (*body)(void *data, gess_error *err), void *data, gess_error *err)
{
    return gess__with_comm_thread(ranks, body, data, err);
}

int launch_close(int status, const gess_error *err)
{
    gess_comm *c = comm;
    if (c == NULL) return status;
    comm = NULL;
    fflush(NULL);
    if (c->rank == 0) {
        if (gess__coordinator_broken(ranks)) c->abort(c, status, NULL);
        gess__coordinator_leave(ranks, status);
        c->close(c);
        return status;
    }
    if (c->runs == 0 && status != GESS_OK && err != NULL) gess__helper_rank_failed(c, status, err);
    gess__helper_rank_wait(c);
    c->close(c);
    /* Only rank 0 returns the status: launchers end all processes when one of them fails, and its messages could be
     * lost. A rank whose density never returns does not get here; rank 0 aborts all ranks then. */
    _exit(GESS_OK);
}

double launch_time_left(void)
{
    const char *text = getenv("SLURM_JOB_END_TIME");
    if (text == NULL) return 0.0;
    char *end;
    double left = strtod(text, &end) - (double)time(NULL);
    if (end == text || *end != '\0' || !(left < 1e9)) return 0.0;
    double margin = 0.05 * left;
    margin = margin < 5.0 ? 5.0 : margin > 60.0 ? 60.0 : margin;
    return left > margin + 1.0 ? left - margin : 1.0;
}
