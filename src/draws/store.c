#include "draws/store.h"

#include "base/checksum.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "draws.gess is little-endian, and this code writes memory as it is"
#endif

static const char file_magic[8] = {'g', 'e', 's', 's', 'd', 'r', 'a', 'w'};
enum { VERSION = 1, BLOCK_MAGIC = 0x314b4c42 /* "BLK1" */, MAX_HEADER = 1 << 28 };

/* In front of every block's rows. */
typedef struct block_header {
    uint32_t magic;
    uint32_t checksum; /* CRC-32 of the rest of this header and of the rows */
    uint64_t first_chain, chains, first_draw, draws;
} block_header;

static uint32_t checksum_of(const block_header *header, const void *rows, size_t bytes)
{
    uint32_t crc = gess__crc32(0, &header->first_chain, sizeof *header - offsetof(block_header, first_chain));
    return gess__crc32(crc, rows, bytes);
}

/* ---- writing ---- */

/* Draws of one group that wait for their block. */
typedef struct group {
    size_t first, chains;
    uint64_t base, have; /* first draw of the block, and how many of it are here */
    double *rows;        /* (chain · unit + draw) · columns */
} group;

struct gess__writer {
    FILE *file;
    char *path;
    size_t columns, groups, largest; /* largest: chains of the largest group */
    group *group;
    uint64_t unit;
    uint64_t bytes; /* of whole blocks, and the header */
    int ragged;     /* blocks that are not whole follow them */
    double *packed; /* rows of such a block */
    /* The thread that writes whole blocks, so that sampling does not wait for checksums and the
     * system; started with the first of them. One block at a time is on its way. */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int threaded, quit;
    int busy; /* `flight` is on its way, its rows in `flying` */
    block_header flight;
    double *flying;
    int failed; /* status of a write that failed; its message in `failure` */
    gess_error failure;
};

/* A block of this many doubles, or one draw of every chain if that is more. */
enum { BLOCK_DOUBLES = 1 << 17 };

static int write_bytes(gess__writer *w, const void *bytes, size_t count, gess_error *err)
{
    if (fwrite(bytes, 1, count, w->file) == count) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", w->path, strerror(errno));
}

