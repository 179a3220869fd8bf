/* Checkpoints: what a run goes on from after it was stopped or killed. */
#ifndef GESS_RUN_CHECKPOINT_H
#define GESS_RUN_CHECKPOINT_H

#include <gess/gess.h>

/* Saves where the run stands, after syncing its draws; or goes back to there. */
int gess__checkpoint_save(gess_run *run, gess_error *err);
int gess__checkpoint_load(gess_run *run, gess_error *err);

/* Whether a directory has a checkpoint, good or not. */
int gess__checkpoint_exists(const char *directory);

#endif
