/* A run seen while it goes on: what progress.json says, and whether the run is alive, as text and as a page. It only
 * reads, so the directory may be mounted from elsewhere. */
#ifndef GESS_REPORT_WATCH_H
#define GESS_REPORT_WATCH_H

#include "base/status.h"

#include <jansson.h>
#include <stdio.h>

typedef struct gess__watch {
    const char *directory;
    json_t *progress; /* progress.json, with "state" as gess__watch_load() found it; gess__watch_free() releases it */
    int state;        /* of enum gess_watch_state */
    double age;       /* seconds since the file was written, by its own clock and ours */
} gess__watch;

/* Reads the files. A directory with a run that has no progress.json yet is GESS_WATCH_WAITING. */
int gess__watch_load(gess__watch *watch, const char *directory, gess_error *err);
void gess__watch_free(gess__watch *watch);

/* Lines of at most `width` columns; 0: 100. */
void gess__watch_print(const gess__watch *watch, size_t width, FILE *out);

/* A page without scripts; it reloads itself every `seconds` unless the run is over. (watch_html.c) */
void gess__watch_page(const gess__watch *watch, double seconds, FILE *out);

/* ---- shared by both ---- */

enum { GESS__WATCH_LINES = 12, GESS__WATCH_SERIES = 64 };

/* A line: what it is about, its text, and the series that goes with it. */
typedef struct gess__watch_line {
    const char *about;
    char text[600];
    double share; /* done, from 0 to 1; NaN: no bar */
    size_t count; /* of the series, oldest first */
    double series[GESS__WATCH_SERIES];
    bool logarithmic; /* shown by its logarithm */
    double target;    /* of the series; NaN: none */
} gess__watch_line;

/* The title and the lines. Returns their number. */
size_t gess__watch_lines(const gess__watch *watch, char title[400], gess__watch_line lines[GESS__WATCH_LINES]);

#endif
