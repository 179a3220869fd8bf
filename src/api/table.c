/* gess_csv_read() of <gess/draws.h>: the numbers of a CSV file. */
#include "api/argument.h"
#include "base/csv.h"

#include <gess/draws.h>
#include <stdlib.h>

int gess_csv_read(const char *path, size_t *rows, size_t *columns, double **values, gess_error *err)
{
    gess__table table = {0};
    GESS__REQUIRE(values);
    *values = NULL;
    GESS__REQUIRE(path);
    GESS__REQUIRE(rows);
    GESS__REQUIRE(columns);
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
