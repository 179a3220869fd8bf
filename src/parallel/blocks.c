#include "parallel/blocks.h"

#define WORTHWHILE 1e6

struct blocks {
    gess__blocks_fn *work;
    void *data;
    size_t n;
};

static int one(void *data, unsigned worker, size_t block, gess_error *err)
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
    size_t count = gess__block_count(n);
    if (team != NULL && gess__team_size(team) > 1 && count > 1 && operations > WORTHWHILE) {
        (void)gess__team_run(team, count, one, &b, NULL); /* no block can fail */
        return;
    }
    for (size_t block = 0; block < count; block++) (void)one(&b, 0, block, NULL);
}

unsigned gess__block_workers(const gess__team *team)
{
    return team != NULL ? gess__team_size(team) : 1;
}
