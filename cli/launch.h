/* The command as one of several processes that mpirun, srun or the like have started. */
#ifndef GESS_CLI_LAUNCH_H
#define GESS_CLI_LAUNCH_H

#include <gess/gess.h>

/* Joins the other processes, where there are any and `command` works together with them. Refuses where it cannot,
 * so that there are never several runs in place of one. */
int launch_open(const char *command, gess_error *err);

/* For the options of a run; NULL: this process alone. */
gess_comm *launch_comm(void);

/* 0: this process does the talking; it is alone, or the first. */
int launch_rank(void);

/* Whether there is nothing to do here: a command that works alone, on a process that is not the first. */
int launch_idle(void);

/* Calls body(data), with messages being carried meanwhile. */
int launch_cover(int (*body)(void *data, gess_error *err), void *data, gess_error *err);

/* Ends what launch_open() began. Returns the status to exit with; processes other than the first exit here. */
int launch_close(int status, const gess_error *err);

/* Seconds until the batch system ends the job, less what it takes to stop in good order; 0: not known. */
double launch_time_left(void);

/* The MPI library that this build can load, for --version; NULL: none was found. */
const char *launch_library(void);

#endif
