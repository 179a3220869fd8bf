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

/* Sanitizer builds are scalar and thirty times slower, so they test fewer points. */
#ifdef GESS_SANITIZED
enum { BATCH_POINTS = 130, EVERY = 25 };
#else
enum { BATCH_POINTS = 1000, EVERY = 1 };
#endif

#define WISHART_FILE "wishart:file=" GESS_SOURCE_DATA "/wishart50.csv"

/* The models of the loops over models: every built-in, and variants by its parameters. */
static const char *const specifications[] = {"funnel",
                                             "funnel:dim=2",
                                             "mixture",
                                             "mixture:spread=10",
                                             "breast-cancer",
                                             "breast-cancer:centre=1",
                                             "german-credit",
                                             "german-credit:centre=1",
                                             "stochastic-volatility",
                                             "ionosphere",
                                             "ionosphere:points=1",
                                             "ionosphere:points=8,noise=0.5",
                                             "ionosphere:points=37,noise=0.1",
                                             "snp",
                                             "wishart",
                                             "wishart:dim=1",
                                             "wishart:dim=13,seed=7",
                                             "wishart:dim=75",
                                             WISHART_FILE,
                                             "eight-schools",
                                             "eight-schools:centred=0",
                                             "rats",
                                             "seeds",
                                             "gaussian",
                                             "gaussian:dim=1",
                                             "gaussian:dim=37,cor=0.9",
                                             "gaussian:dim=4,cor=-0.3",
                                             "banana",
                                             "banana:dim=5,curvature=0.3",
                                             "student-t",
                                             "student-t:dim=11,nu=0.7"};
enum { SPECIFICATIONS = sizeof specifications / sizeof *specifications };

static gess_model *open_model(const char *specification)
{
    gess_error err = {0};
    gess_model *model;
    if (gess_model_open(&model, specification, NULL, &err) != GESS_OK) fail_msg("%s: %s", specification, err.text);
    return model;
}

