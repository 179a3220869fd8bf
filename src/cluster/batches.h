/* Points that are evaluated in batches, on the team and on the helper ranks: no chain is updated, and nothing but log
 * densities is wanted. The values of a batch have the same bits whoever evaluates it. */
#ifndef GESS_CLUSTER_BATCHES_H
#define GESS_CLUSTER_BATCHES_H

#include "cluster/coordinator.h"

#include <stdatomic.h>

/* One call: n points w of an ensemble (n × dim), of which every `batch` consecutive ones go to the density at once. */
typedef struct gess__batches {
    gess__ensemble *ensemble;
    size_t n, batch;
    const double *points;
    double *values;   /* raw, as gess__target_evaluate() gives them */
    double *scratch;  /* gess__batches_scratch() doubles */
    atomic_int *stop; /* GESS_ERR_STOPPED once it is 1; NULL: never */
} gess__batches;

size_t gess__batches_scratch(const gess__ensemble *ensemble, size_t batch);

/* Evaluates them. With helper ranks, which coordinator_gather() has gathered; without, `coordinator` is NULL. If
 * batches fail, the error is that of the first. */
int gess__batches_run(gess__coordinator *coordinator, gess__batches *batches, gess_error *err);

#endif
