/* gess_csv_read() of <gess/draws.h>: the numbers of a CSV file. */
#include "api/argument.h"
#include "base/csv.h"

#include <gess/draws.h>
#include <stdlib.h>

int gess_csv_read(const char *path, size_t *rows, size_t *columns, double **values, gess_error *err)
{
    gess__table table = {0};
    GESS_REQUIRE(values, err);
    *values = NULL;
    GESS_REQUIRE(path, err);
    GESS_REQUIRE(rows, err);
    GESS_REQUIRE(columns, err);
    int status = gess__table_read(&table, path, err);
    if (status == GESS_OK) {
        *rows = table.rows;
        *columns = table.columns;
        *values = table.values; /* handed over */
        table.values = NULL;
    }
    gess__table_free(&table);
    return status;
}

void gess_values_free(double *values)
{
    free(values);
}
