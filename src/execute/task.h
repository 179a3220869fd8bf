/* A task: some consecutive iterations of one block of chains. The unit that a worker runs, on whatever rank. */
#ifndef GESS_EXECUTE_TASK_H
#define GESS_EXECUTE_TASK_H

#include "execute/ensemble.h"

typedef struct gess__task {
    gess__chains *chains; /* in which the block is first .. first + count - 1 */
    size_t first, count;
    uint64_t start, iterations;
    int rebind; /* the approximation is new to the chains at iteration `start` */
    int phase;  /* as in gess__update */
    uint64_t warmup;
    /* draws of the first `keep` chains of the block: rows[chain of the block · row_stride + draw · columns] */
    size_t keep;
    uint64_t from, thin; /* which are kept, as in gess__record */
    double *rows;
    size_t row_stride;
    /* points for the window of warm-up: number i of the window at points[(i − skip) · stride · dim]; stride 0: none */
    uint64_t window_start, window_stride;
    size_t point_stride, skip;
    double *points, *values; /* points: or NULL */
    atomic_int *cancelled;   /* or NULL: where it becomes 1 the rest is not wanted */
} gess__task;

/* With the approximation that a stretch names. Leaves what it counted in e->updates[worker]. Allocates nothing. */
int gess__task_run(gess__ensemble *e, const gess__stretch *stretch, unsigned worker, const gess__task *task,
                   gess_error *err);

/* Numbers of the draws that it keeps of a chain, and of the points. */
uint64_t gess__task_kept(const gess__task *task);
uint64_t gess__task_points(const gess__task *task);

#endif
