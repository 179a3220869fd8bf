/* The search for directions of largest skewness: shared by skew.c and skew_search.c only. */
#ifndef GESS_TRANSFORM_SKEW_SEARCH_H
#define GESS_TRANSFORM_SKEW_SEARCH_H

#include "transform/layer_learner.h"

/* The points, where the power iteration starts, and scratch. */
typedef struct gess__skew_search {
    gess__learner *learner;
    size_t m;            /* points, in tiles in learner->residuals */
    size_t sample_count; /* points of `sample` */
    double *sample;      /* every few-th tile */
    double *radial;      /* E[z |z|²]; dim */
    double *cubes;       /* E[z_i³] of every axis; dim */
    double *axes;        /* scratch; dim */
    double *w, *trial;   /* scratch; MAX_STARTS × dim, and twice as much */
    double *sums;        /* scratch; a tile per block of points and direction */
} gess__skew_search;

/* Bytes of the learner's scratch that a search takes. */
size_t gess__skew_search_bytes(size_t dim, size_t points);

/* Prepares the search among m whitened points, given as tiles in learner->residuals, with their squared lengths. Uses
 * the second half of learner->pair. */
void gess__skew_search_begin(gess__skew_search *search, gess__learner *learner, size_t m, const double *lengths);

/* Finds the direction w of unit length with the largest |E[(w·z)³]|, orthogonal to found[0 .. count - 1], and writes it
 * to found[count], dim numbers each. Its sign makes E[(w·z)³] positive. Returns its skewness, 0 if there is none. */
double gess__skew_search_next(gess__skew_search *search, double *found, size_t count);

#endif
