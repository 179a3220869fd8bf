/* The log likelihoods of observations that a model gives are stored with its draws, behind its derived quantities; and
 * columns that a file of draws hides are left out for those who show draws. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/folder.h"
#include "draws/reader.h"
#include "draws/writer.h"
#include "model/model.h"

#include <gess/draws.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OBSERVATIONS = 3 };

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker, (void)dim;
    for (size_t i = 0; i < n; i++) values[i] = -0.5 * x[i] * x[i];
    return 0;
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim;
    assert_int_equal(derived, 1);
    out[0] = 2.0 * x[0];
    return 0;
}

static int pointwise(void *user, unsigned worker, size_t dim, const double *x, size_t observations, double *out)
{
    (void)user, (void)worker, (void)dim;
    assert_int_equal(observations, OBSERVATIONS);
    for (size_t i = 0; i < observations; i++) out[i] = x[0] - (double)i;
    return 0;
}

static void stored_with_draws(void **state)
{
    static const char *const twice[] = {"twice"};
    char folder[] = "test_pointwise-XXXXXX", path[64], name[32], command[100];
    gess_density d = {.size = sizeof d, .dim = 1, .logp = logp, .observations = OBSERVATIONS, .pointwise = pointwise};
    gess_model *model = NULL;
    gess_options *options = NULL;
    gess_run *run = NULL;
    gess_draws *draws = NULL;
    gess_draws_shape shape;
    gess_error err = {0};
    (void)state;
    for (int with = 0; with < 2; with++) { /* without and with derived quantities of its own */
        assert_non_null(mkdtemp(strcpy(folder, "test_pointwise-XXXXXX")));
        snprintf(path, sizeof path, "%s/run", folder);
        d.derived = (size_t)with;
        d.derived_names = with ? twice : NULL;
        d.derive = with ? derive : NULL;
        if (gess_model_new(&model, &d, &err) != GESS_OK) fail_msg("%s", err.text);
        assert_int_equal(gess_model_name(model, 1 + (size_t)with + 2, name, sizeof name, &err), GESS_OK);
        assert_string_equal(name, "log_lik[3]");
        assert_int_equal(gess_options_new(&options, &err), GESS_OK);
        assert_int_equal(gess_options_set(options, "chains", "8", &err), GESS_OK);
        assert_int_equal(gess_options_set(options, "warmup", "20", &err), GESS_OK);
        assert_int_equal(gess_options_set(options, "draws", "10", &err), GESS_OK);
        if (with) assert_int_equal(gess_options_set(options, "isolate", "1", &err), GESS_OK);
        if (gess_run_new(&run, model, options, path, &err) != GESS_OK) fail_msg("%s", err.text);
        if (gess_run_go(run, &err) != GESS_OK) fail_msg("%s", err.text);
        gess_run_free(run);
        assert_int_equal(gess_draws_open(&draws, path, &err), GESS_OK);
        assert_int_equal(gess_draws_info(draws, &shape, sizeof shape, &err), GESS_OK);
        assert_int_equal(shape.columns, 2 + with + OBSERVATIONS);
        assert_int_equal(shape.dim, 1);
        double row[2 + 1 + OBSERVATIONS];
        for (size_t chain = 0; chain < shape.chains; chain++) {
            assert_int_equal(gess_draws_read(draws, chain, 9, 1, 0, shape.columns, row, &err), GESS_OK);
            if (with) assert_true(row[2] == 2.0 * row[1]);
            for (int i = 0; i < OBSERVATIONS; i++) assert_true(row[2 + with + i] == row[1] - i);
        }
        gess_draws_close(draws);
        gess_options_free(options);
        gess_model_free(model);
        snprintf(command, sizeof command, "rm -r %s", folder);
        assert_int_equal(system(command), 0);
    }
}

/* A name that is the model's own already is refused. */
static void two_of_a_name(void **state)
{
    static const char *const taken[] = {"log_lik[2]"};
    gess_density d = {.size = sizeof d,
                      .dim = 1,
                      .logp = logp,
                      .derived = 1,
                      .derived_names = taken,
                      .derive = derive,
                      .observations = OBSERVATIONS,
                      .pointwise = pointwise};
    gess_model *model = NULL;
    gess_error err = {0};
    (void)state;
    assert_int_equal(gess_model_new(&model, &d, &err), GESS_ERR_MODEL);
    assert_non_null(strstr(err.text, "two quantities with the name 'log_lik[2]'"));
}

/* ---- columns that are not shown ---- */

enum { CHAINS = 5, COLUMNS = 7, HIDDEN = 3, DRAWS = 4000 };

static double value_of(size_t chain, uint64_t draw, size_t column)
{
    return (double)(chain * 1000000 + draw * 10 + column);
}

static void check_rows(const gess__reader *r, size_t skip, uint64_t first, uint64_t n)
{
    double *rows = malloc(CHAINS * n * r->columns * sizeof *rows);
    gess_error err = {0};
    assert_non_null(rows);
    if (gess__reader_rows(r, 0, CHAINS, first, n, rows, &err) != GESS_OK) fail_msg("%s", err.text);
    for (size_t c = 0; c < CHAINS; c++)
        for (uint64_t i = 0; i < n; i++)
            for (size_t j = 0; j < r->columns; j++)
                assert_true(rows[(c * n + i) * r->columns + j] == value_of(c, first + i, j > 0 ? j + skip : 0));
    free(rows);
}

static void hidden_columns(void **state)
{
    static const char *const names[COLUMNS] = {"lp__", "a (u)", "b (u)", "c (u)", "a", "b", "d"};
    static double rows[CHAINS * DRAWS * COLUMNS];
    const gess__writer_columns columns = {COLUMNS, names, HIDDEN, 2};
    char path[] = "test_pointwise-XXXXXX";
    gess__writer *w = NULL;
    gess__reader *r = NULL;
    gess_error err = {0};
    (void)state;
    close(mkstemp(path));
    for (size_t c = 0; c < CHAINS; c++)
        for (uint64_t i = 0; i < DRAWS; i++)
            for (size_t j = 0; j < COLUMNS; j++) rows[(c * DRAWS + i) * COLUMNS + j] = value_of(c, i, j);
    if (gess__writer_create(&w, GESS__NO_FOLDER, path, CHAINS, 1, &(size_t){0}, &columns, 1, &err) != GESS_OK)
        fail_msg("%s", err.text);
    assert_int_equal(gess__writer_append(w, 0, CHAINS, 0, DRAWS, rows, &err), GESS_OK);
    assert_int_equal(gess__writer_sync(w, &err), GESS_OK);
    gess__writer_free(w);
    for (int shown = 0; shown < 2; shown++) {
        int status = shown ? gess__reader_open_shown(&r, path, &err) : gess__reader_open(&r, path, &err);
        if (status != GESS_OK) fail_msg("%s", err.text);
        assert_int_equal(r->columns, shown ? COLUMNS - HIDDEN : COLUMNS);
        assert_int_equal(r->hidden, shown ? 0 : HIDDEN);
        assert_int_equal(r->parameters, 2);
        assert_string_equal(r->names[0], "lp__");
        assert_string_equal(r->names[1], shown ? "a" : "a (u)");
        check_rows(r, shown ? HIDDEN : 0, 0, DRAWS);
        check_rows(r, shown ? HIDDEN : 0, 17, 1);
        check_rows(r, shown ? HIDDEN : 0, 1000, 2999);
        gess__reader_free(r);
    }
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(stored_with_draws), cmocka_unit_test(two_of_a_name),
                                       cmocka_unit_test(hidden_columns)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