static int write_header(gess__writer *w, size_t chains, const char *const *names, uint64_t thin, gess_error *err)
{
    json_t *list = json_array();
    for (size_t i = 0; i < w->columns; i++) {
        if (json_array_append_new(list, json_string(names[i])) == 0) continue;
        json_decref(list);
        return gess__fail(err, GESS_ERR_MODEL, "the name of parameter %zu is not UTF-8; give it another", i);
    }
    json_t *root =
        json_pack("{s:I, s:I, s:o}", "chains", (json_int_t)chains, "thin", (json_int_t)thin, "columns", list);
    char *text = json_dumps(root, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(root);
    if (text == NULL) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory for the header of %s", w->path);
    uint32_t lengths[2] = {VERSION, (uint32_t)strlen(text)};
    uint32_t crc = gess__crc32(gess__crc32(0, lengths, sizeof lengths), text, lengths[1]);
    int status = write_bytes(w, file_magic, sizeof file_magic, err);
    if (status == GESS_OK) status = write_bytes(w, lengths, sizeof lengths, err);
    if (status == GESS_OK) status = write_bytes(w, text, lengths[1], err);
    if (status == GESS_OK) status = write_bytes(w, &crc, sizeof crc, err);
    free(text);
    return status;
}

static int make_writer(gess__writer **writer, const char *path, const char *mode, size_t chains, size_t groups,
                       const size_t *starts, size_t columns, gess_error *err)
{
    GESS_ALLOC(writer, 1, err);
    gess__writer *w = *writer;
    size_t largest = 0;
    w->columns = columns;
    GESS_TRY(gess__copy_text(&w->path, path, err));
    GESS_ALLOC(&w->group, groups, err);
    w->groups = groups;
    for (size_t g = 0; g < groups; g++) {
        w->group[g].first = starts[g];
        w->group[g].chains = (g + 1 < groups ? starts[g + 1] : chains) - starts[g];
        if (w->group[g].chains > largest) largest = w->group[g].chains;
    }
    w->largest = largest;
    size_t row = largest * columns;
    w->unit = row > 0 && row < BLOCK_DOUBLES ? BLOCK_DOUBLES / row : 1;
    for (size_t g = 0; g < groups; g++) GESS_ALLOC(&w->group[g].rows, largest * w->unit * columns, err);
    GESS_ALLOC(&w->packed, largest * w->unit * columns, err);
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    w->file = fopen(path, mode);
    if (w->file == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot open %s: %s", path, strerror(errno));
    return GESS_OK;
}

int gess__writer_new(gess__writer **writer, const char *path, size_t chains, size_t groups, const size_t *starts,
                     size_t columns, const char *const *names, uint64_t thin, gess_error *err)
{
    GESS_TRY(make_writer(writer, path, "wb", chains, groups, starts, columns, err));
    GESS_TRY(write_header(*writer, chains, names, thin, err));
    off_t length = ftello((*writer)->file);
    if (length < 0) return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", path, strerror(errno));
    (*writer)->bytes = (uint64_t)length;
    return GESS_OK;
}

uint64_t gess__writer_unit(const gess__writer *w)
{
    return w->unit;
}

/* A block with its checksum. */
static int write_block(gess__writer *w, block_header *header, const double *rows, gess_error *err)
{
    size_t bytes = (size_t)(header->chains * header->draws) * w->columns * sizeof *rows;
    header->checksum = checksum_of(header, rows, bytes);
    GESS_TRY(write_bytes(w, header, sizeof *header, err));
    return write_bytes(w, rows, bytes, err);
}

static block_header header_of(const group *g, uint64_t draws)
{
    return (block_header){.magic = BLOCK_MAGIC,
                          .first_chain = g->first,
                          .chains = g->chains,
                          .first_draw = g->base,
                          .draws = draws};
}

/* Has the system begin to carry what was written to the disk, so that the sync of a checkpoint finds little
 * left to do. A hint: where there is no such call, or it fails, nothing is lost. */
static void start_writeback(gess__writer *w)
{
#ifdef SYNC_FILE_RANGE_WRITE
    if (fflush(w->file) == 0) (void)sync_file_range(fileno(w->file), 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)w;
#endif
}

static void *write_flights(void *user)
{
    gess__writer *w = user;
    pthread_mutex_lock(&w->mutex);
    for (;;) {
        while (!w->busy && !w->quit) pthread_cond_wait(&w->changed, &w->mutex);
        if (!w->busy) break;
        pthread_mutex_unlock(&w->mutex);
        gess_error failure = {0};
        int status = w->failed != GESS_OK ? w->failed : write_block(w, &w->flight, w->flying, &failure);
        start_writeback(w);
        pthread_mutex_lock(&w->mutex);
        if (status != GESS_OK && w->failed == GESS_OK) {
            w->failed = status;
            w->failure = failure;
        }
        w->busy = 0;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* Until nothing is on its way; says what went wrong with what was. */
static int land(gess__writer *w, gess_error *err)
{
    if (!w->threaded) return GESS_OK;
    pthread_mutex_lock(&w->mutex);
    while (w->busy) pthread_cond_wait(&w->changed, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
    if (w->failed != GESS_OK && err != NULL) *err = w->failure;
    return w->failed;
}

/* The group's whole block goes on its way; the group goes on with the buffer of the one before. */
static int send(gess__writer *w, group *g, gess_error *err)
{
    GESS_TRY(land(w, err));
    if (w->flying == NULL) GESS_ALLOC(&w->flying, w->largest * w->unit * w->columns, err);
    double *rows = g->rows;
    g->rows = w->flying;
    w->flying = rows;
    if (!w->threaded) {
        int code = pthread_create(&w->thread, NULL, write_flights, w);
        if (code != 0)
            return gess__fail(err, GESS_ERR_INTERNAL, "cannot start the thread that writes draws: %s", strerror(code));
        w->threaded = 1;
    }
    pthread_mutex_lock(&w->mutex);
    w->flight = header_of(g, w->unit);
    w->busy = 1;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->mutex);
    return GESS_OK;
}

/* Drops what follows the whole blocks. */
static int cut(gess__writer *w, gess_error *err)
{
    GESS_TRY(land(w, err));
    if (fflush(w->file) == 0 && ftruncate(fileno(w->file), (off_t)w->bytes) == 0 &&
        fseeko(w->file, (off_t)w->bytes, SEEK_SET) == 0) {
        w->ragged = 0;
        return GESS_OK;
    }
    return gess__fail(err, GESS_ERR_FILE, "cannot cut %s: %s", w->path, strerror(errno));
}

static int append_part(gess__writer *w, group *g, size_t chains, uint64_t draws, uint64_t from, uint64_t take,
                       const double *rows, gess_error *err)
{
    size_t width = w->columns;
    for (size_t c = 0; c < chains; c++)
        memcpy(g->rows + (c * w->unit + g->have) * width, rows + (c * draws + from) * width,
               take * width * sizeof *rows);
    g->have += take;
    if (g->have < w->unit) return GESS_OK;
    GESS_TRY(send(w, g, err));
    w->bytes += sizeof(block_header) + g->chains * (size_t)w->unit * width * sizeof *rows;
    g->base += w->unit;
    g->have = 0;
    return GESS_OK;
}

int gess__writer_append(gess__writer *w, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                        const double *rows, gess_error *err)
{
    group *g = NULL;
    for (size_t i = 0; i < w->groups; i++)
        if (w->group[i].first == first_chain && w->group[i].chains == chains) g = &w->group[i];
    if (g == NULL || g->base + g->have != first_draw)
        return gess__fail(err, GESS_ERR_INTERNAL, "%s: draws of chains %zu … out of order", w->path, first_chain + 1);
    if (w->ragged) GESS_TRY(cut(w, err));
    for (uint64_t from = 0; from < draws;) {
        uint64_t take = draws - from < w->unit - g->have ? draws - from : w->unit - g->have;
        GESS_TRY(append_part(w, g, chains, draws, from, take, rows, err));
        from += take;
    }
    return GESS_OK;
}

int gess__writer_sync(gess__writer *w, gess_error *err)
{
    GESS_TRY(land(w, err));
    if (w->ragged) GESS_TRY(cut(w, err));
    for (size_t i = 0; i < w->groups; i++) {
        const group *g = &w->group[i];
        size_t width = (size_t)g->have * w->columns;
        if (g->have == 0) continue;
        for (size_t c = 0; c < g->chains; c++)
            memcpy(w->packed + c * width, g->rows + c * w->unit * w->columns, width * sizeof *w->packed);
        block_header header = header_of(g, g->have);
        GESS_TRY(write_block(w, &header, w->packed, err));
        w->ragged = 1;
    }
    if (fflush(w->file) == 0 && fsync(fileno(w->file)) == 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_FILE, "cannot write %s: %s", w->path, strerror(errno));
}

int gess__writer_archive(gess__writer *w, gess__archive *a, gess_error *err)
{
    struct stat information;
    gess__archive_expect(a, w->unit);
    gess__archive_expect(a, w->groups);
    GESS_ARCHIVE(a, &w->bytes);
    for (size_t i = 0; i < w->groups && !a->bad; i++) {
        group *g = &w->group[i];
        GESS_ARCHIVE(a, &g->base);
        GESS_ARCHIVE(a, &g->have);
        if (g->have >= w->unit) a->bad = 1;
        for (size_t c = 0; c < g->chains && !a->bad; c++)
            gess__archive_bytes(a, g->rows + c * w->unit * w->columns, (size_t)g->have * w->columns * sizeof *g->rows);
    }
    if (!a->reading || a->bad) return GESS_OK;
    if (fstat(fileno(w->file), &information) != 0 || (uint64_t)information.st_size < w->bytes)
        return gess__fail(err, GESS_ERR_FILE,
                          "%s has fewer bytes than when the checkpoint was made; it cannot be gone on with", w->path);
    return cut(w, err);
}

void gess__writer_free(gess__writer *w)
{
    if (w == NULL) return;
    if (w->threaded) {
        pthread_mutex_lock(&w->mutex);
        w->quit = 1;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->mutex);
        pthread_join(w->thread, NULL);
    }
    free(w->flying);
    if (w->file != NULL) fclose(w->file);
    for (size_t i = 0; i < w->groups; i++) free(w->group[i].rows);
    free(w->group);
    free(w->packed);
    free(w->path);
    free(w);
}

/* ---- reading ---- */

typedef struct reader {
    FILE *file;
    const char *path;
    uint64_t size, at; /* bytes of the file, and how far we are */
} reader;

static int read_bytes(reader *r, void *bytes, size_t count, gess_error *err)
{
    if (count <= r->size - r->at && fread(bytes, 1, count, r->file) == count) {
        r->at += count;
        return GESS_OK;
    }
    return gess__fail(err, GESS_ERR_FILE, "%s ends in the middle of a block (at byte %llu)", r->path,
                      (unsigned long long)r->at);
}

static int damaged(const reader *r, const char *what, gess_error *err)
{
    return gess__fail(err, GESS_ERR_FILE, "%s is damaged: %s (before byte %llu)", r->path, what,
                      (unsigned long long)r->at);
}

static int take_header(gess__draws *d, reader *r, const char *text, size_t length, gess_error *err)
{
    json_t *root = json_loadb(text, length, 0, NULL), *names = json_object_get(root, "columns");
    json_int_t chains = json_integer_value(json_object_get(root, "chains"));
    json_int_t thin = json_integer_value(json_object_get(root, "thin"));
    int status = GESS_OK;
    const char *first = json_string_value(json_array_get(names, 0));
    if (chains < 1 || thin < 1 || first == NULL || strcmp(first, "lp__") != 0) status = damaged(r, "header", err);
    d->chains = (size_t)chains;
    d->thin = (uint64_t)thin;
    size_t columns = json_array_size(names);
    if (status == GESS_OK) status = gess__alloc_bytes(&d->names, columns, sizeof *d->names, "names", err);
    if (status == GESS_OK) d->columns = columns;
    for (size_t i = 0; status == GESS_OK && i < columns; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        status = name == NULL ? damaged(r, "header", err) : gess__copy_text(&d->names[i], name, err);
    }
    json_decref(root);
    return status;
}

static int read_header(gess__draws *d, reader *r, gess_error *err)
{
    char magic[sizeof file_magic], *text = NULL;
    uint32_t lengths[2], crc;
    if (r->size < sizeof magic + sizeof lengths)
        return gess__fail(err, GESS_ERR_FILE, "%s is not a gess draws file", r->path);
    GESS_TRY(read_bytes(r, magic, sizeof magic, err));
    if (memcmp(magic, file_magic, sizeof magic) != 0)
        return gess__fail(err, GESS_ERR_FILE, "%s is not a gess draws file", r->path);
    GESS_TRY(read_bytes(r, lengths, sizeof lengths, err));
    if (lengths[0] != VERSION)
        return gess__fail(err, GESS_ERR_FILE, "%s has format version %u; this gess reads version %d", r->path,
                          lengths[0], VERSION);
    if (lengths[1] > MAX_HEADER || lengths[1] > r->size) return damaged(r, "header length", err);
    GESS_ALLOC(&text, lengths[1], err);
    int status = read_bytes(r, text, lengths[1], err);
    if (status == GESS_OK) status = read_bytes(r, &crc, sizeof crc, err);
    if (status == GESS_OK) {
        uint32_t is = gess__crc32(gess__crc32(0, lengths, sizeof lengths), text, lengths[1]);
        status = is == crc ? take_header(d, r, text, lengths[1], err) : damaged(r, "header checksum", err);
    }
    free(text);
    return status;
}

/* A block's header, with everything in it checked against the file's size. *bytes: of its rows. */
static int read_block_header(const gess__draws *d, reader *r, block_header *h, size_t *bytes, gess_error *err)
{
    GESS_TRY(read_bytes(r, h, sizeof *h, err));
    uint64_t most = (r->size - r->at) / (d->columns * sizeof(double));
    if (h->magic != BLOCK_MAGIC || h->chains < 1 || h->chains > d->chains || h->first_chain > d->chains - h->chains ||
        h->draws < 1)
        return damaged(r, "block header", err);
    if (h->draws > most || h->chains > most / h->draws)
        return gess__fail(err, GESS_ERR_FILE, "%s ends in the middle of a block (at byte %llu)", r->path,
                          (unsigned long long)r->at);
    *bytes = (size_t)(h->chains * h->draws) * d->columns * sizeof(double);
    return GESS_OK;
}

/* First pass: how many draws every chain has, by the blocks' headers. */
static int count_draws(gess__draws *d, reader *r, uint64_t *have, gess_error *err)
{
    while (r->at < r->size) {
        block_header h;
        size_t bytes = 0;
        GESS_TRY(read_block_header(d, r, &h, &bytes, err));
        for (uint64_t c = h.first_chain; c < h.first_chain + h.chains; c++) {
            if (have[c] != h.first_draw) return damaged(r, "draws out of order", err);
            have[c] += h.draws;
        }
        if (fseeko(r->file, (off_t)bytes, SEEK_CUR) != 0)
            return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", r->path, strerror(errno));
        r->at += bytes;
    }
    d->draws = have[0];
    for (size_t c = 1; c < d->chains; c++)
        if (have[c] < d->draws) d->draws = have[c];
    return GESS_OK;
}

/* The next block, checked and handed to fn. */
static int visit_block(const gess__draws *d, reader *r, gess__block_fn *fn, void *user, gess_error *err)
{
    block_header h;
    size_t bytes = 0;
    double *rows = NULL;
    GESS_TRY(read_block_header(d, r, &h, &bytes, err));
    GESS_TRY(gess__alloc_bytes(&rows, bytes, 1, "block", err));
    int status = read_bytes(r, rows, bytes, err);
    if (status == GESS_OK && checksum_of(&h, rows, bytes) != h.checksum) status = damaged(r, "block checksum", err);
    if (status == GESS_OK) fn(user, (size_t)h.first_chain, (size_t)h.chains, h.first_draw, h.draws, rows);
    free(rows);
    return status;
}

/* Second pass: the values. */
static void load_block(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                       const double *rows)
{
    gess__draws *d = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws && first_draw + i < d->draws; i++)
            for (size_t j = 0; j < d->columns; j++)
                d->values[(j * d->chains + first_chain + c) * d->draws + first_draw + i] =
                    rows[(c * draws + i) * d->columns + j];
}

static int read_all(gess__draws *d, reader *r, gess_error *err)
{
    uint64_t *have = NULL;
    GESS_TRY(read_header(d, r, err));
    uint64_t start = r->at;
    /* a chain has at least a block, or the file has none at all */
    if (r->size > start && d->chains > (r->size - start) / sizeof(double)) return damaged(r, "number of chains", err);
    if (r->size == start) return GESS_OK;
    GESS_ALLOC(&have, d->chains, err);
    int status = count_draws(d, r, have, err);
    free(have);
    GESS_TRY(status);
    GESS_ALLOC(&d->values, d->chains * d->columns * (size_t)d->draws, err);
    if (fseeko(r->file, (off_t)start, SEEK_SET) != 0)
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", r->path, strerror(errno));
    for (r->at = start; r->at < r->size;) GESS_TRY(visit_block(d, r, load_block, d, err));
    return GESS_OK;
}

static int open_reader(reader *r, const char *path, gess_error *err)
{
    struct stat information;
    *r = (reader){.file = fopen(path, "rb"), .path = path};
    if (r->file == NULL || fstat(fileno(r->file), &information) != 0) {
        int code = errno;
        if (r->file != NULL) fclose(r->file);
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", path, strerror(code));
    }
    r->size = (uint64_t)information.st_size;
    if (S_ISREG(information.st_mode)) return GESS_OK;
    fclose(r->file);
    return gess__fail(err, GESS_ERR_FILE, "%s is not a gess draws file", path);
}

int gess__draws_read(gess__draws *draws, const char *path, gess_error *err)
{
    reader r;
    *draws = (gess__draws){0};
    GESS_TRY(open_reader(&r, path, err));
    int status = read_all(draws, &r, err);
    fclose(r.file);
    if (status != GESS_OK) gess__draws_free(draws);
    return status;
}

int gess__draws_visit(const char *path, gess__block_fn *fn, void *user, gess_error *err)
{
    reader r;
    gess__draws d = {0};
    GESS_TRY(open_reader(&r, path, err));
    int status = read_header(&d, &r, err);
    while (status == GESS_OK && r.at < r.size) status = visit_block(&d, &r, fn, user, err);
    fclose(r.file);
    gess__draws_free(&d);
    return status;
}

void gess__draws_free(gess__draws *draws)
{
    for (size_t i = 0; i < draws->columns; i++) free(draws->names[i]);
    free(draws->names);
    free(draws->values);
    *draws = (gess__draws){0};
}

/* ---- going on with a file ---- */

/* It must be this run's. */
static int check_owner(const char *path, size_t chains, size_t columns, gess_error *err)
{
    reader r;
    gess__draws d = {0};
    GESS_TRY(open_reader(&r, path, err));
    int status = read_header(&d, &r, err);
    if (status == GESS_OK && (d.chains != chains || d.columns != columns))
        status =
            gess__fail(err, GESS_ERR_FILE, "%s belongs to another run: %zu chains and %zu columns, not %zu and %zu",
                       path, d.chains, d.columns, chains, columns);
    fclose(r.file);
    gess__draws_free(&d);
    return status;
}

int gess__writer_reopen(gess__writer **writer, const char *path, size_t chains, size_t groups, const size_t *starts,
                        size_t columns, gess_error *err)
{
    *writer = NULL;
    GESS_TRY(check_owner(path, chains, columns, err));
    return make_writer(writer, path, "r+b", chains, groups, starts, columns, err);
}
