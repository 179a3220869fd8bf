/* <gess/gess.h> as a program uses it, with the public headers alone: options, lists and models. */
#include "unit/api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_option(const gess_options *options, const char *name, const char *expected)
{
    gess_error err = {0};
    char value[256];
    succeed(gess_options_get(options, name, value, sizeof value, &err), &err);
    assert_string_equal(value, expected);
}

/* ---- options ---- */

static void options_by_name(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_options *options = new_options();
    char value[8];
    set(options, "draws", "2e3");
    assert_option(options, "draws", "2000");
    assert_option(options, "--draws", "2000");
    set(options, "--draws", "auto");
    assert_option(options, "draws", "auto");
    set(options, "max-time", "2m");
    assert_option(options, "max-time", "120");
    set(options, "overwrite", NULL);
    assert_option(options, "overwrite", "1");
    set(options, "overwrite", "0");
    assert_option(options, "overwrite", "0");

    assert_failed(gess_options_set(options, "drawz", "1", &err), GESS_ERR_USAGE, &err, "drawz");
    assert_failed(gess_options_get(options, "drawz", value, sizeof value, &err), GESS_ERR_USAGE, &err, "drawz");
    assert_failed(gess_options_set(options, "chains", NULL, &err), GESS_ERR_USAGE, &err, "needs a value");
    assert_failed(gess_options_set(options, "chains", "0", &err), GESS_ERR_USAGE, &err, "chains");
    assert_option(options, "chains", "64"); /* as before */

    /* a buffer that is too small gets nothing */
    set(options, "seed", "12345678");
    memset(value, 'x', sizeof value);
    assert_failed(gess_options_get(options, "seed", value, sizeof value, &err), GESS_ERR_USAGE, &err, "9 bytes");
    for (size_t i = 0; i < sizeof value; i++) assert_int_equal(value[i], 'x');
    set(options, "seed", "1234567"); /* just fits */
    succeed(gess_options_get(options, "seed", value, sizeof value, &err), &err);
    assert_string_equal(value, "1234567");
    gess_options_free(options);
    gess_options_free(NULL);
}

static void options_own_their_text(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_options *options = new_options(), *copy = NULL;
    char text[] = "first.csv";
    set(options, "init", text);
    memset(text, '#', sizeof text - 1);
    assert_option(options, "init", "first.csv");

    succeed(gess_options_copy(&copy, options, &err), &err);
    set(options, "init", "second.csv");
    set(options, "draws", "7");
    assert_option(copy, "init", "first.csv");
    assert_option(copy, "draws", "auto");
    set(copy, "init", NULL);
    assert_option(copy, "init", "");
    assert_option(options, "init", "second.csv");
    gess_options_free(options);
    assert_option(copy, "kernel", "gess");
    gess_options_free(copy);
}

static void workers_are_known(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_options *options = new_options();
    unsigned workers = 0;
    succeed(gess_options_workers(options, &workers, &err), &err);
    assert_true(workers >= 1);
    set(options, "threads", "3");
    succeed(gess_options_workers(options, &workers, &err), &err);
    assert_int_equal(workers, 3);
    gess_options_free(options);
}

/* ---- lists ---- */

static gess_entry entry_of(int kind, size_t index)
{
    gess_error err = {0};
    gess_entry entry = {0};
    succeed(gess_list(kind, index, &entry, sizeof entry, &err), &err);
    return entry;
}

static void lists_end(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_entry entry;
    for (int kind = GESS_LIST_OPTIONS; kind <= GESS_LIST_EXPORTERS; kind++) {
        size_t count = gess_list_count(kind);
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++) {
            entry = entry_of(kind, i);
            assert_true(strlen(entry.name) > 0 && strlen(entry.help) > 0);
        }
        assert_failed(gess_list(kind, count, &entry, sizeof entry, &err), GESS_ERR_USAGE, &err, "no row");
    }
    assert_failed(gess_list(99, 0, &entry, sizeof entry, &err), GESS_ERR_USAGE, &err, "99");
    assert_failed(gess_list(-1, 0, &entry, sizeof entry, &err), GESS_ERR_USAGE, &err, "-1");
    assert_int_equal(gess_list_count(99), 0);
}

