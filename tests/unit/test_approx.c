/* The approximation T: its constructor, densities and reader. */
#include "approx/approx.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static gess__approx *make(size_t dim)
{
    gess_error err = {0};
    gess__approx *t = NULL;
    assert_int_equal(gess__approx_new(&t, dim, &err), GESS_OK);
    return t;
}

static void starts_as_standard_gaussian(void **state)
{
    (void)state;
    gess__approx *t = make(5);
    assert_true(isinf(t->nu));
    assert_true(t->log_det == 0.0);
    for (size_t i = 0; i < 5; i++) {
        assert_true(t->mu[i] == 0.0 && t->inverse_diagonal[i] == 1.0);
        for (size_t k = 0; k < 5; k++) assert_true(t->chol[i + 5 * k] == (i == k ? 1.0 : 0.0));
    }
    assert_true(gess__approx_trace(t) == 5.0);
    gess__approx_free(t);
    gess__approx_free(NULL);
}

static void ready_and_copy(void **state)
{
    (void)state;
    gess__approx *t = make(2), *u = make(2);
    t->nu = 3.0;
    t->mu[0] = 1.5;
    t->chol[0] = 2.0;
    t->chol[1] = -1.0;
    t->chol[3] = 4.0;
    gess__approx_ready(t);
    assert_true(t->inverse_diagonal[0] == 0.5 && t->inverse_diagonal[1] == 0.25);
    assert_true(fabs(t->log_det - 2.0 * log(8.0)) < 1e-15);
    assert_true(gess__approx_trace(t) == 4.0 + 1.0 + 16.0);
    gess__approx_copy(u, t);
    assert_true(u->nu == 3.0 && u->mu[0] == 1.5 && u->log_det == t->log_det);
    assert_memory_equal(u->chol, t->chol, 4 * sizeof(double));
    assert_memory_equal(u->inverse_diagonal, t->inverse_diagonal, 2 * sizeof(double));
    gess__approx_free(t);
    gess__approx_free(u);
}

/* Against the density written out, and the vector form against the scalar one, bit for bit. */
static void densities(void **state)
{
    (void)state;
    gess__approx *t = make(3);
    t->chol[0] = 0.7;
    gess__approx_ready(t);
    const double nus[] = {0.5, 2.0, 17.5, INFINITY};
    for (size_t k = 0; k < 4; k++) {
        double deltas[37], out[37], gaussian[37];
        t->nu = nus[k];
        for (size_t i = 0; i < 37; i++) deltas[i] = 0.013 * (double)(i * i * i);
        gess__approx_log_ts(t, 0, 37, deltas, out);
        gess__approx_log_ts(t, 1, 37, deltas, gaussian);
        for (size_t i = 0; i < 37; i++) {
            double nu = nus[k], d = deltas[i];
            double want = isinf(nu) ? -1.5 * log(2.0 * M_PI) - log(0.7) - 0.5 * d
                                    : lgamma(0.5 * (nu + 3.0)) - lgamma(0.5 * nu) - 1.5 * log(nu * M_PI) - log(0.7) -
                                          0.5 * (nu + 3.0) * log1p(d / nu);
            double got = gess__approx_log_t(t, d) + gess__approx_log_norm(t);
            assert_true(fabs(got - want) < 1e-12 * (1.0 + fabs(want)));
            assert_true(out[i] == gess__approx_log_t(t, d));
            assert_true(gaussian[i] == -0.5 * d);
        }
    }
    gess__approx_free(t);
}

static int read_text(const char *text, gess__approx *t, gess_error *err)
{
    char path[] = "/tmp/gess-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    int status = gess__approx_read(t, path, err);
    unlink(path);
    return status;
}

static void reads(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__approx *t = make(2);
    assert_int_equal(read_text("{\"nu\": 4.5, \"mu\": [1, -2], \"sigma\": [[4, 2], [2, 10]], \"more\": 1}", t, &err),
                     GESS_OK);
    assert_true(t->nu == 4.5 && t->mu[0] == 1.0 && t->mu[1] == -2.0);
    assert_true(t->chol[0] == 2.0 && t->chol[1] == 1.0 && t->chol[2] == 0.0 && t->chol[3] == 3.0);
    assert_true(t->inverse_diagonal[1] == 1.0 / 3.0);
    assert_int_equal(read_text("{\"nu\": null, \"mu\": [0, 0], \"sigma\": [[1, 0], [0, 1]]}", t, &err), GESS_OK);
    assert_true(isinf(t->nu));
    static const struct {
        const char *text, *word;
    } bad[] = {
        {"{\"nu\": -1, \"mu\": [0, 0], \"sigma\": [[1, 0], [0, 1]]}", "nu"},
        {"{\"nu\": \"x\", \"mu\": [0, 0], \"sigma\": [[1, 0], [0, 1]]}", "nu"},
        {"{\"mu\": [0], \"sigma\": [[1, 0], [0, 1]]}", "mu"},
        {"{\"mu\": [0, null], \"sigma\": [[1, 0], [0, 1]]}", "mu"},
        {"{\"mu\": [0, 0], \"sigma\": [[1, 0]]}", "sigma"},
        {"{\"mu\": [0, 0], \"sigma\": [[1, 0], [0]]}", "sigma"},
        {"{\"mu\": [0, 0], \"sigma\": [[1, 0.5], [0.4, 1]]}", "not symmetric at row 2, column 1"},
        {"{\"mu\": [0, 0], \"sigma\": [[1, 2], [2, 1]]}", "not positive definite"},
        {"{\"mu\": [0, 0]}", "sigma"},
        {"{\"mu\": [0, 0],\n\"sigma\"", "line 2"},
        {"", "gess fit --json"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_text(bad[i].text, t, &err), GESS_ERR_USAGE);
        if (strstr(err.text, bad[i].word) == NULL) fail_msg("%s: %s", bad[i].text, err.text);
    }
    assert_int_equal(gess__approx_read(t, "/no/such/file.json", &err), GESS_ERR_USAGE);
    assert_non_null(strstr(err.text, "/no/such/file.json"));
    gess__approx_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_as_standard_gaussian),
        cmocka_unit_test(ready_and_copy),
        cmocka_unit_test(densities),
        cmocka_unit_test(reads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
