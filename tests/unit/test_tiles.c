/* The fixed-order kernels are right, and have the same bits for any batch and any place in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/tile_matmul.h"
#include "base/tiles.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 24, BATCH = 20 };

static double *random_doubles(uint32_t chain, uint64_t iteration, size_t n)
{
    double *x = malloc((n + 1) * sizeof *x);
    assert_non_null(x);
    gess__normals((gess__key){.seed = 31, .iteration = iteration, .chain = chain, .purpose = GESS__FOR_TEST}, n, x);
    return x;
}

static const size_t other_dims[] = {127, 128, 129, 257};

/* 1 .. 70 and a few larger ones; 0 past the end. */
static size_t dim_number(size_t i)
{
    if (i < 70) return i + 1;
    return i < 70 + sizeof other_dims / sizeof *other_dims ? other_dims[i - 70] : 0;
}

typedef struct problem {
    size_t dim;
    double *chol, *inverse, *centre, *in, *single, *out, *scratch;
} problem;

/* A lower triangle with NaN above it, to catch reads there. */
static problem new_problem(size_t dim)
{
    problem p = {.dim = dim};
    p.chol = random_doubles(1, dim, dim * dim);
    p.inverse = random_doubles(2, dim, dim);
    p.centre = random_doubles(3, dim, dim);
    p.in = random_doubles(4, dim, POINTS * dim);
    p.single = random_doubles(5, dim, POINTS * dim);
    p.out = random_doubles(6, dim, BATCH * dim + 1);
    p.scratch = random_doubles(7, dim, gess__triangular_scratch(dim));
    for (size_t k = 0; k < dim; k++) {
        for (size_t i = 0; i < k; i++) p.chol[i + k * dim] = NAN;
        for (size_t i = k + 1; i < dim; i++) p.chol[i + k * dim] /= sqrt((double)dim);
        p.chol[k + k * dim] = 1.0 + fabs(p.chol[k + k * dim]);
        p.inverse[k] = 1.0 / p.chol[k + k * dim];
    }
    return p;
}