static double *new_doubles(size_t count)
{
    double *values = calloc(count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

static double logp_at(gess_model *model, const double *x)
{
    double value = 0.0;
    assert_int_equal(model->logp(model->user, 0, 1, model->dim, x, &value), 0);
    return value;
}

static double gradient_at(gess_model *model, const double *x, double *gradient)
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

enum { MAX_DIM = 65 }; /* of the models whose points are kept on the stack */

/* A start from normals, as in the sampler: by the model's rule, or reflected into the bounds at 0. */
static void start_from(gess_model *model, const double *normals, double *x)
{
    if (model->start != NULL) {
        model->start(model->user, model->dim, normals, x);
        return;
    }
    for (size_t i = 0; i < model->dim; i++)
        x[i] = model->lower != NULL && model->lower[i] == 0.0 ? fabs(normals[i]) : normals[i];
}

/* Normals times the scale, made starts of the model. */
static void random_points(gess_model *model, size_t n, double scale, double *x)
{
    size_t dim = model->dim;
    double *normals = new_doubles(dim);
    for (size_t j = 0; j < n; j++) {
        gess__key key = {.seed = 11, .iteration = 0, .chain = (uint32_t)j, .purpose = GESS__FOR_TEST};
        gess__normals(key, dim, normals);
        for (size_t i = 0; i < dim; i++) normals[i] *= scale;
        start_from(model, normals, x + j * dim);
    }
    free(normals);
}

/* Whether coordinate i must be positive. */
static bool positive(gess_model *model, const double *point, size_t i)
{
    double *x = new_doubles(model->dim);
    memcpy(x, point, model->dim * sizeof *x);
    x[i] = -1.0;
    double value = logp_at(model, x);
    free(x);
    return value == -INFINITY;
}

/* ---- values computed elsewhere ---- */

/* The three points of the experiments' table: no random numbers, positive coordinates |x| + 0.5. */
static void fixed_points(gess_model *model, double x[3][64])
{
    for (size_t i = 0; i < model->dim; i++) {
        double d = (double)i;
        x[0][i] = 0.1 * sin(d + 1.0);
        x[1][i] = 0.5 * cos(d + 1.0);
        x[2][i] = sin(2.0 * d + 1.0);
    }
}

static void three_points(void **state)
{
    (void)state;
    static const struct {
        const char *specification;
        double value[3];
        size_t positive; /* the first `positive` coordinates are positive */
        double shift;    /* snp only: the gammas are 2 × (sin, cos, sin) at 0, otherwise shift + P / 10 of that */
    } rows[] = {
        {"funnel", {-10.6867872689823, -11.9567837878367, -14.9948726107612}, 0, 0},
        {"mixture", {-11.7401979448671, -12.1460173233956, -12.6840580144467}, 0, 0},
        {"breast-cancer", {-553.528415831338, -775.300914392696, -2082.51305994918}, 0, 0},
        {"german-credit", {-892.215333450185, -945.810514586567, -1690.68775399283}, 0, 0},
        {"stochastic-volatility", {-46.2761031981061, -124.083976882805, -186.976329922737}, 1, 0},
        {"ionosphere", {-201.810405885068, -191.237184419379, -180.943827798704}, 34, 0},
        {"ionosphere:points=8,noise=0.5", {-91.7461444439445, -92.4036983842198, -93.200410164836}, 34, 0},
        {"ionosphere:points=351", {-411.224245508503, -359.289619527954, -328.897934252771}, 34, 0},
        {"snp", {-910.841080826853, -859.501288001106, -1012.78538220176}, 3, 0},
        {"snp", {-1368.61479406336, -1323.73502284168, -1321.41758847097}, 3, 3}, /* all in */
        {"snp", {-1301.01822343443, -1285.9242452118, -1261.84059547827}, 3, -3}, /* none in */
        {WISHART_FILE, {19.3623558303254, -81.8971404739617, -441.33268606796}, 0, 0},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        gess_model *model = open_model(rows[r].specification);
        double x[3][64];
        fixed_points(model, x);
        for (size_t j = 0; j < 3; j++) {
            static const double amplitude[3] = {20.0, 4.0, 2.0}; /* 2 over that of the point */
            for (size_t i = 0; i < rows[r].positive; i++) x[j][i] = fabs(x[j][i]) + 0.5;
            for (size_t i = 3; strcmp(rows[r].specification, "snp") == 0 && i < model->dim; i++) {
                double gamma = amplitude[j] * x[j][i];
                x[j][i] = rows[r].shift == 0.0 ? gamma : rows[r].shift + 0.1 * gamma;
            }
        }
        for (size_t j = 0; j < 3; j++)
            assert_near(logp_at(model, x[j]), rows[r].value[j], 1e-12, rows[r].specification);
        gess_model_free(model);
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
    gess_model *model = open_model(specification);
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
    gess_model_free(model);
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

/* uniforms() of make_densities.py: SplitMix64 of a running number. */
static double uniform(size_t point, size_t coordinate, size_t which)
{
    uint64_t z = (((uint64_t)point * 64 + coordinate) * 4 + which + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

static void check_values(const gess__table *table, const char *column, const char *specification)
{
    static const double scales[] = {0.1, 1.0, 3.0, 10.0};
    gess_model *model = open_model(specification);
    double normals[MAX_DIM], x[MAX_DIM], gradient[MAX_DIM];
    char what[160];
    size_t c = 0, dim = model->dim;
    while (c < table->columns && strcmp(table->names[c], column) != 0) c++;
    assert_true(c + 1 < table->columns && dim <= MAX_DIM);
    for (size_t j = 0; j < table->rows; j += EVERY) {
        const double *known = table->values + j * table->columns + c;
        for (size_t i = 0; i < dim; i++) {
            double sum = uniform(j, i, 0) + uniform(j, i, 1) + uniform(j, i, 2);
            normals[i] = 2.0 * (sum - 1.5) * scales[j % 4];
        }
        start_from(model, normals, x);
        double value = gradient_at(model, x, gradient), slope = 0.0, size = 0.0;
        for (size_t i = 0; i < dim; i++) {
            slope += gradient[i] * (uniform(j, i, 3) - 0.5);
            size += fabs(gradient[i]);
        }
        snprintf(what, sizeof what, "%s, point %zu", specification, j + 1);
        assert_near(value, known[0], 1e-12, what);
        assert_true(value == logp_at(model, x));
        if (!(fabs(slope - known[1]) <= 1e-10 * (1.0 + size)))
            fail_msg("%s, slope: %.17g, expected %.17g", what, slope, known[1]);
    }
    gess_model_free(model);
}

static void check_columns(const char *file, size_t count, const char *const rows[][2])
{
    gess_error err = {0};
    gess__table table;
    if (gess__table_read(&table, file, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(table.rows, 1000);
    for (size_t r = 0; r < count; r++) check_values(&table, rows[r][0], rows[r][1]);
    gess__table_free(&table);
}

static void thousand_points(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"funnel", "funnel"},
                                          {"mixture", "mixture"},
                                          {"mixture_spread10", "mixture:spread=10"},
                                          {"breast_cancer", "breast-cancer"},
                                          {"breast_cancer_centred", "breast-cancer:centre=1"},
                                          {"german_credit", "german-credit"},
                                          {"german_credit_centred", "german-credit:centre=1"},
                                          {"stochastic_volatility", "stochastic-volatility"},
                                          {"ionosphere", "ionosphere"},
                                          {"ionosphere37", "ionosphere:points=37,noise=0.1"},
                                          {"snp", "snp"},
                                          {"wishart50", WISHART_FILE}};
    check_columns(GESS_TESTS "/known/densities_values.csv", sizeof rows / sizeof *rows, rows);
}

static void hierarchical_points(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"eight_schools", "eight-schools"},
                                          {"eight_schools_other", "eight-schools:centred=0"},
                                          {"rats", "rats"},
                                          {"seeds", "seeds"}};
    check_columns(GESS_TESTS "/known/densities_hierarchical.csv", sizeof rows / sizeof *rows, rows);
}

/* ---- every model ---- */

static void every_builtin_is_listed(void **state)
{
    (void)state;
    for (size_t i = 0; gess__builtin_row(i) != NULL; i++) {
        bool found = false;
        for (size_t s = 0; s < SPECIFICATIONS; s++) found |= strcmp(specifications[s], gess__builtin_row(i)->name) == 0;
        if (!found) fail_msg("add %s to the list of specifications", gess__builtin_row(i)->name);
    }
}

/* Gradients against fourth-order central differences. */
static void gradients(void **state)
{
    (void)state;
    enum { POINTS = 10 };
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        gess_model *model = open_model(specifications[s]);
        size_t dim = model->dim;
        double *x = new_doubles(POINTS * dim), *gradient = new_doubles(dim);
        random_points(model, POINTS, 0.7, x);
        for (size_t j = 0; j < POINTS; j++) {
            double *point = x + j * dim, largest = 0.0;
            for (size_t i = 0; i < dim; i++) point[i] += positive(model, point, i) ? 0.5 : 0.0;
            if (strcmp(specifications[s], "snp") == 0) /* away from the jumps */
                for (size_t i = 3; i < dim; i++) point[i] += fabs(point[i] - point[2]) < 0.01 ? 0.05 : 0.0;
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
                if (!(fabs(slope - gradient[i]) <= 1e-8 * (1.0 + largest)))
                    fail_msg("%s, gradient %zu: %.17g, by differences %.17g", specifications[s], i + 1, gradient[i],
                             slope);
            }
        }
        free(x);
        free(gradient);
        gess_model_free(model);
    }
}

/* A point's value and gradient have the same bits in every batch and at every place. */
static void batches(void **state)
{
    (void)state;
    enum { POINTS = BATCH_POINTS };
    static const size_t sizes[] = {1, 2, 7, 8, 9, 64, POINTS};
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        gess_model *model = open_model(specifications[s]);
        size_t dim = model->dim;
        double *x = new_doubles(POINTS * dim), *one = new_doubles(POINTS), *many = new_doubles(POINTS);
        double *slope_one = new_doubles(POINTS * dim), *slope_many = new_doubles(POINTS * dim);
        random_points(model, POINTS, 1.0, x);
        for (size_t j = 0; j < POINTS; j++) one[j] = gradient_at(model, x + j * dim, slope_one + j * dim);
        for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++)
            for (size_t offset = 0; offset < 3 && offset < sizes[b]; offset++) {
                size_t j = 0, n = offset;
                for (; j < POINTS; j += n, n = sizes[b]) {
                    if (n > POINTS - j) n = POINTS - j;
                    const double *from = x + j * dim;
                    assert_int_equal(model->gradient(model->user, 0, n, dim, from, many + j, slope_many + j * dim), 0);
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
        gess_model_free(model);
    }
}

/* No finite value comes of a coordinate that is not finite, by itself or in a group, and the other
 * points of the group are not touched by it. */
static void not_finite(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        gess_model *model = open_model(specifications[s]);
        size_t dim = model->dim;
        double *x = new_doubles(8 * dim), good, out[8];
        random_points(model, 8, 1.0, x);
        good = logp_at(model, x);
        for (size_t i = 0; i < dim; i++)
            for (size_t b = 0; b < 3; b++) {
                double *entry = x + 5 * dim + i, old = *entry;
                *entry = bad[b];
                double single = logp_at(model, x + 5 * dim);
                assert_int_equal(model->logp(model->user, 0, 8, dim, x, out), 0);
                *entry = old;
                assert_true(isnan(single) || single == -INFINITY);
                assert_true(isnan(out[5]) || out[5] == -INFINITY);
                assert_true(out[0] == good);
            }
        free(x);
        gess_model_free(model);
    }
}

/* Zero and below are outside where a coordinate must be positive, and so is all that is not finite:
 * -inf with a gradient of NaN, by itself or in a group. */
static void supports(void **state)
{
    (void)state;
    static const struct {
        const char *specification;
        size_t first, positive;
    } rows[] = {{"stochastic-volatility", 0, 1},
                {"ionosphere:points=20", 0, 34},
                {"snp", 0, 3},
                {"eight-schools", 1, 1},
                {"eight-schools:centred=0", 1, 1},
                {"rats", 2, 3},
                {"seeds", 4, 1}};
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, -1e-300, -1.0};
    for (size_t s = 0; s < sizeof rows / sizeof *rows; s++) {
        gess_model *model = open_model(rows[s].specification);
        double x[8 * MAX_DIM], gradient[8 * MAX_DIM], good[8], out[8];
        size_t dim = model->dim;
        random_points(model, 8, 1.0, x);
        assert_int_equal(model->logp(model->user, 0, 8, dim, x, good), 0);
        for (size_t j = 0; j < 8; j++) assert_true(isfinite(good[j]));
        for (size_t i = 0; i < dim; i++) {
            bool inside = i >= rows[s].first && i < rows[s].first + rows[s].positive;
            assert_true(positive(model, x, i) == inside);
            for (size_t b = 0; b < (inside ? 7 : 3); b++) {
                double old = x[3 * dim + i];
                x[3 * dim + i] = bad[b];
                assert_true(logp_at(model, x + 3 * dim) == -INFINITY);
                assert_int_equal(model->gradient(model->user, 0, 8, dim, x, out, gradient), 0);
                x[3 * dim + i] = old;
                for (size_t j = 0; j < 8; j++) assert_true(out[j] == (j == 3 ? -INFINITY : good[j]));
                for (size_t k = 0; k < dim; k++) assert_true(isnan(gradient[3 * dim + k]));
                for (size_t k = 0; k < dim; k++) assert_true(isfinite(gradient[4 * dim + k]));
            }
        }
        gess_model_free(model);
    }
}

