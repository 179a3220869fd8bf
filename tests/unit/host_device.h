/* A device that is the processor: the code of one chain, compiled by this compiler, one chain after the other. Include
 * it before any other header. Its density is the model's own function, so it takes every model. */
#ifndef GESS_TESTS_HOST_DEVICE_H
#define GESS_TESTS_HOST_DEVICE_H

#include <stddef.h>

static double host_density(size_t dim, const double *x);

#define GESS__LANES 1
#define GESS__LANE_DIM 100
#define GESS__LANE_OUTER 100
#define GESS__LANE_COMPONENTS 32
#define GESS__LANE_DENSITY(dim, numbers, x) host_density((dim), (x))
#define GESS__LANE_COUNT(counts, bin) ((void)(counts)[bin]++)
#include "lane/update.h"

#include "lane/device.h"
#include "model/model.h"

#include <stdlib.h>

static const gess_model *host_model;

static double host_density(size_t dim, const double *x)
{
    double value = NAN;
    if (host_model->logp(host_model->user, 0, 1, dim, x, &value) != 0) abort();
    return value;
}

typedef struct host_backend {
    gess__backend backend;         /* first */
    size_t launches, open;         /* launches so far, and pieces of memory that are not released */
    size_t layers[3];              /* launches with each kind of layer */
    uint64_t slices, independence; /* moves along coordinates, and independence moves */
} host_backend;

static int host_make(gess__backend *b, size_t bytes, void **memory, gess_error *err)
{
    (void)err;
    *memory = calloc(1, bytes);
    ((host_backend *)(void *)b)->open++;
    return *memory != NULL ? GESS_OK : GESS_ERR_INTERNAL;
}

static int host_copy(gess__backend *b, void *to, const void *from, size_t bytes, gess_error *err)
{
    (void)b, (void)err;
    memcpy(to, from, bytes);
    return GESS_OK;
}

static int host_launch(gess__backend *b, const gess__lane_shape *shape, const gess__lane_job *job, gess_error *err)
{
    (void)shape, (void)err;
    host_backend *host = (host_backend *)(void *)b;
    host->launches++;
    for (size_t i = 0; i < job->frozen.layers; i++) host->layers[job->frozen.layer[i].kind]++;
    for (size_t chain = 0; chain < job->count; chain++) {
        gess__lane lane;
        gess__lane_load(job, chain, &lane);
        gess__lane_run(job, &lane);
        gess__lane_store(job, &lane);
        gess__lane_tally *t = &job->counts->tally;
        t->evals += lane.tally.evals;
        t->updates += lane.tally.updates;
        t->failures += lane.tally.failures;
        t->independence += lane.tally.independence;
        t->accepted += lane.tally.accepted;
        t->coordinate += lane.tally.coordinate;
        t->coordinate_evals += lane.tally.coordinate_evals;
    }
    host->slices += job->counts->tally.coordinate;
    host->independence += job->counts->tally.independence;
    return GESS_OK;
}

static void host_release(gess__backend *b, void *memory)
{
    ((host_backend *)(void *)b)->open--;
    free(memory);
}

static void host_close(gess__backend *b)
{
    (void)b;
}

/* Its model is that of all host backends. */
static host_backend host_backend_of(const gess_model *model)
{
    host_model = model;
    return (host_backend){.backend = {.name = "host",
                                      .make = host_make,
                                      .put = host_copy,
                                      .get = host_copy,
                                      .launch = host_launch,
                                      .release = host_release,
                                      .close = host_close}};
}

#endif
