/* Draws in memory, and files of draws read whole or block by block. reader.h reads files larger than memory. */
#ifndef GESS_DRAWS_DRAWS_H
#define GESS_DRAWS_DRAWS_H

#include "diagnose/circular.h"

typedef struct gess__draws {
    size_t chains, columns;
    uint64_t draws; /* per chain */
    uint64_t thin;
    char **names;         /* columns */
    double *values;       /* column by column, chain by chain: values[(column · chains + chain) · draws + draw] */
    gess__circle *circle; /* columns; NULL: none is periodic, or it is not known */
} gess__draws;

/* One block of a file: rows[(chain · draws + draw) · columns], valid during the call. */
typedef void gess__block_fn(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                            const double *rows);

/* Calls fn with every block of a file, in the order of the file, after its checksum was checked. */
int gess__draws_visit(const char *path, gess__block_fn *fn, void *user, gess_error *err);

/* Reads a whole file. Draws that only some chains have (the run goes on) are left out; a damaged or cut block is an
 * error that says where. */
int gess__draws_read(gess__draws *draws, const char *path, gess_error *err);
void gess__draws_free(gess__draws *draws);

#endif
