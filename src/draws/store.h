/* The append-only store of draws, `draws.gess` (docs/file-formats.md).
 *
 * A header, then blocks. A block is a rectangle of consecutive chains and draws, with a checksum.
 * Everything is little-endian; nothing in the file depends on time, host or threads, so equal runs
 * have equal files. */
#ifndef GESS_DRAWS_STORE_H
#define GESS_DRAWS_STORE_H

#include "base/archive.h"

/* ---- writing ----
 *
 * Chains come in groups that always have equally many draws. Draws wait in memory until a group has a
 * whole block of them, `unit` draws of every chain, so that where blocks begin and end does not depend on
 * the portions in which draws come, nor on where a run was stopped. */

typedef struct gess__writer gess__writer;

/* Creates the file. `columns` names, the first of them lp__. starts[g] is the first chain of group g. */
int gess__writer_new(gess__writer **writer, const char *path, size_t chains, size_t groups, const size_t *starts,
                     size_t columns, const char *const *names, uint64_t thin, gess_error *err);

/* Opens the file of a run that goes on, which must be this run's; gess__writer_archive() must follow, with
 * what it saved. */
int gess__writer_reopen(gess__writer **writer, const char *path, size_t chains, size_t groups, const size_t *starts,
                        size_t columns, gess_error *err);

/* Draws of a chain in a whole block. */
uint64_t gess__writer_unit(const gess__writer *writer);

/* Appends draws first_draw .. of a whole group: rows[(chain · draws + draw) · columns]. */
int gess__writer_append(gess__writer *writer, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                        const double *rows, gess_error *err);

/* Writes what waits as blocks that are not whole, for readers, and syncs the file. More draws may come
 * after it: they first cut these blocks off again. */
int gess__writer_sync(gess__writer *writer, gess_error *err);

/* Saves the length of the file without the blocks that are not whole, and what waits; or restores it and
 * cuts the file to that length. */
int gess__writer_archive(gess__writer *writer, gess__archive *archive, gess_error *err);

/* Closes without syncing; safe on NULL. */
void gess__writer_free(gess__writer *writer);

/* ---- reading ---- */

typedef struct gess__draws {
    size_t chains, columns;
    uint64_t draws; /* of each chain */
    uint64_t thin;
    char **names;   /* columns */
    double *values; /* column by column, chain by chain: values[(column · chains + chain) · draws + draw] */
} gess__draws;

/* Calls fn with every block of a file in turn, checked. */
typedef void gess__block_fn(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                            const double *rows);
int gess__draws_visit(const char *path, gess__block_fn *fn, void *user, gess_error *err);

/* Reads a whole file. Draws that not all chains have (a run still going on) are left out; a damaged
 * or cut block is an error that says where. */
int gess__draws_read(gess__draws *draws, const char *path, gess_error *err);
void gess__draws_free(gess__draws *draws);

#endif
