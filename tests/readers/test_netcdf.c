/* `export --to netcdf` read back with the netCDF library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "readers/store.h"

#include <netcdf.h>

#define GOOD(call) assert_int_equal((call), NC_NOERR)

static void assert_variable(int group, const char *name, const char *long_name, size_t column)
{
    static double values[CHAINS * DRAWS];
    int variable, dims[2];
    nc_type type;
    char text[512] = "", dim[NC_MAX_NAME + 1];
    GOOD(nc_inq_varid(group, name, &variable));
    GOOD(nc_inq_var(group, variable, NULL, &type, NULL, dims, NULL));
    assert_int_equal(type, NC_DOUBLE);
    GOOD(nc_inq_dimname(group, dims[0], dim));
    assert_string_equal(dim, "chain");
    GOOD(nc_inq_dimname(group, dims[1], dim));
    assert_string_equal(dim, "draw");
    GOOD(nc_get_var_double(group, variable, values));
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++) assert_true(values[c * DRAWS + i] == value_of(c, i, column));
    if (long_name == NULL) {
        assert_int_equal(nc_get_att_text(group, variable, "long_name", text), NC_ENOTATT);
        return;
    }
    GOOD(nc_get_att_text(group, variable, "long_name", text));
    assert_string_equal(text, long_name);
}

static void assert_coordinate(int group, const char *name, size_t length)
{
    static long long values[CHAINS * DRAWS];
    int variable, dim;
    size_t size;
    GOOD(nc_inq_dimid(group, name, &dim));
    GOOD(nc_inq_dimlen(group, dim, &size));
    assert_int_equal(size, length);
    GOOD(nc_inq_varid(group, name, &variable));
    GOOD(nc_get_var_longlong(group, variable, values));
    for (size_t i = 0; i < length; i++) assert_int_equal(values[i], i);
}

static void assert_text(int group, const char *name, const char *wanted)
{
    char text[256] = "";
    GOOD(nc_get_att_text(group, NC_GLOBAL, name, text));
    if (wanted != NULL) assert_string_equal(text, wanted);
}

static void read_back(void **state)
{
    (void)state;
    static const char *const as[] = {NULL,
                                     "x",
                                     "_=cmd()",
                                     "a_b_2",
                                     "a_b",
                                     "chain_",
                                     "two_lines",
                                     "\xc3\xa9",
                                     "end_",
                                     "x" LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG
                                     "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"};
    static const char *const groups[] = {"posterior", "sample_stats", "warmup_posterior", "warmup_sample_stats"};
    const char *path = export_store("netcdf");
    int file, group;
    GOOD(nc_open(path, NC_NOWRITE, &file));
    for (size_t i = 0; i < 4; i++) {
        GOOD(nc_inq_ncid(file, groups[i], &group));
        assert_coordinate(group, "chain", CHAINS);
        assert_coordinate(group, "draw", DRAWS);
        assert_text(group, "inference_library", "gess");
        assert_text(group, "inference_library_version", gess_version());
        assert_text(group, "creation_library", "gess");
        assert_text(group, "created_at", NULL);
        assert_text(group, "model", "model");
        assert_text(group, "seed", "17");
    }
    assert_variable(group, "lp", NULL, 0);
    GOOD(nc_inq_ncid(file, "posterior", &group));
    for (size_t j = 1; j < COLUMNS; j++) {
        assert_variable(group, as[j], strcmp(as[j], names[j]) == 0 ? NULL : names[j], j);
        char name[NC_MAX_NAME + 1]; /* in model order */
        GOOD(nc_inq_varname(group, (int)j + 1, name));
        assert_string_equal(name, as[j]);
    }
    GOOD(nc_inq_ncid(file, "warmup_posterior", &group));
    assert_variable(group, "x", NULL, 1);
    GOOD(nc_close(file));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_back)};
    return cmocka_run_group_tests(tests, make_store, remove_store);
}
