/* The line on standard error that shows how far a run is. */
#ifndef GESS_CLI_PROGRESS_H
#define GESS_CLI_PROGRESS_H

#include <gess/gess.h>

struct progress {
    int ends_itself;         /* warm-up ends itself */
    int until_targets;       /* sampling ends when its targets are met */
    char of_target[40];      /* " of 1000", the effective sample size that is wanted; empty: none is */
    int terminal;            /* whether standard error is one: then one line is rewritten, otherwise lines are added */
    int warned;              /* that the time limit is likely to end the run while it is learning */
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
