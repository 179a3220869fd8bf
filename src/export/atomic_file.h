/* A file that appears under its name only once it is complete: written beside it under a temporary name, then renamed.
 */
#ifndef GESS_EXPORT_ATOMIC_FILE_H
#define GESS_EXPORT_ATOMIC_FILE_H

#include "base/status.h"

typedef struct gess__partial {
    char *path, *temporary; /* owned */
} gess__partial;

/* Fills in both names. Refuses a path that exists, unless it is a plain file and `overwrite` is set. Creates nothing.
 */
int gess__partial_begin(gess__partial *partial, const char *path, bool overwrite, gess_error *err);

/* Syncs the closed temporary file and renames it to its path. */
int gess__partial_commit(gess__partial *partial, gess_error *err);

/* Removes the temporary file, if there is one, and frees the names. */
void gess__partial_end(gess__partial *partial);

#endif
