/* Builds the index of the blocks, checking each once, and copies the requested chains and draws from the blocks that
 * hold them. */
#include "draws/reader.h"

#include "base/assert.h"
#include "base/checksum.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER = 1 << 18 /* bytes */ };

/* ---- the index ---- */

/* Reads the rows of a block, which begin at byte `at`, and compares the checksum. */
static int check_rows(const gess__reader *r, const gess__block_header *h, uint64_t at, uint64_t bytes, gess_error *err)
{
    uint32_t crc = gess__block_header_crc(h);
    for (uint64_t done = 0; done < bytes;) {
        size_t piece = bytes - done < BUFFER ? (size_t)(bytes - done) : BUFFER;
        GESS_TRY(gess__draws_file_read(&r->file, at + done, r->buffer, piece, err));
        crc = gess__crc32(crc, r->buffer, piece);
        done += piece;
    }
    return crc == h->checksum ? GESS_OK : gess__draws_damaged(&r->file, "block checksum", at, err);
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

/* Checks the block at *at, puts it into the index and moves *at behind it. have[chain]: draws so far. */
static int take_block(gess__reader *r, uint64_t *at, size_t *room, uint64_t *have, gess_error *err)
{
    gess__block_header h;
    uint64_t bytes = 0, rows_at = *at + sizeof h;
    GESS_TRY(gess__draws_file_block(&r->file, *at, &h, &bytes, err));
    GESS_TRY(gess__draws_file_count(&r->file, *at, &h, have, err));
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

static int read_blocks(gess__reader *r, gess_error *err)
{
    uint64_t *have = NULL, at = r->file.blocks_at;
    size_t room = 0;
    GESS_TRY(gess__draws_file_check_chains(&r->file, err));
    if (at == r->file.size) return GESS_OK;
    GESS_ALLOC(&have, r->chains, err);
    int status = GESS_OK;
    while (status == GESS_OK && at < r->file.size) status = take_block(r, &at, &room, have, err);
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
    r->file.file = -1;
    GESS_ALLOC(&r->buffer, BUFFER, err);
    GESS_TRY(gess__draws_file_open(&r->file, path, err));
    r->chains = r->file.chains;
    r->columns = r->file.columns;
    r->thin = r->file.thin;
    r->names = r->file.names;
    r->hidden = r->file.hidden;
    r->parameters = r->file.parameters;
    return read_blocks(r, err);
}

int gess__reader_open_shown(gess__reader **reader, const char *path, gess_error *err)
{
    GESS_TRY(gess__reader_open(reader, path, err));
    gess__reader *r = *reader;
    if (r->hidden == 0) return GESS_OK;
    size_t row = r->file.columns * sizeof(double);
    if (row > BUFFER) { /* take_shown() reads whole rows */
        free(r->buffer);
        r->buffer = NULL;
        GESS_ALLOC(&r->buffer, row, err);
    }
    r->skip = r->hidden;
    r->hidden = 0;
    r->columns -= r->skip;
    GESS_ALLOC(&r->shown, r->columns, err);
    r->shown[0] = r->file.names[0];
    for (size_t i = 1; i < r->columns; i++) r->shown[i] = r->file.names[r->skip + i];
    r->names = r->shown;
    return GESS_OK;
}

void gess__reader_free(gess__reader *r)
{
    if (r == NULL) return;
    gess__draws_file_close(&r->file);
    free(r->shown);
    free(r->blocks);
    free(r->buffer);
    free(r);
}

/* ---- draws ---- */

/* A rectangle of chains and draws that the caller wants, and where it goes. */
typedef struct wanted {
    size_t first_chain, chains;
    uint64_t first_draw, draws;
    double *rows;
} wanted;

/* Copies draws of one chain that begin at byte `at` of the file, without the columns that are left out. */
static int take_shown(const gess__reader *r, uint64_t at, uint64_t draws, double *out, gess_error *err)
{
    size_t width = r->columns + r->skip, row = width * sizeof(double), most = BUFFER / row > 0 ? BUFFER / row : 1;
    while (draws > 0) {
        size_t n = draws < most ? (size_t)draws : most;
        GESS_TRY(gess__draws_file_read(&r->file, at, r->buffer, n * row, err));
        for (size_t i = 0; i < n; i++, out += r->columns) {
            const char *from = r->buffer + i * row;
            memcpy(out, from, sizeof *out);
            memcpy(out + 1, from + (1 + r->skip) * sizeof *out, (r->columns - 1) * sizeof *out);
        }
        at += n * row;
        draws -= n;
    }
    return GESS_OK;
}

/* Copies the part of the rectangle that the block has. If at least half of the block's draws are wanted, whole chains
 * are read into the buffer, several per read; otherwise the draws of one chain at a time are read to their place. */
static int take_rows(const gess__reader *r, const gess__reader_block *b, const wanted *w, gess_error *err)
{
    size_t first = b->first_chain > w->first_chain ? b->first_chain : w->first_chain;
    size_t block_end = b->first_chain + b->chains, wanted_end = w->first_chain + w->chains;
    size_t end = block_end < wanted_end ? block_end : wanted_end;
    uint64_t from = b->first_draw > w->first_draw ? b->first_draw : w->first_draw;
    uint64_t to = b->first_draw + b->draws;
    if (w->first_draw + w->draws < to) to = w->first_draw + w->draws;
    if (first >= end || from >= to) return GESS_OK;

    size_t row = (r->columns + r->skip) * sizeof(double), bytes = (size_t)(to - from) * row;
    uint64_t whole = b->draws * row, skip = (from - b->first_draw) * row;
    size_t chains_per_read = whole <= BUFFER && bytes >= whole / 2 ? (size_t)(BUFFER / whole) : 0;
    for (size_t c = first; c < end;) {
        uint64_t at = b->offset + (c - b->first_chain) * whole;
        double *out = w->rows + ((c - w->first_chain) * w->draws + (from - w->first_draw)) * r->columns;
        if (r->skip > 0 || chains_per_read == 0) {
            GESS_TRY(r->skip > 0 ? take_shown(r, at + skip, to - from, out, err)
                                 : gess__draws_file_read(&r->file, at + skip, out, bytes, err));
            c++;
            continue;
        }
        size_t n = end - c < chains_per_read ? end - c : chains_per_read;
        GESS_TRY(gess__draws_file_read(&r->file, at, r->buffer, n * (size_t)whole, err));
        for (size_t i = 0; i < n; i++) memcpy(out + i * w->draws * r->columns, r->buffer + i * whole + skip, bytes);
        c += n;
    }
    return GESS_OK;
}

int gess__reader_rows(const gess__reader *r, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      double *rows, gess_error *err)
{
    GESS_ASSERT(r != NULL && rows != NULL);
    if (first_chain > r->chains || chains > r->chains - first_chain || first_draw > r->draws ||
        draws > r->draws - first_draw)
        return gess__fail(err, GESS_ERR_INTERNAL, "draws %llu to %llu of %s were asked for, which it does not have",
                          (unsigned long long)first_draw, (unsigned long long)(first_draw + draws), r->file.path);
    /* the first block that can hold first_draw */
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
