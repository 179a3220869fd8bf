/* The fit of a warm-up window against the same steps written out: halves of unequal size, the choice of
 * the shrinkage, the score, the gap and the gain. */
#include "approx/fit.h"
#include "base/linalg.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 4, MAX_POINTS = 4000 };

static gess__approx *make(void)
{
    gess_error err = {0};
    gess__approx *t = NULL;
    assert_int_equal(gess__approx_new(&t, DIM, &err), GESS_OK);
    return t;
}

/* Correlated normals, point by point; `shift` moves them. */
static void draw(uint32_t stream, size_t count, double correlation, double shift, double *points)
{
    for (size_t k = 0; k < count; k++) {
        double n[DIM + 1];
        gess__key key = {.seed = 12, .iteration = k, .chain = stream, .purpose = GESS__FOR_TEST};
        gess__normals(key, DIM + 1, n);
        for (size_t i = 0; i < DIM; i++)
            points[k * DIM + i] = shift + sqrt(1.0 - correlation) * n[i] + sqrt(correlation) * n[DIM];
    }
}

/* (1 − λ) Σ + λ diag Σ, by the definition. */
static void shrink(const gess__approx *from, double lambda, gess__approx *to)
{
    for (size_t i = 0; i < DIM; i++)
        for (size_t k = 0; k < DIM; k++) {
            double sum = 0.0;
            for (size_t j = 0; j < DIM; j++) sum += from->chol[i + j * DIM] * from->chol[k + j * DIM];
            to->chol[i + k * DIM] = i == k ? sum : (1.0 - lambda) * sum;
        }
    to->nu = from->nu;
    memcpy(to->mu, from->mu, DIM * sizeof *to->mu);
    assert_true(gess__cholesky(DIM, to->chol));
    gess__approx_ready(to);
}

static double mean_log_t(gess__fitter *f, size_t count, const double *points, const gess__approx *t)
{
    return gess__fit_log_likelihood(f, count, points, t);
}

static const double lambdas[] = {0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0};

static void check(size_t half, size_t half_new, size_t rest, size_t rest_new, double correlation, double *chosen)
{
    static double points[MAX_POINTS * DIM];
    gess_error err = {0};
    gess__fitter *f = NULL;
    assert_int_equal(gess__fitter_new_pooled(&f, DIM, half + rest, NULL, &err), GESS_OK);
    draw(1, half, correlation, 0.3, points);
    draw(2, rest, correlation, 0.3, points + half * DIM);
    gess__approx *t = make(), *spare = make(), *a = make(), *b = make(), *all = make(), *trial = make(), *old = make();
    old->mu[1] = 0.2; /* what was used before */
    gess__approx_copy(t, old);
    gess__pool pool = {half, half_new, rest, rest_new, points};
    gess__pool_report report = {0};
    gess__fit_pooled(f, &pool, NULL, t, spare, &report);

    gess__fit_settings settings = {.tolerance = 1e-4, .max_iterations = 30, .warm = 1};
    gess__fit_report unused;
    const double *second = points + half * DIM;
    gess__approx_copy(a, old);
    gess__fit_student_t(f, DIM, half, points, settings, a, &unused);
    gess__approx_copy(b, old);
    gess__fit_student_t(f, DIM, rest, second, settings, b, &unused);
    gess__approx_copy(all, old);
    gess__fit_student_t(f, DIM, half + rest, points, settings, all, &unused);
    size_t best = 0;
    double scores[7] = {0}, gaps[7] = {0}, count = (double)(half + rest);
    for (size_t i = 0; i < 7; i++) {
        shrink(a, lambdas[i], trial);
        double own = mean_log_t(f, half, points, trial);
        scores[i] = mean_log_t(f, rest, second, trial);
        shrink(b, lambdas[i], trial);
        own += mean_log_t(f, rest, second, trial);
        scores[i] += mean_log_t(f, half, points, trial);
        gaps[i] = (own - scores[i]) / count;
        scores[i] /= count;
        if (scores[i] > scores[best]) best = i;
        if (i > best) break; /* the first fall ends the search */
    }
    double before = mean_log_t(f, half_new, points + (half - half_new) * DIM, old) +
                    mean_log_t(f, rest_new, second + (rest - rest_new) * DIM, old);
    shrink(a, lambdas[best], trial);
    double after = mean_log_t(f, rest_new, second + (rest - rest_new) * DIM, trial);
    shrink(b, lambdas[best], trial);
    after += mean_log_t(f, half_new, points + (half - half_new) * DIM, trial);

    assert_true(report.shrinkage == lambdas[best]);
    assert_true(fabs(report.score - scores[best]) < 1e-9);
    assert_true(fabs(report.gap - gaps[best]) < 1e-9);
    assert_true(fabs(report.gain - (after - before) / (double)(half_new + rest_new)) < 1e-9);
    shrink(all, lambdas[best], trial);
    for (size_t i = 0; i < DIM; i++) {
        assert_true(fabs(t->mu[i] - trial->mu[i]) < 1e-12);
        for (size_t k = 0; k <= i; k++) assert_true(fabs(t->chol[i + k * DIM] - trial->chol[i + k * DIM]) < 1e-9);
    }
    assert_true(t->nu == trial->nu || fabs(t->nu / trial->nu - 1.0) < 1e-9);
    *chosen = report.shrinkage;
    gess__approx *const every[] = {t, spare, a, b, all, trial, old};
    for (size_t i = 0; i < 7; i++) gess__approx_free(every[i]);
    gess__fitter_free(f);
}

