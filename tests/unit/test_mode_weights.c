/* What history.json says of basins and modes: how chains were spread, the weights of the modes with their errors, and
 * the ways out where annealing is impossible. */
#include "unit/api.h"
#include "unit/two_modes.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHAINS = 40, DRAWS = 200 };

/* Half N(−5, I), half N(5, 0.1² I): in three dimensions the second has a thousandth of the first one's volume. */
static int wide_and_narrow(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double wide = 0.0, narrow = -(double)dim * log(0.1);
        for (size_t k = 0; k < dim; k++) {
            wide -= 0.5 * pow(x[i * dim + k] + 5.0, 2.0);
            narrow -= 0.5 * pow((x[i * dim + k] - 5.0) / 0.1, 2.0);
        }
        logp[i] = fmax(wide, narrow) + log1p(exp(-fabs(wide - narrow)));
    }
    return 0;
}

/* Uniform in a ball of radius 1, far too small for draws of the box. */
static int ball(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double square = 0.0;
        for (size_t k = 0; k < dim; k++) square += x[i * dim + k] * x[i * dim + k];
        logp[i] = square < 1.0 ? 0.0 : -INFINITY;
    }
    return 0;
}

static void start_inside(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t k = 0; k < dim; k++) x[k] = 0.3 * tanh(normals[k]);
}

/* Gaussians in flat ellipsoids around −10 and 10 on the first axis; nothing outside. */
static int two_balls(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double square = 0.0;
        for (size_t k = 1; k < dim; k++) square += x[i * dim + k] * x[i * dim + k];
        square += 200.0 * pow(fabs(x[i * dim]) - 10.0, 2.0);
        logp[i] = square < 9.0 ? -0.5 * square : -INFINITY;
    }
    return 0;
}

static void start_in_balls(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t k = 0; k < dim; k++) x[k] = 0.5 * tanh(normals[k]);
    x[0] = 0.2 * x[0] + (normals[0] < 0.0 ? -10.0 : 10.0);
}

