/* The command as one of several processes, started by mpirun, srun or another launcher. */
#ifndef GESS_CLI_LAUNCH_H
#define GESS_CLI_LAUNCH_H

#include <gess/gess.h>

/* Joins the other processes, if there are any and `command` is a parallel one. It is an error if that fails, so that
 * several processes never do the same run. */
int launch_open(const char *command, gess_error *err);

/* The communicator for the options of a run; NULL: one process only. */
gess_comm *launch_comm(void);

/* The rank of this process; rank 0 prints and writes files. */
int launch_rank(void);

/* Whether this process has nothing to do: its rank is above 0 and the command is not a parallel one. */
int launch_idle(void);

/* Ends what launch_open() began. Returns the exit status on rank 0; other ranks exit here. */
int launch_close(int status, const gess_error *err);

/* Seconds until the batch system ends the job, minus a margin for the last checkpoint; 0: not known. */
double launch_time_left(void);

#endif
