/* Exports of draws for other programs: one function and one row of exporters.def each.
 *
 * An exporter goes through the draws in windows, so memory does not grow with their number; it writes
 * under a temporary name and renames what is complete. */
#ifndef GESS_EXPORT_EXPORT_H
#define GESS_EXPORT_EXPORT_H

#include "draws/reader.h"

#include <time.h>

typedef struct gess__export {
    const gess__reader *draws;        /* at least one draw */
    const gess__reader *warmup_draws; /* of the same shape, at least one draw; NULL: none were kept */
    size_t dim;                       /* columns 1 … dim are parameters; those behind them derived quantities */
    const char *model;                /* NULL: not known */
    const char *seed;                 /* decimal; NULL: not known */
    uint64_t warmup;                  /* iterations */
    double seconds_warmup, seconds_sampling; /* NaN: not known */
    time_t started;                          /* 0: not known */
    bool overwrite;
} gess__export;

typedef int gess__export_fn(const gess__export *run, const char *path, gess_error *err);

#define GESS_EXPORTER(identifier, built, path, needs, help) gess__export_fn gess__export_##identifier;
#include "export/exporters.def"
#undef GESS_EXPORTER

/* ---- what exporters share ---- */

/* A file that is not yet complete, under a temporary name beside its own. */
typedef struct gess__partial {
    char *path, *temporary;
} gess__partial;

/* Refuses a path that is there, unless it is a plain file and `overwrite`. Creates nothing. */
int gess__partial_begin(gess__partial *partial, const char *path, bool overwrite, gess_error *err);
/* The closed temporary file becomes the file, once it is safely on the disk. */
int gess__partial_commit(gess__partial *partial, gess_error *err);
/* Removes the temporary file, if there is one, and releases the names. */
void gess__partial_end(gess__partial *partial);

/* Draws of all chains that make about 4 MiB, at least 1. */
uint64_t gess__export_window(const gess__reader *draws, size_t chains);

/* UTC, as 2030-01-31T12:00:00+00:00. */
void gess__export_time(time_t t, char text[32]);

#endif
