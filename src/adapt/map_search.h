/* The search for a learned map and a mixture: what `auto` adds to a T fitted to the window.
 *
 * At some stages of warm-up it learns, from the window's draws, a map of the sampling space and a mixture of t in place
 * of the one t. It keeps either only if draws of chains that it was not learned from get likelier. */
#ifndef GESS_ADAPT_MAP_SEARCH_H
#define GESS_ADAPT_MAP_SEARCH_H

#include "adapt/learning.h"

int gess__map_search_new(gess__map_search **search, const gess__learning *l, gess_error *err);
void gess__map_search_free(gess__map_search *search);

/* Whether enough was drawn since the last time. */
int gess__map_search_due(const gess__learning *l);

/* Learns again from the window, whose packed points are in *pool. Leaves T fitted in the new sampling space, chains and
 * window moved into it, and the mix of moves chosen. *report: of that fit. state.improving: T got better by enough to
 * wait for another search. */
void gess__map_search_run(gess__learning *l, gess__pool *pool, gess__pool_report *report);

/* How far T lacks tails: the largest gess__move_value_tail_excess() of the coordinates along which the map
 * extrapolates, and of one that drives others without a scale layer; 0 if there are none, or none lacks any. */
double gess__map_search_tail_excess(gess__learning *learning);

/* Whether T should not be tried yet, since it lacks a tail: far, until the evaluations have doubled; or less, if draws
 * hint at a level of a hierarchy and are too few to learn a scale layer from. Then the next search is a full one. */
int gess__map_search_doubts(gess__learning *learning, const gess__pool *pool);

#endif
