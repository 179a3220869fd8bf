/* The modes of the draws of a run, for history.json: every draw is counted for the basin that it lies in
 * (explore/basins.h). */
#ifndef GESS_RUN_MODES_H
#define GESS_RUN_MODES_H

#include <gess/gess.h>

#include <jansson.h>

/* What exploration found, and what became of it; NULL if the schedule does not explore. */
json_t *gess__exploration_json(const gess_run *run);

/* Weight, centre and visitors of every mode, from the stored draws; NULL if there are fewer than two. */
int gess__modes_json(const gess_run *run, json_t **modes, gess_error *err);

#endif
