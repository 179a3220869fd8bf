/* The table of options, one row per row of <gess/options.def>: help, ranges, parsing and checking. */
#ifndef GESS_BASE_OPTIONS_H
#define GESS_BASE_OPTIONS_H

#include "base/status.h"

/* The value of a count that is left to gess. */
#define GESS_AUTO UINT64_MAX

enum {
#define GESS_ROW(name) GESS__OPTION_ROW_##name,
#define GESS_COUNT(name, flag, value, low, high, unit, help) GESS_ROW(name)
#define GESS_COUNT_OR_AUTO(name, flag, low, high, unit, help) GESS_ROW(name)
#define GESS_COUNT_AUTO_TOO(name, flag, value, low, high, unit, help) GESS_ROW(name)
#define GESS_REAL(name, flag, value, low, high, unit, help) GESS_ROW(name)
#define GESS_TIME(name, flag, unit, help) GESS_ROW(name)
#define GESS_TEXT(name, flag, value, unit, help) GESS_ROW(name)
#define GESS_FLAG(name, flag, help) GESS_ROW(name)
#include "base/options_rows.h"
#undef GESS_ROW
    GESS__OPTION_ROWS
};

/* The public handle: one field per row of <gess/options.def>. */
struct gess_options {
#define GESS_COUNT(name, flag, value, low, high, unit, help) uint64_t name;
#define GESS_COUNT_OR_AUTO(name, flag, low, high, unit, help) uint64_t name;
#define GESS_COUNT_AUTO_TOO(name, flag, value, low, high, unit, help) uint64_t name;
#define GESS_REAL(name, flag, value, low, high, unit, help) double name;
#define GESS_TIME(name, flag, unit, help) double name;
#define GESS_TEXT(name, flag, value, unit, help) const char *name;
#define GESS_FLAG(name, flag, help) int name;
#include "base/options_rows.h"
    gess_comm *comm; /* borrowed; NULL: this process alone */
    /* One starting point per chain, with the parameters' names: the draws of --init-from; NULL: there are none.
     * Borrowed, and set by the run only while it places its chains. */
    const struct gess__table *points;
    struct gess__accelerator *accelerator; /* borrowed; NULL: what --device names */
    gess_watch_fn *watch;                  /* NULL: none */
    void *watch_user;
    struct gess__journal *journal;  /* borrowed, and set by the run; NULL: none */
    char *owned[GESS__OPTION_ROWS]; /* texts that were set by name; other texts are borrowed */
};

/* Sets all options to their defaults, in memory of the caller's; gess__options_clear() frees the texts. */
void gess__options_init(gess_options *options);
void gess__options_clear(gess_options *options);

/* Copies options with their texts into memory of the caller's; nothing to clear after a failure. */
int gess__options_copy(gess_options *to, const gess_options *from, gess_error *err);

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

/* Checks every field against its row, because code of this library may set the fields directly. */
int gess__options_check(const gess_options *options, gess_error *err);

/* Parses a whole number such as 1000 or 2e6, exactly; false if it is not one. */
bool gess__parse_count(const char *text, uint64_t *out);

/* Parses a time such as 90, 90s, 5m, 2h or 1d into seconds; false if it is not one. */
bool gess__parse_time(const char *text, double *out);

#endif
