/* Reads tables of numbers from CSV files, with or without a header; parses single numbers. */
#ifndef GESS_BASE_CSV_H
#define GESS_BASE_CSV_H

#include "base/status.h"

#include <locale.h>
#include <stdio.h>

typedef struct gess__table {
    size_t rows, columns;
    double *values; /* rows × columns, row-major */
    char **names;   /* columns names; NULL: the file has no header */
} gess__table;

/* Reads a table. Commas separate fields; lines that begin with `#` and empty lines are skipped; the first line is a
 * header if any of its fields is not a number. nan, inf and -inf are numbers. Errors name the file, line and column. */
int gess__table_read(gess__table *table, const char *path, gess_error *err);
void gess__table_free(gess__table *table);

/* Writes a column name, in quotes if it needs them. */
void gess__csv_put_name(FILE *out, const char *name);

/* Writes a number with 17 digits, which give it back exactly, and a decimal point whatever the locale; `text` has
 * GESS__REAL_SIZE bytes or more. Returns its length. */
enum { GESS__REAL_SIZE = 40 };
size_t gess__show_real(char *text, size_t size, double number);

/* Parses the whole text as a number, in the C locale. Returns false if it is not one. */
bool gess__parse_real(const char *text, double *out);
/* The same, for many numbers: `c_locale` is newlocale(LC_ALL_MASK, "C", (locale_t)0). */
bool gess__parse_real_in(const char *text, locale_t c_locale, double *out);

#endif