static void remove_run(const char *directory)
{
    static const char *const files[] = {"checkpoint", "checkpoint.old", "config.json", "draws.gess",   "history.json",
                                        "lock",       "log.txt",        "nans.csv",    "summary.json", "progress.json"};
    char path[200];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

/* Samples, and returns history.json. */
static json_t *history_of(const gess_density *density, const char *schedule, const char *ensembles,
                          const char *max_warmup)
{
    char parent[] = "/tmp/gess-modes-XXXXXX", path[100], file[200];
    gess_error err = {0};
    assert_non_null(mkdtemp(parent));
    snprintf(path, sizeof path, "%s/run", parent);
    gess_model *model = new_model(density);
    gess_options *options = new_options();
    gess_run *run = NULL;
    set(options, "schedule", schedule), set(options, "chains", "40"), set(options, "draws", "200");
    set(options, "threads", "2"), set(options, "seed", "6"), set(options, "ensembles", ensembles);
    if (max_warmup != NULL) set(options, "max-warmup-evals", max_warmup);
    succeed(gess_run_new(&run, model, options, path, &err), &err);
    gess_options_free(options);
    succeed(gess_run_go(run, &err), &err);
    gess_run_free(run);
    gess_model_free(model);
    snprintf(file, sizeof file, "%s/history.json", path);
    json_t *history = json_load_file(file, 0, NULL);
    assert_non_null(history);
    remove_run(path);
    rmdir(parent);
    return history;
}

static const json_t *exploration_of(const json_t *history)
{
    const json_t *exploration = json_object_get(history, "exploration");
    assert_non_null(exploration);
    return exploration;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    assert_true(json_is_number(value));
    return json_number_value(value);
}

static void assert_text(const json_t *object, const char *key, const char *text)
{
    assert_string_equal(json_string_value(json_object_get(object, key)), text);
}

static const gess_density two = {.size = sizeof two, .dim = 2, .logp = pair, .start = start_widely};
static const gess_density one = {.size = sizeof one, .dim = 2, .logp = half_square, .start = start_widely};

static void assert_two_modes(const json_t *history, double chains)
{
    const json_t *modes = json_object_get(history, "modes");
    double sum = 0.0;
    assert_int_equal(json_array_size(modes), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *mode = json_array_get(modes, i);
        double x = json_number_value(json_array_get(json_object_get(mode, "centre"), 1));
        double sd = json_number_value(json_array_get(json_object_get(mode, "sd"), 0));
        double truth = x < 0.0 ? WEIGHT : 1.0 - WEIGHT, error = number(mode, "error");
        assert_true(fabs(fabs(x) - SIDE) < 0.2 && fabs(sd - 1.0) < 0.1);
        assert_true(error > 0.002 && error < 0.03);
        assert_true(fabs(number(mode, "weight") - truth) < 5.0 * error);
        assert_true(number(mode, "chains") == chains);
        sum += number(mode, "weight");
    }
    assert_true(fabs(sum - 1.0) < 1e-12);
}

static void weights_and_spread(void **state)
{
    (void)state;
    json_t *history = history_of(&two, "auto", "1", NULL);
    const json_t *exploration = exploration_of(history), *basins = json_object_get(exploration, "basins");
    const json_t *rows = json_object_get(history, "warmup"), *annealing = json_object_get(exploration, "annealing");
    double starts = 0.0, weight = 0.0;
    assert_text(exploration, "route", "annealed");
    assert_true(json_is_false(json_object_get(exploration, "unweighed")));
    assert_two_modes(history, CHAINS);
    assert_int_equal(json_array_size(basins), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *basin = json_array_get(basins, i);
        assert_text(basin, "fate", "kept");
        assert_true(number(basin, "starts") > 0.0 && number(basin, "particles") > 0.0);
        assert_true(number(basin, "lp") < 0.0 && number(basin, "lp") > -2.0);
        starts += number(basin, "starts");
        weight += number(basin, "weight");
    }
    assert_true(starts == CHAINS && fabs(weight - 1.0) < 1e-12);
    assert_true(fabs(number(annealing, "log_z") - log(2.0 * 3.14159265)) < 0.3); /* of two dimensions */
    const json_t *powers = json_object_get(annealing, "powers");
    assert_true(json_number_value(json_array_get(powers, json_array_size(powers) - 1)) == 1.0);
    const json_t *spread = json_object_get(json_array_get(rows, json_array_size(rows) - 1), "spread");
    assert_int_equal(json_array_size(spread), 2);
    assert_int_equal(json_integer_value(json_array_get(spread, 0)) + json_integer_value(json_array_get(spread, 1)),
                     CHAINS);
    assert_int_equal(json_array_size(json_object_get(json_array_get(rows, 0), "spread")), 0);
    assert_true(number(json_object_get(history, "peak"), "lp") < 0.0);
    json_decref(history);
}

/* Basins of two ensembles are the same two modes. */
static void modes_of_two_ensembles(void **state)
{
    (void)state;
    json_t *history = history_of(&two, "annealed", "2", NULL);
    assert_int_equal(json_array_size(json_object_get(exploration_of(history), "basins")), 4);
    assert_two_modes(history, CHAINS);
    json_decref(history);
}

/* A narrow mode loses all its particles early in annealing, but one of them has shown it. */
static void narrow_mode(void **state)
{
    (void)state;
    static const double lower[] = {-10, -10, -10}, upper[] = {10, 10, 10};
    gess_density density = {.size = sizeof density, .dim = 3, .logp = wide_and_narrow};
    density.lower = lower;
    density.upper = upper;
    json_t *history = history_of(&density, "auto", "1", NULL);
    const json_t *modes = json_object_get(history, "modes");
    assert_text(exploration_of(history), "route", "annealed");
    assert_int_equal(json_array_size(modes), 2);
    for (size_t i = 0; i < 2; i++) {
        const json_t *mode = json_array_get(modes, i);
        assert_true(fabs(number(mode, "weight") - 0.5) < 5.0 * number(mode, "error"));
    }
    json_decref(history);
}

static void one_mode(void **state)
{
    (void)state;
    json_t *history = history_of(&one, "auto", "1", NULL);
    const json_t *exploration = exploration_of(history), *basins = json_object_get(exploration, "basins");
    assert_text(exploration, "route", "direct");
    assert_null(json_object_get(history, "modes"));
    assert_int_equal(json_array_size(basins), 1);
    assert_text(json_array_get(basins, 0), "fate", "kept");
    assert_true(number(json_array_get(basins, 0), "starts") == CHAINS);
    json_decref(history);
}

static void not_explored(void **state)
{
    (void)state;
    json_t *history = history_of(&two, "pooled", "1", NULL);
    assert_null(json_object_get(history, "exploration"));
    assert_null(json_object_get(history, "modes"));
    json_decref(history);
}

/* Too few evaluations for annealing: history.json says that the modes were not weighed. */
static void not_affordable(void **state)
{
    (void)state;
    json_t *history = history_of(&two, "auto", "1", "5000");
    const json_t *exploration = exploration_of(history);
    assert_text(exploration, "route", "direct");
    assert_true(json_is_true(json_object_get(exploration, "unweighed")));
    assert_int_equal(json_array_size(json_object_get(exploration, "basins")), 0);
    json_decref(history);
}

/* A box with a tiny support: `auto` goes on without annealing, `annealed` says what to do. */
static void hardly_any_support(void **state)
{
    (void)state;
    enum { DIM = 4 };
    static const double lower[DIM] = {-50, -50, -50, -50}, upper[DIM] = {50, 50, 50, 50};
    gess_density density = {.size = sizeof density, .dim = DIM, .logp = ball, .start = start_inside};
    density.lower = lower;
    density.upper = upper;
    json_t *history = history_of(&density, "auto", "1", NULL);
    assert_text(exploration_of(history), "route", "direct");
    assert_null(json_object_get(history, "modes"));
    json_decref(history);

    gess_error err = {0};
    gess_model *model = new_model(&density);
    gess_options *options = new_options();
    gess_run *run = NULL;
    set(options, "schedule", "annealed");
    succeed(gess_run_new(&run, model, options, NULL, &err), &err);
    gess_options_free(options);
    assert_failed(gess_run_go(run, &err), GESS_ERR_MODEL, &err, "inside the support");
    gess_run_free(run);
    gess_model_free(model);
}

/* Two modes are found, and the reference has hardly a point in them: warm-up goes on, and says that it did not weigh
 * them. */
static void no_support_between(void **state)
{
    (void)state;
    static const gess_density density = {.size = sizeof density, .dim = 8, .logp = two_balls, .start = start_in_balls};
    json_t *history = history_of(&density, "auto", "1", NULL);
    const json_t *exploration = exploration_of(history), *rows = json_object_get(history, "warmup");
    assert_text(exploration, "route", "direct");
    assert_true(json_is_true(json_object_get(exploration, "unweighed")));
    for (size_t i = 0; i < json_array_size(rows); i++) {
        assert_true(isfinite(number(json_array_get(rows, i), "trace")));
        assert_true(number(json_array_get(rows, i), "evals_per_update") < 60.0);
    }
    json_decref(history);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_and_spread), cmocka_unit_test(modes_of_two_ensembles),
        cmocka_unit_test(one_mode),           cmocka_unit_test(not_explored),
        cmocka_unit_test(not_affordable),     cmocka_unit_test(hardly_any_support),
        cmocka_unit_test(no_support_between), cmocka_unit_test(narrow_mode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
