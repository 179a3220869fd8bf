/* Chains whose density is a function of many points on the device: it is called between launches that run every chain
 * up to its next proposal. Chains that have done their iterations ask for nothing, so the points of a call are packed.
 */
#ifndef GESS_LANE_BATCHED_H
#define GESS_LANE_BATCHED_H

#include "lane/update.h"

/* A chain between two launches. */
typedef struct gess__lane_waiting {
    gess__lane lane;
    double learned, bounds; /* of the proposal's image */
    uint32_t asks;          /* 1: it waits for the density of its proposal */
} gess__lane_waiting;

/* Begins a job for one chain. */
GESS__INLINE void gess__lane_wait(const gess__lane_job *job, size_t chain, gess__lane_waiting *w)
{
    gess__lane_load(job, chain, &w->lane);
    w->asks = 0;
}

/* Takes the density that the chain waits for, if it waits for one, and goes on to the next proposal that needs one: its
 * image, in the user's space, goes to `point`. Afterwards w->asks says whether there is such a proposal. */
GESS__INLINE void gess__lane_step(const gess__lane_job *job, gess__lane_waiting *w, double value, double *point)
{
    const gess__lane_frozen *f = &job->frozen;
    gess__lane_image image;
    image.learned = w->learned;
    image.bounds = w->bounds;
    if (w->asks) gess__lane_answer(job, &w->lane, gess__lane_combine(f, &image, value));
    w->asks = 0;
    while (!w->asks && gess__lane_ask(job, &w->lane)) {
        gess__lane_out(f, w->lane.point, &image);
        w->asks = (uint32_t)gess__lane_inside(f, &image);
        if (!w->asks) gess__lane_answer(job, &w->lane, gess__lane_combine(f, &image, 0.0));
    }
    if (!w->asks) return;
    w->learned = image.learned;
    w->bounds = image.bounds;
    for (size_t i = 0; i < GESS__LANE_OUTER_OF(f); i++) point[i] = image.x[i];
}

#endif
