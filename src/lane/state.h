/* One chain while a device updates it, and its way to and from the arrays of chains. */
#ifndef GESS_LANE_STATE_H
#define GESS_LANE_STATE_H

#include "kernel/slice_interval.h"
#include "lane/approx.h"

enum gess__lane_move {
    GESS__LANE_NONE,
    GESS__LANE_ELLIPSE,
    GESS__LANE_MIXTURE,
    GESS__LANE_INDEPENDENCE,
    GESS__LANE_SLICE
};

/* δ_k(θ) = cc cos² + ss sin² + sc sin cos + one + c cos + s sin of one component along an ellipse. */
typedef struct gess__lane_distance {
    double cc, ss, sc, one, c, s;
} gess__lane_distance;

typedef struct gess__lane {
    size_t chain;    /* its number in the arrays */
    uint32_t number; /* for random keys */
    uint64_t iteration;
    /* the chain: gess__chains has the meanings */
    double value, delta_sum, log_t_sum, peak, level, level_value;
    double x[GESS__LANE_DIM], z[GESS__LANE_DIM];
    /* its update */
    enum gess__lane_move move;  /* GESS__LANE_NONE: between updates */
    uint32_t round;             /* calls of the density so far */
    double height, here, there; /* of the slice; log T of the present point and of the proposal */
    gess__bracket bracket;
    double sine, cosine, root;   /* of the present angle; √s */
    double delta, square, cross; /* |z|², |ζ|², z·ζ */
    size_t component;
    gess__interval interval;
    size_t along; /* the coordinate of a coordinate slice update, and the length of its direction */
    double length;
    double normals[GESS__LANE_DIM]; /* n; z of the proposal, in an independence move */
    double steps[GESS__LANE_DIM];   /* the ellipse's second axis */
    double point[GESS__LANE_DIM];   /* the proposal */
    gess__lane_distance distances[GESS__LANE_COMPONENTS];
    gess__lane_tally tally;
    gess__lane_event event;
} gess__lane;

GESS__INLINE gess__key gess__lane_key(const gess__lane_frozen *f, const gess__lane *l, enum gess__purpose purpose)
{
    gess__key key;
    key.seed = f->seed;
    key.iteration = l->iteration;
    key.chain = l->number;
    key.purpose = purpose;
    return key;
}

GESS__INLINE void gess__lane_load(const gess__lane_job *job, size_t chain, gess__lane *l)
{
    const gess__lane_chains *c = &job->chains;
    size_t dim = GESS__LANE_DIM_OF(&job->frozen);
    for (size_t i = 0; i < dim; i++) {
        l->x[i] = c->x[chain * dim + i];
        l->z[i] = c->z[chain * dim + i];
    }
    l->chain = chain;
    l->number = c->first + (uint32_t)chain;
    l->iteration = job->start;
    l->value = c->value[chain];
    l->delta_sum = c->deltas != NULL ? c->deltas[chain] : 0.0;
    l->log_t_sum = c->log_ts != NULL ? c->log_ts[chain] : 0.0;
    l->peak = c->peak[chain];
    l->level = c->level[chain];
    l->level_value = c->level_value[chain];
    l->move = GESS__LANE_NONE;
    l->tally.evals = l->tally.updates = l->tally.failures = 0;
    l->tally.independence = l->tally.accepted = l->tally.coordinate = l->tally.coordinate_evals = 0;
    l->event.nans = l->event.iteration = l->event.round = 0;
    l->event.infinite = 0;
}

GESS__INLINE void gess__lane_store(const gess__lane_job *job, const gess__lane *l)
{
    const gess__lane_chains *c = &job->chains;
    size_t dim = GESS__LANE_DIM_OF(&job->frozen);
    for (size_t i = 0; i < dim; i++) {
        c->x[l->chain * dim + i] = l->x[i];
        c->z[l->chain * dim + i] = l->z[i];
    }
    c->value[l->chain] = l->value;
    if (c->deltas != NULL) c->deltas[l->chain] = l->delta_sum;
    if (c->log_ts != NULL) c->log_ts[l->chain] = l->log_t_sum;
    c->peak[l->chain] = l->peak;
    c->level[l->chain] = l->level;
    c->level_value[l->chain] = l->level_value;
    job->events[l->chain] = l->event;
}

/* Notes an evaluated point: the trail and the highest points, as the driver of kernels does. */
GESS__INLINE void gess__lane_note(const gess__lane_job *job, gess__lane *l, double value)
{
    const gess__lane_chains *c = &job->chains;
    size_t dim = GESS__LANE_DIM_OF(&job->frozen), slots = c->trail_points, width = slots * (dim + 1);
    if (slots > 0 && fabs(value) < HUGE_VAL) {
        size_t row = (size_t)(c->trail_count[l->chain]++ % slots) * (dim + 1);
        for (size_t i = 0; i < dim; i++) c->trail[l->chain * width + row + i] = l->point[i];
        c->trail[l->chain * width + row + dim] = value;
    }
    if (!(value > l->peak && value < HUGE_VAL)) return;
    l->peak = value;
    for (size_t i = 0; i < dim; i++) c->peak_at[l->chain * dim + i] = l->point[i];
}

/* The same for log π − log T. */
GESS__INLINE void gess__lane_note_level(const gess__lane_job *job, gess__lane *l, double value, double log_t)
{
    const gess__lane_chains *c = &job->chains;
    size_t dim = GESS__LANE_DIM_OF(&job->frozen);
    double level = value - log_t;
    if (!(level > l->level && level < HUGE_VAL)) return;
    l->level = level;
    l->level_value = value;
    for (size_t i = 0; i < dim; i++) c->level_at[l->chain * dim + i] = l->point[i];
}

#endif
