/* What kernels learn from a chain's history: running covariances, metrics, warm-up windows, step sizes. */
#include "kernel/running_cov.h"

#include "base/rng.h"
#include "kernel/nuts_metric.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 7, POINTS = 300, PACKED = DIM * (DIM + 1) / 2 };

static void draw(uint64_t number, double *x)
{
    gess__key key = {.seed = 4, .iteration = number, .purpose = GESS__FOR_TEST};
    gess__normals(key, DIM, x);
    for (size_t i = 1; i < DIM; i++) x[i] = 1e3 + 0.3 * x[i] + (double)i * x[i - 1];
}

/* Σ (x − mean)(x − mean)ᵀ of the first n points, in two passes. */
static void outer_products(size_t n, double *mean, double *m)
{
    double x[DIM];
    memset(mean, 0, DIM * sizeof *mean);
    memset(m, 0, (size_t)DIM * DIM * sizeof *m);
    for (size_t k = 0; k < n; k++) {
        draw(k, x);
        for (size_t i = 0; i < DIM; i++) mean[i] += x[i] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        draw(k, x);
        for (size_t i = 0; i < DIM; i++)
            for (size_t j = 0; j < DIM; j++) m[i * DIM + j] += (x[i] - mean[i]) * (x[j] - mean[j]);
    }
}

/* Column j of L Lᵀ: by Lᵀ and L, so that both are tested. */
static void column_of(const double *chol, size_t j, double *column)
{
    double unit[DIM] = {0}, across[DIM];
    unit[j] = 1.0;
    gess__packed_transposed(DIM, chol, unit, across);
    gess__packed_product(DIM, chol, across, column);
}

static void assert_near(double got, double wanted, double scale)
{
    if (fabs(got - wanted) > 1e-9 * scale) fail_msg("%.17g is not %.17g", got, wanted);
}

static void history_is_that_of_two_passes(void **state)
{
    (void)state;
    static const size_t counts[] = {1, 2, 5, 8, 20, POINTS};
    double x[DIM], mean[DIM], m[DIM * DIM], column[DIM], scratch[DIM];
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        double scatter[1 + DIM + PACKED] = {0};
        assert_int_equal(gess__running_cov_size(DIM), sizeof scatter / sizeof *scatter);
        for (size_t k = 0; k < counts[c]; k++) {
            draw(k, x);
            gess__running_cov_add(DIM, scatter, x, scratch);
        }
        outer_products(counts[c], mean, m);
        assert_true(gess__running_cov_count(scatter) == (double)counts[c]);
        for (size_t j = 0; j < DIM; j++) {
            column_of(gess__running_cov_chol(DIM, scatter), j, column);
            assert_near(scatter[1 + j], mean[j], 1e3);
            for (size_t i = 0; i < DIM; i++) assert_near(column[i], m[i * DIM + j], 1e3 * (double)counts[c]);
        }
    }
}

/* The same point again and again, as from a chain that rejects everything: no covariance, no NaN. */
static void a_chain_that_stays(void **state)
{
    (void)state;
    double scatter[1 + DIM + PACKED] = {0}, x[DIM], scratch[DIM];
    draw(0, x);
    for (size_t k = 0; k < 100; k++) gess__running_cov_add(DIM, scatter, x, scratch);
    for (size_t i = 0; i < PACKED; i++) assert_true(fabs(gess__running_cov_chol(DIM, scatter)[i]) < 1e-9);
}

/* Both metrics estimate the covariance, shrunk by 5 points of variance 0.001. */
static void metrics(void **state)
{
    (void)state;
    const gess__metric *const both[] = {&gess__metric_diagonal, &gess__metric_dense};
    double x[DIM], mean[DIM], m[DIM * DIM], scratch[DIM], weight = POINTS / (POINTS + 5.0) / (POINTS - 1.0);
    outer_products(POINTS, mean, m);
    for (size_t which = 0; which < 2; which++) {
        double window[1 + DIM + PACKED] = {0}, metric[PACKED], unit[DIM], across[DIM], column[DIM];
        assert_true(both[which]->size(DIM) <= PACKED && both[which]->window_size(DIM) <= 1 + DIM + PACKED);
        both[which]->reset(DIM, metric);
        for (size_t j = 0; j < DIM; j++) {
            draw(j, x);
            both[which]->product(DIM, metric, x, column);
            for (size_t i = 0; i < DIM; i++) assert_true(column[i] == x[i]);
        }
        for (size_t k = 0; k < POINTS; k++) {
            draw(k, x);
            both[which]->add(DIM, window, x, scratch);
        }
        assert_true(window[0] == (double)POINTS);
        both[which]->close(DIM, window, metric, scratch);
        for (size_t j = 0; j < DIM; j++) {
            memset(unit, 0, sizeof unit);
            unit[j] = 1.0;
            both[which]->transposed(DIM, metric, unit, across);
            both[which]->product(DIM, metric, across, column);
            for (size_t i = 0; i < DIM; i++) {
                double wanted = i == j ? weight * m[i * DIM + j] + 0.005 / (POINTS + 5.0) : weight * m[i * DIM + j];
                if (which == 1 || i == j) assert_near(column[i], wanted, 1e3);
            }
        }
    }
}

