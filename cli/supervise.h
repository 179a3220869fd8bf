/* A supervising parent for the commands that call a density: whatever the density does to the process that calls it,
 * the command says what happened and ends with the status that is documented for it, in time. */
#ifndef GESS_CLI_SUPERVISE_H
#define GESS_CLI_SUPERVISE_H

#include <gess/gess.h>

/* Forks if the command of this name runs a density. The parent stays in here and exits with the status of the
 * child; the child returns. Each of several ranks has its parent. Without fork(), or with GESS_NO_SUPERVISOR=1 in the
 * environment, the process goes on alone. */
void supervise(const char *name);

/* ---- of the child; all of them do nothing if there is no parent ---- */

/* What the run is, before the model is opened. */
void supervised_begin(const char *model, const char *data, const char *directory);

/* Where its files go, if that was not known before. */
void supervised_directory(const char *directory);

/* The model is open. */
void supervised_opened(void);

/* The options watch the density, and the parent enforces the time limit, in seconds from the start of the process; 0:
 * none. */
int supervised_watch(gess_options *options, gess_error *err);
void supervised_limit(double seconds);

/* Whether the calling thread is in a call of the density. */
int supervised_evaluating(void);

/* For a command that calls the density itself, in one thread: it is about to evaluate these points, or has returned
 * (x NULL). */
int supervised_call(size_t n, size_t dim, const double *x, gess_error *err);

/* Whether the parent has asked for a stop because of the time limit. */
int supervised_out_of_time(void);

/* The run has ended or was stopped: what follows is not the density's doing, and may take its time. */
void supervised_report(void);

/* The command ends here, with this status. */
void supervised_end(int status);

#endif
