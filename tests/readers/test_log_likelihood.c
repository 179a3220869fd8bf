/* `export --to netcdf` puts log_lik[1], log_lik[2], … into one variable of the group log_likelihood, and nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/registry.h"
#include "readers/draws_file.h"

#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define GOOD(call) assert_int_equal((call), NC_NOERR)

enum { CHAINS = 3, DRAWS = 60000, COLUMNS = 6, OBSERVATIONS = 3 };
static const char *const names[COLUMNS] = {"lp__", "log_lik[1]", "mu", "log_lik[2]", "log_like", "log_lik[3]"};
static const size_t places[OBSERVATIONS] = {1, 3, 5};

static double value_of(size_t chain, size_t draw, size_t column)
{
    return (double)(chain * 10000000 + draw * 10 + column);
}

static void write_draws(const char *path)
{
    double *rows = malloc(CHAINS * DRAWS * COLUMNS * sizeof *rows);
    assert_non_null(rows);
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++)
            for (size_t j = 0; j < COLUMNS; j++) rows[(c * DRAWS + i) * COLUMNS + j] = value_of(c, i, j);
    FILE *file = draws_file_new(path, CHAINS, COLUMNS, names, 1);
    draws_file_append(file, COLUMNS, 0, CHAINS, 0, DRAWS, rows);
    assert_int_equal(fclose(file), 0);
    free(rows);
}

static void check_values(int group)
{
    int variable, dims[3], count;
    size_t length;
    char name[NC_MAX_NAME + 1];
    double *values = malloc(CHAINS * DRAWS * OBSERVATIONS * sizeof *values);
    assert_non_null(values);
    GOOD(nc_inq_varid(group, "log_lik", &variable));
    GOOD(nc_inq_var(group, variable, NULL, NULL, &count, dims, NULL));
    assert_int_equal(count, 3);
    GOOD(nc_inq_dim(group, dims[2], name, &length));
    assert_string_equal(name, "log_lik_dim_0");
    assert_int_equal(length, OBSERVATIONS);
    GOOD(nc_get_var_double(group, variable, values));
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++)
            for (size_t k = 0; k < OBSERVATIONS; k++)
                assert_true(values[(c * DRAWS + i) * OBSERVATIONS + k] == value_of(c, i, places[k]));
    free(values);
}

static void grouped(void **state)
{
    char folder[] = "test_log_likelihood-XXXXXX", draws[64], out[64];
    const gess__exporter *to = NULL;
    gess__reader *r = NULL;
    gess_error err = {0};
    int file, group, variable;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(draws, sizeof draws, "%s/draws.gess", folder);
    snprintf(out, sizeof out, "%s/out.nc", folder);
    write_draws(draws);
    if (gess__exporter_find("netcdf", &to, &err) != GESS_OK) fail_msg("%s", err.text);
    if (gess__reader_open(&r, draws, &err) != GESS_OK) fail_msg("%s", err.text);
    const gess__export run = {.draws = r, .dim = COLUMNS - 1};
    if (gess__exporter_write(to, &run, out, &err) != GESS_OK) fail_msg("%s", err.text);
    GOOD(nc_open(out, NC_NOWRITE, &file));
    GOOD(nc_inq_ncid(file, "posterior", &group));
    GOOD(nc_inq_varid(group, "mu", &variable));
    GOOD(nc_inq_varid(group, "log_like", &variable));
    assert_int_equal(nc_inq_varid(group, "log_lik[1]", &variable), NC_ENOTVAR);
    GOOD(nc_inq_ncid(file, "log_likelihood", &group));
    check_values(group);
    GOOD(nc_close(file));
    gess__reader_free(r);
    unlink(draws);
    unlink(out);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grouped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
