/* Shared by the schedules without groups: all chains run in one stretch with one approximation. */
#ifndef GESS_SCHEDULE_ALL_CHAINS_H
#define GESS_SCHEDULE_ALL_CHAINS_H

#include "schedule/schedule.h"

void gess__all_chains_next(gess__sampler *s, uint64_t until, gess__stretch *stretch);
void gess__all_chains_ran(gess__sampler *s, const gess__stretch *stretch);

#endif
