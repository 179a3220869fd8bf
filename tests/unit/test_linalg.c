/* The linear algebra of fits: right to rounding, the same bits for every vector width and any number of columns, and
 * nothing read or written outside the matrices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/linalg.h"
#include "base/matmul.h"
#include "base/rng.h"
#include "base/vmath.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t dims[] = {1, 2, 3, 7, 8, 9, 16, 17, 24, 25, 31, 48, 49, 64, 72, 73, 97, 128, 129, 150};
enum { DIMS = sizeof dims / sizeof *dims };

/* n random numbers in a block of just that size, so that sanitizers see every read past its end. */
static double *random_doubles(uint32_t chain, uint64_t iteration, size_t n)
{
    double *x = malloc(n * sizeof *x);
    assert_non_null(x);
    gess__normals((gess__key){.seed = 77, .iteration = iteration, .chain = chain, .purpose = GESS__FOR_TEST}, n, x);
    return x;
}

static double *copy_of(const double *x, size_t n)
{
    double *y = malloc(n * sizeof *y);
    assert_non_null(y);
    return memcpy(y, x, n * sizeof *y);
}

/* What the header promises, term by term. */
static double promised(const gess__matmul_job *job, size_t i, size_t j, double c)
{
    for (size_t start = 0; start < job->terms; start += GESS__MATMUL_RUN) {
        double sum = 0.0;
        for (size_t k = start; k < job->terms && k < start + GESS__MATMUL_RUN; k++)
            sum = fma(job->a.numbers[i * job->a.apart + k * job->a.step],
                      job->b.numbers[j * job->b.apart + k * job->b.step], sum);
        c = job->subtract ? c - sum : c + sum;
    }
    return c;
}

/* Compares a job at every vector width with the promise, bit for bit; what it must not touch is untouched. */
static void check_job(gess__matmul_job job)
{
    size_t size = job.stride * job.columns;
    double *before = random_doubles(9, size, size);
    for (gess__vectors with = GESS__NO_VECTORS; with <= gess__machine_vectors; with++) {
        job.c = copy_of(before, size);
        gess__matmul_with(with, &job);
        for (size_t j = 0; j < job.columns; j++)
            for (size_t i = 0; i < job.stride; i++) {
                size_t at = i + j * job.stride;
                int mine = i < job.rows && (!job.lower || i >= j);
                double right = mine ? promised(&job, i, j, before[at]) : before[at];
                if (gess__bits(job.c[at]) != gess__bits(right))
                    fail_msg("%zu x %zu x %zu, vectors %d: element (%zu, %zu) is %a, not %a", job.rows, job.columns,
                             job.terms, (int)with, i, j, job.c[at], right);
            }
        free(job.c);
    }
    free(before);
}

static void products_are_as_promised(void **state)
{
    (void)state;
    static const size_t terms[] = {1, 5, GESS__MATMUL_RUN, GESS__MATMUL_RUN + 1, 200};
    for (size_t d = 0; d < DIMS; d++)
        for (size_t t = 0; t < sizeof terms / sizeof *terms; t++) {
            size_t n = dims[d], k = terms[t], m = dims[(d * 7 + t) % DIMS];
            double *a = random_doubles(1, n * k, n * k), *b = random_doubles(2, m * k, m * k);
            gess__matmul_job job = {.rows = n, .columns = m, .terms = k, .stride = n + t, .subtract = (int)(t % 2)};
            for (int layout = 0; layout < 4; layout++) {
                job.a = layout & 1 ? (gess__matrix_rows){a, 1, n} : (gess__matrix_rows){a, k, 1};
                job.b = layout & 2 ? (gess__matrix_rows){b, 1, m} : (gess__matrix_rows){b, k, 1};
                check_job(job);
            }
            job.columns = n;
            job.lower = 1;
            job.b = job.a = (gess__matrix_rows){a, 1, n};
            check_job(job);
            job.b = job.a = (gess__matrix_rows){a, k, 1};
            check_job(job);
            free(a);
            free(b);
        }
}

