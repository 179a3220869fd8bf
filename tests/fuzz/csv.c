/* The readers of CSV: tables, and draws of other programs. */
#include "fuzz.h"

#include "base/csv.h"
#include "draws/csv_chains.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gess_error err = {0};
    gess__table table = {0};
    gess__draws draws = {0};
    const char *path = fuzz_file(data, size);
    char *paths[2] = {(char *)(uintptr_t)path, (char *)(uintptr_t)path};
    int status = gess__table_read(&table, path, &err);
    if (status != GESS_OK && err.text[0] == '\0') abort();
    gess__table_free(&table);
    status = gess__draws_from_tables(&draws, 2, paths, &err);
    if (status != GESS_OK && err.text[0] == '\0') abort();
    gess__draws_free(&draws);
    return 0;
}
