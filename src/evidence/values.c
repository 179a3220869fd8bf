/* Reads the records into a sorted table, and appends new ones to the file. */
#include "evidence/values.h"

#include "base/checksum.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct record {
    uint32_t key[2]; /* of the point */
    double value;
    uint32_t check, unused;
} record;

struct gess__values {
    char *path;
    int file;     /* −1: nothing is kept */
    size_t count; /* records that were read, sorted by key */
    record *table;
};

enum { MAX_RECORDS = 1 << 26 };

static void set_key(size_t dim, const double *point, uint32_t key[2])
{
    key[0] = gess__crc32(0, point, dim * sizeof *point);
    key[1] = 2166136261u; /* FNV-1a, which CRC-32 says nothing about */
    const unsigned char *bytes = (const void *)point;
    for (size_t i = 0; i < dim * sizeof *point; i++) key[1] = (key[1] ^ bytes[i]) * 16777619u;
}

static uint32_t check_of(const record *r)
{
    return gess__crc32(0, r, offsetof(record, check));
}

static int compare(const void *a, const void *b)
{
    const record *x = a, *y = b;
    for (int i = 0; i < 2; i++)
        if (x->key[i] != y->key[i]) return x->key[i] < y->key[i] ? -1 : 1;
    return 0;
}

/* Reads the intact records, and cuts off what comes behind them. */
static int read_records(gess__values *v, gess_error *err)
{
    struct stat info;
    if (fstat(v->file, &info) != 0)
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", v->path, strerror(errno));
    size_t room = (size_t)info.st_size / sizeof *v->table;
    if (room > MAX_RECORDS) room = MAX_RECORDS;
    GESS_ALLOC(&v->table, room, err);
    while (v->count < room) {
        record *r = &v->table[v->count];
        ssize_t got = pread(v->file, r, sizeof *r, (off_t)(v->count * sizeof *r));
        if (got != (ssize_t)sizeof *r || r->check != check_of(r)) break;
        v->count++;
    }
    off_t end = (off_t)(v->count * sizeof *v->table);
    if (ftruncate(v->file, end) != 0 || lseek(v->file, end, SEEK_SET) != end)
        return gess__fail(err, GESS_ERR_FILE, "cannot write to %s: %s", v->path, strerror(errno));
    qsort(v->table, v->count, sizeof *v->table, compare);
    return GESS_OK;
}

int gess__values_open(gess__values **out, const char *path, gess_error *err)
{
    GESS_ALLOC(out, 1, err);
    gess__values *v = *out;
    v->file = -1;
    if (path == NULL) return GESS_OK;
    GESS_TRY(gess__copy_text(&v->path, path, err));
    v->file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (v->file < 0) return gess__fail(err, GESS_ERR_FILE, "cannot write to %s: %s", path, strerror(errno));
    return read_records(v, err);
}

void gess__values_close(gess__values *v)
{
    if (v == NULL) return;
    if (v->file >= 0) close(v->file);
    free(v->table);
    free(v->path);
    free(v);
}

bool gess__values_find(const gess__values *v, size_t dim, const double *point, double *value)
{
    record wanted;
    if (v->count == 0) return false;
    set_key(dim, point, wanted.key);
    const record *found = bsearch(&wanted, v->table, v->count, sizeof *v->table, compare);
    if (found != NULL) *value = found->value;
    return found != NULL;
}

int gess__values_add(gess__values *v, size_t n, size_t dim, const double *points, const double *logs, gess_error *err)
{
    record *new = NULL;
    if (v->file < 0 || n == 0) return GESS_OK;
    GESS_ALLOC(&new, n, err);
    for (size_t i = 0; i < n; i++) {
        set_key(dim, points + i * dim, new[i].key);
        new[i].value = logs[i];
        new[i].check = check_of(&new[i]);
    }
    const char *bytes = (const void *)new;
    size_t left = n * sizeof *new;
    while (left > 0) {
        ssize_t put = write(v->file, bytes, left);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) break;
        bytes += put;
        left -= (size_t)put;
    }
    free(new);
    if (left == 0 && fsync(v->file) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write to %s: %s", v->path, strerror(errno));
}
