/* Allocates the workspace, cuts chains into halves, and sorts the draws of a parameter once for all its figures. */
#include "diagnose/posterior_workspace.h"

#include "base/assert.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

/* Columns are halves of chains; an odd n drops its middle draw. Like R's posterior, chains of 2 or 3 draws become two
 * columns, of first and of last draws, with the chains as rows. */
static gess__posterior_split cut(size_t chains, size_t n)
{
    if (n == 1) return (gess__posterior_split){chains, 1, 1};
    if (n < 4 && chains > 1) return (gess__posterior_split){2, chains, n};
    return (gess__posterior_split){2 * chains, n / 2, 1};
}

size_t gess__posterior_begin(const gess__posterior_workspace *work, size_t column)
{
    size_t n = work->n;
    if (n == 1) return column;
    if (work->split.stride > 1) return column * (n - 1);
    return column / 2 * n + column % 2 * (n - n / 2);
}

int gess__posterior_workspace_new(gess__posterior_workspace **out, size_t chains, size_t n, gess_error *err)
{
    *out = NULL;
    if (chains == 0 || n == 0) return gess__fail(err, GESS_ERR_USAGE, "no draws to diagnose: run for longer");
    if (n > UINT32_MAX / chains)
        return gess__fail(err, GESS_ERR_USAGE,
                          "%zu chains of %zu draws are more than 2^32 draws: thin them before diagnosing", chains, n);
    GESS_ALLOC(out, 1, err);
    gess__posterior_workspace *work = *out;
    work->chains = chains;
    work->n = n;
    work->total = chains * n;
    work->split = cut(chains, n);
    GESS_ALLOC(&work->keys, work->total, err);
    GESS_ALLOC(&work->order, work->total, err);
    GESS_ALLOC(&work->spare_keys, work->total, err);
    GESS_ALLOC(&work->spare_order, work->total, err);
    GESS_ALLOC(&work->series, work->total, err);
    GESS_ALLOC(&work->means, work->split.columns, err);
    GESS_ALLOC(&work->rho, work->split.rows + 2, err);
    return gess__fft_init(&work->fft, work->split.rows, err);
}

void gess__posterior_workspace_free(gess__posterior_workspace *work)
{
    if (work == NULL) return;
    free(work->keys);
    free(work->order);
    free(work->spare_keys);
    free(work->spare_order);
    free(work->series);
    free(work->means);
    free(work->rho);
    gess__fft_free(&work->fft);
    free(work);
}

/* ---- sorting ---- */

/* Radix sort of keys, from the lowest byte up; a byte that all keys share is skipped. */
static void sort_draws(gess__posterior_workspace *work)
{
    enum { BYTES = 8, VALUES = 256 };
    size_t total = work->total;
    uint32_t counts[BYTES][VALUES];
    memset(counts, 0, sizeof counts);
    work->numbers = total;
    for (size_t i = 0; i < total; i++) {
        uint64_t key = gess__draw_key(work->x[i]);
        work->keys[i] = key;
        work->order[i] = (uint32_t)i;
        if (key == UINT64_MAX) work->numbers--;
        for (unsigned b = 0; b < BYTES; b++) counts[b][key >> (8 * b) & 255]++;
    }
    for (unsigned b = 0; b < BYTES; b++) {
        if (counts[b][work->keys[0] >> (8 * b) & 255] == total) continue;
        uint32_t next[VALUES], sum = 0;
        for (unsigned v = 0; v < VALUES; v++) {
            next[v] = sum;
            sum += counts[b][v];
        }
        for (size_t i = 0; i < total; i++) {
            uint64_t key = work->keys[i];
            uint32_t place = next[key >> (8 * b) & 255]++;
            work->spare_keys[place] = key;
            work->spare_order[place] = work->order[i];
        }
        uint64_t *keys = work->keys;
        uint32_t *order = work->order;
        work->keys = work->spare_keys;
        work->order = work->spare_order;
        work->spare_keys = keys;
        work->spare_order = order;
    }
}

void gess__posterior_load(gess__posterior_workspace *work, const double *x)
{
    GESS_ASSERT(work != NULL && x != NULL);
    work->x = x;
    sort_draws(work);
}
