/* --isolate in a run: its worker processes, the list of what was lost (crashes.csv), and the end of a density that does
 * not return when the run is stopped. */
#ifndef GESS_RUN_ISOLATION_H
#define GESS_RUN_ISOLATION_H

#include <gess/gess.h>

/* If the options ask for it, forks the process that starts workers and has the run's model evaluated there. Call it
 * before the run starts threads. */
int gess__isolation_begin(gess_run *run, gess_error *err);

/* Ends the worker processes. Call it when no thread evaluates any more. */
void gess__isolation_end(gess_run *run);

/* Counts what earlier sessions of a resumed run have listed in crashes.csv. */
void gess__isolation_recall(gess_run *run);

/* Between the two calls, a stop and the limit of time end the calls of the density that are under way. */
void gess__isolation_session(gess_run *run, int begins);

/* Copies the counts into run->stats, and writes them to log.txt if there are any. */
void gess__isolation_count(gess_run *run);
void gess__isolation_log(gess_run *run);

#endif
