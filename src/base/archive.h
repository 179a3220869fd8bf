/* Saves a state to bytes and files, and restores it: checkpoints, and messages between ranks.
 *
 * Every structure has one function that visits its fields in order, for both directions, so that writing and reading
 * always agree. Reading past the end or finding an unexpected value sets `bad`; after that nothing more is read. */
#ifndef GESS_BASE_ARCHIVE_H
#define GESS_BASE_ARCHIVE_H

#include "base/status.h"

/* The number of the layout that gess__archive_save() writes and gess__archive_load() reads. Raise it whenever a
 * structure saves other fields than before. */
enum { GESS__ARCHIVE_FORMAT = 7 };

typedef struct gess__archive {
    int reading, bad;
    uint32_t format; /* of the file that was read; 0: none was */
    unsigned char *bytes;
    size_t size, capacity, at; /* capacity: for writing only; at: the next byte to read */
} gess__archive;

/* Writes or reads `count` bytes at `data`. */
void gess__archive_bytes(gess__archive *archive, void *data, size_t count);

/* Writes or reads one object. */
#define GESS_ARCHIVE(archive, object) gess__archive_bytes((archive), (object), sizeof *(object))

/* Writes a number or text; reading sets `bad` if it differs. */
void gess__archive_expect(gess__archive *archive, uint64_t value);
void gess__archive_expect_text(gess__archive *archive, const char *text);

void gess__archive_free(gess__archive *archive);

/* Writes the bytes to directory/name so that at any moment the old or the new file is there whole: it writes and syncs
 * a temporary file, renames the old file to name.old and the new one to name, and syncs the folder. The file begins
 * with a header of magic, version and checksum. `folder`: the descriptor of the directory, or GESS__NO_FOLDER
 * (base/folder.h). */
int gess__archive_save(const gess__archive *archive, int folder, const char *directory, const char *name,
                       gess_error *err);

/* Reads them back; if the file is missing or damaged, from name.old, and then *old is 1. If it fails although a file is
 * intact, that file has another format, and archive->format is its number. */
int gess__archive_load(gess__archive *archive, const char *folder, const char *name, int *old, gess_error *err);

#endif
