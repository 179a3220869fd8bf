/* One call of a user's density, with what surrounds it: the note of what is being evaluated, for a program that wants
 * to say so after a crash (gess_options_set_watch()), and the journal of slow evaluations (model/journal.h). */
#ifndef GESS_TRANSFORM_CALL_H
#define GESS_TRANSFORM_CALL_H

#include "model/journal.h"
#include "model/model.h"

/* Which chains a worker is asking for, point by point. */
typedef struct gess__asking {
    const uint32_t *lane; /* per point of the call; NULL: 0, 1, … */
    uint64_t first;       /* the number of lane 0's chain, from 1; 0: the points are not those of chains */
} gess__asking;

/* What surrounds the calls of a target. */
typedef struct gess__calls {
    gess_watch_fn *watch; /* NULL: none */
    void *watch_user;
    gess__journal *journal; /* borrowed; NULL: none */
    gess__asking *asking;   /* per worker, or NULL; each writes its own */
} gess__calls;

/* Says for which chains the worker's next calls are. */
static inline void gess__calls_ask(const gess__calls *calls, unsigned worker, const uint32_t *lane, uint64_t first)
{
    if (calls->asking != NULL) calls->asking[worker] = (gess__asking){lane, first};
}

/* Calls the model's functions for n points x of the user's space: log densities, and gradients and blobs unless they
 * are NULL. places[k]: the number of point k among the points that the caller asked for; NULL: k. Returns the model's
 * code. */
int gess__call(const gess__calls *calls, const gess_model *model, unsigned worker, size_t n, const double *x,
               const double *places, double *values, double *gradients, double *blobs);

/* The same for the derived quantities of one point. */
int gess__call_derive(const gess__calls *calls, const gess_model *model, unsigned worker, const double *x, double *out);

#endif
