/* A stretch: some chains run some iterations with one approximation, with no exchange between chains. It is what a
 * schedule asks for and what the scheduler runs; its draws come out as segments. */
#ifndef GESS_EXECUTE_STRETCH_H
#define GESS_EXECUTE_STRETCH_H

#include "kernel/kernel.h"

#include <stdatomic.h>

/* Where the points of a stretch go that warm-up fits to: point number i of the stretch's window, of chain c, to
 * points[(i · chains + c) · dim], one iteration in `stride` from iteration `start` on. */
typedef struct gess__collect {
    uint64_t start, stride; /* stride 0: nothing is collected */
    double *points;         /* NULL: only log densities are collected */
    double *values;
} gess__collect;

/* Chains first .. first + count - 1 run `iterations` updates from iteration `start` on. */
typedef struct gess__stretch {
    size_t first, count;
    uint64_t start, iterations;
    const gess__approx *approx;
    const gess__mixture *mixture; /* or NULL: T is the one t in `approx` */
    gess__move_mix moves;
    int rebind;             /* the approximation is new to these chains */
    enum gess__phase phase; /* what kernels may adapt */
    uint64_t warmup;        /* iterations of warm-up, as in gess__update */
    gess__collect collect;
} gess__stretch;

/* A rectangle of draws in the user's scale: rows[(chain · draws + draw) · columns] holds the log density, the
 * parameters, the derived quantities and the blobs. */
typedef struct gess__segment {
    size_t first, count; /* the chains whose draws are kept */
    uint64_t iterations; /* done by each of these chains so far */
    uint64_t first_draw, draws;
    uint64_t evals, updates; /* of this stretch so far, by all its blocks */
    const double *rows;
} gess__segment;

/* Gets segments in order, one call at a time, from any worker. */
typedef int gess__sink_fn(void *user, const gess__segment *segment, gess_error *err);

/* Which draws are kept, and who gets them: iteration i is kept if i ≥ from and i − from + 1 is a multiple of thin.
 * thin = 0: none is kept; the sink still hears of progress. */
typedef struct gess__record {
    uint64_t from, thin;
    gess__sink_fn *sink; /* or NULL */
    void *user;
    atomic_int *stop; /* or NULL: ends the stretch early once it is 1 */
    atomic_int *quit; /* or NULL: 1 once the run must end, and not only pause for a checkpoint */
} gess__record;

/* What ends work early that would have to begin again. */
static inline atomic_int *gess__record_quit(const gess__record *record)
{
    return record->quit != NULL ? record->quit : record->stop;
}

/* Number of iterations kept among start .. start + iterations - 1. */
uint64_t gess__record_kept(const gess__record *record, uint64_t start, uint64_t iterations);

#endif
