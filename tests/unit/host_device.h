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
#include "lane/batched.h"

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

static void host_add(gess__lane_tally *sum, const gess__lane_tally *t)
{
    sum->evals += t->evals;
    sum->updates += t->updates;
    sum->failures += t->failures;
    sum->independence += t->independence;
    sum->accepted += t->accepted;
    sum->coordinate += t->coordinate;
    sum->coordinate_evals += t->coordinate_evals;
}

/* The model's own function as one of many points on the device. */
static int host_batch(void *user, void *stream, size_t n, size_t dim, const double *x, double *logp)
{
    (void)stream;
    return host_model->logp(user, 0, n, dim, x, logp);
}

/* The job by proposals and calls for all chains that wait for one. */
static void host_run_batched(const gess__lane_shape *shape, const gess__lane_job *job)
{
    size_t dim = shape->outer, n = 1;
    gess__lane_waiting *waiting = calloc(job->count, sizeof *waiting);
    double *room = calloc(job->count * dim, sizeof *room), *points = calloc(job->count * dim, sizeof *points);
    double *values = calloc(job->count, sizeof *values);
    size_t *slots = calloc(job->count, sizeof *slots);
    for (size_t c = 0; c < job->count; c++) gess__lane_wait(job, c, &waiting[c]);
    while (n > 0) {
        n = 0;
        for (size_t c = 0; c < job->count; c++) {
            gess__lane_step(job, &waiting[c], values[slots[c]], room + c * dim);
            if (waiting[c].asks) memcpy(points + n * dim, room + c * dim, dim * sizeof *room);
            if (waiting[c].asks) slots[c] = n++;
        }
        if (n > 0 && shape->batch(shape->user, NULL, n, dim, points, values) != 0) abort();
    }
    for (size_t c = 0; c < job->count; c++) {
        gess__lane_store(job, &waiting[c].lane);
        host_add(&job->counts->tally, &waiting[c].lane.tally);
    }
    free(waiting), free(room), free(points), free(values), free(slots);
}

static int host_launch(gess__backend *b, const gess__lane_shape *shape, const gess__lane_job *job, gess_error *err)
{
    (void)err;
    host_backend *host = (host_backend *)(void *)b;
    host->launches++;
    for (size_t i = 0; i < job->frozen.layers; i++) host->layers[job->frozen.layer[i].kind]++;
    if (shape->batch != NULL) host_run_batched(shape, job);
    for (size_t chain = 0; shape->batch == NULL && chain < job->count; chain++) {
        gess__lane lane;
        gess__lane_load(job, chain, &lane);
        gess__lane_run(job, &lane);
        gess__lane_store(job, &lane);
        host_add(&job->counts->tally, &lane.tally);
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
