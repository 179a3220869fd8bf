// The kernel: one thread a chain. Beside what shape.cuh has, compile.c defines
//   GESS__LANE_HEADER   the header with its density, gess__lane_NAME(), and GESS__LANE_NAME that function
//   GESS__SOURCE        the file that this header includes, if the model is in a file of the user's
#include "cuda/shape.cuh"
#define GESS__LANE_DENSITY(dim, numbers, x) GESS__LANE_NAME((dim), (numbers), (x))

#ifdef GESS__SOURCE
#include "base/vmath.h"
// defined at the end of this file, where the user's macros touch nothing
GESS__INLINE double GESS__LANE_NAME(size_t dim, const double *numbers, const double *x);
#else
#include GESS__LANE_HEADER
#endif
#include "lane/update.h"
#include "cuda/tally.cuh"

extern "C" __global__ void __launch_bounds__(GESS__BLOCK) gess__run(const __grid_constant__ gess__lane_job job)
{
    size_t chain = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    gess__lane lane;
    lane.tally = gess__lane_tally{};
    if (chain < job.count) {
        gess__lane_load(&job, chain, &lane);
        gess__lane_run(&job, &lane);
        gess__lane_store(&job, &lane);
    }
    add_tally(&lane.tally, &job.counts->tally);
}

// Log densities of n points of the user's space, `outer` numbers each.
extern "C" __global__ void __launch_bounds__(GESS__BLOCK) gess__densities(size_t n, const double *numbers, const double *x, double *values)
{
    size_t point = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (point < n) values[point] = GESS__LANE_DENSITY((size_t)GESS__LANE_OUTER, numbers, x + point * GESS__LANE_OUTER);
}

#ifdef GESS__SOURCE
#include GESS__LANE_HEADER
#endif
