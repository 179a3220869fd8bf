/* The search for the steps of a scale layer: the state that scale.c and the files scale_*.c share. Nobody else includes
 * it. */
#ifndef GESS_TRANSFORM_SCALE_SEARCH_H
#define GESS_TRANSFORM_SCALE_SEARCH_H

#include "transform/layer_learner.h"
#include "transform/scale.h"

/* Candidates that point at one coordinate: drivers of its spread, and bends of its mean. */
enum { GESS__MAX_BENDS = 2, GESS__MAX_EDGES = GESS__MAX_DRIVERS + GESS__MAX_BENDS };

/* `from` drives the spread of `to`, or, if it is a bend, the mean of `to` through its square. */
typedef struct gess__edge {
    uint32_t from, to;
    int bend, kept;
    double gain;  /* nats per point, as the only edge to that coordinate */
    double slope; /* of the log variance; a bend has none */
} gess__edge;

typedef struct gess__scale_search {
    gess__learner *learner;      /* z holds m points by coordinate; the first of the vectors is all ones */
    size_t m;                    /* points */
    double min_mean_correlation; /* of a driver of a mean with the residuals */
    size_t edge_count;
    gess__edge *edges;      /* from the largest gain to the smallest; MAX_EDGES × dim */
    uint32_t *parents;      /* of coordinate i from i × MAX_EDGES on; MAX_EDGES × dim */
    uint32_t *parent_count; /* dim */
    uint32_t *order;        /* of all coordinates, parents first; dim */
    size_t hub;             /* see gess__scale_find_drivers(); dim: none */
    double hub_slope;       /* of the log variances that it drives, summed */
    double hub_errors;      /* the sum of its correlations, in standard errors */
    double votes;           /* nats per point by which its saturating steps prefer κ = 2 to 1, summed */
    /* how to fit a saturating step */
    int kappa;       /* 0: the better one of 1 and 2 */
    bool floor_only; /* with a floor, and a free mean */
    double max_loss; /* nats per point, held out, that integer factors may lose */
    /* scratch */
    double *correlations; /* dim */
    double *ties;         /* number of coordinates that i is tied to, given all the others; dim */
    uint32_t *stack;      /* dim */
    unsigned char *marks; /* 2 × dim */
} gess__scale_search;

/* Bytes of the learner's scratch that the arrays above take. */
size_t gess__scale_search_bytes(size_t dim);

/* Finds which coordinates drive which, and their order, from the m points in learner->z that were chosen from n.
 * False if there are no drivers.
 *
 * The hub is the coordinate that drives most spreads, if it drives several: it is the scale of one level of a
 * hierarchy. Members of that level that the data determine well hardly show it, so it becomes a parent of every
 * coordinate that it may drive. */
bool gess__scale_find_drivers(gess__scale_search *search, gess__learner *learner, size_t n, size_t m);

/* Whether coordinate k is a parent of i. */
bool gess__scale_is_parent(const gess__scale_search *search, uint32_t i, size_t k);

/* Finds the best step for coordinate order[p]. Returns its gain in nats per point over a linear mean and one variance,
 * on points that it was not fitted to; 0 if no step is worth it, and then *step means nothing. */
double gess__scale_fit_step(gess__scale_search *search, size_t p, gess__scale_step *step);

/* Makes the steps that the hub drives agree, `count` of them as gess__scale_fit_step() has found them. The hub is one
 * scale, so κ is the same for all of them. If most are siblings, with integer factors of the same coordinate or of
 * none, then all that can be are; the others belong to a level above, and their spread has a floor. One step that does
 * not follow the scale to 0, or follows it where it should not, keeps the chains out of the neck. */
void gess__scale_agree(gess__scale_search *search, size_t count, gess__scale_step *steps);

/* Fits a saturating step for the coordinate of `linear`, with the first driver of its spread and the drivers of its
 * mean. Returns minus its held-out log-likelihood per point, as gess__spread_loss() has it. */
double gess__scale_fit_saturated(gess__scale_search *search, const gess__scale_step *linear, gess__scale_step *step);

#endif
