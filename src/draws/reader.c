#include "draws/reader.h"

#include "base/checksum.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "draws.gess is little-endian, and this code reads it as memory"
#endif

/* docs/file-formats.md */
static const char file_magic[8] = {'g', 'e', 's', 's', 'd', 'r', 'a', 'w'};
enum { VERSION = 1, BLOCK_MAGIC = 0x314b4c42, MAX_HEADER = 1 << 28, BUFFER = 1 << 18 };

typedef struct block_header {
    uint32_t magic, checksum;
    uint64_t first_chain, chains, first_draw, draws;
} block_header;

static int not_draws(const gess__reader *r, gess_error *err)
{
    return gess__fail(err, GESS_ERR_FILE, "%s is not a gess draws file", r->path);
}

static int damaged(const gess__reader *r, const char *what, uint64_t at, gess_error *err)
{
    return gess__fail(err, GESS_ERR_FILE, "%s is damaged: %s (at byte %llu)", r->path, what, (unsigned long long)at);
}

static int read_at(const gess__reader *r, uint64_t at, void *out, size_t count, gess_error *err)
{
    char *to = out;
    if (at > r->size || count > r->size - at)
        return gess__fail(err, GESS_ERR_FILE, "%s ends in the middle of a block (at byte %llu)", r->path,
                          (unsigned long long)r->size);
    while (count > 0) {
        ssize_t got = pread(r->file, to, count, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", r->path,
                              got == 0 ? "it has become shorter" : strerror(errno));
        to += got;
        at += (uint64_t)got;
        count -= (size_t)got;
    }
    return GESS_OK;
}

/* ---- header ---- */

static int take_header(gess__reader *r, const char *text, size_t length, gess_error *err)
{
    json_t *root = json_loadb(text, length, 0, NULL), *names = json_object_get(root, "columns");
    json_int_t chains = json_integer_value(json_object_get(root, "chains"));
    json_int_t thin = json_integer_value(json_object_get(root, "thin"));
    size_t columns = json_array_size(names);
    const char *first = json_string_value(json_array_get(names, 0));
    int status = GESS_OK;
    if (chains < 1 || thin < 1 || first == NULL || strcmp(first, "lp__") != 0) status = damaged(r, "header", 16, err);
    if (status == GESS_OK) status = gess__alloc_bytes(&r->names, columns, sizeof *r->names, "names", err);
    if (status == GESS_OK) r->columns = columns;
    for (size_t i = 0; status == GESS_OK && i < columns; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        status = name == NULL ? damaged(r, "header", 16, err) : gess__copy_text(&r->names[i], name, err);
    }
    r->chains = (size_t)chains;
    r->thin = (uint64_t)thin;
    json_decref(root);
    return status;
}

/* *at: behind the header. */
static int read_header(gess__reader *r, uint64_t *at, gess_error *err)
{
    char magic[sizeof file_magic], *text = NULL;
    uint32_t lengths[2], crc;
    *at = sizeof magic + sizeof lengths;
    if (r->size < *at) return not_draws(r, err);
    GESS_TRY(read_at(r, 0, magic, sizeof magic, err));
    if (memcmp(magic, file_magic, sizeof magic) != 0) return not_draws(r, err);
    GESS_TRY(read_at(r, sizeof magic, lengths, sizeof lengths, err));
    if (lengths[0] != VERSION)
        return gess__fail(err, GESS_ERR_FILE, "%s has format version %u; this gess reads version %d", r->path,
                          lengths[0], VERSION);
    if (lengths[1] > MAX_HEADER || lengths[1] > r->size) return damaged(r, "header length", *at, err);
    GESS_ALLOC(&text, lengths[1], err);
    int status = read_at(r, *at, text, lengths[1], err);
    if (status == GESS_OK) status = read_at(r, *at + lengths[1], &crc, sizeof crc, err);
    if (status == GESS_OK) {
        uint32_t is = gess__crc32(gess__crc32(0, lengths, sizeof lengths), text, lengths[1]);
        status = is == crc ? take_header(r, text, lengths[1], err) : damaged(r, "header checksum", *at, err);
    }
    free(text);
    *at += lengths[1] + sizeof crc;
    return status;
}

