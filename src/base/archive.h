/* Bytes that a state is saved in and restored from.
 *
 * One function of each structure visits its fields in order, for both directions, so that what is
 * written and what is read cannot part. Reading past the end or meeting something unexpected sets
 * `bad`, after which nothing more is read. */
#ifndef GESS_BASE_ARCHIVE_H
#define GESS_BASE_ARCHIVE_H

#include "base/status.h"

typedef struct gess__archive {
    int reading, bad;
    unsigned char *bytes;
    size_t size, capacity, at; /* at: how far reading is */
} gess__archive;

/* `count` bytes at data, written or read. */
void gess__archive_bytes(gess__archive *archive, void *data, size_t count);

/* One object. */
#define GESS_ARCHIVE(archive, object) gess__archive_bytes((archive), (object), sizeof *(object))

/* A number or text that must be the same when it is read. */
void gess__archive_expect(gess__archive *archive, uint64_t value);
void gess__archive_expect_text(gess__archive *archive, const char *text);

void gess__archive_free(gess__archive *archive);

/* Writes the bytes to folder/name so that at any moment either the old or the new file is there whole:
 * to a temporary file, synced, the old one renamed to name.old, the new one to name, the folder synced.
 * A header with magic, version and checksum goes in front. */
int gess__archive_save(const gess__archive *archive, const char *folder, const char *name, gess_error *err);

/* Reads them back; where the file is missing or damaged, the old one. *old: it was the old one. */
int gess__archive_load(gess__archive *archive, const char *folder, const char *name, int *old, gess_error *err);

#endif