/* ---- closed forms and integrals ---- */

/* ∫ e^logp over [-reach, reach]^dim by the trapezium rule, dim 1 or 2; the rule converges faster
 * than any power where the ends do not matter. */
static double integral(const char *specification, double reach, size_t steps)
{
    gess_model *model = open_model(specification);
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
    gess_model_free(model);
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
    gess_model *model = open_model("gaussian:dim=3,cor=0.5");
    /* C⁻¹ = 2 I - (1/2) 11', |C| = 1/2 */
    double x[5] = {1.0, 2.0, -0.5, 0.25, 3.0};
    double square = 1.0 + 4.0 + 0.25, sum = 2.5;
    assert_near(logp_at(model, x), -0.5 * (2.0 * square - 0.5 * sum * sum) - 0.5 * log(0.5) - 1.5 * log_2pi, 1e-14,
                "gaussian");
    gess_model_free(model);

    model = open_model("banana:dim=3,curvature=0.7");
    double bent = 2.0 - 0.7 * (1.0 - 1.0);
    assert_near(logp_at(model, x), -0.5 * (1.0 + bent * bent + 0.25) - 1.5 * log_2pi, 1e-14, "banana");
    gess_model_free(model);

    model = open_model("student-t:dim=1,nu=1"); /* Cauchy */
    assert_near(logp_at(model, x + 4), -log(pi * 10.0), 1e-14, "Cauchy");
    gess_model_free(model);

    model = open_model("student-t:dim=2,nu=2"); /* 1 / (2π) (1 + |x|²/2)⁻² */
    assert_near(logp_at(model, x), -log(2.0 * pi) - 2.0 * log(1.0 + 5.0 / 2.0), 1e-14, "student-t");
    gess_model_free(model);
}

