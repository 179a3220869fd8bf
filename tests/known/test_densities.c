/* The built-in densities against values computed elsewhere, against closed forms and integrals, and
 * against themselves in other batches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/csv.h"
#include "base/rng.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WISHART_FILE "wishart:file=" GESS_SOURCE_DATA "/wishart50.csv"

/* Every model that the loops over models open: each built-in, and what its parameters change. */
static const char *const specifications[] = {"funnel",
                                             "funnel:dim=2",
                                             "mixture",
                                             "german-credit",
                                             "german-credit:centre=1",
                                             "wishart",
                                             "wishart:dim=1",
                                             "wishart:dim=13,seed=7",
                                             "wishart:dim=75",
                                             WISHART_FILE,
                                             "gaussian",
                                             "gaussian:dim=1",
                                             "gaussian:dim=37,cor=0.9",
                                             "gaussian:dim=4,cor=-0.3",
                                             "banana",
                                             "banana:dim=5,curvature=0.3",
                                             "student-t",
                                             "student-t:dim=11,nu=0.7"};
enum { SPECIFICATIONS = sizeof specifications / sizeof *specifications };

static const gess_model *open_model(const char *specification)
{
    gess_error err = {0};
    const gess_model *model;
    if (gess_model_open(&model, specification, &err) != GESS_OK) fail_msg("%s: %s", specification, err.text);
    return model;
}

