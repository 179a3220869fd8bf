/* What an exporter is given: the draws of a run, and what the run directory says about them.
 *
 * An exporter is one file and one row of exporters.def; registry.h looks rows up. It reads the draws in chunks, so that
 * its memory does not grow with their number, and writes under a temporary name (atomic_file.h). */
#ifndef GESS_EXPORT_EXPORT_H
#define GESS_EXPORT_EXPORT_H

#include "diagnose/circular.h"
#include "draws/reader.h"

#include <time.h>

typedef struct gess__export {
    const gess__reader *draws;        /* at least one draw per chain; column 0 is the log density */
    const gess__reader *warmup_draws; /* of the same shape, at least one draw per chain; NULL: none were kept */
    size_t dim;                       /* columns 1 … dim are parameters, later ones derived quantities and blobs */
    const gess__circle *circle;       /* by columns, `circles` of them: the bounds of periodic parameters */
    size_t circles;
    const char *model;                       /* NULL: not known */
    const char *seed;                        /* decimal; NULL: not known */
    uint64_t warmup;                         /* iterations */
    double seconds_warmup, seconds_sampling; /* NaN: not known */
    time_t started;                          /* 0: not known */
    bool overwrite;                          /* replace files that exist */
} gess__export;

/* Writes the draws to `path`, a file or a folder, in the exporter's format. */
typedef int gess__export_fn(const gess__export *run, const char *path, gess_error *err);

/* Draws per chain that take about 4 MiB when `chains` chains are read at once; at least 1. */
uint64_t gess__export_chunk(const gess__reader *draws, size_t chains);

/* The bounds of a column if it is periodic; NULL: it is not. */
const gess__circle *gess__export_circle(const gess__export *run, size_t column);

/* UTC, as 2030-01-31T12:00:00+00:00. */
void gess__export_time(time_t t, char text[32]);

#endif
