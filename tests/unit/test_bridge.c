/* The bridge estimator and Pareto-smoothed importance sampling, against integrals and tail indices that are known. */
#include "approx/bridge.h"
#include "base/rng.h"
#include "diagnose/pareto.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N1 = 20000, N2 = 10000 };

static double normal_of(uint32_t stream, size_t i)
{
    double z;
    gess__key key = {.seed = 4, .iteration = i, .chain = stream, .purpose = GESS__FOR_TEST};
    gess__normals(key, 1, &z);
    return z;
}

/* Levels of π = e^7 N(0, 1), unnormalised, against t = N(0.5, 1.3²). */
static double *gaussian_levels(void)
{
    double *level = malloc((N1 + N2) * sizeof *level);
    assert_non_null(level);
    for (size_t i = 0; i < N1 + N2; i++) {
        double x = i < N1 ? normal_of(1, i) : 0.5 + 1.3 * normal_of(2, i), z = (x - 0.5) / 1.3;
        level[i] = 7.0 - 0.5 * x * x + 0.5 * z * z + log(1.3);
    }
    return level;
}

static void test_known_integral(void **state)
{
    (void)state;
    double *level = gaussian_levels(), error;
    const gess__bridge b = {.n1 = N1, .n2 = N2, .level = level, .share = 2.0 / 3.0, .max_iterations = 500};
    double log_z = gess__bridge_solve(&b, &error);
    assert_true(error > 0.0 && error < 0.01);
    assert_true(fabs(log_z - 7.0) < 0.02);
    /* with a share that is not optimal the estimate is still right */
    const gess__bridge poor = {.n1 = N1, .n2 = N2, .level = level, .share = 0.05, .max_iterations = 500};
    assert_true(fabs(gess__bridge_solve(&poor, &error) - 7.0) < 0.03);
    /* far levels neither overflow nor lose digits */
    for (size_t i = 0; i < N1 + N2; i++) level[i] += 1e4;
    assert_true(fabs(gess__bridge_solve(&b, &error) - 10000.0 - log_z) < 1e-6);
    free(level);
}

/* At the solution both means of the terms are equal: that is the equation. */
static void test_terms(void **state)
{
    (void)state;
    double *level = gaussian_levels(), *terms = malloc((N1 + N2) * sizeof *terms), error, first = 0.0, second = 0.0;
    assert_non_null(terms);
    const gess__bridge b = {.n1 = N1, .n2 = N2, .level = level, .share = 0.4, .max_iterations = 2000};
    double log_z = gess__bridge_solve(&b, &error);
    gess__bridge_terms(&b, log_z, terms);
    for (size_t i = 0; i < N1; i++) first += terms[i] / N1;
    for (size_t i = N1; i < N1 + N2; i++) second += terms[i] / N2;
    assert_true(fabs(first / second - 1.0) < 1e-6);
    free(terms);
    free(level);
}

static void test_empty(void **state)
{
    (void)state;
    double level[12], error;
    for (size_t i = 0; i < 12; i++) level[i] = -INFINITY;
    const gess__bridge b = {.n1 = 0, .n2 = 12, .level = level, .share = 0.0, .max_iterations = 10};
    assert_true(gess__bridge_solve(&b, &error) == -INFINITY && error == INFINITY);
    level[3] = 2.0; /* one draw of twelve: importance sampling */
    assert_true(fabs(gess__bridge_solve(&b, &error) - (2.0 - log(12.0))) < 1e-12);
}

/* Weights u^(−k) have the tail index k. */
static void test_k(void **state)
{
    (void)state;
    static double logs[N2];
    static const double shapes[] = {0.1, 0.5, 0.9};
    for (size_t s = 0; s < 3; s++) {
        for (size_t i = 0; i < N2; i++) {
            gess__key key = {.seed = 9, .iteration = i, .chain = (uint32_t)s, .purpose = GESS__FOR_TEST};
            logs[i] = -shapes[s] * log(gess__uniform(key, 0)) + 300.0;
        }
        gess__smoothed w = gess__pareto_smooth(N2, logs);
        assert_true(fabs(w.k - shapes[s]) < 0.2);
        if (shapes[s] < 0.4) assert_true(fabs(w.log_mean - 300.0 + log(1.0 - shapes[s])) < 5.0 * w.error + 1e-3);
    }
}

static void test_weights_at_the_edge(void **state)
{
    (void)state;
    static double logs[1000];
    for (size_t i = 0; i < 1000; i++) logs[i] = -3.0; /* T is the density */
    gess__smoothed w = gess__pareto_smooth(1000, logs);
    assert_true(w.k == -INFINITY && fabs(w.log_mean + 3.0) < 1e-12 && w.error < 1e-6);
    for (size_t i = 0; i < 1000; i++) logs[i] = i % 100 == 0 ? 1.0 : -INFINITY; /* T hardly meets it */
    w = gess__pareto_smooth(1000, logs);
    assert_true(w.k == INFINITY && fabs(w.log_mean - 1.0 - log(0.01)) < 1e-12);
    for (size_t i = 0; i < 1000; i++) logs[i] = -INFINITY;
    w = gess__pareto_smooth(1000, logs);
    assert_true(w.log_mean == -INFINITY && w.error == INFINITY && isnan(w.k));
    assert_true(fabs(gess__pareto_max_k(100) - 0.5) < 1e-12 && gess__pareto_max_k(1000000) == 0.7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_known_integral), cmocka_unit_test(test_terms),
                                       cmocka_unit_test(test_empty), cmocka_unit_test(test_k),
                                       cmocka_unit_test(test_weights_at_the_edge)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
