/* Stored draws in the sampling space: points w, and the log density there. */
#ifndef GESS_EVIDENCE_STORED_H
#define GESS_EVIDENCE_STORED_H

#include "evidence/evidence.h"

/* Draws of one source: `series` × n points. A series is a chain, or a part of one if there are few chains. */
typedef struct gess__stored {
    size_t series, n, dim;
    double *w;      /* (series × n) × dim */
    double *values; /* log densities in the sampling space */
} gess__stored;

/* Reads the draws of a source, evenly thinned if there are too many, and maps them back. Evaluates a few of them again:
 * an error if the density is not the one that was sampled. Adds the evaluations to *evals. */
int gess__stored_read(gess__stored *stored, const gess__evidence_input *input, const gess__evidence_source *source,
                      uint64_t *evals, gess_error *err);
void gess__stored_free(gess__stored *stored);

#endif
