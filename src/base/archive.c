/* Copies fields to and from bytes, in order, and defines the bytes of a checkpoint file: a header with magic, format,
 * size and checksum, then the fields. It replaces files atomically and falls back to NAME.old. run/checkpoint.c decides
 * what a checkpoint contains. */
#include "base/archive.h"

#include "base/assert.h"
#include "base/checksum.h"
#include "base/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[8] = {'g', 'e', 's', 's', 's', 'a', 'v', 'e'};

typedef struct header {
    char magic[8];
    uint32_t format, checksum; /* CRC-32 of size and bytes */
    uint64_t size;
} header;

static uint32_t checksum_of(uint64_t size, const unsigned char *bytes)
{
    uint32_t crc = gess__crc32(0, &size, sizeof size);
    return gess__crc32(crc, bytes, (size_t)size);
}

/* ---- fields ---- */

static void reserve(gess__archive *a, size_t count)
{
    if (count <= a->capacity - a->size) return;
    size_t capacity = 2 * a->capacity > a->size + count ? 2 * a->capacity : a->size + count;
    unsigned char *bigger = realloc(a->bytes, capacity);
    if (bigger == NULL) {
        a->bad = 1;
        return;
    }
    a->bytes = bigger;
    a->capacity = capacity;
}

void gess__archive_bytes(gess__archive *a, void *data, size_t count)
{
    if (a->bad || count == 0) return;
    GESS_ASSERT(data != NULL && a->at <= a->size && (a->reading || a->size <= a->capacity));
    if (a->reading) {
        if (count > a->size - a->at) {
            a->bad = 1;
            return;
        }
        memcpy(data, a->bytes + a->at, count);
        a->at += count;
        return;
    }
    reserve(a, count);
    if (a->bad) return;
    memcpy(a->bytes + a->size, data, count);
    a->size += count;
}

void gess__archive_expect(gess__archive *a, uint64_t value)
{
    uint64_t found = value;
    GESS_ARCHIVE(a, &found);
    if (found != value) a->bad = 1;
}

void gess__archive_expect_text(gess__archive *a, const char *text)
{
    gess__archive_expect(a, strlen(text));
    for (const char *c = text; *c != '\0'; c++) gess__archive_expect(a, (uint64_t)(unsigned char)*c);
}

void gess__archive_free(gess__archive *a)
{
    free(a->bytes);
    *a = (gess__archive){0};
}

/* ---- files ---- */

static int cannot(const char *what, const char *path, gess_error *err)
{
    return gess__fail(err, GESS_ERR_FILE, "cannot %s %s: %s", what, path, strerror(errno));
}

static bool write_all(int file, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t written = write(file, at, count);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        at += written;
        count -= (size_t)written;
    }
    return true;
}

static int write_file(const gess__archive *a, int folder, const char *path, gess_error *err)
{
    header h = {.format = GESS__ARCHIVE_FORMAT, .size = a->size};
    memcpy(h.magic, magic, sizeof magic);
    h.checksum = checksum_of(h.size, a->bytes);
    int file = gess__folder_file(folder, path, O_WRONLY | O_CREAT | O_TRUNC);
    if (file < 0) return cannot("create", path, err);
    bool good = write_all(file, &h, sizeof h) && write_all(file, a->bytes, a->size) && fsync(file) == 0;
    int code = errno;
    if (close(file) != 0 && good) {
        good = false;
        code = errno;
    }
    errno = code;
    return good ? GESS_OK : cannot("write", path, err);
}

static int sync_folder(int folder, const char *path, gess_error *err)
{
    int file = folder >= 0 ? folder : gess__folder_open(path);
    if (file < 0) return cannot("open the folder", path, err);
    int code = fsync(file);
    if (file != folder) close(file);
    return code == 0 ? GESS_OK : cannot("sync the folder", path, err);
}

int gess__archive_save(const gess__archive *a, int folder, const char *directory, const char *name, gess_error *err)
{
    char path[4096], temporary[4096 + 8], old[4096 + 8];
    GESS_ASSERT(!a->reading);
    if (a->bad) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for %s", name);
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
        return gess__fail(err, GESS_ERR_USAGE, "the path of the run directory is too long: %.200s…", directory);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    snprintf(old, sizeof old, "%s.old", path);
    int status = write_file(a, folder, temporary, err);
    if (status == GESS_OK && gess__folder_rename(folder, path, old) != 0 && errno != ENOENT)
        status = cannot("rename", path, err);
    if (status == GESS_OK && gess__folder_rename(folder, temporary, path) != 0)
        status = cannot("rename", temporary, err);
    if (status == GESS_OK) return sync_folder(folder, directory, err);
    gess__folder_unlink(folder, temporary);
    return status;
}

static int read_file(gess__archive *a, const char *path, gess_error *err)
{
    header h;
    struct stat information;
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = NULL;
    *a = (gess__archive){.reading = 1};
    if (file == NULL) return cannot("open", path, err);
    int status = GESS_OK;
    if (fstat(fileno(file), &information) != 0 || !S_ISREG(information.st_mode) || fread(&h, sizeof h, 1, file) != 1 ||
        memcmp(h.magic, magic, sizeof magic) != 0 || (uint64_t)information.st_size != sizeof h + h.size)
        status = gess__fail(err, GESS_ERR_FILE, "%s is damaged", path);
    if (status == GESS_OK) {
        size_t size = (size_t)h.size;
        bytes = malloc(size + 1);
        if (bytes == NULL || fread(bytes, 1, size, file) != size || checksum_of(h.size, bytes) != h.checksum)
            status = gess__fail(err, GESS_ERR_FILE, "%s is damaged: its checksum is wrong", path);
    }
    fclose(file);
    if (status == GESS_OK) a->format = h.format;
    if (status == GESS_OK && h.format != GESS__ARCHIVE_FORMAT)
        status = gess__fail(err, GESS_ERR_FILE, "%s has format %u; this gess reads format %d", path, h.format,
                            GESS__ARCHIVE_FORMAT);
    if (status != GESS_OK) {
        free(bytes);
        return status;
    }
    a->bytes = bytes;
    a->size = a->capacity = (size_t)h.size;
    return GESS_OK;
}

int gess__archive_load(gess__archive *a, const char *folder, const char *name, int *old, gess_error *err)
{
    char path[4096 + 8];
    gess_error first = {0};
    *old = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (read_file(a, path, &first) == GESS_OK) return GESS_OK;
    uint32_t format = a->format;
    *old = 1;
    snprintf(path, sizeof path, "%s/%s.old", folder, name);
    if (read_file(a, path, err) == GESS_OK) {
        /* otherwise the next save would rename the damaged file over the good one */
        snprintf(path, sizeof path, "%s/%s", folder, name);
        if (unlink(path) != 0 && errno != ENOENT) {
            gess__archive_free(a);
            return cannot("remove the damaged", path, err);
        }
        return GESS_OK;
    }
    if (format != 0) a->format = format;
    return gess__fail(err, GESS_ERR_FILE, "%s; and there is no good older one", first.text);
}