static void many_draws(void **state)
{
    (void)state;
    double chosen;
    check(1200, 300, 900, 250, 0.8, &chosen);
    assert_true(chosen <= 0.003); /* strong correlations and many draws: nothing to shrink */
    check(1000, 1000, 1500, 1500, 0.0, &chosen);
}

static void few_draws(void **state)
{
    (void)state;
    double chosen;
    check(9, 4, 12, 5, 0.0, &chosen);
    assert_true(chosen >= 0.3); /* no correlations and hardly more draws than dimensions */
    check(30, 10, 25, 9, 0.3, &chosen);
    assert_true(chosen > 0.0);
}

/* Σ in the coordinates in which `target` is the identity, off-diagonal entries times 1 - λ, and back. */
static void shrink_to_target(const gess__approx *from, const gess__approx *target, double lambda, gess__approx *to)
{
    double inner[DIM * DIM], outer[DIM * DIM];
    memcpy(inner, from->chol, sizeof inner);
    gess__solve_lower(DIM, target->chol, DIM, inner);
    for (size_t i = 0; i < DIM; i++)
        for (size_t k = 0; k < DIM; k++) {
            double sum = 0.0;
            for (size_t j = 0; j < DIM; j++) sum += inner[i + j * DIM] * inner[k + j * DIM];
            outer[i + k * DIM] = i == k ? sum : (1.0 - lambda) * sum;
        }
    for (size_t i = 0; i < DIM; i++)
        for (size_t k = 0; k < DIM; k++) {
            double sum = 0.0;
            for (size_t j = 0; j < DIM; j++)
                for (size_t l = 0; l < DIM; l++)
                    sum += target->chol[i + j * DIM] * outer[j + l * DIM] * target->chol[k + l * DIM];
            to->chol[i + k * DIM] = sum;
        }
    to->nu = from->nu;
    memcpy(to->mu, from->mu, DIM * sizeof *to->mu);
    assert_true(gess__cholesky(DIM, to->chol));
    gess__approx_ready(to);
}

/* Fits to few draws are shrunk towards a T of the right shape, with the smallest sufficient λ; fits to many draws are
 * not, and none is shrunk towards a T of the wrong shape. */
