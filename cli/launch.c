/* Joins the other processes if a launcher started this one; otherwise the command needs no MPI. */
#include "launch.h"

#include "supervise.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static gess_comm *comm;
static int idle, rank, refused; /* refused: it could not join the others */

/* Commands that several processes run as one. */
static const char *const parallel_commands[] = {"sample", "resume", "evidence", "compare"};

/* Needed because argp may end the process. */
static void at_exit(int status, void *argument)
{
    (void)argument;
    if (supervised_evaluating())
        _exit(status); /* the density ends the process: the others cannot be told by its thread */
    launch_close(status, NULL);
}

int launch_open(const char *command, gess_error *err)
{
    int size, parallel = 0, status = gess_comm_launched(&rank, &size, err);
    if (status != GESS_OK || size == 1) return status;
    for (size_t i = 0; i < sizeof parallel_commands / sizeof *parallel_commands; i++)
        parallel |= strcmp(command, parallel_commands[i]) == 0;
    if (!parallel) {
        idle = rank > 0;
        return GESS_OK;
    }
    status = gess_comm_join(&comm, err);
    refused = status != GESS_OK;
    if (status != GESS_OK || comm == NULL) return status;
    on_exit(at_exit, NULL);
    return gess_comm_info(comm, &rank, &size, err);
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

int launch_close(int status, const gess_error *err)
{
    gess_comm *c = comm;
    /* launchers end all processes when one fails: rank 0, which could not join either, says so first */
    if (refused && rank > 0) sleep(2);
    if (c == NULL) return status;
    comm = NULL;
    fflush(NULL);
    gess_comm_leave(c, status, err);
    /* Only rank 0 returns the status: launchers end all processes when one of them fails, and its messages could be
     * lost. A rank whose density never returns does not get here; rank 0 aborts all ranks then. */
    if (rank > 0) _exit(GESS_OK);
    return status;
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
