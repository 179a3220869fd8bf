/* Shared by the tests of <gess/gess.h>: calls that must succeed or fail, and options by name. */
#ifndef GESS_TESTS_UNIT_API_H
#define GESS_TESTS_UNIT_API_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gess/gess.h>

#include <string.h>

static void succeed(int status, const gess_error *err)
{
    if (status != GESS_OK) fail_msg("status %d: %s", status, err->text);
}

/* A call must have failed with this status and this piece of text. */
static void assert_failed(int got, int status, const gess_error *err, const char *piece)
{
    if (got != status || err->status != status || strstr(err->text, piece) == NULL)
        fail_msg("status %d, '%s'; expected %d, '%s'", got, err->text, status, piece);
}

static gess_options *new_options(void)
{
    gess_error err = {0};
    gess_options *options = NULL;
    succeed(gess_options_new(&options, &err), &err);
    return options;
}

static void set(gess_options *options, const char *name, const char *value)
{
    gess_error err = {0};
    succeed(gess_options_set(options, name, value, &err), &err);
}

static int half_square(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        logp[i] = 0.0;
        for (size_t k = 0; k < dim; k++) logp[i] -= 0.5 * x[i * dim + k] * x[i * dim + k];
    }
    return 0;
}

static gess_model *new_model(const gess_density *density)
{
    gess_error err = {0};
    gess_model *model = NULL;
    succeed(gess_model_new(&model, density, &err), &err);
    return model;
}

#endif