/* Stan's windows for 1000 iterations of warm-up: up to 100, 150, 250, 450, 950; for 100: one, from 15 to 90. */
static void windows(void **state)
{
    (void)state;
    static const uint64_t of_1000[] = {100, 150, 250, 450, 950};
    size_t found = 0;
    for (uint64_t i = 0; i < 1200; i++) {
        assert_int_equal(gess__window_holds(1000, i), i >= 75 && i < 950);
        if (!gess__window_ends(1000, i)) continue;
        assert_true(found < 5);
        assert_int_equal(i + 1, of_1000[found++]);
    }
    assert_int_equal(found, 5);
    for (uint64_t i = 0; i < 150; i++) {
        assert_int_equal(gess__window_holds(100, i), i >= 15 && i < 90);
        assert_int_equal(gess__window_ends(100, i), i == 89);
        assert_false(gess__window_holds(19, i));
        assert_false(gess__window_holds(0, i));
    }
    /* for any length every window ends, the last one with the last iteration that belongs to a window */
    for (uint64_t n = 20; n < 3000; n += 7) {
        uint64_t last = 0, held = 0;
        for (uint64_t i = 0; i < n; i++) {
            if (gess__window_holds(n, i)) held = i;
            if (gess__window_ends(n, i)) last = i;
        }
        assert_int_equal(last, held);
    }
}

/* If acceptance falls with the step, the average converges to the step with acceptance 0.8. */
static void steps(void **state)
{
    (void)state;
    gess__stepper s = {0};
    gess__stepper_start(&s, 16);
    assert_true(fabs(s.log_step + log(2.0)) < 1e-12);
    for (int k = 0; k < 2000; k++) gess__stepper_learn(&s, 16, 1.0 / (1.0 + exp(s.log_step + 3.0)));
    gess__stepper_end(&s);
    assert_true(fabs(1.0 / (1.0 + exp(s.log_step + 3.0)) - 0.8) < 0.02);
    gess__stepper before = s;
    gess__stepper_end(&s);
    assert_memory_equal(&before, &s, sizeof s);
}

static void learn(gess__stepper *s, int times)
{
    for (int k = 0; k < times; k++) gess__stepper_learn(s, 16, 1.0 / (1.0 + exp(s->log_step + 3.0)));
}

/* If adaptation ends soon after a window was closed, the step is that of the window before. */
static void steps_cut_off(void **state)
{
    (void)state;
    for (int more = 0; more < 30; more++) {
        gess__stepper s = {0};
        gess__stepper_start(&s, 16);
        learn(&s, 100);
        gess__stepper_restart(&s, 16);
        gess__stepper first = s;
        learn(&first, more);
        double average = first.log_average;
        gess__stepper_end(&first);
        if (more < 20)
            assert_true(first.log_step == fmin(average, -log(2.0))); /* there is no earlier step for the first metric */
        else
            assert_true(first.log_step == average);
        learn(&s, 50);
        double learned = s.log_average;
        gess__stepper_restart(&s, 16);
        learn(&s, more);
        average = s.log_average;
        gess__stepper_end(&s);
        assert_true(s.log_step == (more < 20 ? learned : average));
        gess__stepper before = s;
        gess__stepper_end(&s);
        assert_memory_equal(&before, &s, sizeof s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_is_that_of_two_passes),
        cmocka_unit_test(a_chain_that_stays),
        cmocka_unit_test(metrics),
        cmocka_unit_test(windows),
        cmocka_unit_test(steps),
        cmocka_unit_test(steps_cut_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
