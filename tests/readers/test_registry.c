/* Every row of the table of exporters: it is found by its name, writes, and replaces files only if told to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "readers/store.h"

#include <ftw.h>

static void find_every_row(void **state)
{
    (void)state;
    const gess__exporter *row, *found;
    char text[256];
    gess_error err;
    gess__exporter_names(text, sizeof text);
    for (size_t i = 0; (row = gess__exporter_row(i)) != NULL; i++) {
        assert_true(row->name[0] != '\0' && row->help[0] != '\0' && row->path[0] != '\0');
        assert_non_null(strstr(text, row->name));
        found = NULL;
        int status = gess__exporter_find(row->name, &found, &err);
        assert_ptr_equal(found, row);
        assert_int_equal(status, gess__exporter_available(row) ? GESS_OK : GESS_ERR_USAGE);
        if (status != GESS_OK) assert_non_null(strstr(err.text, row->needs));
    }
}

static void refuse_unknown(void **state)
{
    (void)state;
    const gess__exporter *found = NULL;
    gess_error err;
    assert_int_equal(gess__exporter_find("parquet", &found, &err), GESS_ERR_USAGE);
    assert_null(found);
    assert_non_null(strstr(err.text, "csv"));
}

static int remove_entry(const char *path, const struct stat *information, int type, struct FTW *at)
{
    (void)information, (void)type, (void)at;
    return remove(path);
}

static void write_with_every_row(void **state)
{
    (void)state;
    const gess__exporter *row;
    for (size_t i = 0; (row = gess__exporter_row(i)) != NULL; i++) {
        if (!gess__exporter_available(row)) continue;
        const char *path = export_store(row->name);
        assert_int_equal(access(path, F_OK), 0);
        assert_int_equal(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(find_every_row), cmocka_unit_test(refuse_unknown),
                                       cmocka_unit_test(write_with_every_row)};
    return cmocka_run_group_tests(tests, make_store, remove_store);
}
