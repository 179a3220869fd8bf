/* The statistics of a run while it runs. */
#ifndef GESS_RUN_STATS_H
#define GESS_RUN_STATS_H

#include <gess/gess.h>

/* Brings run->stats up to date. */
void gess__run_update_stats(gess_run *run);

/* Name of a column of the draws, cut between characters where it is too long. */
void gess__run_name_column(const gess_run *run, size_t column, char *name, size_t size);

#endif
