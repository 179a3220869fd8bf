/* The linear algebra of fits beside LAPACK and OpenBLAS: backward errors of both, from 1 to 500 dimensions, or up to
 * 2,000 with the argument `large`, on well and badly conditioned matrices. Skipped where OpenBLAS is not installed.
 *
 * A backward error is the size of what is left when the result is put back, |(A − L Lᵀ) x| for example, relative to the
 * size of A and x, for random vectors x, computed in long double. It is a few times the unit roundoff for any good
 * algorithm; gess's may be at most three times LAPACK's, or MAX_UNITS roundoffs where both are that good. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/linalg.h"
#include "base/rng.h"
#include "bench/openblas.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTORS = 3, COLUMNS = 11, MAX_UNITS = 4 };

static const size_t small[] = {1, 2, 3, 5, 10, 25, 50, 100, 250, 500}, large[] = {1000, 2000};
static const size_t *dims = small;
static size_t dim_count = sizeof small / sizeof *small;

typedef struct errors {
    double ours, reference;
} errors;

static double *numbers(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static double *random_doubles(uint32_t chain, uint64_t iteration, size_t n)
{
    double *x = numbers(n);
    gess__normals((gess__key){.seed = 78, .iteration = iteration, .chain = chain, .purpose = GESS__FOR_TEST}, n, x);
    return x;
}

/* Prints both and compares them. */
static void judge(const char *what, const char *kind, size_t n, errors e)
{
    double unit = 0.5 * DBL_EPSILON;
    print_message("%-22s %-6s %5zu   gess %8.3f   LAPACK %8.3f   roundoffs\n", what, kind, n, e.ours / unit,
                  e.reference / unit);
    if (!(e.ours <= fmax(3.0 * e.reference, MAX_UNITS * unit)))
        fail_msg("%s, %s, n = %zu: %g, LAPACK has %g", what, kind, n, e.ours, e.reference);
}

/* Points whose covariance is far from singular ("good"), or has narrow directions and units from 1e-6 to 1e6 ("bad").
 */
static double *points(size_t n, size_t count, int bad)
{
    double *x = random_doubles(1, n, n * count);
    for (size_t k = 0; bad && k < count; k++)
        for (size_t i = 0; i < n; i++) {
            double *at = x + k * n + i;
            if (i % 8 != 0) *at = at[-1] / exp(1.7 * (double)((i - 1) % 7) - 5.1) + 1e-3 * *at;
            *at *= exp(1.7 * (double)(i % 7) - 5.1);
        }
    return x;
}

static double norm_of(size_t n, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* |L Lᵀ x − A x| / |A| |x|; A symmetric, in the lower triangle of `a`. */
static double factor_error(size_t n, const double *a, const double *l)
{
    double worst = 0.0, size = 0.0;
    long double *inner = calloc(n, sizeof *inner);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) size += a[i >= k ? i + k * n : k + i * n] * a[i >= k ? i + k * n : k + i * n];
    for (uint32_t v = 0; v < VECTORS; v++) {
        double *x = random_doubles(20 + v, n, n), sum = 0.0;
        for (size_t k = 0; k < n; k++) {
            inner[k] = 0.0L;
            for (size_t i = k; i < n; i++) inner[k] += (long double)l[i + k * n] * x[i];
        }
        for (size_t i = 0; i < n; i++) {
            long double rest = 0.0L;
            for (size_t k = 0; k <= i; k++) rest += l[i + k * n] * inner[k];
            for (size_t k = 0; k < n; k++) rest -= (long double)a[i >= k ? i + k * n : k + i * n] * x[k];
            sum += (double)(rest * rest);
        }
        worst = fmax(worst, sqrt(sum) / (sqrt(size) * norm_of(n, x)));
        free(x);
    }
    free(inner);
    return worst;
}

/* The largest over columns of |L x − b| / |L| |x|. */
static double solve_error(size_t n, const double *l, const double *b, const double *x)
{
    double worst = 0.0, size = 0.0;
    for (size_t k = 0; k < n; k++) size += pow(norm_of(n - k, l + k + k * n), 2.0);
    for (size_t j = 0; j < COLUMNS; j++) {
        double sum = 0.0;
        for (size_t i = 0; i < n; i++) {
            long double rest = -(long double)b[i + j * n];
            for (size_t k = 0; k <= i; k++) rest += (long double)l[i + k * n] * x[k + j * n];
            sum += (double)(rest * rest);
        }
        worst = fmax(worst, sqrt(sum) / (sqrt(size) * norm_of(n, x + j * n)));
    }
    return worst;
}

