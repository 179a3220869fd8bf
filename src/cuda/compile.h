/* Compiles the kernel for one model with NVRTC, which needs no device. */
#ifndef GESS_CUDA_COMPILE_H
#define GESS_CUDA_COMPILE_H

#include "base/status.h"

/* The shape that code is compiled for. */
typedef struct gess__cuda_shape {
    const char *density; /* gess__lane_NAME() of model/lane/NAME.h */
    /* of a model in a file of the user's: its path and what is in it, in place of that header; NULL: built in */
    const char *file, *text;
    int batched;       /* the density is a function of many points, which is called between launches (batched.h) */
    size_t dim, outer; /* of the sampling space, and of the user's */
    int map, bounds;   /* whether there is a learned map; whether there are bounds */
    size_t components; /* of T, rounded up to 1 or GESS__LANE_MAX_COMPONENTS */
    unsigned block;    /* threads per block */
} gess__cuda_shape;

/* Code for devices of this compute capability, 90 for 9.0; the caller frees it. */
int gess__cuda_compile(const gess__cuda_shape *shape, int capability, char **code, size_t *size, gess_error *err);

#endif
