/* Reads rectangles of draws from `draws.gess`, for files larger than memory.
 *
 * Memory holds an index of the blocks (40 bytes each) and a small buffer. One thread may use a reader at a time. */
#ifndef GESS_DRAWS_READER_H
#define GESS_DRAWS_READER_H

#include "draws/format.h"

typedef struct gess__reader_block {
    uint64_t offset; /* of its rows in the file */
    uint64_t first_draw, draws;
    size_t first_chain, chains;
} gess__reader_block;

typedef struct gess__reader {
    size_t chains, columns;
    uint64_t draws; /* that every chain has; a stopped run may leave more of some chains */
    uint64_t thin;
    char **names;  /* columns, the first of them lp__ */
    size_t hidden; /* columns 1 … hidden are coordinates of the sampler; 0: there are none, or they are left out */
    size_t parameters; /* columns behind lp__ and these that are parameters; 0: the file does not say */

    /* private */
    gess__draws_file file;
    char **shown;               /* names without the columns that are left out; NULL: none is */
    size_t skip;                /* columns that are left out */
    gess__reader_block *blocks; /* by first draw */
    size_t count;
    uint64_t longest; /* draws of the longest block */
    char *buffer;
} gess__reader;

/* Opens the file, reads it once from end to end and checks every block's checksum and place, so that later reads
 * cannot find damage. Errors name the byte. Release with gess__reader_free(), also after a failure. */
int gess__reader_open(gess__reader **reader, const char *path, gess_error *err);
/* The same without the coordinates of the sampler: what is shown to users. */
int gess__reader_open_shown(gess__reader **reader, const char *path, gess_error *err);
void gess__reader_free(gess__reader *reader); /* safe on NULL */

/* A rectangle of draws, all within the reader's chains and draws: rows[(chain · draws + draw) · columns]. */
int gess__reader_rows(const gess__reader *reader, size_t first_chain, size_t chains, uint64_t first_draw,
                      uint64_t draws, double *rows, gess_error *err);

#endif
