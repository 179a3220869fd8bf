/* Splits one computation over n items, such as the points of a fit, into blocks of a fixed size for a team of threads.
 * These are not the blocks of chains that the scheduler runs (execute/scheduler.h), nor the blocks of draws in a file
 * (draws/format.h).
 *
 * The blocks depend only on n. So sums per block, added over the blocks in order, have the same bits for any team, and
 * without one. */
#ifndef GESS_PARALLEL_BLOCKS_H
#define GESS_PARALLEL_BLOCKS_H

#include "parallel/team.h"

/* Items per block; a multiple of every number of lanes. */
enum { GESS__BLOCK = 1024 };

static inline size_t gess__block_count(size_t n)
{
    return (n + GESS__BLOCK - 1) / GESS__BLOCK;
}

/* Works on one block: items first .. first + count - 1. No other worker gets them. */
typedef void gess__blocks_fn(void *data, unsigned worker, size_t block, size_t first, size_t count);

/* Calls work() for every block of n items. The team does it if there is one and the work, roughly `operations`
 * floating-point operations, is worth waking it; otherwise the calling thread does it, as worker 0. */
void gess__blocks(gess__team *team, double operations, size_t n, gess__blocks_fn *work, void *data);

/* The number of workers that may call work(): the bound of `worker`. */
unsigned gess__block_workers(const gess__team *team);

#endif
