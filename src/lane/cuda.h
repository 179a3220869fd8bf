/* What libgess loads from libgess_cuda.so, which is made of cuda/. */
#ifndef GESS_LANE_CUDA_H
#define GESS_LANE_CUDA_H

#include "lane/device.h"

/* Of the same build as libgess; otherwise structures differ. */
extern const char gess__cuda_build[];

/* Opens GPU `number`. */
typedef int gess__cuda_open_fn(gess__backend **backend, int number, gess_error *err);
gess__cuda_open_fn gess__cuda_open;

#endif