static void defaults_of_options(void **state)
{
    (void)state;
    gess_options *options = new_options();
    int with_choices = 0;
    for (size_t i = 0; i < gess_list_count(GESS_LIST_OPTIONS); i++) {
        gess_entry entry = entry_of(GESS_LIST_OPTIONS, i);
        assert_option(options, entry.name, entry.value != NULL ? entry.value : "");
        assert_true((entry.type == GESS_OPTION_FLAG) == (entry.unit == NULL));
        if (entry.value != NULL && entry.type != GESS_OPTION_FLAG) set(options, entry.name, entry.value);
        if (entry.type == GESS_OPTION_COUNT) assert_true(entry.min_count <= entry.max_count);
        if (entry.type == GESS_OPTION_REAL) assert_true(entry.min <= entry.max);
        if (entry.choices < 0) continue;
        with_choices++;
        for (size_t k = 0; k < gess_list_count(entry.choices); k++) {
            gess_entry choice = entry_of(entry.choices, k);
            set(options, entry.name, choice.name);
            assert_option(options, entry.name, choice.name);
        }
    }
    assert_int_equal(with_choices, 2); /* kernel and schedule */
    gess_options_free(options);
}

/* Every kernel that is listed is accepted by a run. */
static void kernels_of_the_list(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_model *model = NULL;
    succeed(gess_model_open(&model, "gaussian:dim=3", NULL, &err), &err);
    for (size_t i = 0; i < gess_list_count(GESS_LIST_KERNELS); i++) {
        gess_options *options = new_options();
        gess_run *run = NULL;
        set(options, "kernel", entry_of(GESS_LIST_KERNELS, i).name);
        succeed(gess_run_new(&run, model, options, NULL, &err), &err);
        gess_run_free(run);
        gess_options_free(options);
    }
    gess_model_free(model);
}

/* ---- models ---- */

static int with_gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                         double *gradient)
{
    for (size_t i = 0; i < n * dim; i++) gradient[i] = -x[i];
    return half_square(user, worker, n, dim, x, logp);
}

static int with_blob(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp, double *blobs)
{
    for (size_t i = 0; i < n; i++) blobs[i] = x[i * dim];
    return half_square(user, worker, n, dim, x, logp);
}

static int derive_sum(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)derived;
    out[0] = 0.0;
    for (size_t k = 0; k < dim; k++) out[0] += x[k];
    return 0;
}

static void assert_name(const gess_model *model, size_t index, const char *expected)
{
    gess_error err = {0};
    char name[32];
    succeed(gess_model_name(model, index, name, sizeof name, &err), &err);
    assert_string_equal(name, expected);
}

static void models_own_their_arrays(void **state)
{
    (void)state;
    gess_error err = {0};
    char first[] = "alpha", second[] = "beta", sum[] = "sum", title[] = "title", blob[] = "blob";
    const char *names[] = {first, second}, *derived_names[] = {sum}, *blob_names[] = {blob};
    double lower[] = {0.0, -INFINITY}, upper[] = {INFINITY, 5.0};
    gess_density density = {.size = sizeof density, .name = title, .dim = 2, .logp_blobs = with_blob};
    density.gradient = with_gradient;
    density.names = names;
    density.lower = lower;
    density.upper = upper;
    density.derived = 1;
    density.derived_names = derived_names;
    density.derive = derive_sum;
    density.blobs = 1;
    density.blob_names = blob_names;
    gess_model *model = new_model(&density);
    memset(first, '?', 5), memset(second, '?', 4), memset(sum, '?', 3), memset(title, '?', 5), memset(blob, '?', 4);
    memset(names, 0, sizeof names), memset(derived_names, 0, sizeof derived_names);
    memset(blob_names, 0, sizeof blob_names);
    lower[0] = lower[1] = upper[0] = upper[1] = NAN;
    memset(&density, 0, sizeof density);

    gess_model_info info = {0};
    succeed(gess_model_describe(model, &info, sizeof info, &err), &err);
    assert_string_equal(info.name, "title");
    assert_int_equal(info.dim, 2);
    assert_int_equal(info.derived, 1);
    assert_int_equal(info.blobs, 1);
    assert_true(info.has_gradient);
    assert_name(model, 0, "alpha");
    assert_name(model, 1, "beta");
    assert_name(model, 2, "sum");
    assert_name(model, 3, "blob");
    char small[5];
    assert_failed(gess_model_name(model, 4, small, sizeof small, &err), GESS_ERR_USAGE, &err, "4");
    assert_failed(gess_model_name(model, 0, small, sizeof small, &err), GESS_ERR_USAGE, &err, "6 bytes");
    succeed(gess_model_name(model, 1, small, sizeof small, &err), &err);

    /* bounds are in use: no draw of a run is outside */
    gess_options *options = new_options();
    gess_run *run = NULL;
    set(options, "draws", "20"), set(options, "warmup", "50"), set(options, "chains", "8");
    succeed(gess_run_new(&run, model, options, NULL, &err), &err);
    succeed(gess_run_go(run, &err), &err);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
}

