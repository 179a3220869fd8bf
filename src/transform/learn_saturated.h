/* Spreads that saturate, of hierarchical models. */
#ifndef GESS_TRANSFORM_LEARN_SATURATED_H
#define GESS_TRANSFORM_LEARN_SATURATED_H

#include "transform/learn_regress.h"

/* A step for the coordinate of `linear`, with the first driver of its spread and the drivers of its mean; returns
 * minus its log-likelihood a point as gess__spread_loss() has it, held out. l->z has m points by coordinate, l->vectors
 * ones in the first. */
double gess__learn_saturated(gess__learner *l, size_t m, const gess__scale_step *linear, gess__scale_step *step);

#endif
