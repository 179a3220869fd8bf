/* Schedules without groups: all chains run together with one approximation. */
#ifndef GESS_SCHEDULE_ALL_CHAINS_H
#define GESS_SCHEDULE_ALL_CHAINS_H

#include "execute/ensemble.h"

void gess__all_chains_next(gess__ensemble *e, uint64_t until, gess__stretch *stretch);
void gess__all_chains_ran(gess__ensemble *e, const gess__stretch *stretch);

#endif
