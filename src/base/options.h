/* The table of options, one row per row of <gess/options.def>: help, ranges, parsing and checking. */
#ifndef GESS_BASE_OPTIONS_H
#define GESS_BASE_OPTIONS_H

#include "base/status.h"

enum gess__option_type {
    GESS__OPTION_COUNT,
    GESS__OPTION_COUNT_OR_AUTO,
    GESS__OPTION_REAL,
    GESS__OPTION_TIME,
    GESS__OPTION_TEXT,
    GESS__OPTION_FLAG
};

typedef struct gess__option {
    enum gess__option_type type;
    const char *name; /* as on the command line, without dashes */
    const char *unit; /* of its argument; NULL for a flag */
    const char *help;
    size_t offset;             /* of its field in gess_options */
    uint64_t count, low, high; /* default and range of a count */
    double real, min, max;     /* default and range of a real number */
    const char *text;          /* default of a text, or NULL */
} gess__option;

/* Row i; NULL past the end. */
const gess__option *gess__option_row(size_t i);

/* Writes a value as text that gess_options_set() takes; "" for an absent text. */
void gess__option_show(const gess_options *options, const gess__option *option, char *text, size_t size);

/* Checks every field against its row, because programs may set the fields of the struct directly. */
int gess__options_check(const gess_options *options, gess_error *err);

/* The help of a row with its default, for --help and the manual. */
void gess__option_help(const gess__option *option, char *text, size_t size);

/* Parses a whole number such as 1000 or 2e6, exactly; false if it is not one. */
bool gess__parse_count(const char *text, uint64_t *out);

/* Parses a time such as 90, 90s, 5m, 2h or 1d into seconds; false if it is not one. */
bool gess__parse_time(const char *text, double *out);

#endif
