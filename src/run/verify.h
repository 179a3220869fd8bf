/* Whether the density is a function of its point, and still the one that a run began with. */
#ifndef GESS_RUN_VERIFY_H
#define GESS_RUN_VERIFY_H

#include <gess/gess.h>

/* A log density counts as the same within GESS__SAME_DENSITY, relative to the larger of it and 1: another processor,
 * BLAS, batch or device explains that much. Of a value so large that this is more than GESS__SAME_NATS, which is felt
 * in the draws, GESS__SAME_NATS is allowed, or the relative difference GESS__SAME_ROUNDING if that is more. */
#define GESS__SAME_DENSITY 1e-8
#define GESS__SAME_NATS 0.01
#define GESS__SAME_ROUNDING 1e-12

/* Of a new run: evaluates the starts again, alone and in batches, and compares. GESS_ERR_MODEL if a value differs by
 * more than that; a warning (run->warning) if any bit differs. */
int gess__verify_starts(gess_run *run, gess_error *err);

/* Of a resumed run, after its checkpoint was read and before anything is written: evaluates the saved states again and
 * compares with their stored log densities. GESS_ERR_MODEL beyond what counts as the same; a warning, and *changed, if
 * a bit differs. *difference: the largest relative difference. */
int gess__verify_states(gess_run *run, int *changed, double *difference, gess_error *err);

#endif
