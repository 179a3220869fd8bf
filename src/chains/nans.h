/* NaN records: the first points at which the density was NaN, in the order of (iteration, chain, angle), so that the
 * same points are kept for any number of threads and ranks. */
#ifndef GESS_CHAINS_NANS_H
#define GESS_CHAINS_NANS_H

#include "base/archive.h"

#include <stdint.h>

enum { GESS__NANS_KEPT = 10 };

typedef struct gess__nans {
    size_t count;
    struct {
        uint64_t iteration, chain, angle;
    } keys[GESS__NANS_KEPT];
    double *points; /* GESS__NANS_KEPT × dim, in the space behind the learned map */
} gess__nans;

/* Adds a point if it is among the first. */
void gess__nans_note(gess__nans *nans, size_t dim, uint64_t iteration, uint64_t chain, uint64_t angle,
                     const double *point);

/* Adds all points of `from`. */
void gess__nans_merge(gess__nans *to, size_t dim, const gess__nans *from);

void gess__nans_archive(gess__nans *nans, size_t dim, gess__archive *archive);

#endif