/* Σ of random points: positive definite. */
static double *covariance(size_t n)
{
    size_t points = 2 * n + 3;
    double *x = random_doubles(3, n, n * points), *c = random_doubles(4, n, n * n);
    gess__self_product(n, points, 1.0 / (double)points, x, c);
    free(x);
    return c;
}

static void a_factor_gives_its_matrix_back(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        size_t n = dims[d];
        double *a = covariance(n), *l = copy_of(a, n * n);
        for (size_t k = 1; k < n; k++)
            for (size_t i = 0; i < k; i++) l[i + k * n] = NAN; /* never read */
        assert_true(gess__cholesky(n, l));
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < n; i++) {
                double sum = 0.0, size = 0.0;
                for (size_t j = 0; j <= (i < k ? i : k); j++) {
                    sum += l[i + j * n] * l[k + j * n];
                    size += fabs(l[i + j * n] * l[k + j * n]);
                }
                if (i >= k) assert_true(fabs(sum - a[i + k * n]) <= 4.0 * (double)n * DBL_EPSILON * size);
                if (i < k) assert_true(l[i + k * n] == 0.0);
            }
        free(a);
        free(l);
    }
}

static void an_indefinite_matrix_has_no_factor(void **state)
{
    (void)state;
    static const double bad[] = {0.0, -1.0, -1e300, NAN, -INFINITY};
    for (size_t d = 0; d < DIMS; d++)
        for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
            for (int last = 0; last < 2; last++) {
                size_t n = dims[d], at = last ? n - 1 : n / 2;
                double *a = covariance(n);
                a[at + at * n] = bad[b];
                assert_false(gess__cholesky(n, a));
                free(a);
            }
}

/* L x = b to rounding, and the same bits whatever columns come with it. */
static void solves_are_right_column_by_column(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        size_t n = dims[d], columns = 19;
        double *l = covariance(n), *b = random_doubles(5, n, n * columns), *x = copy_of(b, n * columns);
        assert_true(gess__cholesky(n, l));
        gess__solve_lower(n, l, columns, x);
        for (size_t j = 0; j < columns; j++) {
            double *alone = copy_of(b + j * n, n);
            gess__solve_lower(n, l, 1, alone);
            assert_memory_equal(alone, x + j * n, n * sizeof *alone);
            free(alone);
            for (size_t i = 0; i < n; i++) {
                double sum = 0.0, size = 0.0;
                for (size_t k = 0; k <= i; k++) {
                    sum += l[i + k * n] * x[k + j * n];
                    size += fabs(l[i + k * n] * x[k + j * n]);
                }
                assert_true(fabs(sum - b[i + j * n]) <= 4.0 * (double)n * DBL_EPSILON * size);
            }
        }
        free(l);
        free(b);
        free(x);
    }
}

static void products_of_one_column_are_right(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        size_t n = dims[d], m = dims[DIMS - 1 - d], columns = 3;
        double *a = random_doubles(6, n, n * m), *b = random_doubles(7, n, n * columns);
        double *many = random_doubles(8, n, m * columns), *one = random_doubles(9, n, m);
        for (int transpose = 0; transpose < 2; transpose++) {
            gess__product(transpose != 0, m, columns, n, a, b, many);
            gess__product(transpose != 0, m, 1, n, a, b, one);
            for (size_t i = 0; i < m; i++) {
                double sum = 0.0, size = 0.0;
                for (size_t k = 0; k < n; k++) {
                    double term = a[transpose ? k + i * n : i + k * m] * b[k];
                    sum += term;
                    size += fabs(term);
                }
                assert_true(fabs(one[i] - sum) <= (double)n * DBL_EPSILON * size);
                assert_true(fabs(many[i] - sum) <= (double)n * DBL_EPSILON * size);
                if (!transpose) assert_true(one[i] == many[i]);
            }
        }
        free(a);
        free(b);
        free(many);
        free(one);
    }
}

