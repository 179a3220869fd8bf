/* What `auto` adds to pooled adaptation: at some stages of warm-up it learns, from the window's draws, a map of the
 * sampling space, a mixture of t in place of the one, and how many iterations should be independence moves. Each is
 * kept only where draws of chains that it was not learned from get likelier under it. All of it is frozen with
 * warm-up, and only draws after that are kept. */
#ifndef GESS_ADAPT_MAP_SEARCH_H
#define GESS_ADAPT_MAP_SEARCH_H

#include "execute/ensemble.h"

int gess__map_search_new(gess__map_search **refiner, const gess__ensemble *e, gess_error *err);
void gess__map_search_free(gess__map_search *refiner);

/* Whether enough was drawn since the last time. */
int gess__map_search_due(const gess__ensemble *e);

/* Learns anew from the window, whose draws are in w->packed, the first half of the chains first; leaves e->approx
 * fitted in the new sampling space, the chains and the window in it, the share of independence moves chosen. *report:
 * of that fit. warmup.improving: T got better by more than what is worth waiting for. */
void gess__map_search_run(gess__ensemble *e, gess__pool *pool, gess__pool_report *report);

/* Chooses the share of independence moves from how log π − log T varies over the window. */
void gess__move_mix_choose(gess__ensemble *e);

#endif
