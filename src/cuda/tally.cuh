// Adds up the counts of all chains.
// Adds a count of all threads of a block to a sum.
static void add_up(uint64_t mine, uint64_t *sum)
{
    for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xffffffffu, mine, step);
    if (threadIdx.x % 32 == 0 && mine > 0) atomicAdd((unsigned long long *)sum, (unsigned long long)mine);
}

static void add_tally(const gess__lane_tally *mine, gess__lane_tally *sums)
{
    add_up(mine->evals, &sums->evals);
    add_up(mine->updates, &sums->updates);
    add_up(mine->failures, &sums->failures);
    add_up(mine->independence, &sums->independence);
    add_up(mine->accepted, &sums->accepted);
    add_up(mine->coordinate, &sums->coordinate);
    add_up(mine->coordinate_evals, &sums->coordinate_evals);
}
