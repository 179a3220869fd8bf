/* The workspace for learning layers, and what several kinds of layer learn with: standardised and whitened points.
 *
 * A learner serves one layer at a time. Its arrays hold nothing between two layers. */
#ifndef GESS_TRANSFORM_LAYER_LEARNER_H
#define GESS_TRANSFORM_LAYER_LEARNER_H

#include "transform/layer.h"

/* Points that learning works on, at most; the same for the points of other chains; vectors of one number per point. */
enum { GESS__MAX_LEARN_POINTS = 20000, GESS__VALIDATION_POINTS = 4000, GESS__LEARN_VECTORS = 11 };

struct gess__learner {
    gess__team *team; /* borrowed; NULL: one thread */
    size_t dim;
    size_t max_points;     /* room of the arrays below, in points */
    size_t other_count;    /* points of other chains */
    const double *other;   /* other_count × dim; borrowed */
    size_t check_count;    /* points of `check` */
    double *check;         /* points of other chains, standardised and laid out as z is; VALIDATION_POINTS × dim */
    double *check_vectors; /* 3 × VALIDATION_POINTS */
    double *mean, *sd;     /* of the points that are learned from; dim each */
    double *inverse_sd;    /* dim */
    double *z;             /* those points, standardised; max_points × dim */
    double *residuals;     /* max_points × dim, and one tile more */
    double *pair;          /* 2 × max_points × dim, and one tile more */
    double *square;        /* (2 dim)² */
    double *a, *b;         /* dim² each */
    double *vectors;       /* LEARN_VECTORS × max_points */
    void *scratch;         /* of the kind of layer that is learned: its learn_bytes */
};

/* How many of n points to learn from, at most `max`; 0 if there are too few to learn anything. */
size_t gess__learn_points(const gess__learner *learner, size_t n, size_t max);

/* Sets mean, sd and z from m of n points, evenly spaced, and `check` with the same mean and sd. z is by coordinate
 * (z[i * m + j]) or by point (z[j * dim + i]). False if a number is not finite or a coordinate has no spread. */
bool gess__learn_standardise(gess__learner *learner, size_t n, const double *points, size_t m, bool by_coordinate);

/* How many independent draws n draws of chains are worth, roughly. */
double gess__learn_effective(size_t n);

/* Replaces z (m points, by point) by L⁻¹ z, so that its covariance is I; leaves L in `a` and L⁻¹ in `b`. False if the
 * covariance is singular. Does not touch `check`. */
bool gess__learn_whiten(gess__learner *learner, size_t m, double *z);

#endif
