/* --overwrite without loss: the run that was in the directory is put aside, in its folder `previous`, until the new run
 * has its first checkpoint of sampling. If the new run fails before, the old one comes back. */
#ifndef GESS_RUN_ASIDE_H
#define GESS_RUN_ASIDE_H

#include <gess/gess.h>

#define GESS__ASIDE "previous"

/* Moves the files of a run into `previous`. If there is one already, the run in the directory has never sampled: it is
 * removed, and `previous` stays. */
int gess__aside_put(gess_run *run, gess_error *err);

/* Removes `previous`, if this run put it there or finds it. */
int gess__aside_drop(gess_run *run, gess_error *err);

/* After a failure of a new run that has not sampled: removes its files, moves those of `previous` back, and removes the
 * folders that the run made. */
void gess__aside_undo(gess_run *run);

/* Moves the run in `previous` back if the new run has not begun: a process was killed in between. Does nothing while
 * another process has the lock. */
void gess__aside_recover(const char *directory);

#endif
