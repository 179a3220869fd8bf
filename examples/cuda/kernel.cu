// A density with a kernel of its own, as a plug-in for gess: the log densities of all points of a call are computed on the
// GPU, where the points are.
//
//     nvcc -std=c++17 -O3 -shared -Xcompiler -fPIC -I INCLUDE -o kernel.so kernel.cu       (gess/gess.h is in INCLUDE)
//     gess sample ./kernel.so --device cuda --chains 16384 --draws 20 --thin 10 --max-warmup-evals 2e7
//
// Without `logp`, a density for the processor, it runs on a GPU only. A density that fits into one function of one point
// needs none of this: `gess new NAME --lang cuda`.
#include <gess/gess.h>

#include <cuda_runtime.h>
#include <cstdio>

enum { DIM = 10, BLOCK = 128 };
static cudaError_t last; // of the last call

// A Gaussian whose neighbours are correlated, one thread per point.
static __global__ void densities(size_t n, const double *x, double *logp)
{
    size_t point = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n) return;
    double before = 0.0, sum = 0.0;
    for (int i = 0; i < DIM; i++) {
        double now = x[point * DIM + i], step = now - 0.9 * before;
        sum += step * step;
        before = now;
    }
    logp[point] = -0.5 * sum;
}

static int device_logp(void *, void *stream, size_t n, size_t, const double *x, double *logp)
{
    densities<<<(unsigned)((n + BLOCK - 1) / BLOCK), BLOCK, 0, (cudaStream_t)stream>>>(n, x, logp);
    last = cudaGetLastError();
    return (int)last;
}

static void message(void *, unsigned, char *text, size_t size)
{
    snprintf(text, size, "%s", cudaGetErrorString(last));
}

extern "C" {
GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *data, gess_density *density, char *text, size_t size);
GESS_API void gess_plugin_close(gess_density *density);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *, gess_density *density, char *, size_t)
{
    density->dim = DIM;
    density->device_logp = device_logp;
    density->message = message;
    return 0;
}

void gess_plugin_close(gess_density *) {}
}
