/* A task: some consecutive iterations of one block of chains. The unit that a worker runs, on whatever rank. */
#ifndef GESS_EXECUTE_TASK_H
#define GESS_EXECUTE_TASK_H

#include "execute/ensemble.h"

typedef struct gess__task {
    gess__chains *chains; /* the block is chains first .. first + count - 1 of these */
    size_t first, count;
    uint64_t start, iterations;
    int rebind; /* the approximation is new to the chains at iteration `start` */
    int phase;  /* as in gess__update */
    uint64_t warmup;
    /* draws of the first `keep` chains of the block go to rows[chain of the block · row_stride + draw · columns] */
    size_t keep;
    uint64_t from, thin; /* which are kept, as in gess__record */
    double *rows;
    size_t row_stride;
    /* points for the window of warm-up: number i of the window goes to points[(i − skip) · point_stride · dim] */
    uint64_t window_start, window_stride; /* stride 0: none */
    size_t point_stride, skip;
    double *points, *values; /* points: or NULL */
    atomic_int *cancelled;   /* or NULL: once it is 1, the rest is not wanted */
} gess__task;

/* Runs a task with the approximation and the moves of `with`, and leaves what it counted in e->updates[worker].
 * Allocates nothing. */
int gess__task_run(gess__ensemble *e, const gess__stretch *with, unsigned worker, const gess__task *task,
                   gess_error *err);

/* Number of draws that it keeps of a chain, and of points that it collects. */
uint64_t gess__task_kept(const gess__task *task);
uint64_t gess__task_points(const gess__task *task);

#endif
