/* The densities of single points (model/lane) have the bits of the built-in models: at points near and far, one at a
 * time and in batches, with coordinates that are infinite or no numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "model/lane/banana.h"
#include "model/lane/eight_schools.h"
#include "model/lane/funnel.h"
#include "model/lane/gaussian.h"
#include "model/lane/logistic.h"
#include "model/lane/mixture.h"
#include "model/lane/rats.h"
#include "model/lane/seeds.h"
#include "model/lane/snp.h"
#include "model/lane/stochastic_volatility.h"
#include "model/lane/student_t.h"
#include "model/lane/wishart.h"
#include "model/model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 200 };

typedef double lane_fn(size_t dim, const double *numbers, const double *x);

#define LANE(identifier)                                                                \
    static double lane_##identifier(size_t dim, const double *numbers, const double *x) \
    {                                                                                   \
        return gess__lane_##identifier(dim, numbers, x);                                \
    }
LANE(funnel)
LANE(logistic)
LANE(mixture)
LANE(stochastic_volatility)
LANE(snp)
LANE(eight_schools)
LANE(seeds)
LANE(rats)
LANE(gaussian)
LANE(banana)
LANE(student_t)
LANE(wishart)

/* The headers of model/lane. */
static const struct {
    const char *name;
    lane_fn *density;
} lanes[] = {{"funnel", lane_funnel},
             {"logistic", lane_logistic},
             {"mixture", lane_mixture},
             {"stochastic_volatility", lane_stochastic_volatility},
             {"snp", lane_snp},
             {"eight_schools", lane_eight_schools},
             {"seeds", lane_seeds},
             {"rats", lane_rats},
             {"gaussian", lane_gaussian},
             {"banana", lane_banana},
             {"student_t", lane_student_t},
             {"wishart", lane_wishart}};

/* Built-in models without a function of one point, and why. */
static const struct {
    const char *name, *reason;
} without[] = {
    {"ionosphere", "the factor of its covariance matrix needs 40 kB of scratch per point, 490 kB with all its rows"}};

/* Every built-in model, and variants by its parameters. */
static const char *const specifications[] = {"funnel",
                                             "funnel:dim=2",
                                             "funnel:dim=37",
                                             "mixture",
                                             "mixture:spread=0",
                                             "mixture:spread=10",
                                             "breast-cancer",
                                             "breast-cancer:centre=1",
                                             "german-credit",
                                             "german-credit:centre=1",
                                             "stochastic-volatility",
                                             "snp",
                                             "eight-schools",
                                             "eight-schools:centred=0",
                                             "seeds",
                                             "rats",
                                             "gaussian",
                                             "gaussian:dim=1",
                                             "gaussian:dim=37,cor=0.9",
                                             "gaussian:dim=4,cor=-0.3",
                                             "banana",
                                             "banana:dim=5,curvature=0.3",
                                             "student-t",
                                             "student-t:dim=11,nu=0.7",
                                             "wishart",
                                             "wishart:dim=1",
                                             "wishart:dim=13,seed=7",
                                             "wishart:dim=100"};
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
    double *values = calloc(count, sizeof *values);
    assert_non_null(values);
    return values;
}

static lane_fn *lane_of(const gess_model *model)
{
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (strcmp(lanes[i].name, model->lane.name) == 0) return lanes[i].density;
    fail_msg("%s: add gess__lane_%s() to the table of this test", model->name, model->lane.name);
    return NULL;
}

/* Whether the model has no function of one point, for a reason. */
static bool excused(const gess_model *model)
{
    for (size_t i = 0; i < sizeof without / sizeof *without; i++)
        if (strncmp(without[i].name, model->name, strlen(without[i].name)) == 0) return true;
    return false;
}