static void shrinkage_to_target(void **state)
{
    static const double shrinkages[] = {0.0, 0.03, 0.1, 0.3, 0.6, 0.9, 1.0};
    static double points[MAX_POINTS * DIM];
    (void)state;
    for (int which = 0; which < 3; which++) {
        size_t half = which == 1 ? 1200 : 14, count = 2 * half;
        gess_error err = {0};
        gess__fitter *f = NULL;
        assert_int_equal(gess__fitter_new_pooled(&f, DIM, count, NULL, &err), GESS_OK);
        draw(1, half, 0.8, 0.3, points);
        draw(2, half, 0.8, 0.3, points + half * DIM);
        gess__approx *t = make(), *spare = make(), *a = make(), *b = make(), *all = make(), *trial = make(),
                     *shape = make();
        gess__fit_settings settings = {.tolerance = 1e-4, .max_iterations = 30, .warm = 1};
        gess__fit_report unused;
        if (which < 2) { /* the right shape, and four times the width: widths come from the draws */
            static double more[MAX_POINTS * DIM];
            draw(3, MAX_POINTS, 0.8, 0.3, more);
            gess__fitter *large = NULL;
            assert_int_equal(gess__fitter_new_pooled(&large, DIM, MAX_POINTS, NULL, &err), GESS_OK);
            gess__fit_student_t(large, DIM, MAX_POINTS, more, settings, shape, &unused);
            gess__fitter_free(large);
            for (size_t i = 0; i < DIM * DIM; i++) shape->chol[i] *= 4.0;
        } else {
            for (size_t i = 1; i < DIM; i++) shape->chol[i] = i % 2 == 0 ? 3.0 : -3.0;
        }
        gess__approx_ready(shape);
        gess__fit_student_t(f, DIM, half, points, settings, a, &unused);
        gess__fit_student_t(f, DIM, half, points + half * DIM, settings, b, &unused);
        gess__fit_student_t(f, DIM, count, points, settings, all, &unused);
        double train[7], test[7], n = (double)count, allowed = 0.02 + 0.002 * DIM;
        size_t best = 0;
        for (size_t i = 0; i < 7; i++) {
            shrink_to_target(a, shape, shrinkages[i], trial);
            train[i] = mean_log_t(f, half, points, trial) / n;
            test[i] = mean_log_t(f, half, points + half * DIM, trial) / n;
            shrink_to_target(b, shape, shrinkages[i], trial);
            train[i] += mean_log_t(f, half, points + half * DIM, trial) / n;
            test[i] += mean_log_t(f, half, points, trial) / n;
            if (test[i] > test[best]) best = i;
            if (i > best) break;
        }
        double enough = test[best] - allowed;
        while (best > 0 && test[best - 1] > enough) best--;
        shrink_to_target(all, shape, shrinkages[best], trial);
        gess__pool pool = {half, half, half, half, points};
        gess__pool_report report = {0};
        gess__fit_pooled(f, &pool, shape, t, spare, &report);
        assert_int_equal(report.shrunk_to_target, which == 0);
        if (which == 0) {
            assert_true(report.shrinkage == shrinkages[best] && report.shrinkage > 0.0);
            assert_true(fabs(report.score - test[best]) < 1e-9);
            double gap = fmax(train[best] - test[best], train[0] + test[0] - 2.0 * test[best]);
            assert_true(fabs(report.gap - gap) < 1e-9);
            for (size_t i = 0; i < DIM; i++)
                for (size_t k = 0; k <= i; k++)
                    assert_true(fabs(t->chol[i + k * DIM] - trial->chol[i + k * DIM]) < 1e-9);
        }
        gess__approx *const every[] = {t, spare, a, b, all, trial, shape};
        for (size_t i = 0; i < 7; i++) gess__approx_free(every[i]);
        gess__fitter_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_draws), cmocka_unit_test(few_draws),
                                       cmocka_unit_test(shrinkage_to_target)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
