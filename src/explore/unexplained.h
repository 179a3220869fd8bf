/* Particles that the maxima found so far do not explain.
 *
 * A narrow mode has little of the annealed mass while β is small, and the particles near it may all be lost before β is
 * large enough to favour it. But a particle that has come near it once shows it: its log density lies far above what
 * the curvatures at the known maxima say. So after every step ascents start from such particles, as in the test for
 * several basins (scout.h). The maxima are kept, and become components of T at the end if T does not cover them then.
 */
#ifndef GESS_EXPLORE_UNEXPLAINED_H
#define GESS_EXPLORE_UNEXPLAINED_H

#include "explore/annealing.h"

/* Searches from particles of the present step; raw[] of the annealing must hold their log densities. If it is stopped,
 * the next call goes on. */
int gess__unexplained_search(gess__annealing *annealing, const gess__record *record, gess_error *err);

#endif
