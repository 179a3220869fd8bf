/* The statistics of a run while it runs: gess_stats, summed over its ensembles. */
#ifndef GESS_RUN_STATS_H
#define GESS_RUN_STATS_H

#include <gess/gess.h>

/* Recomputes run->stats from the ensembles' tallies and the clock. */
void gess__run_update_stats(gess_run *run);

/* Writes the name of a column of the draws (0: lp__) into name[size], cut between UTF-8 characters if it is too long.
 * The rest of name[] is zero. */
void gess__run_name_column(const gess_run *run, size_t column, char *name, size_t size);

#endif