/* Dimensions at which nothing may be kept on the stack. */
static void large(void **state)
{
    (void)state;
    enum { DIM = 10000 };
    double *x = new_doubles(DIM), *gradient = new_doubles(DIM), square = 0.0, sum = 0.0;
    gess_model *model = open_model("gaussian:dim=10000,cor=0.25");
    random_points(model, 1, 1.0, x);
    for (size_t i = 0; i < DIM; i++) {
        square += x[i] * x[i];
        sum += x[i];
    }
    double c = 0.25, rest = 1.0 + 9999.0 * c;
    double expected = -0.5 * (square - c / rest * sum * sum) / (1.0 - c) -
                      0.5 * (10000.0 * log(2.0 * acos(-1.0)) + 9999.0 * log(1.0 - c) + log(rest));
    assert_near(gradient_at(model, x, gradient), expected, 1e-12, "gaussian:dim=10000");
    assert_near(gradient[17], -(x[17] - c / rest * sum) / (1.0 - c), 1e-12, "gaussian:dim=10000, gradient");
    gess_model_free(model);

    model = open_model("wishart:dim=300,seed=2");
    /* logp(x) - logp(0) = x · gradient / 2 for any zero-mean Gaussian */
    double *zero = new_doubles(300), dot = 0.0, value = gradient_at(model, x, gradient);
    for (size_t i = 0; i < 300; i++) dot += x[i] * gradient[i];
    assert_near(value - logp_at(model, zero), 0.5 * dot, 1e-11, "wishart:dim=300");
    gess_model_free(model);
    free(zero);
    free(gradient);
    free(x);
}

