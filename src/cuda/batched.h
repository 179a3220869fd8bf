/* A job whose density is a function of many points on the GPU, called between launches of the kernels of batched.cu. */
#ifndef GESS_CUDA_BATCHED_H
#define GESS_CUDA_BATCHED_H

#include "cuda/driver.h"
#include "lane/device.h"

/* Its kernels. */
typedef struct gess__batched {
    CUfunction waiting_bytes, wait, step, pack, gather, leave;
    size_t bytes; /* per chain between two launches; 0: not known yet */
} gess__batched;

enum { GESS__BATCHED_PIECES = 7 };

/* Memory of the GPU, which grows as it is needed. */
typedef struct gess__batched_memory {
    CUdeviceptr at[GESS__BATCHED_PIECES];
    size_t bytes[GESS__BATCHED_PIECES];
} gess__batched_memory;

int gess__batched_find(gess__batched *b, const gess__driver *driver, CUmodule module, gess_error *err);

/* Runs the job to its end. `make` gives memory, with a message if there is none. */
int gess__batched_run(gess__batched *b, gess__batched_memory *memory, gess__backend *backend,
                      const gess__driver *driver, const gess__lane_shape *shape, const gess__lane_job *job,
                      unsigned block, gess_error *err);

/* Calls a density for points on the GPU, and waits for it. */
int gess__batched_call(const gess__driver *driver, const gess__lane_shape *shape, size_t n, const double *x,
                       double *logp, gess_error *err);

void gess__batched_free(gess__batched_memory *memory, const gess__driver *driver);

#endif
