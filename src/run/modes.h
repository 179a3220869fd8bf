/* The modes of the draws of a run, for history.json: every draw is counted for the basin that it lies in
 * (explore/basins.h). */
#ifndef GESS_RUN_MODES_H
#define GESS_RUN_MODES_H

#include <gess/gess.h>

#include "explore/basins.h"

#include <jansson.h>

/* What exploration found, and what became of it; NULL if the schedule does not explore. */
json_t *gess__exploration_json(const gess_run *run);

/* Weight, centre and visitors of every mode, from the stored draws; NULL if there are fewer than two. */
int gess__modes_json(const gess_run *run, json_t **modes, gess_error *err);

/* The share of the stored draws that lie in basin k of an ensemble; the highest log density, in the user's scale, of
 * its points, and its centre (dim of the model). The run has a directory. */
int gess__modes_share(const gess_run *run, size_t ensemble, size_t k, double *share, double *lp, double *centre,
                      gess_error *err);

#endif