static void evaluate_points(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_density density = {.size = sizeof density, .dim = 2, .logp = half_square, .gradient = with_gradient};
    const double x[] = {1.0, 2.0, 3.0, 4.0};
    double logp[2], gradient[4];
    gess_model *model = new_model(&density);
    succeed(gess_model_evaluate(model, 2, x, logp, NULL, &err), &err);
    assert_true(logp[0] == -2.5 && logp[1] == -12.5);
    succeed(gess_model_evaluate(model, 2, x, logp, gradient, &err), &err);
    for (size_t i = 0; i < 4; i++) assert_true(gradient[i] == -x[i]);
    gess_model_free(model);
    density.gradient = NULL;
    model = new_model(&density);
    assert_failed(gess_model_evaluate(model, 2, x, logp, gradient, &err), GESS_ERR_USAGE, &err, "gradient");
    assert_name(model, 1, "x2");
    gess_model_free(model);
    gess_model_free(NULL);
}

static void densities_refused(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_model *model = (gess_model *)&err;
    gess_density density = {.dim = 2, .logp = half_square};
    assert_failed(gess_model_new(&model, &density, &err), GESS_ERR_MODEL, &err, "size");
    assert_null(model);
    density.size = offsetof(gess_density, logp); /* what must be there is not */
    assert_failed(gess_model_new(&model, &density, &err), GESS_ERR_MODEL, &err, "size");
    density.size = offsetof(gess_density, gradient); /* the shortest */
    density.gradient = (gess_gradient_fn *)0;
    gess_model_free(new_model(&density));
    density.size = sizeof density;
    density.dim = 0;
    assert_failed(gess_model_new(&model, &density, &err), GESS_ERR_MODEL, &err, "dim");
    density.dim = 2;
    density.logp = NULL;
    assert_failed(gess_model_new(&model, &density, &err), GESS_ERR_MODEL, &err, "logp");
    assert_null(model);
}

static void versions(void **state)
{
    (void)state;
    char text[32];
    assert_int_equal(gess_version_number(), GESS_VERSION_NUMBER);
    assert_int_equal(GESS_VERSION_NUMBER, 10000 * GESS_VERSION_MAJOR + 100 * GESS_VERSION_MINOR + GESS_VERSION_PATCH);
    snprintf(text, sizeof text, "%d.%d.%d", GESS_VERSION_MAJOR, GESS_VERSION_MINOR, GESS_VERSION_PATCH);
    assert_string_equal(gess_version(), text);
    for (int status = GESS_OK; status <= GESS_ERR_NOT_CONVERGED; status++)
        assert_true(strlen(gess_status_text(status)) > 0);
    assert_non_null(gess_status_text(-5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_by_name),         cmocka_unit_test(options_own_their_text),
        cmocka_unit_test(workers_are_known),       cmocka_unit_test(lists_end),
        cmocka_unit_test(defaults_of_options),     cmocka_unit_test(kernels_of_the_list),
        cmocka_unit_test(models_own_their_arrays), cmocka_unit_test(evaluate_points),
        cmocka_unit_test(densities_refused),       cmocka_unit_test(versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
