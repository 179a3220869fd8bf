/* Tables of numbers: CSV with or without a header. */
#ifndef GESS_BASE_CSV_H
#define GESS_BASE_CSV_H

#include "base/status.h"

#include <stdio.h>

typedef struct gess__table {
    size_t rows, columns;
    double *values; /* rows × columns, row-major */
    char **names;   /* columns names, or NULL where there was no header */
} gess__table;

/* Reads a table. Fields are separated by commas; `#` lines and empty lines are passed over; the
 * first line is a header where any of its fields is not a number. nan, inf and -inf are numbers.
 * Errors name the file, line and column. */
int gess__table_read(gess__table *table, const char *path, gess_error *err);
void gess__table_free(gess__table *table);

/* Writes a column name, in quotes where it needs them. */
void gess__csv_put_name(FILE *out, const char *name);

/* A number from text, the whole of it, in the C locale. Returns false where it is not one. */
bool gess__parse_real(const char *text, double *out);

#endif
