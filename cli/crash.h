/* What the command says about a density that did not come back: the parent of a supervised command, and, with
 * --isolate, the run itself. */
#ifndef GESS_CLI_CRASH_H
#define GESS_CLI_CRASH_H

#include "shared.h"

/* The child was killed because it did not stop in time, or died by the signal that asked it to. Returns the exit
 * status. */
int explain_stop(struct shared *shared, int out_of_time);

/* The child died by a signal (or 0), or exited with `code` in the middle of the run. Finds the point to blame, by
 * evaluating those that were under way one by one in processes of their own. Returns the exit status. */
int explain_crash(struct shared *shared, int signal, int code);

/* The child was killed by someone else, by signal 9: says so. */
void explain_kill(struct shared *shared);

/* Adds to the error of a run with --isolate, or of a program (exec:), whose density ended a worker process, how to see
 * the point alone and how to continue. Returns `status`. */
int explain_lost(int status, const char *model, const gess_options *options, const char *directory, gess_error *err);

#endif
