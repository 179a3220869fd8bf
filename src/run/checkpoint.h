/* Checkpoints: the file from which a stopped or killed run is resumed. */
#ifndef GESS_RUN_CHECKPOINT_H
#define GESS_RUN_CHECKPOINT_H

#include <gess/gess.h>

/* Syncs the draws, then saves the position of the run. Does nothing for a run without files. */
int gess__checkpoint_save(gess_run *run, gess_error *err);

/* Restores the position of the last checkpoint, cuts the draws back to it and gives them to the stop rule. */
int gess__checkpoint_load(gess_run *run, gess_error *err);

/* Whether a directory has a checkpoint, intact or not. */
int gess__checkpoint_exists(const char *directory);

#endif
