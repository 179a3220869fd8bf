/* Runs a function on every block of items, on the team if the work is large enough to wake it. */
#include "parallel/blocks.h"

#include "base/assert.h"

#define MIN_OPERATIONS 1e6 /* fewer take less time than waking a team */

struct blocks {
    gess__blocks_fn *work;
    void *data;
    size_t n;
};

static int work_on_block(void *data, unsigned worker, size_t block, gess_error *err)
{
    (void)err;
    const struct blocks *b = data;
    size_t first = block * GESS__BLOCK, left = b->n - first;
    b->work(b->data, worker, block, first, left < GESS__BLOCK ? left : GESS__BLOCK);
    return GESS_OK;
}

void gess__blocks(gess__team *team, double operations, size_t n, gess__blocks_fn *work, void *data)
{
    struct blocks b = {work, data, n};
    GESS_ASSERT(work != NULL);
    size_t count = gess__block_count(n);
    if (team != NULL && gess__team_size(team) > 1 && count > 1 && operations > MIN_OPERATIONS) {
        (void)gess__team_run(team, count, work_on_block, &b, NULL); /* no block can fail */
        return;
    }
    for (size_t block = 0; block < count; block++) (void)work_on_block(&b, 0, block, NULL);
}

unsigned gess__block_workers(const gess__team *team)
{
    return team != NULL ? gess__team_size(team) : 1;
}
