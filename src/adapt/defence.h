/* Defensive components of T, in sampling only: T's tails, made heavier in the directions in which a learned map
 * extrapolates (T. Hesterberg, Technometrics 37, 1995). */
#ifndef GESS_ADAPT_DEFENCE_H
#define GESS_ADAPT_DEFENCE_H

#include "adapt/learning.h"

/* Gives T its defensive components, if it has none and the map has coordinates for them. */
void gess__defence_add(gess__learning *learning);

/* Takes them away again, so that learning goes on from what was fitted. */
void gess__defence_remove(gess__learning *learning);

#endif
