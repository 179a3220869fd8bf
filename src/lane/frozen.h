/* The frozen state, the chains and the work of a device, as plain structures that the host fills in and code of one
 * chain reads (update.h). Sizes are those of 64-bit machines on both sides.
 *
 * The including file defines, before it includes any header of this folder,
 *   GESS__LANES            1: tiles of one point
 *   GESS__LANE_DIM         the largest dimension of the sampling space, GESS__LANE_OUTER of the user's
 *   GESS__LANE_COMPONENTS  the largest number of components of T
 *   GESS__LANE_DENSITY(dim, numbers, x)   the log density at x
 *   GESS__LANE_COUNT(counts, bin)         adds one to counts[bin], whoever else does
 * and may define as constants, to get code for one model, what follows gess__lane_frozen. */
#ifndef GESS_LANE_FROZEN_H
#define GESS_LANE_FROZEN_H

#include "chains/tally.h"
#include "kernel/move_mix.h"
#include "transform/coordinate.h"
#include "transform/layer_body.h"

enum { GESS__LANE_MAX_LAYERS = 4, GESS__LANE_MAX_COMPONENTS = 32 };

/* Row numbers of transform/layers.def. */
enum gess__lane_layer_kind { GESS__LANE_SCALE, GESS__LANE_WARP, GESS__LANE_SKEW };

/* One t of T. */
typedef struct gess__lane_t {
    double nu;         /* infinite: a Gaussian */
    double log_weight; /* of the component */
    double log_norm;   /* log weight + the log of the normalising constant */
    const double *mu, *chol, *inverse_diagonal;
} gess__lane_t;

typedef struct gess__lane_layer {
    enum gess__lane_layer_kind kind;
    uint32_t count;
    double constant;
    const double *centre;
    const void *part[3];
} gess__lane_layer;

/* What sampling needs beside the chains. */
typedef struct gess__lane_frozen {
    size_t dim, outer; /* of the sampling space, of the user's space */
    uint64_t seed;
    gess__move_mix moves;
    gess__lane_t single;                       /* the one t: T itself, unless there are several components */
    size_t components;                         /* of T */
    gess__lane_t t[GESS__LANE_MAX_COMPONENTS]; /* if there are several */
    size_t layers;
    gess__lane_layer layer[GESS__LANE_MAX_LAYERS];
    int bounded; /* 0: the user's space is that behind the layers */
    const gess__coordinate *coordinates;
    const double *numbers; /* of the density */
} gess__lane_frozen;

/* The head of a function that is called, not copied into its callers: there would be much code to compile. */
#ifdef __CUDACC__
#define GESS__LANE_CALL static __noinline__
#else
#define GESS__LANE_CALL static inline __attribute__((unused))
#endif

#ifndef GESS__LANE_DIM_OF
#define GESS__LANE_DIM_OF(f) ((f)->dim)
#define GESS__LANE_OUTER_OF(f) ((f)->outer)
#define GESS__LANE_COMPONENTS_OF(f) ((f)->components)
#define GESS__LANE_HAS_MAP(f) ((f)->layers > 0)
#define GESS__LANE_HAS_BOUNDS(f) ((f)->bounded)
#endif

/* The arrays of chains/state.h, from the first chain of the job on. */
typedef struct gess__lane_chains {
    uint32_t first; /* number of chain 0, for random keys */
    double *x, *value, *z, *deltas, *log_ts;
    double *peak, *peak_at, *level, *level_value, *level_at;
    size_t trail_points;
    uint64_t *trail_count;
    double *trail;
} gess__lane_chains;

/* Why a chain ended early, or what is to be reported of it; the point is in the sampling space. */
typedef struct gess__lane_event {
    uint64_t nans;             /* points whose density was NaN */
    uint64_t iteration, round; /* of the first of them, or of the error */
    int infinite;              /* the density was +inf there: the chain has stopped */
} gess__lane_event;

/* Counts of one chain; a device adds up those of all. */
typedef struct gess__lane_tally {
    uint64_t evals, updates, failures, independence, accepted, coordinate, coordinate_evals;
} gess__lane_tally;

/* What a launch counts. */
typedef struct gess__lane_counts {
    gess__lane_tally tally;
    uint64_t angles[GESS__BINS], by_evals[GESS__BINS]; /* as in chains/tally.h */
} gess__lane_counts;

/* The work of a launch: iterations start .. start + iterations - 1 of `count` chains. */
typedef struct gess__lane_job {
    gess__lane_frozen frozen;
    gess__lane_chains chains;
    size_t count;
    uint64_t start, iterations;
    int rebind; /* T, or the points, are new to the chains at iteration `start` */
    /* Draws: iteration i is kept if i ≥ from and i − from + 1 is a multiple of thin; 0: none is. Row k of chain c is at
     * rows[(c · draws + k) · columns]: the log density and the parameters. */
    uint64_t from, thin, first_draw; /* number of row 0 among those kept */
    size_t columns, draws;
    double *rows;
    /* Points for warm-up: every `stride` iterations from window_start on; 0: none. Point k of chain c is at
     * points[(k · count + c) · dim], its log density at values[k · count + c]. */
    uint64_t window_start, stride, first_point; /* number of point 0 in the window */
    double *points, *values;                    /* points: or NULL */
    gess__lane_event *events;                   /* of every chain */
    double *event_points;                       /* count × dim */
    gess__lane_counts *counts;
} gess__lane_job;

#endif
