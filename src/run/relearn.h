/* Going back from sampling to learning if the T that the run has committed itself to disappoints. */
#ifndef GESS_RUN_RELEARN_H
#define GESS_RUN_RELEARN_H

#include <gess/gess.h>

/* After a check of the stop rule that failed: whether T disappoints (gess__economy_disappoints()), warm-up is
 * automatic, and there are evaluations left to learn and to sample with. It depends on counts of evaluations and on the
 * figures of the check, never on time. */
int gess__run_should_relearn(const gess_run *run);

/* Gives up the draws so far, as a whole and whatever they are, and goes back to warm-up, with the chains where they
 * are; `why` goes to the log. The draws that follow are exact given the next T, which is fixed before the first of
 * them. */
int gess__run_relearn(gess_run *run, const char *why, gess_error *err);

#endif