static double *new_doubles(size_t count)
{
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static double logp_at(const gess_model *model, const double *x)
{
    double value = 0.0;
    assert_int_equal(model->logp(model->user, 0, 1, model->dim, x, &value), 0);
    return value;
}

static double gradient_at(const gess_model *model, const double *x, double *gradient)
{
    double value = 0.0;
    assert_int_equal(model->gradient(model->user, 0, 1, model->dim, x, &value, gradient), 0);
    return value;
}

static void assert_near(double value, double expected, double tolerance, const char *what)
{
    if (!(fabs(value - expected) <= tolerance * (1.0 + fabs(expected))))
        fail_msg("%s: %.17g, expected %.17g, difference %.2g", what, value, expected, value - expected);
}

static void random_points(size_t n, size_t dim, double scale, double *x)
{
    for (size_t j = 0; j < n; j++) {
        gess__key key = {.seed = 11, .iteration = 0, .chain = (uint32_t)j, .purpose = GESS__FOR_TEST};
        gess__normals(key, dim, x + j * dim);
        for (size_t i = 0; i < dim; i++) x[j * dim + i] *= scale;
    }
}

/* ---- values computed elsewhere ---- */

static void three_points(void **state)
{
    (void)state;
    static const struct {
        const char *specification;
        double value[3];
    } rows[] = {
        {"funnel", {-10.6867872689823, -11.9567837878367, -14.9948726107612}},
        {"mixture", {-11.7401979448671, -12.1460173233956, -12.6840580144467}},
        {"german-credit", {-892.215333450185, -945.810514586567, -1690.68775399283}},
        {WISHART_FILE, {19.3623558303254, -81.8971404739617, -441.33268606796}},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const gess_model *model = open_model(rows[r].specification);
        double x[3][64];
        for (size_t i = 0; i < model->dim; i++) {
            double d = (double)i;
            x[0][i] = 0.1 * sin(d + 1.0);
            x[1][i] = 0.5 * cos(d + 1.0);
            x[2][i] = sin(2.0 * d + 1.0);
        }
        for (size_t j = 0; j < 3; j++)
            assert_near(logp_at(model, x[j]), rows[r].value[j], 1e-12, rows[r].specification);
        gess_model_close(model);
    }
}

/* File: coordinates, log density, gradient (make_densities.py). The reference's own gradients are
 * sums of terms much larger than the result, so they are compared on the scale of the largest. */
static void check_file(const char *specification, const char *file)
{
    gess_error err = {0};
    gess__table table;
    char path[4096], what[160];
    snprintf(path, sizeof path, "%s/known/%s", GESS_TESTS, file);
    if (gess__table_read(&table, path, &err) != GESS_OK) fail_msg("%s", err.text);
    const gess_model *model = open_model(specification);
    size_t dim = model->dim;
    assert_int_equal(table.columns, 2 * dim + 1);
    assert_int_equal(table.rows, 200);
    double *gradient = new_doubles(dim);
    for (size_t r = 0; r < table.rows; r++) {
        const double *row = table.values + r * table.columns, *slopes = row + dim + 1;
        snprintf(what, sizeof what, "%s, point %zu", file, r + 1);
        assert_near(logp_at(model, row), row[dim], 1e-12, what);
        assert_true(gradient_at(model, row, gradient) == logp_at(model, row));
        double largest = 0.0;
        for (size_t i = 0; i < dim; i++) largest = fmax(largest, fabs(slopes[i]));
        for (size_t i = 0; i < dim; i++)
            if (!(fabs(gradient[i] - slopes[i]) <= 1e-12 * (1.0 + largest)))
                fail_msg("%s, gradient %zu: %.17g, expected %.17g", what, i + 1, gradient[i], slopes[i]);
    }
    free(gradient);
    gess__table_free(&table);
    gess_model_close(model);
}

static void reference_funnel(void **state)
{
    (void)state;
    check_file("funnel", "densities_funnel.csv");
}

static void reference_mixture(void **state)
{
    (void)state;
    check_file("mixture", "densities_mixture.csv");
}

static void reference_german_credit(void **state)
{
    (void)state;
    check_file("german-credit", "densities_german_credit.csv");
}

static void reference_german_credit_centred(void **state)
{
    (void)state;
    check_file("german-credit:centre=1", "densities_german_credit_centred.csv");
}

static void reference_wishart(void **state)
{
    (void)state;
    check_file(WISHART_FILE, "densities_wishart50.csv");
}

/* ---- every model ---- */

static void every_builtin_is_listed(void **state)
{
    (void)state;
    for (size_t i = 0; gess__builtin_row(i) != NULL; i++) {
        bool found = false;
        for (size_t s = 0; s < SPECIFICATIONS; s++)
            found |= strcmp(specifications[s], gess__builtin_row(i)->name) == 0;
        if (!found) fail_msg("add %s to the list of specifications", gess__builtin_row(i)->name);
    }
}

/* Gradients against fourth-order central differences. */
static void gradients(void **state)
{
    (void)state;
    enum { POINTS = 10 };
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        const gess_model *model = open_model(specifications[s]);
        size_t dim = model->dim;
        double *x = new_doubles(POINTS * dim), *gradient = new_doubles(dim);
        random_points(POINTS, dim, 0.7, x);
        for (size_t j = 0; j < POINTS; j++) {
            double *point = x + j * dim, largest = 0.0;
            gradient_at(model, point, gradient);
            for (size_t i = 0; i < dim; i++) largest = fmax(largest, fabs(gradient[i]));
            for (size_t i = 0; i < dim; i++) {
                double at = point[i], h = 1e-3, value[4];
                static const double step[4] = {-2.0, -1.0, 1.0, 2.0};
                for (size_t q = 0; q < 4; q++) {
                    point[i] = at + step[q] * h;
                    value[q] = logp_at(model, point);
                }
                point[i] = at;
                double slope = (8.0 * (value[2] - value[1]) - (value[3] - value[0])) / (12.0 * h);
                if (!(fabs(slope - gradient[i]) <= 1e-7 * (1.0 + largest)))
                    fail_msg("%s, gradient %zu: %.17g, by differences %.17g", specifications[s], i + 1,
                             gradient[i], slope);
            }
        }
        free(x);
        free(gradient);
        gess_model_close(model);
    }
}

