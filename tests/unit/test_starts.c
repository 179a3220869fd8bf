/* Starting points of chains. */
#include "base/options.h"
#include "model/model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"

#include <gess/gess.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "test_starts-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_text(const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* ---- models ---- */

enum { DIM = 3 };

enum { MAX_KEPT = 100 };

/* A density with support x1 > low; its value is `outside` below. */
typedef struct density {
    double low, outside;
    int code; /* returned */
    atomic_ullong calls;
    size_t limit;  /* the number of chains: what comes after their starts is not noted */
    size_t inside; /* evaluated points of the support, and the first of them */
    double points[MAX_KEPT][DIM];
} density;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)worker;
    density *d = user;
    d->calls += n;
    for (size_t i = 0; i < n; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < dim; j++) sum -= 0.5 * x[i * dim + j] * x[i * dim + j];
        values[i] = x[i * dim] > d->low ? sum : d->outside;
        if (x[i * dim] > d->low && dim == DIM && d->inside < d->limit)
            memcpy(d->points[d->inside++], x + i * dim, DIM * sizeof *x);
    }
    return d->code;
}

static void shifted(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t i = 0; i < dim; i++) x[i] = 10.0 * (double)(i + 1) + 2.0 * normals[i];
}

static gess_model model_of(density *d)
{
    return (gess_model){.name = "test", .dim = DIM, .logp = logp, .user = d};
}

static gess_options options_of(uint64_t chains, const char *init)
{
    gess_options o;
    gess__options_init(&o);
    o.chains = chains;
    o.init = init;
    o.schedule = "fixed";
    o.warmup = o.draws = 0;
    o.seed = 99;
    o.threads = 2;
    return o;
}

