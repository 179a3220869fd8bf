/* Loads OpenBLAS and calls it by Fortran's names, whose interface every build of it has. */
#include "bench/openblas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Fortran's functions take pointers, and the lengths of strings after everything else. */
typedef void potrf_fn(const char *, const int *, double *, const int *, int *, size_t);
typedef void trsm_fn(const char *, const char *, const char *, const char *, const int *, const int *, const double *,
                     const double *, const int *, double *, const int *, size_t, size_t, size_t, size_t);
typedef void syrk_fn(const char *, const char *, const int *, const int *, const double *, const double *, const int *,
                     const double *, double *, const int *, size_t, size_t);
typedef void gemm_fn(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                     const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);
typedef void syev_fn(const char *, const char *, const int *, double *, const int *, double *, double *, const int *,
                     int *, size_t, size_t);

static struct {
    pthread_once_t once;
    bool found;
    potrf_fn *potrf;
    trsm_fn *trsm;
    syrk_fn *syrk;
    gemm_fn *gemm;
    syev_fn *syev;
    const char *(*config)(void);
} blas = {.once = PTHREAD_ONCE_INIT};

/* Sets a pointer to a function, which C does not convert from a pointer to void. */
static bool find(void *library, const char *name, void *function)
{
    void *symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void load(void)
{
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return;
    blas.found = find(library, "dpotrf_", &blas.potrf) && find(library, "dtrsm_", &blas.trsm) &&
                 find(library, "dsyrk_", &blas.syrk) && find(library, "dgemm_", &blas.gemm) &&
                 find(library, "dsyev_", &blas.syev) && find(library, "openblas_get_config", &blas.config);
}

bool gess__openblas(void)
{
    pthread_once(&blas.once, load);
    return blas.found;
}

const char *gess__openblas_name(void)
{
    return blas.config();
}

bool gess__openblas_cholesky(size_t n, double *a)
{
    int order = (int)n, info;
    blas.potrf("L", &order, a, &order, &info, 1);
    return info == 0;
}

void gess__openblas_solve_lower(size_t n, const double *chol, size_t columns, double *b)
{
    int order = (int)n, count = (int)columns;
    const double one = 1.0;
    blas.trsm("L", "L", "N", "N", &order, &count, &one, chol, &order, b, &order, 1, 1, 1, 1);
}

void gess__openblas_self_product(size_t n, size_t columns, double factor, const double *b, double *c)
{
    int order = (int)n, count = (int)columns;
    const double zero = 0.0;
    blas.syrk("L", "N", &order, &count, &factor, b, &order, &zero, c, &order, 1, 1);
}

void gess__openblas_product(bool transpose_a, size_t rows, size_t columns, size_t inner, const double *a,
                            const double *b, double *c)
{
    int m = (int)rows, n = (int)columns, k = (int)inner, height = transpose_a ? k : m;
    const double one = 1.0, zero = 0.0;
    blas.gemm(transpose_a ? "T" : "N", "N", &m, &n, &k, &one, a, &height, b, &k, &zero, c, &m, 1, 1);
}

bool gess__openblas_symmetric_eigen(size_t n, double *a, double *values, double *work)
{
    int order = (int)n, length = 64 * order + 64, info;
    blas.syev("V", "L", &order, a, &order, values, work, &length, &info, 1, 1);
    return info == 0;
}
