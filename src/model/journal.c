/* Writes and reads the journal. The file is a sequence of records, one per call of the density:
 *
 *   uint32 CRC-32 of the rest; uint32 points; uint64 width; then per point: 16 bytes of hash, `width` doubles
 *
 * Points are known by a 128-bit hash of their bits and of the density's files, so that a density that was changed gets
 * no values of the one before, and so that an entry is small whatever the dimension. A record is written by one
 * write(), without a sync: it survives the process, and if the machine fails, the checksum finds what is torn. */
#include "model/journal.h"

#include "base/assert.h"
#include "base/checksum.h"
#include "base/folder.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct key {
    uint64_t a, b;
} key;

typedef struct record {
    uint32_t checksum, points;
    uint64_t width;
} record;

typedef struct entry {
    key key;
    size_t width;
    const double *numbers; /* in journal->bytes; not aligned, so copied by memcpy() */
} entry;

struct gess__journal {
    char *path;
    uint64_t source; /* which density the values are of */
    int folder;      /* base/folder.h */
    int file;        /* -1: not open; the first record makes it */
    int failed;      /* writing has failed */
    pthread_mutex_t lock;
    unsigned char *buffer; /* a record that is being written */
    size_t room;
    unsigned char *bytes; /* the file as it was opened */
    entry *entries;       /* sorted by key */
    size_t count;
};

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9u;
    h = (h ^ h >> 27) * 0x94d049bb133111ebu;
    return h ^ h >> 31;
}

static key key_of(uint64_t source, size_t dim, const double *x)
{
    key k = {0x9e3779b97f4a7c15u ^ source, 0xd1b54a32d192ed03u ^ mix(source)};
    for (size_t i = 0; i < dim; i++) {
        uint64_t bits;
        memcpy(&bits, x + i, sizeof bits);
        k.a = mix(k.a ^ bits) + 0x9e3779b97f4a7c15u;
        k.b = mix((k.b << 1 | k.b >> 63) + bits) ^ 0xd1b54a32d192ed03u;
    }
    return k;
}

static int compare(const void *left, const void *right)
{
    const key *l = &((const entry *)left)->key, *r = &((const entry *)right)->key;
    if (l->a != r->a) return l->a < r->a ? -1 : 1;
    return l->b != r->b ? (l->b < r->b ? -1 : 1) : 0;
}

static size_t entry_size(size_t width)
{
    return sizeof(key) + width * sizeof(double);
}

/* Adds the entries of one record at `at`. Returns its size, 0 if it is damaged or incomplete. */
static size_t read_record(gess__journal *j, size_t at, size_t size)
{
    record r;
    if (size - at < sizeof r) return 0;
    memcpy(&r, j->bytes + at, sizeof r);
    if (r.width > (1u << 26) || r.points == 0 || r.points > (size - at) / entry_size((size_t)r.width)) return 0;
    size_t each = entry_size((size_t)r.width), whole = sizeof r + r.points * each;
    if (whole > size - at || gess__crc32(0, j->bytes + at + 4, whole - 4) != r.checksum) return 0;
    entry *more = realloc(j->entries, (j->count + r.points) * sizeof *more);
    if (more == NULL) return 0;
    j->entries = more;
    for (size_t i = 0; i < r.points; i++) {
        const unsigned char *from = j->bytes + at + sizeof r + i * each;
        entry *e = &j->entries[j->count++];
        memcpy(&e->key, from, sizeof e->key);
        e->width = (size_t)r.width;
        e->numbers = (const double *)(const void *)(from + sizeof e->key);
    }
    return whole;
}

/* Reads what is in the file; a damaged end is cut off. */
static int read_all(gess__journal *j, const char *path, gess_error *err)
{
    struct stat about;
    if (fstat(j->file, &about) != 0 || about.st_size <= 0) return GESS_OK;
    size_t size = (size_t)about.st_size, at = 0, used;
    GESS_TRY(gess__alloc_bytes(&j->bytes, size, 1, "the journal", err));
    for (ssize_t got; at < size && (got = pread(j->file, j->bytes + at, size - at, (off_t)at)) > 0;) at += (size_t)got;
    size = at;
    for (at = 0; at < size && (used = read_record(j, at, size)) > 0;) at += used;
    if (j->count > 0) qsort(j->entries, j->count, sizeof *j->entries, compare);
    if (ftruncate(j->file, (off_t)at) != 0)
        return gess__fail(err, GESS_ERR_FILE, "cannot cut %s: %s", path, strerror(errno));
    return GESS_OK;
}