/* Point j of a model: a start with normals of the scale of j, within the bounds. */
static void point(const gess_model *model, size_t j, double *normals, double *x)
{
    static const double scales[] = {1.0, 0.1, 10.0, 1e-3, 3.0, 100.0, 0.5, 1e4, 1e8, 1e-8, 1e150, 1e300, 1e-310};
    enum { SCALES = sizeof scales / sizeof *scales };
    /* most points are near, and the others far */
    double scale = j % 4 != 3 ? scales[j % 7] : scales[j / 4 % SCALES];
    gess__key key = {.seed = 29, .iteration = 0, .chain = (uint32_t)j, .purpose = GESS__FOR_TEST};
    gess__normals(key, model->dim, normals);
    for (size_t i = 0; i < model->dim; i++) normals[i] *= scale;
    if (model->start != NULL && j % 2 == 0)
        model->start(model->user, model->dim, normals, x);
    else
        memcpy(x, normals, model->dim * sizeof *x);
    /* every tenth point has one coordinate that is 0, infinite or no number */
    static const double special[] = {0.0, INFINITY, -INFINITY, (double)NAN, -0.0};
    if (j % 10 == 9) x[j * 7 % model->dim] = special[j / 10 % (sizeof special / sizeof *special)];
    for (size_t i = 0; i < model->dim; i++)
        if (model->lower != NULL && model->lower[i] == 0.0) x[i] = fabs(x[i]);
}

static bool same(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void check_model(const char *specification, size_t *finite, size_t *other)
{
    gess_model *model = open_model(specification);
    size_t dim = model->dim;
    double *normals = new_doubles(dim), *x = new_doubles(POINTS * dim), *batch = new_doubles(POINTS), alone;
    lane_fn *lane = lane_of(model);
    for (size_t j = 0; j < POINTS; j++) point(model, j, normals, x + j * dim);
    assert_int_equal(model->logp(model->user, 0, POINTS, dim, x, batch), 0);
    for (size_t j = 0; j < POINTS; j++) {
        /* numbers end where they are said to end: a copy of exactly this size, for the sanitizers */
        double *numbers = malloc(model->lane.count * sizeof *numbers);
        assert_non_null(numbers);
        memcpy(numbers, model->lane.numbers, model->lane.count * sizeof *numbers);
        double value = lane(dim, numbers, x + j * dim);
        free(numbers);
        assert_int_equal(model->logp(model->user, 0, 1, dim, x + j * dim, &alone), 0);
        if (!same(value, batch[j]) || !same(value, alone))
            fail_msg("%s, point %zu: %.17g, but the model has %.17g and, alone, %.17g", specification, j, value,
                     batch[j], alone);
        (*(isfinite(value) ? finite : other))++;
    }
    free(normals);
    free(x);
    free(batch);
    gess_model_free(model);
}

static void same_bits(void **state)
{
    (void)state;
    for (size_t s = 0; s < SPECIFICATIONS; s++) {
        size_t finite = 0, other = 0;
        check_model(specifications[s], &finite, &other);
        if (finite < POINTS / 2 || other < 5)
            fail_msg("%s: %zu finite values and %zu others test too little", specifications[s], finite, other);
    }
}

/* Every built-in model has a function of one point and is tested, or has none for a reason. */
static void every_builtin(void **state)
{
    (void)state;
    for (size_t i = 0; gess__builtin_row(i) != NULL; i++) {
        const char *name = gess__builtin_row(i)->name;
        gess_model *model = open_model(name);
        bool tested = false;
        for (size_t s = 0; s < SPECIFICATIONS; s++) tested |= strcmp(specifications[s], name) == 0;
        if (excused(model) != (model->lane.name == NULL))
            fail_msg("%s: give it a density in model/lane, or a reason in this test why it has none", name);
        if (model->lane.name != NULL && !tested) fail_msg("add %s to the specifications of this test", name);
        gess_model_free(model);
    }
}

static int unit_logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker, (void)x, (void)dim;
    for (size_t j = 0; j < n; j++) logp[j] = 0.0;
    return 0;
}

static void others_have_none(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_density density = {.size = sizeof density, .dim = 2, .logp = unit_logp};
    gess_model *model;
    assert_int_equal(gess_model_new(&model, &density, &err), GESS_OK);
    assert_null(model->lane.name);
    gess_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits), cmocka_unit_test(every_builtin),
                                       cmocka_unit_test(others_have_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
