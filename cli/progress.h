/* The line on standard error that shows how far a run is. */
#ifndef GESS_CLI_PROGRESS_H
#define GESS_CLI_PROGRESS_H

#include <gess/gess.h>

struct progress {
    double target_ess, target_rhat, max_evals; /* the options of these names */
    int terminal;            /* whether standard error is one: then one line is rewritten, otherwise lines are added */
    double last;             /* seconds of the run at which a line was shown */
    gess_stats previous;     /* at that moment */
    double evals_per_update; /* since then */
    double rate;             /* evaluations per second, smoothed */
};

/* Before the first line of a run with these options. */
void begin_progress(struct progress *progress, const gess_options *options);

/* A gess_progress_fn; `user` is a struct progress. */
int show_progress(void *user, const gess_stats *stats, uint64_t planned);

#endif