int gess__journal_open(gess__journal **journal, int folder, const char *directory, uint64_t source, int keep,
                       gess_error *err)
{
    char path[4096];
    if ((size_t)snprintf(path, sizeof path, "%s/journal", directory) >= sizeof path)
        return gess__fail(err, GESS_ERR_USAGE, "the path of the run directory is too long: %.200s…", directory);
    GESS_ALLOC(journal, 1, err);
    gess__journal *j = *journal;
    pthread_mutex_init(&j->lock, NULL);
    j->source = source;
    j->folder = folder;
    j->file = gess__folder_file(folder, path, O_RDWR | O_APPEND);
    if (j->file < 0 && errno != ENOENT)
        return gess__fail(err, GESS_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
    GESS_TRY(gess__copy_text(&j->path, path, err));
    if (j->file < 0) return GESS_OK;
    if (keep) return read_all(j, path, err);
    if (ftruncate(j->file, 0) != 0) return gess__fail(err, GESS_ERR_FILE, "cannot empty %s: %s", path, strerror(errno));
    return GESS_OK;
}

void gess__journal_close(gess__journal *j)
{
    if (j == NULL) return;
    if (j->file >= 0) close(j->file);
    pthread_mutex_destroy(&j->lock);
    free(j->path);
    free(j->buffer);
    free(j->bytes);
    free(j->entries);
    free(j);
}

int gess__journal_answers(const gess__journal *j)
{
    return j != NULL && j->count > 0;
}

int gess__journal_find(const gess__journal *j, size_t dim, const double *x, size_t width, double *numbers)
{
    const entry wanted = {.key = key_of(j->source, dim, x)};
    const entry *found = bsearch(&wanted, j->entries, j->count, sizeof wanted, compare);
    if (found == NULL || found->width != width) return 0;
    memcpy(numbers, found->numbers, width * sizeof *numbers);
    return 1;
}

/* Room for a record of this size; 0: there is none. */
static int reserve(gess__journal *j, size_t size)
{
    if (size <= j->room) return 1;
    unsigned char *bigger = realloc(j->buffer, size);
    if (bigger == NULL) return 0;
    j->buffer = bigger;
    j->room = size;
    return 1;
}

void gess__journal_add(gess__journal *j, size_t n, size_t dim, const double *x, size_t width, const double *numbers)
{
    size_t each = entry_size(width), whole = sizeof(record) + n * each;
    GESS_ASSERT(n > 0 && n <= UINT32_MAX);
    pthread_mutex_lock(&j->lock);
    if (j->file < 0 && !j->failed) j->file = gess__folder_file(j->folder, j->path, O_RDWR | O_CREAT | O_APPEND);
    if (j->file >= 0 && !j->failed && reserve(j, whole)) {
        record r = {.points = (uint32_t)n, .width = width};
        for (size_t i = 0; i < n; i++) {
            key k = key_of(j->source, dim, x + i * dim);
            unsigned char *to = j->buffer + sizeof r + i * each;
            memcpy(to, &k, sizeof k);
            memcpy(to + sizeof k, numbers + i * width, width * sizeof *numbers);
        }
        memcpy(j->buffer, &r, sizeof r);
        r.checksum = gess__crc32(0, j->buffer + 4, whole - 4);
        memcpy(j->buffer, &r, sizeof r);
        /* a full disk: the next checkpoint says so */
        if (write(j->file, j->buffer, whole) != (ssize_t)whole) j->failed = 1;
    }
    pthread_mutex_unlock(&j->lock);
}

void gess__journal_forget(gess__journal *j)
{
    if (j == NULL) return;
    j->count = 0;
    gess__journal_clear(j);
}

void gess__journal_clear(gess__journal *j)
{
    if (j == NULL) return;
    pthread_mutex_lock(&j->lock);
    if (j->file >= 0) {
        close(j->file);
        gess__folder_unlink(j->folder, j->path);
    }
    j->file = -1;
    pthread_mutex_unlock(&j->lock);
}