/* ---- blocks ---- */

/* Reads the rows behind a block's header and compares the checksum. */
static int check_rows(const gess__reader *r, const block_header *h, uint64_t at, uint64_t bytes, gess_error *err)
{
    uint32_t crc = gess__crc32(0, &h->first_chain, sizeof *h - offsetof(block_header, first_chain));
    for (uint64_t done = 0; done < bytes;) {
        size_t piece = bytes - done < BUFFER ? (size_t)(bytes - done) : BUFFER;
        GESS_TRY(read_at(r, at + done, r->buffer, piece, err));
        crc = gess__crc32(crc, r->buffer, piece);
        done += piece;
    }
    return crc == h->checksum ? GESS_OK : damaged(r, "block checksum", at, err);
}

static int append_block(gess__reader *r, size_t *room, const gess__reader_block *block, gess_error *err)
{
    if (r->count == *room) {
        gess__reader_block *larger = NULL;
        size_t wanted = *room == 0 ? 64 : 2 * *room;
        GESS_ALLOC(&larger, wanted, err);
        if (r->count > 0) memcpy(larger, r->blocks, r->count * sizeof *larger);
        free(r->blocks);
        r->blocks = larger;
        *room = wanted;
    }
    r->blocks[r->count++] = *block;
    if (block->draws > r->longest) r->longest = block->draws;
    return GESS_OK;
}

/* One block at *at: checked, put into the index, *at moved behind it. have[chain]: draws so far. */
static int take_block(gess__reader *r, uint64_t *at, size_t *room, uint64_t *have, gess_error *err)
{
    block_header h;
    GESS_TRY(read_at(r, *at, &h, sizeof h, err));
    uint64_t rows_at = *at + sizeof h, most = (r->size - rows_at) / (r->columns * sizeof(double));
    if (h.magic != BLOCK_MAGIC || h.chains < 1 || h.chains > r->chains || h.first_chain > r->chains - h.chains ||
        h.draws < 1)
        return damaged(r, "block header", *at, err);
    if (h.draws > most || h.chains > most / h.draws)
        return gess__fail(err, GESS_ERR_FILE, "%s ends in the middle of a block (that begins at byte %llu)", r->path,
                          (unsigned long long)*at);
    uint64_t bytes = h.chains * h.draws * r->columns * sizeof(double);
    for (uint64_t c = h.first_chain; c < h.first_chain + h.chains; c++) {
        if (have[c] != h.first_draw) return damaged(r, "draws out of order", *at, err);
        have[c] += h.draws;
    }
    GESS_TRY(check_rows(r, &h, rows_at, bytes, err));
    *at = rows_at + bytes;
    gess__reader_block block = {.offset = rows_at,
                                .first_draw = h.first_draw,
                                .draws = h.draws,
                                .first_chain = (size_t)h.first_chain,
                                .chains = (size_t)h.chains};
    return append_block(r, room, &block, err);
}

