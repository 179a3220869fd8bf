// The kernel: one thread a chain. compile.c has NVRTC compile it for one model, with
//   GESS__LANE_DIM, GESS__LANE_OUTER, GESS__LANE_COMPONENTS, GESS__LANE_MAP and GESS__LANE_BOUNDS (0 or 1)   its shape
//   GESS__LANE_HEADER   the header with its density, gess__lane_NAME(), and GESS__LANE_NAME that function
//   GESS__SOURCE        the file that this header includes, if the model is in a file of the user's
#define GESS__LANES 1
#define GESS__LANE_DIM_OF(f) ((f)->dim)
#define GESS__LANE_OUTER_OF(f) ((size_t)GESS__LANE_OUTER)
#if GESS__LANE_COMPONENTS == 1
#define GESS__LANE_COMPONENTS_OF(f) ((size_t)1)
#else
#define GESS__LANE_COMPONENTS_OF(f) ((f)->components)
#endif
#define GESS__LANE_HAS_MAP(f) GESS__LANE_MAP
#define GESS__LANE_HAS_BOUNDS(f) GESS__LANE_BOUNDS
#define GESS__LANE_DENSITY(dim, numbers, x) GESS__LANE_NAME((dim), (numbers), (x))
#define GESS__LANE_COUNT(counts, bin) atomicAdd((unsigned long long *)&(counts)[bin], 1ull)

#ifdef GESS__SOURCE
#include "base/vmath.h"
// defined at the end of this file, where the user's macros touch nothing
GESS__INLINE double GESS__LANE_NAME(size_t dim, const double *numbers, const double *x);
#else
#include GESS__LANE_HEADER
#endif
#include "lane/update.h"

// Adds a count of all threads of a block to a sum.
static void add_up(uint64_t mine, uint64_t *sum)
{
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd((unsigned long long *)sum, (unsigned long long)mine);
}

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
    gess__lane_tally *sums = &job.counts->tally;
    add_up(lane.tally.evals, &sums->evals);
    add_up(lane.tally.updates, &sums->updates);
    add_up(lane.tally.failures, &sums->failures);
    add_up(lane.tally.independence, &sums->independence);
    add_up(lane.tally.accepted, &sums->accepted);
    add_up(lane.tally.coordinate, &sums->coordinate);
    add_up(lane.tally.coordinate_evals, &sums->coordinate_evals);
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
