/* A last look for modes, once the targets are met: what exploration finds is compared with the draws. */
#ifndef GESS_RUN_LOOK_H
#define GESS_RUN_LOOK_H

#include <gess/gess.h>

/* Looks into the points evaluated while sampling that T does not explain (explore/rare.h). If there is a mode that the
 * draws have missed, *again says whether the run should learn it (gess__run_relearn()); otherwise history.json says how
 * much they have missed. A run without a directory has no draws to compare with, and does not look. If the look is
 * stopped, the next call begins again. */
int gess__run_look(gess_run *run, int *again, gess_error *err);

#endif
