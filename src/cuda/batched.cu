// The kernels for a density that is a function of many points (lane/batched.h): one thread a chain. batched.c launches
//   gess__wait      begins a job
//   gess__step      takes densities, and runs every chain to its next proposal
//   gess__pack      numbers the chains that wait for a density
//   gess__gather    packs their points; the density is called then, and gess__step comes again
//   gess__leave     ends the job
#include "cuda/shape.cuh"
#define GESS__LANE_DENSITY(dim, numbers, x) 0.0
#include "lane/batched.h"
#include "cuda/tally.cuh"

// Bytes per chain in `waiting`.
extern "C" __global__ void gess__waiting_bytes(uint64_t *bytes)
{
    if (blockIdx.x == 0 && threadIdx.x == 0) *bytes = sizeof(gess__lane_waiting);
}

extern "C" __global__ void __launch_bounds__(GESS__BLOCK)
    gess__wait(const __grid_constant__ gess__lane_job job, gess__lane_waiting *waiting)
{
    size_t chain = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chain < job.count) gess__lane_wait(&job, chain, &waiting[chain]);
}

// values[slots[c]] is the density for chain c, if it waits for one. Row c of `points` gets its next point, and slots[c]
// 1 if there is one, else 0.
extern "C" __global__ void __launch_bounds__(GESS__BLOCK)
    gess__step(const __grid_constant__ gess__lane_job job, gess__lane_waiting *waiting, uint32_t *slots,
               const double *values, double *points)
{
    size_t chain = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chain >= job.count) return;
    gess__lane_waiting *w = &waiting[chain];
    gess__lane_step(&job, w, w->asks ? values[slots[chain]] : 0.0, points + chain * GESS__LANE_OUTER);
    slots[chain] = w->asks;
}

// One block: slots[c] becomes the sum of those before it; *total: of all. `sums` has a number per thread.
extern "C" __global__ void gess__pack(size_t count, uint32_t *slots, uint32_t *sums, uint64_t *total)
{
    size_t each = (count + blockDim.x - 1) / blockDim.x, first = threadIdx.x * each, end = first + each;
    uint32_t mine = 0, before = 0;
    if (end > count) end = count;
    for (size_t c = first; c < end; c++) mine += slots[c];
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned t = 0; t < threadIdx.x; t++) before += sums[t];
    if (threadIdx.x == blockDim.x - 1) *total = (uint64_t)before + mine;
    for (size_t c = first; c < end; c++) {
        uint32_t waits = slots[c];
        slots[c] = before;
        before += waits;
    }
}

extern "C" __global__ void __launch_bounds__(GESS__BLOCK)
    gess__gather(size_t count, const gess__lane_waiting *waiting, const uint32_t *slots, const double *points, double *x)
{
    size_t chain = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (chain >= count || !waiting[chain].asks) return;
    for (size_t i = 0; i < GESS__LANE_OUTER; i++)
        x[(size_t)slots[chain] * GESS__LANE_OUTER + i] = points[chain * GESS__LANE_OUTER + i];
}

extern "C" __global__ void __launch_bounds__(GESS__BLOCK)
    gess__leave(const __grid_constant__ gess__lane_job job, const gess__lane_waiting *waiting)
{
    size_t chain = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    gess__lane_tally tally = gess__lane_tally{};
    if (chain < job.count) {
        gess__lane_store(&job, &waiting[chain].lane);
        tally = waiting[chain].lane.tally;
    }
    add_tally(&tally, &job.counts->tally);
}
