/* Running an ensemble on a device: a GPU, or whatever a backend drives. Chains, T and map are copied there, stretches
 * run in launches of some iterations, and draws, points of warm-up and counts come back. A stretch that code of one
 * chain cannot run is left to the processor. */
#ifndef GESS_LANE_DEVICE_H
#define GESS_LANE_DEVICE_H

#include "execute/accelerator.h"
#include "lane/frozen.h"

/* What a launch may be specialised for. */
typedef struct gess__lane_shape {
    const char *density;     /* gess__lane_NAME() of model/lane/NAME.h */
    const char *file, *text; /* of a model in a file of the user's; else NULL */
    /* a density of many points on the device, in place of that function; else NULL */
    gess_device_logp_fn *batch;
    void *user;
    const double *numbers; /* of the function of one point, in the device's memory, for `call` */
    size_t dim, outer, components;
} gess__lane_shape;

/* How many points there is room for where a density of many points gets n of them: the next power of two. */
static inline size_t gess__lane_room(size_t n)
{
    size_t room = 1;
    while (room < n) room *= 2;
    return room;
}

/* The functions of a device's driver. Memory is the device's, and every function but the last two returns a status. */
typedef struct gess__backend gess__backend;
struct gess__backend {
    const char *name;         /* "cuda:0 (NVIDIA H200)" */
    double compiling_seconds; /* of the last launch, which says nothing about the next */
    int (*make)(gess__backend *backend, size_t bytes, void **memory, gess_error *err);
    int (*put)(gess__backend *backend, void *to, const void *from, size_t bytes, gess_error *err);
    int (*get)(gess__backend *backend, void *to, const void *from, size_t bytes, gess_error *err);
    /* Runs a job whose pointers are the device's to its end. */
    int (*launch)(gess__backend *backend, const gess__lane_shape *shape, const gess__lane_job *job, gess_error *err);
    /* Calls the density of a shape for points of the device. */
    int (*call)(gess__backend *backend, const gess__lane_shape *shape, size_t n, const double *x, double *logp,
                gess_error *err);
    void (*release)(gess__backend *backend, void *memory);
    void (*close)(gess__backend *backend);
};

enum { GESS__MAX_DEVICES = 16 };

/* An accelerator that drives backends, each with its part of the chains. They are its own from now on, even after a
 * failure. */
int gess__device_new(gess__accelerator **device, size_t count, gess__backend *const *backends, gess_error *err);

#endif
