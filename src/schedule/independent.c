/* Every chain by itself, for kernels without an approximation: nothing is fitted, nothing exchanged.
 *
 * A warm-up whose length is left to gess ends by the rules of adapt/stages.h (the mean log density of the chains has
 * stopped moving) and under one more condition, which assess() adds: the kernel has had the iterations that it adapts
 * in. */
#include "schedule/all_chains.h"

static int open(gess__sampler *s, const gess_options *options, gess_error *err)
{
    (void)s;
    (void)options;
    (void)err;
    return GESS_OK;
}

static int assess(gess__sampler *s)
{
    return gess__ensemble_done(&s->ensemble) < gess__warmup_min_iterations(&s->adaptation);
}

const gess__schedule gess__schedule_independent = {
    .name = "independent",
    .help = "every chain by itself; what auto is for kernels without an approximation",
    .min_chains = 1,
    .no_approx = 1,
    .open = open,
    .next = gess__all_chains_next,
    .ran = gess__all_chains_ran,
    .assess = assess,
};
