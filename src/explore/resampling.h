/* Systematic resampling of the particles of annealing. */
#ifndef GESS_EXPLORE_RESAMPLING_H
#define GESS_EXPLORE_RESAMPLING_H

#include "explore/annealing.h"

/* Draws the particles of the window anew from its first `from_points` points, by their weights. */
void gess__annealing_resample(gess__annealing *annealing, size_t from_points);

#endif
