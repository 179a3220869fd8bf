/* Appends the draws of a run to `draws.gess` (format.h has its bytes), in blocks that do not depend on how draws
 * arrive.
 *
 * Chains come in groups that always have equally many draws. Draws are held in memory until a group has a full block,
 * `unit` draws of every chain, so that the bounds of blocks depend neither on the portions in which draws come nor on
 * where a run was stopped. One thread calls these functions; the writer has a thread that writes the full blocks. */
#ifndef GESS_DRAWS_WRITER_H
#define GESS_DRAWS_WRITER_H

#include "base/archive.h"

typedef struct gess__writer gess__writer;

/* What the header says of a draw. */
typedef struct gess__writer_columns {
    size_t count;
    const char *const *names;  /* the first of them lp__ */
    size_t hidden, parameters; /* as in gess__draws_file */
} gess__writer_columns;

/* Creates the file, beneath `folder` (base/folder.h). starts[g] is the first chain of group g. */
int gess__writer_create(gess__writer **writer, int folder, const char *path, size_t chains, size_t groups,
                        const size_t *starts, const gess__writer_columns *columns, uint64_t thin, gess_error *err);
/* The same if every column is shown. */
int gess__writer_new(gess__writer **writer, int folder, const char *path, size_t chains, size_t groups,
                     const size_t *starts, size_t columns, const char *const *names, uint64_t thin, gess_error *err);

/* Opens the file of a run that goes on, and refuses another run's. Then call gess__writer_archive() with what it saved
 * before. */
int gess__writer_reopen(gess__writer **writer, int folder, const char *path, size_t chains, size_t groups,
                        const size_t *starts, size_t columns, gess_error *err);

/* Draws per chain in a full block. */
uint64_t gess__writer_unit(const gess__writer *writer);

/* Appends draws first_draw … first_draw + draws − 1 of a whole group: rows[(chain · draws + draw) · columns]. */
int gess__writer_append(gess__writer *writer, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                        const double *rows, gess_error *err);

/* Writes the held draws as partial blocks, for readers, and syncs the file. A later append first cuts these blocks off
 * again. */
int gess__writer_sync(gess__writer *writer, gess_error *err);

/* Forgets all draws, so that the next one is draw 0. The file keeps them until gess__writer_discard(): between the two
 * the caller saves a checkpoint that knows of no draws, so that no checkpoint ever counts draws that are not there. */
int gess__writer_restart(gess__writer *writer, gess_error *err);
int gess__writer_discard(gess__writer *writer, gess_error *err);
/* The descriptor of the file. */
int gess__writer_descriptor(const gess__writer *writer);

/* Saves the length of the file without partial blocks, and the held draws; or restores both and cuts the file to that
 * length. */
int gess__writer_archive(gess__writer *writer, gess__archive *archive, gess_error *err);

/* Closes without syncing; safe on NULL. */
void gess__writer_free(gess__writer *writer);

#endif
