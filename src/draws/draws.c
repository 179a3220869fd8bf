/* Reads `draws.gess` block by block, checks the checksums, and collects the draws that every chain has. format.c reads
 * the headers. */
#include "draws/draws.h"

#include "base/checksum.h"
#include "base/mem.h"
#include "draws/format.h"

#include <stdlib.h>

/* Checks the block at *at, hands it to fn and moves *at behind it. */
static int visit_block(const gess__draws_file *f, uint64_t *at, gess__block_fn *fn, void *user, gess_error *err)
{
    gess__block_header h;
    uint64_t bytes = 0;
    double *rows = NULL;
    GESS_TRY(gess__draws_file_block(f, *at, &h, &bytes, err));
    GESS_TRY(gess__alloc_bytes(&rows, (size_t)bytes, 1, "block", err));
    *at += sizeof h;
    int status = gess__draws_file_read(f, *at, rows, (size_t)bytes, err);
    if (status == GESS_OK && gess__crc32(gess__block_header_crc(&h), rows, (size_t)bytes) != h.checksum)
        status = gess__draws_damaged(f, "block checksum", *at, err);
    if (status == GESS_OK) fn(user, (size_t)h.first_chain, (size_t)h.chains, h.first_draw, h.draws, rows);
    free(rows);
    *at += bytes;
    return status;
}

static int visit_blocks(const gess__draws_file *f, gess__block_fn *fn, void *user, gess_error *err)
{
    for (uint64_t at = f->blocks_at; at < f->size;) GESS_TRY(visit_block(f, &at, fn, user, err));
    return GESS_OK;
}

int gess__draws_visit(const char *path, gess__block_fn *fn, void *user, gess_error *err)
{
    gess__draws_file file;
    int status = gess__draws_file_open(&file, path, err);
    if (status == GESS_OK) status = visit_blocks(&file, fn, user, err);
    gess__draws_file_close(&file);
    return status;
}

/* ---- a whole file ---- */

/* First pass, over the headers of the blocks: the draws that every chain has. */
static int count_draws(const gess__draws_file *f, uint64_t *draws, gess_error *err)
{
    uint64_t *have = NULL; /* per chain */
    GESS_ALLOC(&have, f->chains, err);
    int status = GESS_OK;
    for (uint64_t at = f->blocks_at; at < f->size && status == GESS_OK;) {
        gess__block_header h;
        uint64_t bytes = 0;
        status = gess__draws_file_block(f, at, &h, &bytes, err);
        if (status == GESS_OK) status = gess__draws_file_count(f, at, &h, have, err);
        at += sizeof h + bytes;
    }
    *draws = have[0];
    for (size_t c = 1; c < f->chains; c++)
        if (have[c] < *draws) *draws = have[c];
    free(have);
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

static int read_values(gess__draws *d, const gess__draws_file *f, gess_error *err)
{
    GESS_TRY(gess__draws_file_check_chains(f, err));
    if (f->size == f->blocks_at) return GESS_OK;
    GESS_TRY(count_draws(f, &d->draws, err));
    GESS_ALLOC(&d->values, d->chains * d->columns * (size_t)d->draws, err);
    return visit_blocks(f, load_block, d, err);
}

int gess__draws_read(gess__draws *draws, const char *path, gess_error *err)
{
    gess__draws_file file;
    *draws = (gess__draws){0};
    int status = gess__draws_file_open(&file, path, err);
    draws->chains = file.chains;
    draws->columns = file.columns;
    draws->thin = file.thin;
    if (status == GESS_OK) status = read_values(draws, &file, err);
    draws->names = file.names; /* handed over */
    file.names = NULL;
    file.columns = 0;
    gess__draws_file_close(&file);
    if (status != GESS_OK) gess__draws_free(draws);
    return status;
}

void gess__draws_free(gess__draws *draws)
{
    for (size_t i = 0; i < draws->columns; i++) free(draws->names[i]);
    free(draws->names);
    free(draws->circle);
    free(draws->values);
    *draws = (gess__draws){0};
}
