/* What learning a layer works with: shared by learn.c and learn_*.c. */
#ifndef GESS_TRANSFORM_LEARN_H
#define GESS_TRANSFORM_LEARN_H

#include "base/tiles.h"
#include "transform/layers.h"
#include "parallel/blocks.h"

/* MAX_EDGES: candidates that point at one coordinate, for its spread and for its mean. */
enum {
    GESS__MAX_EDGES = GESS__MAX_DRIVERS + 2,
    GESS__SCALE_POINTS = 8000,
    GESS__SKEW_POINTS = 20000,
    GESS__SKEW_STARTS = 4,
    GESS__CHECKED = 4000,
    GESS__SMALL = 3 + 3 * GESS__SKEW_STARTS, /* what learn_skew.c needs */
    GESS__LEARN_VECTORS = 8 + GESS__MAX_DRIVERS,
    GESS__SHAPE_PARAMETERS = 5
};

/* Who drives whom: `from` the spread of `to`, or, with its square, the mean of `to`. */
typedef struct gess__edge {
    uint32_t from, to;
    int bend, kept;
    double gain, slope; /* nats a point, where it is the only one; and its slope of the log variance */
} gess__edge;

/* Shift, log spread, and what tilt, power and lean come from (learn_shape.c); which of these three are
 * fitted; and what the last fit found of the curvature, for the next one to begin with. */
typedef struct gess__shape {
    double p[GESS__SHAPE_PARAMETERS];
    double inverse_hessian[GESS__SHAPE_PARAMETERS * GESS__SHAPE_PARAMETERS];
    bool tilts, powers, leans, fitted;
} gess__shape;

/* What is checked with points of other chains, m of them. */
typedef struct gess__checked {
    size_t m;
    const double *x, *weights;
} gess__checked;

struct gess__learner {
    gess__team *team;     /* borrowed, or NULL */
    size_t dim, most;     /* most: points that any step looks at */
    size_t others;        /* points of other chains */
    const double *other;  /* others × dim */
    size_t checked;       /* those of them that are looked at */
    double *check;        /* standardised as z is, and by point or by coordinate likewise; GESS__CHECKED × dim */
    double *checks;       /* 3 × GESS__CHECKED */
    double least_mean;    /* correlation of a driver of a mean, at least */
    double *mean, *sd;    /* of the points looked at; dim */
    double *z;            /* standardised; most × dim */
    double *residuals;    /* most × dim, and a tile more */
    double *pair;         /* 2 × most × dim, and a tile more */
    double *square;       /* (2 dim)² */
    double *a, *b;        /* dim² each */
    double *small;        /* GESS__SMALL × dim */
    double *lanes;        /* blocks × GESS__SKEW_STARTS × dim × GESS__LANES */
    double *vectors;      /* LEARN_VECTORS × most */
    gess__edge *edges;    /* MAX_EDGES × dim */
    uint32_t *parent;     /* MAX_EDGES × dim */
    uint32_t *parents;    /* dim */
    uint32_t *order;      /* dim */
    unsigned char *marks; /* 2 × dim */
    uint32_t *stack;      /* dim */
    gess__shape *shapes;  /* dim */
};

/* How many points a step looks at, of n; 0: too few to learn anything from. */
size_t gess__learn_points(const gess__learner *learner, size_t n, size_t most);

/* mean, sd and z from `m` of n points, evenly spread: by coordinate (z[i * m + j]) or by point (z[j * dim + i]);
 * `check` with the same mean and sd. False where something is not finite or a coordinate has no spread. */
bool gess__learn_standardise(gess__learner *learner, size_t n, const double *points, size_t m, bool by_coordinate);

/* Draws of chains are worth fewer independent ones. */
double gess__learn_effective(size_t n);

/* The p × p system a x = b, a positive definite (a ridge of 1e-10 of its trace helps it); b becomes x. */
void gess__learn_solve(size_t p, double *a, double *b);

/* z (by point) becomes L⁻¹ z, L in `a` and L⁻¹ in `b`, so that its covariance is I; false where it has none. `check` is
 * not touched. */
bool gess__learn_whiten(gess__learner *learner, size_t m, double *z);

/* What m points of these squared lengths, whitened, count in the t that suits them best: (ν + D) / (ν − 2 + |z|²), so
 * that they have mean square 1. */
void gess__learn_weights(size_t dim, size_t m, const double *lengths, double *weights);

/* ---- warps of one direction or coordinate (learn_shape.c) ---- */

gess__warp gess__shape_warp(const gess__shape *shape);

/* Maximum likelihood from where the shape is; the team, or NULL, helps. */
void gess__shape_fit(gess__shape *shape, gess__team *team, size_t n, const double *x, const double *weights);

/* Every few-th of m values, 4,000 or so, to begin with; returns how many. */
size_t gess__shape_thin(size_t m, const double *x, double *out);

/* What tilt and lean gain over the same without, nats a point: of what is checked, under the fit to the n points, or,
 * where that is nothing, of each half of the points under the fit to the other. The shape is left where the last of
 * these fits is. */
double gess__shape_gain(gess__shape *shape, gess__team *team, size_t n, const double *x, const double *weights,
                        gess__checked checked);

#endif
