/* Log densities that were evaluated for the evidence, kept in a file: an interrupted computation, or one with a smaller
 * error to reach, does not evaluate them again.
 *
 * The file is a sequence of records of 24 bytes: two checksums of the point's bits, its log density, and the checksum
 * of these 16 bytes. Records behind a damaged one are ignored. A point is known by its bits, so it does not matter in
 * which order, and by which computation, the records were written. */
#ifndef GESS_EVIDENCE_VALUES_H
#define GESS_EVIDENCE_VALUES_H

#include "base/status.h"

typedef struct gess__values gess__values;

/* Reads the file, if there is one. path: NULL: nothing is kept. */
int gess__values_open(gess__values **values, const char *path, gess_error *err);
void gess__values_close(gess__values *values); /* NULL: nothing to do */

/* The log density of a point, if it is known. */
bool gess__values_find(const gess__values *values, size_t dim, const double *point, double *value);

/* Appends the log densities of n points (n × dim), and syncs the file. */
int gess__values_add(gess__values *values, size_t n, size_t dim, const double *points, const double *logs,
                     gess_error *err);

#endif
