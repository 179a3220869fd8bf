/* The keeper: a shell that kills external programs once this process has ended, in whatever way.
 *
 * It sleeps in a read of a pipe, of which this process holds the other end. A program under its care is a process
 * group, which gess__keeper_forget() takes from the list. When the pipe closes, even by kill -9, the groups that are
 * left are killed. PR_SET_PDEATHSIG would not do: it follows the thread that has started a program, not its process. */
#ifndef GESS_PARALLEL_KEEPER_H
#define GESS_PARALLEL_KEEPER_H

#include "base/status.h"

#include <sys/types.h>

typedef struct gess__keeper {
    pid_t process;
    int pipe, input; /* its writing and its reading end */
} gess__keeper;

int gess__keeper_start(gess__keeper *keeper, gess_error *err);
/* Lets it end, after killing what is left. */
void gess__keeper_end(gess__keeper *keeper);
/* In a copy of the process that fork() has made: closes the copy's end alone. */
void gess__keeper_abandon(gess__keeper *keeper);

/* The descriptor on which a program announces itself, by a line `+ GROUP`. */
int gess__keeper_pipe(const gess__keeper *keeper);
/* The group is dead, or will be at once. */
void gess__keeper_forget(const gess__keeper *keeper, pid_t group);

/* A pipe whose ends are above the standard streams, and are closed by exec. */
int gess__pipe(int ends[2], gess_error *err);

#endif
