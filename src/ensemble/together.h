/* Schedules without groups: all chains run together with one approximation. */
#ifndef GESS_ENSEMBLE_TOGETHER_H
#define GESS_ENSEMBLE_TOGETHER_H

#include "ensemble/ensemble.h"

void gess__together_next(gess__ensemble *e, uint64_t until, gess__stretch *stretch);
void gess__together_ran(gess__ensemble *e, const gess__stretch *stretch);

#endif
