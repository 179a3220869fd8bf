/* Which kind of update each iteration is, as a function of its number. The schedule sets the mix. */
#ifndef GESS_KERNEL_MOVE_MIX_H
#define GESS_KERNEL_MOVE_MIX_H

#include <stdint.h>

typedef struct gess__move_mix {
    unsigned independence, period; /* of `period` iterations, the first `independence` are independence moves */
    unsigned coordinate;           /* one iteration in `coordinate` is a coordinate slice update; 0: none is */
} gess__move_mix;

/* Whether an iteration is an independence move, if it is no coordinate update. */
static inline int gess__mix_independence(gess__move_mix mix, uint64_t iteration)
{
    return mix.independence > 0 && iteration % mix.period < mix.independence;
}

/* Whether it is a coordinate update; whether the one before it was, so that the stored z is stale. */
static inline int gess__mix_coordinate(gess__move_mix mix, uint64_t iteration)
{
    return mix.coordinate > 0 && iteration % mix.coordinate == mix.coordinate - 1;
}

static inline int gess__mix_coordinate_before(gess__move_mix mix, uint64_t iteration)
{
    return mix.coordinate > 0 && iteration % mix.coordinate == 0;
}

#endif
