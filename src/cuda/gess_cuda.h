/* What libgess loads from libgess_cuda.so. */
#ifndef GESS_CUDA_GESS_CUDA_H
#define GESS_CUDA_GESS_CUDA_H

#include "lane/device.h"

/* Of the same build as libgess; otherwise structures differ. */
extern const char gess__cuda_build[];

/* Opens device `number` for a model. */
typedef int gess__cuda_open_fn(gess__backend **backend, int number, gess_error *err);
gess__cuda_open_fn gess__cuda_open;

#endif
