/* The statistics of a run while it runs: gess_stats, summed over its ensembles. */
#ifndef GESS_RUN_STATS_H
#define GESS_RUN_STATS_H

#include <gess/gess.h>

/* Recomputes run->stats from the ensembles' tallies and the clock. */
void gess__run_update_stats(gess_run *run);

/* Sets ESS and R-hat from a check of the stop rule. */
struct gess__stop_figures;
void gess__run_set_figures(gess_run *run, const struct gess__stop_figures *figures);

/* Writes the name of a column of the draws (0: lp__) into name[size], cut between UTF-8 characters if it is too long.
 * The rest of name[] is zero. */
void gess__run_name_column(const gess_run *run, size_t column, char *name, size_t size);

#endif