/* A point's value and gradient have the same bits in every batch and at every place. */
static void batches(void **state)
{
    (void)state;
    enum { POINTS = 1000 };
    static const size_t sizes[] = {1, 2, 7, 8, 9, 64, POINTS};
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        const gess_model *model = open_model(specifications[s]);
        size_t dim = model->dim;
        double *x = new_doubles(POINTS * dim), *one = new_doubles(POINTS), *many = new_doubles(POINTS);
        double *slope_one = new_doubles(POINTS * dim), *slope_many = new_doubles(POINTS * dim);
        random_points(POINTS, dim, 1.0, x);
        for (size_t j = 0; j < POINTS; j++) one[j] = gradient_at(model, x + j * dim, slope_one + j * dim);
        for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
            for (size_t offset = 0; offset < 3 && offset < sizes[b]; offset++) {
                size_t j = 0, n = offset;
                for (; j < POINTS; j += n, n = sizes[b]) {
                    if (n > POINTS - j) n = POINTS - j;
                    const double *from = x + j * dim;
                    assert_int_equal(model->gradient(model->user, 0, n, dim, from, many + j, slope_many + j * dim),
                                     0);
                    assert_int_equal(memcmp(many + j, one + j, n * sizeof *one), 0);
                    assert_int_equal(model->logp(model->user, 0, n, dim, from, many + j), 0);
                }
                if (memcmp(many, one, POINTS * sizeof *one) != 0 ||
                    memcmp(slope_many, slope_one, POINTS * dim * sizeof *one) != 0)
                    fail_msg("%s changes its bits in batches of %zu", specifications[s], sizes[b]);
            }
        free(x);
        free(one);
        free(many);
        free(slope_one);
        free(slope_many);
        gess_model_close(model);
    }
}

/* No finite value comes of a coordinate that is not finite, alone or in a group, and the other
 * points of the group are not touched by it. */
static void not_finite(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        const gess_model *model = open_model(specifications[s]);
        size_t dim = model->dim;
        double *x = new_doubles(8 * dim), good, out[8];
        random_points(8, dim, 1.0, x);
        good = logp_at(model, x);
        for (size_t i = 0; i < dim; i++)
            for (size_t b = 0; b < 3; b++) {
                double *entry = x + 5 * dim + i, old = *entry;
                *entry = bad[b];
                double alone = logp_at(model, x + 5 * dim);
                assert_int_equal(model->logp(model->user, 0, 8, dim, x, out), 0);
                *entry = old;
                assert_true(isnan(alone) || alone == -INFINITY);
                assert_true(isnan(out[5]) || out[5] == -INFINITY);
                assert_true(out[0] == good);
            }
        free(x);
        gess_model_close(model);
    }
}

/* ---- closed forms and integrals ---- */

/* ∫ e^logp over [-reach, reach]^dim by the trapezium rule, dim 1 or 2; the rule converges faster
 * than any power where the ends do not matter. */
static double integral(const char *specification, double reach, size_t steps)
{
    const gess_model *model = open_model(specification);
    assert_true(model->dim <= 2);
    double h = 2.0 * reach / (double)steps, sum = 0.0, x[2];
    size_t second = model->dim == 2 ? steps : 0;
    for (size_t i = 0; i <= steps; i++)
        for (size_t k = 0; k <= second; k++) {
            x[0] = -reach + h * (double)i;
            x[1] = -reach + h * (double)k;
            sum += exp(logp_at(model, x));
        }
    sum *= model->dim == 2 ? h * h : h;
    gess_model_close(model);
    return sum;
}

static void normalised(void **state)
{
    (void)state;
    assert_near(integral("gaussian:dim=1", 12.0, 400), 1.0, 1e-12, "gaussian, 1-D");
    assert_near(integral("gaussian:dim=2,cor=0.6", 12.0, 400), 1.0, 1e-12, "gaussian, cor = 0.6");
    assert_near(integral("gaussian:dim=2,cor=-0.9", 14.0, 600), 1.0, 1e-12, "gaussian, cor = -0.9");
    assert_near(integral("banana", 60.0, 2400), 1.0, 1e-10, "banana");
    assert_near(integral("banana:curvature=-0.5", 40.0, 1600), 1.0, 1e-10, "banana, curvature -0.5");
    assert_near(integral("wishart:dim=1,seed=4", 40.0, 40000), 1.0, 1e-9, "wishart, 1-D");
    /* tails: 1 - O(reach^-nu) */
    assert_near(integral("student-t:dim=1,nu=5", 1000.0, 20000), 1.0, 1e-12, "student-t, 1-D");
    assert_near(integral("student-t:dim=2,nu=9", 100.0, 1000), 1.0, 1e-9, "student-t, 2-D");
}

