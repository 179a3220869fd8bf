/* All updates of one chain: what every thread of a device runs.
 *
 * Between two calls of the density each chain does whatever it has to: end an update, begin the next, shrink a bracket.
 * So all chains of a device call the density together, whichever iteration each of them has reached; none waits for
 * those that are still being shrunk. */
#ifndef GESS_LANE_UPDATE_H
#define GESS_LANE_UPDATE_H

#include "lane/moves.h"
#include "lane/target.h"

/* Draws the random numbers of the next update. */
GESS__INLINE void gess__lane_begin(const gess__lane_job *job, gess__lane *l)
{
    const gess__lane_frozen *f = &job->frozen;
    int rebind = (job->rebind && l->iteration == job->start) || gess__mix_coordinate_before(f->moves, l->iteration);
    l->round = 0;
    if (gess__mix_coordinate(f->moves, l->iteration)) {
        l->move = GESS__LANE_SLICE;
        gess__lane_slice_begin(f, l);
    } else if (gess__mix_independence(f->moves, l->iteration)) {
        l->move = GESS__LANE_INDEPENDENCE;
        gess__lane_independence_begin(f, l, rebind);
    } else if (GESS__LANE_COMPONENTS_OF(f) > 1) {
        l->move = GESS__LANE_MIXTURE;
        gess__lane_mixture_begin(f, l);
    } else {
        l->move = GESS__LANE_ELLIPSE;
        gess__lane_ellipse_begin(f, l, rebind);
    }
}

/* Sets the proposal and log T there. */
GESS__INLINE void gess__lane_propose(const gess__lane_frozen *f, gess__lane *l)
{
    if (l->move == GESS__LANE_SLICE) {
        gess__lane_slice_propose(f, l);
    } else if (l->move == GESS__LANE_MIXTURE) {
        gess__lane_mixture_propose(f, l);
        l->there = gess__lane_mixture_there(f, l);
    } else if (l->move == GESS__LANE_ELLIPSE) {
        gess__lane_ellipse_propose(f, l);
        l->there = gess__lane_ellipse_there(f, l);
    }
}

/* Takes the density of the proposal, NaN being none. */
GESS__INLINE enum gess__lane_end gess__lane_take(const gess__lane_frozen *f, gess__lane *l, double value)
{
    switch (l->move) {
    case GESS__LANE_SLICE: return gess__lane_slice_take(f, l, value);
    case GESS__LANE_INDEPENDENCE: return gess__lane_independence_take(f, l, value);
    case GESS__LANE_ELLIPSE: return gess__lane_ellipse_take(f, l, value);
    default: return value - l->there > l->height ? GESS__LANE_MOVED : gess__lane_next_angle(f, l);
    }
}

/* Whether the iteration's draw is kept, and the number of the draw from job->from on. */
GESS__INLINE int gess__lane_kept(const gess__lane_job *job, uint64_t iteration, uint64_t *draw)
{
    if (job->thin == 0 || iteration < job->from || (iteration - job->from + 1) % job->thin != 0) return 0;
    *draw = (iteration - job->from + 1) / job->thin - 1;
    return 1;
}

/* Stores the draw and the point of warm-up of the iteration that has ended. */
GESS__LANE_CALL void gess__lane_record(const gess__lane_job *job, const gess__lane *l)
{
    const gess__lane_frozen *f = &job->frozen;
    uint64_t draw, past = l->iteration - job->window_start + 1;
    if (job->rows != NULL && gess__lane_kept(job, l->iteration, &draw)) {
        gess__lane_image out;
        double *row = job->rows + (l->chain * job->draws + (size_t)(draw - job->first_draw)) * job->columns;
        gess__lane_out(f, l->x, &out);
        double value = l->value;
        if (GESS__LANE_HAS_MAP(f)) value -= out.learned;
        if (GESS__LANE_HAS_BOUNDS(f)) value -= out.bounds;
        row[0] = value;
        for (size_t i = 0; i < GESS__LANE_OUTER_OF(f); i++) row[1 + i] = out.x[i];
    }
    if (job->stride == 0 || past % job->stride != 0) return;
    size_t at = (size_t)(past / job->stride - 1 - job->first_point) * job->count + l->chain;
    job->values[at] = l->value;
    for (size_t i = 0; job->points != NULL && i < GESS__LANE_DIM_OF(f); i++)
        job->points[at * GESS__LANE_DIM_OF(f) + i] = l->x[i];
}

/* Ends an update in whatever way. */
GESS__INLINE void gess__lane_finish(const gess__lane_job *job, gess__lane *l, enum gess__lane_end end, double value)
{
    size_t round = l->round < GESS__BINS ? l->round : GESS__BINS - 1;
    if (end == GESS__LANE_MOVED) {
        int turned = l->move == GESS__LANE_ELLIPSE || l->move == GESS__LANE_MIXTURE;
        if (turned) GESS__LANE_COUNT(job->counts->angles, gess__angle_bin(l->bracket.angle));
        for (size_t i = 0; i < GESS__LANE_DIM_OF(&job->frozen); i++) l->x[i] = l->point[i];
        l->value = value;
    }
    l->tally.failures += end == GESS__LANE_FAILED;
    l->tally.updates++;
    GESS__LANE_COUNT(job->counts->by_evals, round);
    gess__lane_record(job, l);
    l->iteration++;
    l->move = GESS__LANE_NONE;
}

/* Reports a density of NaN or +inf; false if the chain must stop. */
GESS__INLINE int gess__lane_strange(const gess__lane_job *job, gess__lane *l, double value)
{
    int infinite = !(value != value);
    if (l->event.nans == 0 || infinite) {
        l->event.iteration = l->iteration;
        l->event.round = l->round;
        for (size_t i = 0; i < GESS__LANE_DIM_OF(&job->frozen); i++)
            job->event_points[l->chain * GESS__LANE_DIM_OF(&job->frozen) + i] = l->point[i];
    }
    l->event.infinite = infinite;
    l->event.nans += !infinite;
    return !infinite;
}

/* Whether the job has more to do for the chain; then its next proposal is in l->point, and gess__lane_answer() takes
 * the density there. */
GESS__INLINE int gess__lane_ask(const gess__lane_job *job, gess__lane *l)
{
    if (l->iteration >= job->start + job->iterations || l->event.infinite) return 0;
    if (l->move == GESS__LANE_NONE) gess__lane_begin(job, l);
    gess__lane_propose(&job->frozen, l);
    return 1;
}

/* Takes the density of the proposal in the sampling space. */
GESS__INLINE void gess__lane_answer(const gess__lane_job *job, gess__lane *l, double value)
{
    l->tally.evals++;
    gess__lane_note(job, l, value);
    if (l->move != GESS__LANE_SLICE) gess__lane_note_level(job, l, value, l->there);
    if (!(value < HUGE_VAL)) {
        if (!gess__lane_strange(job, l, value)) return;
        value = -HUGE_VAL;
    }
    enum gess__lane_end end = gess__lane_take(&job->frozen, l, value);
    if (end == GESS__LANE_GOES_ON)
        l->round++;
    else
        gess__lane_finish(job, l, end, value);
}

/* Runs the job for one chain, between gess__lane_load() and gess__lane_store(). */
GESS__INLINE void gess__lane_run(const gess__lane_job *job, gess__lane *l)
{
    while (gess__lane_ask(job, l)) gess__lane_answer(job, l, gess__lane_evaluate(&job->frozen, l->point));
}

#endif
