/* The state of a Laplace search, shared by laplace.c (the search for the mode) and laplace_choice.c (the comparison
 * with the fit). Nobody else includes it. */
#ifndef GESS_ADAPT_LAPLACE_STATE_H
#define GESS_ADAPT_LAPLACE_STATE_H

#include "adapt/laplace.h"

/* Lengths of a step that are tried; points of the window that two Ts are compared by, and how many at once. */
enum { GESS__LAPLACE_LENGTHS = 12, GESS__LAPLACE_COMPARED = 4000, GESS__LAPLACE_CHUNK = 64 };

/* The state of a search without its arrays. Checkpoints contain all of it, so that a stopped search can be continued.
 */
typedef struct gess__laplace_progress {
    uint32_t kind, steps, scalings, quick; /* kind of round; quick: quick steps since the last Newton step */
    uint32_t start, lost;                  /* searches before this one; this one leads away from any mode */
    double expected;                       /* gain of the quick step that is being taken; 0: it is a Newton step */
    uint64_t evals;
    double value;                       /* at the top */
    double step[GESS__LAPLACE_LENGTHS]; /* log densities along the step */
} gess__laplace_progress;

struct gess__laplace {
    gess__approx *t;
    /* of a search */
    gess__ensemble *ensemble;
    const gess__record *record;
    gess__laplace_progress at;
    int *finished;         /* the items of the round that are done: dim, or GESS__LAPLACE_LENGTHS */
    double *top;           /* dim: the highest point so far */
    double *frame;         /* dim × dim, column-major: the directions that differences are taken along */
    double *up, *down;     /* dim: log densities one length along each of them, both ways */
    int *scaled;           /* dim: it has its length */
    double *curvature;     /* dim × dim: minus the second differences; then their eigenvectors */
    double *step;          /* dim */
    double *eigen;         /* dim */
    double *square, *work; /* dim × dim; of the eigenvectors, or of the triangular kernels */
    /* of a comparison */
    double *points, *z;      /* GESS__LAPLACE_CHUNK × dim */
    double *deltas, *levels; /* GESS__LAPLACE_COMPARED */
};

#endif
