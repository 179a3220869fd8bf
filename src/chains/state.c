/* Allocates the arrays of chain states, and archives the states of a range of chains for checkpoints and for messages
 * between ranks. */
#include "chains/state.h"

#include "base/assert.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int gess__chains_new(gess__chains *c, int tempered, gess_error *err)
{
    GESS_ASSERT(c->count > 0 && c->dim > 0);
    GESS_ALLOC(&c->x, c->count * c->dim, err);
    GESS_ALLOC(&c->value, c->count, err);
    if (c->blob_count > 0) GESS_ALLOC(&c->blobs, c->count * c->blob_count, err);
    GESS_ALLOC(&c->kernel_state, c->count * c->state_size, err);
    GESS_ALLOC(&c->deltas, c->count, err);
    GESS_ALLOC(&c->log_ts, c->count, err);
    GESS_ALLOC(&c->peak, c->count, err);
    GESS_ALLOC(&c->peak_at, c->count * c->dim, err);
    GESS_ALLOC(&c->level, c->count, err);
    GESS_ALLOC(&c->level_value, c->count, err);
    GESS_ALLOC(&c->level_at, c->count * c->dim, err);
    c->trail_points = c->dim <= GESS__TRAIL_MAX_DIM && !tempered ? GESS__TRAIL_POINTS : 0;
    GESS_ALLOC(&c->trail_count, c->count, err);
    GESS_ALLOC(&c->trail, c->count * c->trail_points * (c->dim + 1), err);
    if (tempered) GESS_ALLOC(&c->powers, c->count, err);
    gess__chains_forget_peaks(c);
    return GESS_OK;
}

void gess__chains_forget_peaks(gess__chains *c)
{
    for (size_t i = 0; i < c->count; i++) c->peak[i] = c->level[i] = -INFINITY;
    memset(c->trail_count, 0, c->count * sizeof *c->trail_count);
}

void gess__chains_note_trail(gess__chains *c, size_t chain, const double *point, double value)
{
    if (c->trail_points == 0 || !isfinite(value)) return;
    size_t at = chain * c->trail_points + (size_t)(c->trail_count[chain]++ % c->trail_points);
    double *row = c->trail + at * (c->dim + 1);
    memcpy(row, point, c->dim * sizeof *row);
    row[c->dim] = value;
}

/* Whether chain i is higher than chain k; of two that are equally high, the first is. */
static int is_higher(const gess__chains *c, size_t i, size_t k)
{
    return c->value[i] > c->value[k] || (c->value[i] == c->value[k] && i < k);
}

size_t gess__chain_of_rank(const gess__chains *c, size_t rank)
{
    size_t best = 0;
    for (size_t r = 0, last = c->count; r <= rank && r < c->count; r++, last = best) {
        best = c->count;
        for (size_t i = 0; i < c->count; i++)
            if ((r == 0 || is_higher(c, last, i)) && (best == c->count || is_higher(c, i, best))) best = i;
    }
    return best;
}

void gess__chains_free(gess__chains *c)
{
    free(c->x);
    free(c->value);
    free(c->blobs);
    free(c->kernel_state);
    free(c->deltas);
    free(c->log_ts);
    free(c->peak);
    free(c->peak_at);
    free(c->level);
    free(c->level_value);
    free(c->level_at);
    free(c->trail_count);
    free(c->trail);
    free(c->powers);
}

/* Only the part of the trails that is in use. */
static void archive_trails(gess__chains *c, size_t first, size_t count, gess__archive *a)
{
    gess__archive_bytes(a, c->trail_count + first, count * sizeof *c->trail_count);
    for (size_t i = first; i < first + count && c->trail_points > 0 && !a->bad; i++) {
        size_t used = c->trail_count[i] < c->trail_points ? (size_t)c->trail_count[i] : c->trail_points;
        gess__archive_bytes(a, c->trail + i * c->trail_points * (c->dim + 1), used * (c->dim + 1) * sizeof *c->trail);
    }
}

void gess__chains_archive(gess__chains *c, size_t first, size_t count, gess__archive *a)
{
    GESS_ASSERT(first + count <= c->count);
    gess__archive_bytes(a, c->x + first * c->dim, count * c->dim * sizeof *c->x);
    gess__archive_bytes(a, c->value + first, count * sizeof *c->value);
    if (c->blobs != NULL)
        gess__archive_bytes(a, c->blobs + first * c->blob_count, count * c->blob_count * sizeof *c->blobs);
    gess__archive_bytes(a, c->kernel_state + first * c->state_size, count * c->state_size * sizeof *c->kernel_state);
    gess__archive_bytes(a, c->deltas + first, count * sizeof *c->deltas);
    gess__archive_bytes(a, c->log_ts + first, count * sizeof *c->log_ts);
    gess__archive_bytes(a, c->peak + first, count * sizeof *c->peak);
    gess__archive_bytes(a, c->peak_at + first * c->dim, count * c->dim * sizeof *c->peak_at);
    gess__archive_bytes(a, c->level + first, count * sizeof *c->level);
    gess__archive_bytes(a, c->level_value + first, count * sizeof *c->level_value);
    gess__archive_bytes(a, c->level_at + first * c->dim, count * c->dim * sizeof *c->level_at);
    archive_trails(c, first, count, a);
    if (c->powers != NULL) gess__archive_bytes(a, c->powers + first, count * sizeof *c->powers);
}