/* The matrix depends only on the seed. */
static void wishart_seeds(void **state)
{
    (void)state;
    gess_model *one = open_model("wishart:dim=6"), *again = open_model("wishart:dim=6,seed=1");
    gess_model *other = open_model("wishart:dim=6,seed=2");
    double x[6] = {0.1, -0.2, 0.3, -0.4, 0.5, -0.6};
    assert_true(logp_at(one, x) == logp_at(again, x));
    assert_true(logp_at(one, x) != logp_at(other, x));
    gess_model_free(one);
    gess_model_free(again);
    gess_model_free(other);
}

static void spread_mixtures(void **state)
{
    (void)state;
    gess_model *one = open_model("mixture"), *two = open_model("mixture:spread=2");
    gess_model *none = open_model("mixture:spread=0"); /* N(0, I) */
    double x[8] = {0.1, -0.2, 0.3, -0.4, 0.5, -0.6, 0.7, -0.8};
    assert_true(logp_at(one, x) == logp_at(two, x));
    assert_near(logp_at(none, x), -0.5 * 2.04 - 4.0 * log(2.0 * acos(-1.0)), 1e-14, "mixture:spread=0");
    gess_model_free(one);
    gess_model_free(two);
    gess_model_free(none);
}

/* Column 2 of the data is constant: in l2 the density is its prior, exponential with rate 0.1. */
static void ionosphere_free_scale(void **state)
{
    (void)state;
    gess_model *model = open_model("ionosphere");
    double x[34];
    random_points(model, 1, 1.0, x);
    x[1] = 1.0;
    double base = logp_at(model, x);
    static const double scales[] = {1e-100, 1e-3, 7.0, 1000.0};
    for (size_t i = 0; i < 4; i++) {
        x[1] = scales[i];
        assert_near(logp_at(model, x), base - 0.1 * (scales[i] - 1.0), 1e-13, "ionosphere, l2");
    }
    gess_model_free(model);
}

