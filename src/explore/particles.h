/* How many particles annealing works with, and whether they are in several modes. */
#ifndef GESS_EXPLORE_PARTICLES_H
#define GESS_EXPLORE_PARTICLES_H

#include "explore/annealing.h"

/* Whether the limit of evaluations for warm-up allows enough of them. */
int gess__annealing_is_affordable(const gess__annealing *annealing);

/* Rows of the window that hold particles: at least half of those that the problem needs, or a part of them while
 * annealing has few. */
size_t gess__particle_rows(const gess__annealing *annealing);

/* Batches of points of the reference that are looked at before annealing goes on with few of them. */
enum { GESS__BATCHES = 25 };

/* Whether the particles are in several modes: two maxima are known, or there is a valley of the density between the
 * highest particles of two clusters. */
int gess__particles_apart(gess__annealing *annealing, const gess__record *record, int *several, gess_error *err);

#endif
