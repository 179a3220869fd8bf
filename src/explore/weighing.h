/* T as one component per mode that the particles have found, and the weights of these modes. */
#ifndef GESS_EXPLORE_WEIGHING_H
#define GESS_EXPLORE_WEIGHING_H

#include "explore/annealing.h"

/* Fits a component of T to every cluster of the particles. */
void gess__weighing_fit(gess__annealing *annealing);

/* Weighs every component by bridge sampling between its particles and draws of its own (X.-L. Meng and W. H. Wong,
 * Statistica Sinica 6 (1996)), sets the weights of T by it, and resamples the particles. */
int gess__weighing_run(gess__annealing *annealing, const gess__record *record, gess_error *err);

/* The mass of one component: its log, and the relative error of the mass. */
typedef struct gess__mode_weight {
    double log_mass, error;
} gess__mode_weight;

#endif