/* Where Π (1 + t) overflows or a volatility is extreme, and where the t becomes a Gaussian. */
static void extreme_volatilities(void **state)
{
    (void)state;
    gess_model *model = open_model("stochastic-volatility");
    double x[3][64], p[64];
    fixed_points(model, x);
    x[0][0] = fabs(x[0][0]) + 0.5;
    memcpy(p, x[0], sizeof p);
    p[7] = -300.0;
    assert_near(logp_at(model, p), -565.353859216493, 1e-12, "h7 = -300");
    p[7] = -360.0;
    assert_true(logp_at(model, p) == -INFINITY);
    memcpy(p, x[0], sizeof p);
    p[30] = 351.0;
    assert_near(logp_at(model, p), -749.14795233272, 1e-12, "h30 = 351");
    memcpy(p, x[0], sizeof p);
    p[1] = 710.0;
    assert_true(logp_at(model, p) == -INFINITY);
    memcpy(p, x[0], sizeof p);
    p[0] = 1e-3;
    for (size_t i = 1; i < 51; i++) p[i] -= 60.0;
    assert_near(logp_at(model, p), -374.962351413637, 1e-12, "h - 60");

    gess_error err = {0};
    gess__table data;
    if (gess__table_read(&data, GESS_SOURCE_DATA "/sv_returns.csv", &err) != GESS_OK) fail_msg("%s", err.text);
    double nu = 1e12, expected = -0.01 * nu + x[0][1] - 0.01 * exp(x[0][1]), walk = 0.01;
    memcpy(p, x[0], sizeof p);
    p[0] = nu;
    for (size_t i = 0; i < 50; i++) {
        double z = data.values[2 * i] * exp(-p[1 + i]), step = i > 0 ? p[1 + i] - p[i] : 0.0;
        expected += -0.5 * z * z - 0.5 * log(2.0 * acos(-1.0)) - p[1 + i];
        walk += 0.5 * step * step;
    }
    expected -= 25.5 * log(walk);
    assert_true(fabs(logp_at(model, p) - expected) <= 1e-5); /* an ulp is 2e-6 */
    gess__table_free(&data);
    gess_model_free(model);
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
        cmocka_unit_test(thousand_points),
        cmocka_unit_test(hierarchical_points),
        cmocka_unit_test(every_builtin_is_listed),
        cmocka_unit_test(gradients),
        cmocka_unit_test(batches),
        cmocka_unit_test(not_finite),
        cmocka_unit_test(supports),
        cmocka_unit_test(normalised),
        cmocka_unit_test(closed_forms),
        cmocka_unit_test(large),
        cmocka_unit_test(wishart_seeds),
        cmocka_unit_test(spread_mixtures),
        cmocka_unit_test(ionosphere_free_scale),
        cmocka_unit_test(extreme_volatilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