static void free_problem(problem p)
{
    double *all[] = {p.chol, p.inverse, p.centre, p.in, p.single, p.out, p.scratch};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

typedef void operation(const problem *p, size_t count, const double *in, double *out);

static void products(const problem *p, size_t count, const double *in, double *out)
{
    gess__triangular_products(p->dim, p->chol, count, in, out, p->scratch);
}

static void solves(const problem *p, size_t count, const double *in, double *out)
{
    gess__triangular_solves(p->dim, p->chol, p->inverse, p->centre, count, in, out, p->scratch);
}

/* Every batch of 1 .. BATCH points, from several places, has the results of single points. */
static void check_batches(const problem *p, operation *apply)
{
    size_t dim = p->dim;
    for (size_t j = 0; j < POINTS; j++) apply(p, 1, p->in + j * dim, p->single + j * dim);
    for (size_t count = 1; count <= BATCH; count++)
        for (size_t first = 0; first + count <= POINTS; first += dim > 70 ? 5 : 1) {
            p->out[count * dim] = 123.0;
            apply(p, count, p->in + first * dim, p->out);
            if (memcmp(p->out, p->single + first * dim, count * dim * sizeof *p->out) != 0)
                fail_msg("dimension %zu: a batch of %zu from point %zu has other bits", dim, count, first);
            assert_true(p->out[count * dim] == 123.0); /* nothing past the end */
        }
    apply(p, 0, p->in, p->out);
}

static void triangular_products(void **state)
{
    (void)state;
    for (size_t d = 0; dim_number(d) > 0; d++) {
        size_t dim = dim_number(d);
        problem p = new_problem(dim);
        check_batches(&p, products);
        for (size_t j = 0; j < POINTS; j++)
            for (size_t i = 0; i < dim; i++) {
                long double sum = 0.0L, size = 0.0L;
                for (size_t k = 0; k <= i; k++) {
                    long double term = (long double)p.chol[i + k * dim] * p.in[j * dim + k];
                    sum += term;
                    size += fabsl(term);
                }
                assert_true(fabsl(p.single[j * dim + i] - sum) <= (long double)(i + 1) * DBL_EPSILON / 2 * size);
            }
        free_problem(p);
    }
}

static void triangular_solves(void **state)
{
    (void)state;
    for (size_t d = 0; dim_number(d) > 0; d++) {
        size_t dim = dim_number(d);
        problem p = new_problem(dim);
        check_batches(&p, solves);
        for (size_t j = 0; j < POINTS; j++)
            for (size_t i = 0; i < dim; i++) {
                /* residual of L z = x − centre */
                long double rest = (long double)p.in[j * dim + i] - p.centre[i];
                long double size = fabsl(rest);
                for (size_t k = 0; k <= i; k++) {
                    long double term = (long double)p.chol[i + k * dim] * p.single[j * dim + k];
                    rest -= term;
                    size += fabsl(term);
                }
                assert_true(fabsl(rest) <= (long double)(i + 4) * DBL_EPSILON * size);
            }
        free_problem(p);
    }
}

static void dots(void **state)
{
    (void)state;
    enum { MAX_LENGTH = 300 };
    double *a = random_doubles(11, 0, MAX_LENGTH), *b = random_doubles(12, 0, MAX_LENGTH),
           *shifted = random_doubles(13, 0, MAX_LENGTH + 9);
    for (size_t n = 0; n <= MAX_LENGTH; n++) {
        long double sum = 0.0L, size = 0.0L;
        for (size_t i = 0; i < n; i++) {
            sum += (long double)a[i] * b[i];
            size += fabsl((long double)a[i] * b[i]);
        }
        double dot = gess__dot(n, a, b);
        assert_true(fabsl(dot - sum) <= (long double)(n / 8 + 4) * DBL_EPSILON / 2 * size);
        for (size_t shift = 0; shift < 9; shift++) { /* no dependence on alignment */
            memcpy(shifted + shift, a, n * sizeof *a);
            assert_true(gess__dot(n, shifted + shift, b) == dot);
        }
    }
    assert_true(gess__dot(0, a, b) == 0.0);
    free(a);
    free(b);
    free(shifted);
}

static void ellipses(void **state)
{
    (void)state;
    for (size_t dim = 1; dim <= 70; dim++) {
        double *centre = random_doubles(21, dim, dim), *x = random_doubles(22, dim, dim),
               *v = random_doubles(23, dim, dim);
        double *out = random_doubles(24, dim, dim), c = 0.6, s = -0.8;
        gess__ellipse_point(dim, centre, x, v, c, s, out);
        for (size_t i = 0; i < dim; i++) {
            long double want = centre[i] + ((long double)x[i] - centre[i]) * c + (long double)v[i] * s;
            assert_true(fabsl(out[i] - want) <= 2e-16L * (fabsl(centre[i]) + fabsl(x[i]) + fabsl(v[i])) * 2);
        }
        gess__ellipse_point(dim, centre, x, v, 0.0, 1.0, out);
        for (size_t i = 0; i < dim; i++) assert_true(out[i] == v[i] + centre[i]);
        double xx, vv, xv;
        gess__dots(dim, x, v, &xx, &vv, &xv);
        assert_true(xx == gess__dot(dim, x, x) && vv == gess__dot(dim, v, v) && xv == gess__dot(dim, x, v));
        free(centre);
        free(x);
        free(v);
        free(out);
    }
}

/* Several rows at once have the bits of single rows. */
static void rows_at_once(void **state)
{
    (void)state;
    enum { ROWS = 5 };
    const uint32_t chosen[ROWS] = {3, 0, 4, 4, 1};
    const double cosines[ROWS] = {0.6, -0.8, 1.0, 0.0, 0.28}, sines[ROWS] = {0.8, 0.6, 0.0, -1.0, 0.96};
    const double scales[ROWS] = {1.0, 0.3, 7.0, 2.5, 1e-3};
    for (size_t dim = 1; dim <= 70; dim++) {
        double *centre = random_doubles(31, dim, dim), *x = random_doubles(32, dim, ROWS * dim),
               *v = random_doubles(33, dim, ROWS * dim), *out = random_doubles(34, dim, ROWS * dim),
               *one = random_doubles(35, dim, dim);
        double xx[ROWS], vv[ROWS], xv[ROWS], single[3];
        gess__dots_rows(ROWS, dim, x, v, xx, vv, xv);
        for (size_t j = 0; j < ROWS; j++) {
            gess__dots(dim, x + j * dim, v + j * dim, &single[0], &single[1], &single[2]);
            assert_true(single[0] == xx[j] && single[1] == vv[j] && single[2] == xv[j]);
        }
        gess__ellipse_points(dim, centre, x, v, ROWS, chosen, cosines, sines, scales, out);
        for (size_t p = 0; p < ROWS; p++) {
            size_t j = chosen[p];
            gess__ellipse_point(dim, centre, x + j * dim, v + j * dim, cosines[p], sines[p] * scales[p], one);
            assert_memory_equal(out + p * dim, one, dim * sizeof *one);
        }
        free(centre);
        free(x);
        free(v);
        free(out);
        free(one);
    }
}

static void tiles(void **state)
{
    (void)state;
    for (size_t dim = 1; dim <= 70; dim++)
        for (size_t count = 1; count <= GESS__LANES; count++) {
            double *x = random_doubles(31, dim, count * dim), *tile = random_doubles(32, dim, GESS__LANES * dim);
            double *back = random_doubles(33, dim, count * dim + 1);
            gess__to_tile(dim, count, x, tile);
            for (size_t l = 0; l < GESS__LANES; l++)
                for (size_t i = 0; i < dim; i++)
                    assert_true(tile[i * GESS__LANES + l] == x[(l < count ? l : count - 1) * dim + i]);
            back[count * dim] = 5.0;
            gess__from_tile(dim, count, tile, back);
            assert_memory_equal(back, x, count * dim * sizeof *x);
            assert_true(back[count * dim] == 5.0);
            free(x);
            free(tile);
            free(back);
        }
}

/* For any vectors and number of rows, by row or by column: the bits of the plain loops, and no write past the end. */
static void rows_of_matrices(void **state)
{
    (void)state;
    static const size_t terms[] = {0, 1, 3, 8, 31};
    enum { MAX_ROWS = 21, TERMS = 31, W = GESS__LANES };
    double *matrix = random_doubles(40, 0, MAX_ROWS * TERMS), *x = random_doubles(41, 0, TERMS * W);
    double *start = random_doubles(42, 0, (MAX_ROWS + 1) * W), plain[(MAX_ROWS + 1) * W], out[(MAX_ROWS + 1) * W];
    for (size_t count = 1; count <= MAX_ROWS; count++)
        for (size_t t = 0; t < sizeof terms / sizeof *terms; t++)
            for (int by_column = 0; by_column < 2; by_column++) {
                gess__matrix_rows rows = {matrix, by_column ? 1 : TERMS, by_column ? MAX_ROWS : 1};
                memcpy(plain, start, sizeof plain);
                for (size_t b = 0; b < count; b++)
                    for (size_t k = 0; k < terms[t]; k++)
                        for (size_t l = 0; l < W; l++)
                            plain[b * W + l] =
                                fma(matrix[b * rows.apart + k * rows.step], x[k * W + l], plain[b * W + l]);
                for (int with = GESS__NO_VECTORS; with <= (int)gess__machine_vectors; with++) {
                    memcpy(out, start, sizeof out);
                    gess__tile_matmul_with((gess__vectors)with, rows, count, terms[t], x, out);
                    assert_memory_equal(out, plain, sizeof plain);
                }
            }
    free(matrix);
    free(x);
    free(start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(triangular_products),
        cmocka_unit_test(triangular_solves),
        cmocka_unit_test(dots),
        cmocka_unit_test(ellipses),
        cmocka_unit_test(rows_at_once),
        cmocka_unit_test(tiles),
        cmocka_unit_test(rows_of_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
