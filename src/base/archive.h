/* Bytes that a state is saved in and restored from.
 *
 * One function of each structure visits its fields in order, for both directions, so that what is
 * written and what is read cannot part. Reading past the end or meeting something unexpected sets
 * `bad`, after which nothing more is read. */
#ifndef GESS_BASE_ARCHIVE_H
#define GESS_BASE_ARCHIVE_H

#include "base/status.h"

/* The number of the layout that gess__archive_save() writes and gess__archive_load() reads. Raise it whenever a
 * structure saves other fields than before. */
enum { GESS__ARCHIVE_FORMAT = 2 };

typedef struct gess__archive {
    int reading, bad;
    uint32_t format; /* of the file that was read; 0: none was */
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

/* Reads them back; if the file is missing or damaged, from name.old, and then *old is 1. If it fails although a file is
 * intact, that file has another format, and archive->format is its number. */
int gess__archive_load(gess__archive *archive, const char *folder, const char *name, int *old, gess_error *err);

#endif