/* The largest |c − c exact| over Σ |terms|, over some elements. */
static double product_error(size_t n, size_t count, const double *x, const double *c)
{
    double worst = 0.0;
    for (size_t pick = 0; pick < 200; pick++) {
        size_t i = pick * 7919 % n, k = pick * 104729 % (i + 1);
        long double sum = 0.0L, size = 0.0L;
        for (size_t p = 0; p < count; p++) {
            long double term = (long double)x[i + p * n] * x[k + p * n];
            sum += term;
            size += fabsl(term);
        }
        worst = fmax(worst, (double)(fabsl(c[i + k * n] - sum) / size));
    }
    return worst;
}

/* The largest |c − c exact| over Σ |terms|, over some elements of c = A B, or Aᵀ B; c is n × COLUMNS, A n × n. */
static double general_error(size_t n, int transpose, const double *a, const double *b, const double *c)
{
    double worst = 0.0;
    for (size_t pick = 0; pick < 200; pick++) {
        size_t i = pick * 7919 % n, k = pick % COLUMNS;
        long double sum = 0.0L, size = 0.0L;
        for (size_t p = 0; p < n; p++) {
            long double term = (long double)(transpose ? a[p + i * n] : a[i + p * n]) * b[p + k * n];
            sum += term;
            size += fabsl(term);
        }
        worst = fmax(worst, (double)(fabsl(c[i + k * n] - sum) / size));
    }
    return worst;
}

static void check_products(size_t n, int bad)
{
    const char *kind = bad ? "bad" : "good";
    double *a = points(n, n, bad), *b = points(n, COLUMNS, bad), *ours = numbers(n * n),
           *theirs = numbers(n * n + n * COLUMNS);
    double *mine = numbers(n * COLUMNS), *transposed = numbers(n * n);
    for (int t = 0; t < 2; t++) {
        gess__product(t, n, COLUMNS, n, a, b, mine);
        gess__openblas_product(t, n, COLUMNS, n, a, b, theirs);
        judge(t ? "product AᵀB" : "product AB", kind, n,
              (errors){general_error(n, t, a, b, mine), general_error(n, t, a, b, theirs)});
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++) transposed[k + i * n] = a[i + k * n];
    gess__gram(n, n, 1.0, a, ours); /* AᵀA */
    gess__openblas_self_product(n, n, 1.0, transposed, theirs);
    judge("product AᵀA", kind, n,
          (errors){product_error(n, n, transposed, ours), product_error(n, n, transposed, theirs)});
    free(a);
    free(b);
    free(ours);
    free(theirs);
    free(mine);
    free(transposed);
}

static void check_factors(size_t n, int bad)
{
    size_t count = 2 * n + 20;
    const char *kind = bad ? "bad" : "good";
    double *x = points(n, count, bad), *a = numbers(n * n), *ours = numbers(n * n), *theirs = numbers(n * n);
    gess__self_product(n, count, 1.0, x, ours);
    gess__openblas_self_product(n, count, 1.0, x, theirs);
    judge("symmetric product", kind, n, (errors){product_error(n, count, x, ours), product_error(n, count, x, theirs)});
    memcpy(a, ours, n * n * sizeof *a);
    memcpy(theirs, a, n * n * sizeof *a);
    assert_true(gess__cholesky(n, ours));
    assert_true(gess__openblas_cholesky(n, theirs));
    judge("Cholesky", kind, n, (errors){factor_error(n, a, ours), factor_error(n, a, theirs)});
    double *b = random_doubles(3, n, n * COLUMNS), *y = numbers(n * COLUMNS), *z = numbers(n * COLUMNS);
    memcpy(y, b, n * COLUMNS * sizeof *b);
    memcpy(z, b, n * COLUMNS * sizeof *b);
    gess__solve_lower(n, ours, COLUMNS, y);
    gess__openblas_solve_lower(n, ours, COLUMNS, z);
    judge("triangular solve", kind, n, (errors){solve_error(n, ours, b, y), solve_error(n, ours, b, z)});
    free(x);
    free(a);
    free(ours);
    free(theirs);
    free(b);
    free(y);
    free(z);
}

