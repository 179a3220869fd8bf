/* Cholesky factors, triangular solves and matrix products, over the products of base/matmul.h and the tiles of
 * base/tiles.h. eigen.c has the eigenvalues. */
#include "base/linalg.h"

#include "base/matmul.h"
#include "base/tiles.h"

#include <string.h>

enum {
    BLOCK = 48,        /* columns of a factor that are worked on at a time */
    MAX_IN_TILES = 128 /* up to this dimension solves are made in one block */
};

const char *gess__linalg_name(void)
{
    return "none; fits use gess's own linear algebra, in a fixed order";
}

/* Columns first … last - 1 of the factor, from which the products of earlier columns have been subtracted. */
static GESS__VECTOR_VALUE(bool, factor_columns, (size_t n, size_t first, size_t last, double *a), (n, first, last, a))
{
    for (size_t k = first; k < last; k++) {
        double *restrict column = a + k * n;
        if (!(column[k] > 0.0)) return false;
        double root = sqrt(column[k]);
        column[k] = root;
        for (size_t i = k + 1; i < n; i++) column[i] /= root;
        for (size_t j = k + 1; j < last; j++) {
            double *restrict to = a + j * n, factor = -column[j];
            for (size_t i = j; i < n; i++) to[i] = gess__fma(column[i], factor, to[i]);
        }
    }
    return true;
}

bool gess__cholesky(size_t n, double *a)
{
    bool good = true;
    for (size_t first = 0; first < n && good; first += BLOCK) {
        size_t last = first + BLOCK < n ? first + BLOCK : n;
        const gess__matrix_rows left = {a + first, 1, n};
        const gess__matmul_job job = {.a = left,
                                      .b = left,
                                      .rows = n - first,
                                      .columns = last - first,
                                      .terms = first,
                                      .c = a + first + first * n,
                                      .stride = n,
                                      .subtract = 1};
        gess__matmul(&job);
        good = factor_columns(n, first, last, a);
    }
    for (size_t k = 1; k < n; k++)
        for (size_t i = 0; i < k; i++) a[i + k * n] = 0.0;
    return good;
}

/* Solves with a triangle of at most MAX_IN_TILES rows, which is `dim` by `dim`, for rows of b that are `apart` from
 * each other. */
static void solve_in_tiles(size_t dim, const double *chol, size_t columns, double *b, size_t apart)
{
    double inverse[MAX_IN_TILES], centre[MAX_IN_TILES] = {0}, some[MAX_IN_TILES * GESS__LANES];
    double solved[MAX_IN_TILES * GESS__LANES], scratch[2 * MAX_IN_TILES * GESS__LANES];
    for (size_t i = 0; i < dim; i++) inverse[i] = 1.0 / chol[i + i * dim];
    for (size_t j = 0; j < columns; j += GESS__LANES) {
        size_t count = columns - j < GESS__LANES ? columns - j : GESS__LANES;
        for (size_t l = 0; l < count; l++) memcpy(some + l * dim, b + (j + l) * apart, dim * sizeof *b);
        gess__triangular_solves(dim, chol, inverse, centre, count, some, solved, scratch);
        for (size_t l = 0; l < count; l++) memcpy(b + (j + l) * apart, solved + l * dim, dim * sizeof *b);
    }
}

void gess__solve_lower(size_t n, const double *chol, size_t columns, double *b)
{
    if (n <= MAX_IN_TILES) {
        solve_in_tiles(n, chol, columns, b, n);
        return;
    }
    double triangle[BLOCK * BLOCK];
    for (size_t first = 0; first < n; first += BLOCK) {
        size_t some = n - first < BLOCK ? n - first : BLOCK;
        const gess__matmul_job job = {.a = {chol + first, 1, n},
                                      .b = {b, n, 1},
                                      .rows = some,
                                      .columns = columns,
                                      .terms = first,
                                      .c = b + first,
                                      .stride = n,
                                      .subtract = 1};
        gess__matmul(&job);
        for (size_t k = 0; k < some; k++)
            memcpy(triangle + k * some, chol + first + (first + k) * n, some * sizeof *triangle);
        solve_in_tiles(some, triangle, columns, b + first, n);
    }
}

/* c = factor A Aᵀ, lower triangle. */
static void symmetric_product(gess__matrix_rows a, size_t n, size_t terms, double factor, double *c)
{
    const gess__matmul_job job =
        {.a = a, .b = a, .rows = n, .columns = n, .terms = terms, .c = c, .stride = n, .lower = 1};
    for (size_t k = 0; k < n; k++) memset(c + k + k * n, 0, (n - k) * sizeof *c);
    gess__matmul(&job);
    for (size_t k = 0; k < n; k++)
        for (size_t i = k; i < n; i++) c[i + k * n] *= factor;
}

void gess__self_product(size_t n, size_t columns, double factor, const double *b, double *c)
{
    symmetric_product((gess__matrix_rows){b, 1, n}, n, columns, factor, c);
}

void gess__gram(size_t n, size_t rows, double factor, const double *b, double *c)
{
    symmetric_product((gess__matrix_rows){b, rows, 1}, n, rows, factor, c);
}

/* c = A b for one column, in the order of gess__matmul(). */
static GESS__VECTOR(product_one,
                    (size_t rows, size_t inner, const double *restrict a, const double *restrict b, double *restrict c),
                    (rows, inner, a, b, c))
{
    enum { CHUNK = 64 };
    for (size_t first = 0; first < rows; first += CHUNK) {
        size_t some = rows - first < CHUNK ? rows - first : CHUNK;
        double total[CHUNK] = {0};
        for (size_t start = 0; start < inner; start += GESS__MATMUL_RUN) {
            size_t end = inner - start < GESS__MATMUL_RUN ? inner : start + GESS__MATMUL_RUN;
            double sum[CHUNK] = {0};
            for (size_t k = start; k < end; k++)
                for (size_t i = 0; i < some; i++) sum[i] = gess__fma(a[first + i + k * rows], b[k], sum[i]);
            for (size_t i = 0; i < some; i++) total[i] += sum[i];
        }
        memcpy(c + first, total, some * sizeof *c);
    }
}

void gess__product(bool transpose_a, size_t rows, size_t columns, size_t inner, const double *a, const double *b,
                   double *c)
{
    if (columns == 1 && transpose_a) {
        for (size_t i = 0; i < rows; i++) c[i] = gess__dot(inner, a + i * inner, b);
        return;
    }
    if (columns == 1) {
        product_one(rows, inner, a, b, c);
        return;
    }
    const gess__matmul_job job = {.a = {a, transpose_a ? inner : 1, transpose_a ? 1 : rows},
                                  .b = {b, inner, 1},
                                  .rows = rows,
                                  .columns = columns,
                                  .terms = inner,
                                  .c = c,
                                  .stride = rows};
    memset(c, 0, rows * columns * sizeof *c);
    gess__matmul(&job);
}