static void closed_forms(void **state)
{
    (void)state;
    const double log_2pi = log(2.0 * acos(-1.0)), pi = acos(-1.0);
    const gess_model *model = open_model("gaussian:dim=3,cor=0.5");
    /* C⁻¹ = 2 I - (1/2) 11', |C| = 1/2 */
    double x[5] = {1.0, 2.0, -0.5, 0.25, 3.0};
    double square = 1.0 + 4.0 + 0.25, sum = 2.5;
    assert_near(logp_at(model, x), -0.5 * (2.0 * square - 0.5 * sum * sum) - 0.5 * log(0.5) - 1.5 * log_2pi, 1e-14,
                "gaussian");
    gess_model_close(model);

    model = open_model("banana:dim=3,curvature=0.7");
    double bent = 2.0 - 0.7 * (1.0 - 1.0);
    assert_near(logp_at(model, x), -0.5 * (1.0 + bent * bent + 0.25) - 1.5 * log_2pi, 1e-14, "banana");
    gess_model_close(model);

    model = open_model("student-t:dim=1,nu=1"); /* Cauchy */
    assert_near(logp_at(model, x + 4), -log(pi * 10.0), 1e-14, "Cauchy");
    gess_model_close(model);

    model = open_model("student-t:dim=2,nu=2"); /* 1 / (2π) (1 + |x|²/2)⁻² */
    assert_near(logp_at(model, x), -log(2.0 * pi) - 2.0 * log(1.0 + 5.0 / 2.0), 1e-14, "student-t");
    gess_model_close(model);
}

/* Dimensions at which nothing may be kept on the stack. */
static void large(void **state)
{
    (void)state;
    enum { DIM = 10000 };
    double *x = new_doubles(DIM), *gradient = new_doubles(DIM), square = 0.0, sum = 0.0;
    random_points(1, DIM, 1.0, x);
    for (size_t i = 0; i < DIM; i++) {
        square += x[i] * x[i];
        sum += x[i];
    }
    const gess_model *model = open_model("gaussian:dim=10000,cor=0.25");
    double c = 0.25, rest = 1.0 + 9999.0 * c;
    double expected = -0.5 * (square - c / rest * sum * sum) / (1.0 - c) -
                      0.5 * (10000.0 * log(2.0 * acos(-1.0)) + 9999.0 * log(1.0 - c) + log(rest));
    assert_near(gradient_at(model, x, gradient), expected, 1e-12, "gaussian:dim=10000");
    assert_near(gradient[17], -(x[17] - c / rest * sum) / (1.0 - c), 1e-12, "gaussian:dim=10000, gradient");
    gess_model_close(model);

    model = open_model("wishart:dim=300,seed=2");
    /* logp(x) - logp(0) = x · gradient / 2 for any zero-mean Gaussian */
    double *zero = new_doubles(300), dot = 0.0, value = gradient_at(model, x, gradient);
    for (size_t i = 0; i < 300; i++) dot += x[i] * gradient[i];
    assert_near(value - logp_at(model, zero), 0.5 * dot, 1e-11, "wishart:dim=300");
    gess_model_close(model);
    free(zero);
    free(gradient);
    free(x);
}

/* The matrix depends on the seed, and on nothing else. */
static void wishart_seeds(void **state)
{
    (void)state;
    const gess_model *one = open_model("wishart:dim=6"), *again = open_model("wishart:dim=6,seed=1");
    const gess_model *other = open_model("wishart:dim=6,seed=2");
    double x[6] = {0.1, -0.2, 0.3, -0.4, 0.5, -0.6};
    assert_true(logp_at(one, x) == logp_at(again, x));
    assert_true(logp_at(one, x) != logp_at(other, x));
    gess_model_close(one);
    gess_model_close(again);
    gess_model_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_points),
        cmocka_unit_test(reference_funnel),
        cmocka_unit_test(reference_mixture),
        cmocka_unit_test(reference_german_credit),
        cmocka_unit_test(reference_german_credit_centred),
        cmocka_unit_test(reference_wishart),
        cmocka_unit_test(every_builtin_is_listed),
        cmocka_unit_test(gradients),
        cmocka_unit_test(batches),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(normalised),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(large),
        cmocka_unit_test(wishart_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