static int by_first_draw(const void *a, const void *b)
{
    const gess__reader_block *x = a, *y = b;
    if (x->first_draw != y->first_draw) return x->first_draw < y->first_draw ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static int read_blocks(gess__reader *r, uint64_t at, gess_error *err)
{
    uint64_t *have = NULL;
    size_t room = 0;
    if (at == r->size) return GESS_OK;
    /* a chain has at least a block, or the file has none at all */
    if (r->chains > (r->size - at) / sizeof(double)) return damaged(r, "number of chains", at, err);
    GESS_ALLOC(&have, r->chains, err);
    int status = GESS_OK;
    while (status == GESS_OK && at < r->size) status = take_block(r, &at, &room, have, err);
    r->draws = have[0];
    for (size_t c = 1; c < r->chains; c++)
        if (have[c] < r->draws) r->draws = have[c];
    free(have);
    if (status == GESS_OK) qsort(r->blocks, r->count, sizeof *r->blocks, by_first_draw);
    return status;
}

int gess__reader_open(gess__reader **reader, const char *path, gess_error *err)
{
    GESS_ALLOC(reader, 1, err);
    gess__reader *r = *reader;
    struct stat information;
    uint64_t at;
    r->file = -1;
    GESS_TRY(gess__copy_text(&r->path, path, err));
    GESS_ALLOC(&r->buffer, BUFFER, err);
    r->file = open(path, O_RDONLY | O_CLOEXEC);
    if (r->file < 0 || fstat(r->file, &information) != 0)
        return gess__fail(err, GESS_ERR_FILE, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(information.st_mode)) return not_draws(r, err);
    r->size = (uint64_t)information.st_size;
    GESS_TRY(read_header(r, &at, err));
    return read_blocks(r, at, err);
}

void gess__reader_free(gess__reader *r)
{
    if (r == NULL) return;
    for (size_t i = 0; i < r->columns; i++) free(r->names[i]);
    if (r->file >= 0) close(r->file);
    free(r->names);
    free(r->blocks);
    free(r->buffer);
    free(r->path);
    free(r);
}

/* ---- draws ---- */

/* A rectangle that was asked for, and where it goes. */
typedef struct wanted {
    size_t first_chain, chains;
    uint64_t first_draw, draws;
    double *rows;
} wanted;

/* What the block has of it. Whole chains of the block come through the buffer, many at a time, where
 * most of their draws are wanted; otherwise each chain's draws are read to their place. */
static int take_rows(const gess__reader *r, const gess__reader_block *b, const wanted *w, gess_error *err)
{
    size_t first = b->first_chain > w->first_chain ? b->first_chain : w->first_chain;
    size_t block_end = b->first_chain + b->chains, wanted_end = w->first_chain + w->chains;
    size_t end = block_end < wanted_end ? block_end : wanted_end;
    uint64_t from = b->first_draw > w->first_draw ? b->first_draw : w->first_draw;
    uint64_t to = b->first_draw + b->draws;
    if (w->first_draw + w->draws < to) to = w->first_draw + w->draws;
    if (first >= end || from >= to) return GESS_OK;

    size_t row = r->columns * sizeof(double), bytes = (size_t)(to - from) * row;
    uint64_t whole = b->draws * row, skip = (from - b->first_draw) * row;
    size_t together = whole <= BUFFER && bytes >= whole / 2 ? (size_t)(BUFFER / whole) : 0;
    for (size_t c = first; c < end;) {
        uint64_t at = b->offset + (c - b->first_chain) * whole;
        double *out = w->rows + ((c - w->first_chain) * w->draws + (from - w->first_draw)) * r->columns;
        if (together == 0) {
            GESS_TRY(read_at(r, at + skip, out, bytes, err));
            c++;
            continue;
        }
        size_t n = end - c < together ? end - c : together;
        GESS_TRY(read_at(r, at, r->buffer, n * (size_t)whole, err));
        for (size_t i = 0; i < n; i++) memcpy(out + i * w->draws * r->columns, r->buffer + i * whole + skip, bytes);
        c += n;
    }
    return GESS_OK;
}

int gess__reader_rows(const gess__reader *r, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      double *rows, gess_error *err)
{
    if (first_chain > r->chains || chains > r->chains - first_chain || first_draw > r->draws ||
        draws > r->draws - first_draw)
        return gess__fail(err, GESS_ERR_INTERNAL, "draws %llu to %llu of %s were asked for, which it does not have",
                          (unsigned long long)first_draw, (unsigned long long)(first_draw + draws), r->path);
    /* the first block that can reach as far as first_draw */
    size_t low = 0, high = r->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (r->blocks[middle].first_draw + r->longest <= first_draw)
            low = middle + 1;
        else
            high = middle;
    }
    const wanted w = {first_chain, chains, first_draw, draws, rows};
    for (; low < r->count && r->blocks[low].first_draw < first_draw + draws; low++)
        GESS_TRY(take_rows(r, &r->blocks[low], &w, err));
    return GESS_OK;
}
