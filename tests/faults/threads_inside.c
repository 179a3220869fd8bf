/* A density with threads of its own: by OpenMP, or with -DBLAS by the threads of OpenBLAS. 64 parameters; each value is
 * a sum whose order does not depend on the number of threads. */
#include <dlfcn.h>
#include <gess/gess.h>
#include <stdio.h>

enum { DIM = 64 };

#ifdef BLAS
typedef void gemv_fn(int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
static gemv_fn *gemv;
static double matrix[DIM * DIM];

/* −½|Ax|² with A near the identity. */
static double value_of(const double *x)
{
    double y[DIM], sum = 0.0;
    gemv(101, 111, DIM, DIM, 1.0, matrix, DIM, x, 1, 0.0, y, 1);
    for (int i = 0; i < DIM; i++) sum += y[i] * y[i];
    return -0.5 * sum;
}

static int open_blas(char *message, size_t size)
{
    void *library = dlopen("libopenblas.so.0", RTLD_NOW);
    gemv = library != NULL ? (gemv_fn *)dlsym(library, "cblas_dgemv") : NULL;
    if (gemv == NULL) {
        snprintf(message, size, "no OpenBLAS");
        return 1;
    }
    for (int i = 0; i < DIM * DIM; i++) matrix[i] = i % (DIM + 1) == 0 ? 1.0 : 0.001 * (i % 7);
    return 0;
}
#else
static double value_of(const double *x)
{
    double part[DIM], sum = 0.0;
#pragma omp parallel for
    for (int i = 0; i < DIM; i++) part[i] = x[i] * x[i] * (1.0 + 0.01 * i);
    for (int i = 0; i < DIM; i++) sum += part[i];
    return -0.5 * sum;
}
static int open_blas(char *message, size_t size)
{
    (void)message, (void)size;
    return 0;
}
#endif

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = value_of(x + i * dim);
    return 0;
}

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    (void)data;
    if (open_blas(message, size) != 0) return 1;
    density->dim = DIM;
    density->logp = logp;
    return 0;
}
