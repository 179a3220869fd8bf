/* How many particles annealing works with. */
#ifndef GESS_EXPLORE_PARTICLES_H
#define GESS_EXPLORE_PARTICLES_H

#include "explore/annealing.h"

/* Whether the limit of evaluations for warm-up allows enough of them. */
int gess__annealing_is_affordable(const gess__annealing *annealing);

/* Rows of the window that hold particles: at least half of those that the problem needs. */
size_t gess__particle_rows(const gess__annealing *annealing);

#endif