/* Opens a run without any iteration: the evaluated points of the support are the chains' starts. */
static gess_stats start(const gess_model *model, uint64_t chains, const char *init)
{
    gess_run *run;
    gess_error err = {0};
    gess_stats stats;
    gess_options o = options_of(chains, init);
    density *d = model->user;
    d->limit = chains;
    if (gess_run_new(&run, model, &o, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(d->inside, chains);
    if (gess_run_go(run, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(d->inside, chains);
    gess_run_stats(run, &stats, sizeof stats, NULL);
    assert_int_equal(stats.evals + stats.evals_checked, atomic_load(&d->calls));
    assert_true(stats.evals_checked >= chains);
    gess_run_free(run);
    return stats;
}

/* The run must be refused with this status and a message that contains both pieces. */
static void refuse(const gess_model *model, uint64_t chains, const char *init, int status, const char *piece,
                   const char *other)
{
    gess_run *run;
    gess_error err = {0};
    gess_options o = options_of(chains, init);
    int got = gess_run_new(&run, model, &o, NULL, &err);
    if (got != status || err.status != status || strstr(err.text, piece) == NULL || strstr(err.text, other) == NULL)
        fail_msg("status %d, '%s'; expected %d, '%s', '%s'", got, err.text, status, piece, other);
    gess_run_free(run);
}

static void normals_of(size_t chain, uint64_t attempt, double *x)
{
    gess__normals((gess__key){.seed = 99, .iteration = attempt, .chain = (uint32_t)chain, .purpose = GESS__FOR_START},
                  DIM, x);
}

/* ---- drawn starts ---- */

static void standard_normals(void **state)
{
    (void)state;
    density d = {.low = -INFINITY};
    gess_model model = model_of(&d);
    gess_stats stats = start(&model, 50, NULL);
    for (size_t c = 0; c < 50; c++) {
        double expected[DIM];
        normals_of(c, 0, expected);
        assert_memory_equal(d.points[c], expected, sizeof expected);
    }
    assert_int_equal(stats.evals, 50);
    assert_int_equal(stats.nans, 0);
}

static void own_starts(void **state)
{
    (void)state;
    density d = {.low = -INFINITY};
    gess_model model = model_of(&d);
    model.start = shifted;
    start(&model, 50, NULL);
    for (size_t c = 0; c < 50; c++) {
        double normals[DIM], expected[DIM];
        normals_of(c, 0, normals);
        shifted(NULL, DIM, normals, expected);
        assert_memory_equal(d.points[c], expected, sizeof expected);
    }
}

/* --start-scale multiplies the normals, those given to the model's own starts too. */
static void scaled_starts(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        density d = {.low = -INFINITY, .limit = 50};
        gess_model model = model_of(&d);
        if (own) model.start = shifted;
        gess_run *run = NULL;
        gess_error err = {0};
        gess_options o = options_of(50, NULL);
        o.start_scale = 12.5;
        if (gess_run_new(&run, &model, &o, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
        assert_int_equal(d.inside, 50);
        for (size_t c = 0; c < 50; c++) {
            double normals[DIM], expected[DIM];
            normals_of(c, 0, normals);
            for (size_t i = 0; i < DIM; i++) normals[i] *= 12.5;
            memcpy(expected, normals, sizeof expected);
            if (own) shifted(NULL, DIM, normals, expected);
            assert_memory_equal(d.points[c], expected, sizeof expected);
        }
        gess_run_free(run);
    }
}

static void refused_scales(void **state)
{
    (void)state;
    static const char *const bad[] = {"0", "-1", "nan", "inf", "1e10", "wide"};
    gess_options o;
    gess__options_init(&o);
    assert_true(o.start_scale == 1.0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gess_error err = {0};
        assert_int_equal(gess_options_set(&o, "start-scale", bad[i], &err), GESS_ERR_USAGE);
        assert_non_null(strstr(err.text, "--start-scale"));
    }
    assert_int_equal(gess_options_set(&o, "start-scale", "1e-3", NULL), GESS_OK);
    assert_true(o.start_scale == 1e-3);
    density d = {.low = -INFINITY};
    gess_model model = model_of(&d);
    gess_run *run = NULL;
    gess_error err = {0};
    o.init = path;
    assert_int_equal(gess_run_new(&run, &model, &o, NULL, &err), GESS_ERR_USAGE);
    assert_non_null(strstr(err.text, "--start-scale 0.001 is about default starts, and --init gives others"));
    o.init = NULL;
    o.start_scale = 10.0;
    d.low = INFINITY;
    d.outside = -INFINITY;
    assert_int_equal(gess_run_new(&run, &model, &o, NULL, &err), GESS_ERR_MODEL);
    assert_non_null(strstr(err.text, "smaller --start-scale"));
}

/* Points outside the support, or with a density of NaN, are drawn again. */
static void redraws(void **state)
{
    (void)state;
    static const double outside[] = {-INFINITY, NAN};
    for (size_t k = 0; k < 2; k++) {
        density d = {.low = 0.5, .outside = outside[k]};
        gess_model model = model_of(&d);
        gess_stats stats = start(&model, 60, NULL);
        uint64_t calls = 0, largest = 0;
        for (size_t c = 0; c < 60; c++) {
            double expected[DIM];
            uint64_t attempt = 0;
            for (normals_of(c, 0, expected); !(expected[0] > 0.5); normals_of(c, ++attempt, expected)) calls++;
            calls++;
            if (attempt > largest) largest = attempt;
            assert_memory_equal(d.points[c], expected, sizeof expected);
        }
        assert_true(largest > 1); /* some chains needed several draws */
        assert_int_equal(stats.evals, calls);
        assert_int_equal(stats.nans, k == 0 ? 0 : calls - 60);
    }
}

static void no_start_inside(void **state)
{
    (void)state;
    static const double outside[] = {-INFINITY, NAN};
    for (size_t k = 0; k < 2; k++) {
        density d = {.low = INFINITY, .outside = outside[k]};
        gess_model model = model_of(&d);
        refuse(&model, 10, NULL, GESS_ERR_MODEL, "no starting point inside the support for chain 1", "--init");
        assert_true(d.calls >= 100 && d.calls <= 1000); /* bounded */
        refuse(&model, 10, NULL, GESS_ERR_MODEL, "x1 = ", "100");
    }
}

static void infinite_start(void **state)
{
    (void)state;
    density d = {.low = 0.0, .outside = INFINITY};
    gess_model model = model_of(&d);
    static const char *const names[] = {"alpha", "beta", "gamma"};
    model.names = names;
    refuse(&model, 50, NULL, GESS_ERR_MODEL, "+infinity at the start of chain", "alpha = -");
}

static void model_error(void **state)
{
    (void)state;
    density d = {.low = -INFINITY, .code = 7};
    gess_model model = model_of(&d);
    refuse(&model, 50, NULL, GESS_ERR_MODEL, "error 7", "x3 = ");
    assert_true(d.calls >= 1 && d.calls <= 50);
}

/* ---- starts from a file ---- */

static void assert_starts(const gess_model *model, uint64_t chains, const double *expected)
{
    density *d = model->user;
    d->inside = 0;
    d->calls = 0;
    start(model, chains, path);
    assert_memory_equal(d->points, expected, (size_t)chains * DIM * sizeof *expected);
}

static const double four[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};

static void from_file(void **state)
{
    (void)state;
    density d = {.low = -INFINITY};
    gess_model model = model_of(&d);
    write_text("1,2,3\n4,5,6\n7,8,9\n10,11,12\n13,14,15\n"); /* a row more than needed */
    assert_starts(&model, 4, four);
    write_text("a,b,c\n1,2,3\n4,5,6\n7,8,9\n10,11,12\n"); /* foreign names: in order */
    assert_starts(&model, 4, four);
    write_text("x3,lp__,x1,x2\n3,-1,1,2\n6,-1,4,5\n9,-1,7,8\n12,-1,10,11\n"); /* by name */
    assert_starts(&model, 4, four);
    static const char *const names[] = {"alpha", "beta", "gamma"};
    model.names = names;
    write_text("gamma,\"alpha\",beta\n3,1,2\n6,4,5\n9,7,8\n12,10,11\n");
    assert_starts(&model, 4, four);
}

static void bad_files(void **state)
{
    (void)state;
    density d = {.low = 0.0, .outside = -INFINITY};
    gess_model model = model_of(&d);
    refuse(&model, 4, "no/such/file.csv", GESS_ERR_FILE, "no/such/file.csv", "");
    write_text("1,2,3\n4,5,6\n7,8,9\n");
    refuse(&model, 4, path, GESS_ERR_USAGE, "3 starting points", "--chains 3");
    write_text("1,2\n4,5\n7,8\n1,1\n");
    refuse(&model, 4, path, GESS_ERR_USAGE, "2 columns", "3 parameters");
    write_text("1,2,3,4\n1,2,3,4\n1,2,3,4\n1,2,3,4\n");
    refuse(&model, 4, path, GESS_ERR_USAGE, "4 columns", "header");
    write_text("1,2,3\n4,5,6\n-7,8,9\n10,11,12\n");
    refuse(&model, 4, path, GESS_ERR_USAGE, "row 3", "outside the support");
    write_text("1,2,3\n4,5,x\n-7,8,9\n10,11,12\n");
    refuse(&model, 4, path, GESS_ERR_USAGE, "line 2, column 3", path);
    d.outside = INFINITY;
    write_text("1,2,3\n-4,5,6\n7,8,9\n10,11,12\n");
    refuse(&model, 4, path, GESS_ERR_MODEL, "+infinity at the start of chain 2", "x1 = -4, x2 = 5, x3 = 6");
    d.outside = NAN;
    refuse(&model, 4, path, GESS_ERR_USAGE, "row 2", "NaN");
}

/* A long point is shortened, not cut off. */
static void long_points(void **state)
{
    (void)state;
    density d = {.low = INFINITY, .outside = INFINITY};
    gess_model model = model_of(&d);
    model.dim = 300;
    refuse(&model, 4, NULL, GESS_ERR_MODEL, "x1 = ", "…");
    d.outside = -INFINITY;
    refuse(&model, 4, NULL, GESS_ERR_MODEL, "…", "--init");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(standard_normals), cmocka_unit_test(own_starts),     cmocka_unit_test(redraws),
        cmocka_unit_test(no_start_inside),  cmocka_unit_test(infinite_start), cmocka_unit_test(model_error),
        cmocka_unit_test(from_file),        cmocka_unit_test(bad_files),      cmocka_unit_test(long_points),
        cmocka_unit_test(scaled_starts),    cmocka_unit_test(refused_scales),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
