/* Calls OpenBLAS and LAPACKE for Cholesky factors, triangular solves, matrix products and eigenvalues, and keeps
 * OpenBLAS at one thread. Solves of many points in few dimensions go to base/tiles.h, which is faster there. */
#include "base/linalg.h"

#include "base/assert.h"
#include "base/tiles.h"

#include <cblas.h>
#include <lapacke.h>
#include <pthread.h>
#include <string.h>

enum { MAX_IN_TILES = 128 };

/* OpenBLAS has one thread count per process, so the count of its users is per process too. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users;
static int threads_before;

void gess__blas_begin(void)
{
    pthread_mutex_lock(&lock);
    if (users++ == 0) {
        threads_before = openblas_get_num_threads();
        if (threads_before != 1) openblas_set_num_threads(1);
    }
    pthread_mutex_unlock(&lock);
}

void gess__blas_end(void)
{
    pthread_mutex_lock(&lock);
    GESS_ASSERT(users > 0);
    if (--users == 0 && threads_before != 1) openblas_set_num_threads(threads_before);
    pthread_mutex_unlock(&lock);
}

const char *gess__blas_name(void)
{
    return openblas_get_config();
}

bool gess__cholesky(size_t n, double *a)
{
    lapack_int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (lapack_int)n, a, (lapack_int)n);
    for (size_t k = 1; k < n; k++)
        for (size_t i = 0; i < k; i++) a[i + k * n] = 0.0;
    return info == 0;
}

/* For many points of a moderate dimension tiles are several times as fast as the BLAS, which is better at large n. */
static void solve_in_tiles(size_t n, const double *chol, size_t columns, double *b)
{
    double inverse[MAX_IN_TILES], centre[MAX_IN_TILES] = {0}, some[MAX_IN_TILES * GESS__LANES];
    double scratch[2 * MAX_IN_TILES * GESS__LANES];
    for (size_t i = 0; i < n; i++) inverse[i] = 1.0 / chol[i + i * n];
    for (size_t j = 0; j < columns; j += GESS__LANES) {
        size_t count = columns - j < GESS__LANES ? columns - j : GESS__LANES;
        memcpy(some, b + j * n, count * n * sizeof *some);
        gess__triangular_solves(n, chol, inverse, centre, count, some, b + j * n, scratch);
    }
}

void gess__solve_lower(size_t n, const double *chol, size_t columns, double *b)
{
    if (n <= MAX_IN_TILES && columns >= GESS__LANES) {
        solve_in_tiles(n, chol, columns, b);
        return;
    }
    cblas_dtrsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)n, (int)columns, 1.0, chol,
                (int)n, b, (int)n);
}

void gess__self_product(size_t n, size_t columns, double factor, const double *b, double *c)
{
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)columns, factor, b, (int)n, 0.0, c, (int)n);
}

void gess__gram(size_t n, size_t rows, double factor, const double *b, double *c)
{
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)n, (int)rows, factor, b, (int)rows, 0.0, c, (int)n);
}

void gess__product(bool transpose_a, size_t rows, size_t columns, size_t inner, const double *a, const double *b,
                   double *c)
{
    size_t height = transpose_a ? inner : rows, width = transpose_a ? rows : inner;
    const size_t small = 2000000; /* twice OpenBLAS's limit of small products */
    CBLAS_TRANSPOSE transpose = transpose_a ? CblasTrans : CblasNoTrans;
    if (columns > 1 && rows * columns * inner > small) {
        cblas_dgemm(CblasColMajor, transpose, CblasNoTrans, (int)rows, (int)columns, (int)inner, 1.0, a, (int)height, b,
                    (int)inner, 0.0, c, (int)rows);
        return;
    }
    for (size_t k = 0; k < columns; k++)
        cblas_dgemv(CblasColMajor, transpose, (int)height, (int)width, 1.0, a, (int)height, b + k * inner, 1, 0.0,
                    c + k * rows, 1);
}

size_t gess__eigen_work(size_t n)
{
    return 64 * n + 64; /* dsyev needs 3n - 1; blocks of up to 62 run faster */
}

bool gess__symmetric_eigen(size_t n, double *a, double *values, double *work)
{
    return LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', (lapack_int)n, a, (lapack_int)n, values, work,
                              (lapack_int)gess__eigen_work(n)) == 0;
}
