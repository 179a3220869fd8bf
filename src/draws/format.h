/* The bytes of `draws.gess` (docs/file-formats.md), for the writer and the readers of this folder.
 *
 * A header, then blocks. A block is a rectangle of consecutive chains and draws, with a checksum. Everything is
 * little-endian; nothing in the file depends on time, host or threads, so equal runs have equal files. */
#ifndef GESS_DRAWS_FORMAT_H
#define GESS_DRAWS_FORMAT_H

#include "base/status.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "draws.gess is little-endian, and this code writes and reads memory as it is"
#endif

enum {
    GESS__DRAWS_VERSION = 1,
    GESS__BLOCK_MAGIC = 0x314b4c42, /* "BLK1" */
};
#define GESS__DRAWS_MAGIC "gessdraw" /* 8 bytes, without the NUL */

/* In front of every block's rows, which are doubles: rows[(chain · draws + draw) · columns]. */
typedef struct gess__block_header {
    uint32_t magic;
    uint32_t checksum; /* CRC-32 of the rest of this header and of the rows */
    uint64_t first_chain, chains, first_draw, draws;
} gess__block_header;

/* CRC-32 of the header's fields behind `checksum`; to go on from with the rows. */
uint32_t gess__block_header_crc(const gess__block_header *header);

/* A draws file that is open for reading. */
typedef struct gess__draws_file {
    char *path; /* owned, like names */
    int file;
    uint64_t size; /* bytes */
    uint64_t blocks_at;
    size_t chains, columns;
    uint64_t thin;
    char **names;      /* columns, the first of them lp__ */
    size_t hidden;     /* columns 1 … hidden are coordinates of the sampler, which are not shown */
    size_t parameters; /* if there are such: that many columns behind them are the parameters */
} gess__draws_file;

/* Opens the file and reads its header. Release with gess__draws_file_close(), also after a failure. */
int gess__draws_file_open(gess__draws_file *file, const char *path, gess_error *err);
void gess__draws_file_close(gess__draws_file *file);

/* `count` bytes from byte `at` on. */
int gess__draws_file_read(const gess__draws_file *file, uint64_t at, void *out, size_t count, gess_error *err);

/* The header of the block at byte `at`, checked against the file's shape and size. *bytes: of its rows, which follow.
 */
int gess__draws_file_block(const gess__draws_file *file, uint64_t at, gess__block_header *header, uint64_t *bytes,
                           gess_error *err);

/* Counts the draws per chain: adds the block's to have[chain], or fails if they do not follow those before it. */
int gess__draws_file_count(const gess__draws_file *file, uint64_t at, const gess__block_header *header, uint64_t *have,
                           gess_error *err);

/* Fails if the file is too small for the chains that its header claims. An array per chain may be allocated after it.
 */
int gess__draws_file_check_chains(const gess__draws_file *file, gess_error *err);

/* The message for a file with wrong bytes; `at` is where. Returns GESS_ERR_FILE. */
int gess__draws_damaged(const gess__draws_file *file, const char *what, uint64_t at, gess_error *err);

#endif
