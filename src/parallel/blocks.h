/* Work on many things in blocks, by a team.
 *
 * Blocks depend on how many things there are and on nothing else. So what is summed up block by block, and then over
 * the blocks in their order, has the same bits for any team, and for none. */
#ifndef GESS_PARALLEL_BLOCKS_H
#define GESS_PARALLEL_BLOCKS_H

#include "parallel/team.h"

/* Things in a block; a multiple of every number of lanes. */
enum { GESS__BLOCK = 1024 };

static inline size_t gess__block_count(size_t n)
{
    return (n + GESS__BLOCK - 1) / GESS__BLOCK;
}

/* One block: things first .. first + count - 1. It is the worker's alone. */
typedef void gess__blocks_fn(void *data, unsigned worker, size_t block, size_t first, size_t count);

/* Calls work() for every block of n things: by the team where there is one and as many operations, roughly, as are
 * worth waking it for; otherwise here, as worker 0. */
void gess__blocks(gess__team *team, double operations, size_t n, gess__blocks_fn *work, void *data);

/* Workers that work() may be called by. */
unsigned gess__block_workers(const gess__team *team);

#endif
