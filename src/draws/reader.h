/* Reads `draws.gess` piece by piece, for files larger than memory. What is held is an index of the
 * blocks (40 bytes each) and a small buffer. */
#ifndef GESS_DRAWS_READER_H
#define GESS_DRAWS_READER_H

#include "base/status.h"

typedef struct gess__reader_block {
    uint64_t offset; /* of its rows in the file */
    uint64_t first_draw, draws;
    size_t first_chain, chains;
} gess__reader_block;

typedef struct gess__reader {
    size_t chains, columns;
    uint64_t draws; /* that every chain has; a run that is stopped may leave more of some */
    uint64_t thin;
    char **names; /* columns, the first of them lp__ */

    /* its own */
    char *path;
    int file;
    uint64_t size;
    gess__reader_block *blocks; /* by first draw */
    size_t count;
    uint64_t longest; /* draws of the longest block */
    char *buffer;
} gess__reader;

/* Opens the file, reads it once from end to end and checks every block's checksum and place: what
 * comes later cannot meet damage. Errors name the byte. Release with gess__reader_free(), also after
 * a failure. */
int gess__reader_open(gess__reader **reader, const char *path, gess_error *err);
void gess__reader_free(gess__reader *reader); /* safe on NULL */

/* A rectangle of draws, all within what the reader says is there: rows[(chain · draws + draw) · columns]. */
int gess__reader_rows(const gess__reader *reader, size_t first_chain, size_t chains, uint64_t first_draw,
                      uint64_t draws, double *rows, gess_error *err);

#endif
