/* Rare modes: before warm-up ends, ascents start from the points of the window, and from the peaks (peaks.h), that T
 * covers least. A maximum with more than a negligible share of the mass becomes a basin, and T gets a component for it.
 * After sampling, the peaks of its draws are looked into in the same way. */
#ifndef GESS_EXPLORE_RARE_H
#define GESS_EXPLORE_RARE_H

#include "explore/basins.h"
#include "explore/maxima.h"
#include "explore/peaks.h"

/* How the search stands. Saved in checkpoints as it is. */
typedef struct gess__rare_state {
    uint64_t searches, evals, found;
    uint64_t stage; /* of warm-up, from 1, in which it searched last */
    int under_way;  /* a search was stopped */
    int weighing;   /* its ascents are done */
} gess__rare_state;

/* Searches, at most once per stage, and sets *found to the number of basins that are new. If it is stopped, the next
 * call goes on. */
int gess__rare_search(gess__rare_state *state, gess__maxima *maxima, gess__peaks *peaks, gess__basins *basins,
                      gess__learning *learning, const gess__record *record, size_t *found, gess_error *err);

/* The same from the peaks of sampling, which are then forgotten. The basins that are found are the last ones. If it is
 * stopped, the next call begins again. */
int gess__rare_look(gess__rare_state *state, gess__peaks *peaks, gess__basins *basins, gess__learning *learning,
                    const gess__record *record, size_t *found, gess_error *err);

#endif