/* The largest |A v − λ v| and |VᵀV − I|, in units of n ε times the largest |λ| and of n ε. */
static void check_eigen(size_t n, const double *a, const char *what)
{
    double *v = copy_of(a, n * n), *values = malloc(n * sizeof *values);
    double *work = malloc(gess__eigen_work(n) * sizeof *work), residual = 0.0, loss = 0.0;
    for (size_t k = 1; k < n; k++)
        for (size_t i = 0; i < k; i++) v[i + k * n] = NAN; /* never read */
    assert_true(gess__symmetric_eigen(n, v, values, work));
    double norm = fmax(fabs(values[0]), fabs(values[n - 1]));
    for (size_t k = 0; k < n; k++) {
        if (k > 0) assert_true(values[k - 1] <= values[k]);
        for (size_t i = 0; i < n; i++) {
            double sum = -values[k] * v[i + k * n], dot = i == k ? -1.0 : 0.0;
            for (size_t j = 0; j < n; j++) {
                sum += a[i >= j ? i + j * n : j + i * n] * v[j + k * n];
                dot += v[j + i * n] * v[j + k * n];
            }
            residual = fmax(residual, fabs(sum));
            loss = fmax(loss, fabs(dot));
        }
    }
    if (!(residual <= 4.0 * (double)(n + 4) * DBL_EPSILON * norm) || !(loss <= 4.0 * (double)(n + 4) * DBL_EPSILON))
        fail_msg("%s, n = %zu: residual %g of norm %g, orthogonality %g", what, n, residual, norm, loss);
    free(v);
    free(values);
    free(work);
}

static void eigenvalues_and_vectors_are_right(void **state)
{
    (void)state;
    for (size_t d = 0; d < DIMS; d++) {
        size_t n = dims[d];
        double *a = covariance(n), *b = random_doubles(10, n, n * n);
        check_eigen(n, a, "covariance");
        check_eigen(n, b, "indefinite");
        for (size_t i = 0; i < n * n; i++) b[i] = a[i] * 0x1p-1000;
        check_eigen(n, b, "tiny");
        for (size_t i = 0; i < n * n; i++) b[i] = a[i] * 0x1p1000;
        check_eigen(n, b, "huge");
        for (int falling = 0; falling < 2; falling++) { /* graded over many orders of magnitude, from either end */
            for (size_t k = 0; k < n; k++)
                for (size_t i = k; i < n; i++) {
                    double place = (double)(i + k) / (double)(2 * n);
                    b[i + k * n] = a[i + k * n] * exp(-40.0 * (falling ? place : 1.0 - place));
                }
            check_eigen(n, b, "graded");
        }
        for (size_t k = 0; k < n; k++)
            for (size_t i = k; i < n; i++) b[i + k * n] = i == k ? 3.0 : 0.0;
        check_eigen(n, b, "multiple of the identity");
        for (size_t i = 0; i < n * n; i++) b[i] = 1.0;
        check_eigen(n, b, "rank one");
        for (size_t k = 0; k < n; k++) /* couplings whose squares underflow */
            for (size_t i = k; i < n; i++) b[i + k * n] = i == k ? (double)(i % 3) : 1e-161 * a[i + k * n];
        check_eigen(n, b, "nearly diagonal");
        memset(b, 0, n * n * sizeof *b);
        check_eigen(n, b, "zero");
        free(a);
        free(b);
    }
}

static void eigenvalues_of_what_is_not_finite_are_refused(void **state)
{
    (void)state;
    double a[4] = {1.0, NAN, 0.0, 1.0}, values[2], *work = malloc(gess__eigen_work(2) * sizeof *work);
    assert_false(gess__symmetric_eigen(2, a, values, work));
    a[0] = INFINITY;
    a[1] = 0.0;
    assert_false(gess__symmetric_eigen(2, a, values, work));
    free(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_as_promised),
        cmocka_unit_test(a_factor_gives_its_matrix_back),
        cmocka_unit_test(an_indefinite_matrix_has_no_factor),
        cmocka_unit_test(solves_are_right_column_by_column),
        cmocka_unit_test(products_of_one_column_are_right),
        cmocka_unit_test(eigenvalues_and_vectors_are_right),
        cmocka_unit_test(eigenvalues_of_what_is_not_finite_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