/* |V Λ Vᵀ x − A x| / |A| |x|, and |VᵀV x − x| / |x|. */
static void eigen_errors(size_t n, const double *a, const double *v, const double *values, double *residual,
                         double *loss)
{
    double largest = fmax(fabs(values[0]), fabs(values[n - 1]));
    long double *inner = calloc(n, sizeof *inner), *outer = calloc(n, sizeof *outer);
    *residual = *loss = 0.0;
    for (uint32_t p = 0; p < VECTORS; p++) {
        double *x = random_doubles(30 + p, n, n), rest = 0.0, away = 0.0;
        for (size_t i = 0; i < n; i++) outer[i] = 0.0L;
        for (size_t k = 0; k < n; k++) {
            inner[k] = 0.0L;
            for (size_t i = 0; i < n; i++) inner[k] += (long double)v[i + k * n] * x[i];
            for (size_t i = 0; i < n; i++) outer[i] += v[i + k * n] * inner[k] * values[k];
        }
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k < n; k++) outer[i] -= (long double)a[i >= k ? i + k * n : k + i * n] * x[k];
            rest += (double)(outer[i] * outer[i]);
            outer[i] = 0.0L;
        }
        for (size_t k = 0; k < n; k++) /* V x, then Vᵀ of it */
            for (size_t i = 0; i < n; i++) outer[i] += (long double)v[i + k * n] * x[k];
        for (size_t k = 0; k < n; k++) {
            long double back = -(long double)x[k];
            for (size_t i = 0; i < n; i++) back += v[i + k * n] * outer[i];
            away += (double)(back * back);
        }
        *residual = fmax(*residual, sqrt(rest) / (largest * norm_of(n, x)));
        *loss = fmax(*loss, sqrt(away) / norm_of(n, x));
        free(x);
    }
    free(inner);
    free(outer);
}

static void check_eigen(size_t n, int bad)
{
    size_t count = 2 * n + 20, work_size = gess__eigen_work(n) > 64 * n + 64 ? gess__eigen_work(n) : 64 * n + 64;
    const char *kind = bad ? "bad" : "good";
    double *x = points(n, count, bad), *a = numbers(n * n), *ours = numbers(n * n), *theirs = numbers(n * n);
    double *work = numbers(work_size), *mine = numbers(n), *values = numbers(n), far = 0.0;
    errors residual, loss;
    gess__self_product(n, count, 1.0 / (double)count, x, a);
    for (size_t k = 0; !bad && k < n; k++) /* not definite */
        for (size_t i = k; i < n; i++) a[i + k * n] -= i == k ? 1.0 : 0.0;
    memcpy(ours, a, n * n * sizeof *a);
    memcpy(theirs, a, n * n * sizeof *a);
    assert_true(gess__symmetric_eigen(n, ours, mine, work));
    assert_true(gess__openblas_symmetric_eigen(n, theirs, values, work));
    eigen_errors(n, a, ours, mine, &residual.ours, &loss.ours);
    eigen_errors(n, a, theirs, values, &residual.reference, &loss.reference);
    judge("eigenvectors' residual", kind, n, residual);
    judge("their orthogonality", kind, n, loss);
    double largest = fmax(fabs(values[0]), fabs(values[n - 1]));
    if (bad) {
        print_message("%-22s %-6s %5zu   %.1e\n", "condition number", kind, n, largest / fabs(values[0]));
        assert_true(n < 10 || largest > 1e12 * fabs(values[0]));
    }
    for (size_t i = 0; i < n; i++) far = fmax(far, fabs(mine[i] - values[i]) / largest);
    assert_true(far <= 2.0 * (double)(n + 10) * DBL_EPSILON);
    free(x);
    free(a);
    free(ours);
    free(theirs);
    free(work);
    free(mine);
    free(values);
}

static void errors_are_those_of_lapack(void **state)
{
    (void)state;
    if (!gess__openblas()) {
        print_message("libopenblas.so.0 is not installed\n");
        skip();
    }
    for (size_t d = 0; d < dim_count; d++)
        for (int bad = 0; bad < 2; bad++) {
            check_products(dims[d], bad);
            check_factors(dims[d], bad);
            check_eigen(dims[d], bad);
        }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "large") == 0) {
        dims = large;
        dim_count = sizeof large / sizeof *large;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(errors_are_those_of_lapack)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
