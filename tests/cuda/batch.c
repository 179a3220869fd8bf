/* A plug-in with a density for devices. As C it is for the emulated GPU, which runs it on the processor; as CUDA
 * (nvcc -x cu --fmad=false) it has a kernel. Defined: ONLY, no density for the processor; FAILS, the density for
 * devices fails after some calls. */
#include <gess/gess.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIM = 3 };
static const double lower[DIM] = {-INFINITY, 0.0, -1.0}, upper[DIM] = {INFINITY, INFINITY, 1.0};
static size_t calls, largest;

#ifdef __CUDACC__
#define BOTH __host__ __device__
#else
#define BOTH
#endif

BOTH static double density(const double *x)
{
    return -0.5 * (x[0] - x[1]) * (x[0] - x[1]) - x[1] - x[2] * x[2];
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = density(x + i * dim);
    return 0;
}

#ifdef __CUDACC__
static __global__ void densities(size_t n, const double *x, double *values)
{
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = density(x + i * DIM);
}
#endif

static int device_logp(void *user, void *stream, size_t n, size_t dim, const double *x, double *values)
{
    calls++;
    if (n > largest) largest = n;
#ifdef FAILS
    if (calls > 40) return 7;
#endif
#ifdef __CUDACC__
    (void)user, (void)dim;
    densities<<<(unsigned)((n + 127) / 128), 128, 0, (cudaStream_t)stream>>>(n, x, values);
    return (int)cudaGetLastError();
#else
    (void)stream;
    return logp(user, 0, n, dim, x, values);
#endif
}

static void message(void *user, unsigned worker, char *text, size_t size)
{
    (void)user, (void)worker;
    snprintf(text, size, "the table is not loaded");
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    out[0] = x[0] - x[1];
    return 0;
}

#ifdef __cplusplus
extern "C" {
#endif
GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *path, gess_density *density, char *text, size_t size);
GESS_API void gess_plugin_close(gess_density *density);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *path, gess_density *d, char *text, size_t size)
{
    static const char *const names[] = {"difference"};
    (void)path, (void)text, (void)size, (void)logp;
    d->dim = DIM;
    d->lower = lower;
    d->upper = upper;
    d->derived = 1;
    d->derived_names = names;
    d->derive = derive;
    d->device_logp = device_logp;
    d->message = message;
#ifndef ONLY
    d->logp = logp;
#endif
    return 0;
}

void gess_plugin_close(gess_density *d)
{
    (void)d;
    fprintf(stderr, "%zu calls, at most %zu points\n", calls, largest);
}
#ifdef __cplusplus
}
#endif
