/* A fixed approximation: nothing is fitted, and chains never exchange anything.
 *
 * T comes from a file, or is N(0, I). With the kernel `ess` this is elliptical slice sampling with a Gaussian prior of
 * the user's; with `gess`, sampling with an approximation made elsewhere. Every chain is exact at every iteration. */
#include "schedule/all_chains.h"

static int open(gess__sampler *s, const gess_options *options, gess_error *err)
{
    if (options->approx == NULL) return GESS_OK;
    return gess__approx_read(s->ensemble.frozen.approx, options->approx, err);
}

static int assess(gess__sampler *s)
{
    (void)s;
    return 0;
}

const gess__schedule gess__schedule_fixed = {
    .name = "fixed",
    .help = "one approximation for all, from --approx; never refitted",
    .min_chains = 1,
    .open = open,
    .next = gess__all_chains_next,
    .ran = gess__all_chains_ran,
    .assess = assess,
};
