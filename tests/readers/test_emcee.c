/* `export --to emcee` read back with the HDF5 library. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "readers/store.h"

#include <hdf5.h>

static int64_t number(hid_t group, const char *name)
{
    int64_t value = -1;
    hid_t attribute = H5Aopen(group, name, H5P_DEFAULT);
    assert_true(attribute >= 0);
    assert_true(H5Aread(attribute, H5T_NATIVE_INT64, &value) >= 0);
    H5Aclose(attribute);
    return value;
}

static hid_t open_set(hid_t group, const char *name, int rank, const hsize_t *size)
{
    hsize_t is[3], limit[3];
    hid_t set = H5Dopen2(group, name, H5P_DEFAULT);
    assert_true(set >= 0);
    hid_t space = H5Dget_space(set);
    assert_int_equal(H5Sget_simple_extent_ndims(space), rank);
    H5Sget_simple_extent_dims(space, is, limit);
    for (int i = 0; i < rank; i++) assert_int_equal(is[i], size[i]);
    if (rank > 1) assert_true(limit[0] == H5S_UNLIMITED);
    H5Sclose(space);
    return set;
}

static void read_back(void **state)
{
    (void)state;
    static double chain[DRAWS][CHAINS][DIM], log_prob[DRAWS][CHAINS], blobs[DRAWS][CHAINS][COLUMNS - 1 - DIM],
        accepted[CHAINS];
    const hsize_t size[3] = {DRAWS, CHAINS, DIM}, walkers = CHAINS, parameters = DIM, derived = COLUMNS - 1 - DIM;
    hid_t file = H5Fopen(export_store("emcee"), H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    hid_t group = H5Gopen2(file, "mcmc", H5P_DEFAULT);
    assert_int_equal(number(group, "iteration"), DRAWS);
    assert_int_equal(number(group, "nwalkers"), CHAINS);
    assert_int_equal(number(group, "ndim"), DIM);
    assert_true(H5Aexists(group, "version") > 0 && H5Aexists(group, "has_blobs") > 0);

    hid_t set = open_set(group, "chain", 3, size);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, chain) >= 0);
    H5Dclose(set);
    set = open_set(group, "log_prob", 2, size);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, log_prob) >= 0);
    H5Dclose(set);
    set = open_set(group, "blobs", 2, size);
    hid_t type = H5Tarray_create2(H5T_NATIVE_DOUBLE, 1, &derived);
    assert_true(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, blobs) >= 0);
    H5Tclose(type);
    H5Dclose(set);
    set = open_set(group, "accepted", 1, &walkers);
    assert_true(H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, accepted) >= 0);
    H5Dclose(set);
    for (size_t c = 0; c < CHAINS; c++) {
        assert_true(accepted[c] == (double)(DRAWS - 1 - (DRAWS - 1) / (c + 2)));
        for (size_t i = 0; i < DRAWS; i++) {
            assert_true(log_prob[i][c] == value_of(c, i, 0));
            for (size_t j = 0; j < DIM; j++) assert_true(chain[i][c][j] == value_of(c, i, 1 + j));
            for (size_t j = 0; j < derived; j++) assert_true(blobs[i][c][j] == value_of(c, i, 1 + DIM + j));
        }
    }

    char *texts[DIM];
    hid_t text = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &parameters, NULL);
    H5Tset_size(text, H5T_VARIABLE);
    H5Tset_cset(text, H5T_CSET_UTF8);
    set = open_set(file, "parameter_names", 1, &parameters);
    assert_true(H5Dread(set, text, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts) >= 0);
    for (size_t j = 0; j < DIM; j++) assert_string_equal(texts[j], names[1 + j]);
    H5Dvlen_reclaim(text, space, H5P_DEFAULT, texts);
    H5Dclose(set);
    H5Sclose(space);
    H5Tclose(text);
    H5Gclose(group);
    H5Fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(read_back)};
    return cmocka_run_group_tests(tests, make_store, remove_store);
}
