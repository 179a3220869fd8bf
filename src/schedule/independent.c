/* Chains on their own, for kernels without an approximation: nothing is fitted, nothing exchanged.
 *
 * A warm-up whose length is left to gess ends where the mean log density of the chains has stopped moving, but not
 * before the kernel has had the iterations that it adapts in. */
#include "schedule/all_chains.h"

static int open(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    (void)options;
    (void)err;
    e->rebind = 1;
    return GESS_OK;
}

static int look(gess__ensemble *e)
{
    return gess__ensemble_done(e) < gess__warmup_min_iterations(e);
}

const gess__schedule gess__schedule_independent = {
    .name = "independent",
    .help = "every chain on its own; what auto is for kernels without an approximation",
    .min_chains = 1,
    .alone = 1,
    .open = open,
    .next = gess__all_chains_next,
    .ran = gess__all_chains_ran,
    .look = look,
};
