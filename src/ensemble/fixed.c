/* A fixed approximation: nothing is fitted, chains never exchange anything.
 *
 * T comes from a file, or is N(0, I). With the kernel `ess` this is elliptical slice sampling with
 * a Gaussian prior of the user's; with `gess`, sampling with an approximation made elsewhere. */
#include "ensemble/ensemble.h"

static int open(gess__ensemble *e, const gess_options *options, gess_error *err)
{
    if (options->approx == NULL) return GESS_OK;
    return gess__approx_read(e->approx, options->approx, err);
}

static void next(gess__ensemble *e, uint64_t until, uint64_t most, gess__stretch *stretch)
{
    uint64_t left = until > e->done[0] ? until - e->done[0] : 0;
    *stretch = (gess__stretch){
        .count = left > 0 ? e->chains.count : 0,
        .start = e->done[0],
        .iterations = left < most ? left : most,
        .approx = e->approx,
        .rebind = e->done[0] == 0,
    };
}

static void ran(gess__ensemble *e, const gess__stretch *stretch)
{
    e->done[0] += stretch->iterations;
}

const gess__schedule gess__schedule_fixed = {
    .name = "fixed",
    .help = "one approximation for all, from --approx; never refitted",
    .fewest_chains = 1,
    .open = open,
    .next = next,
    .ran = ran,
};
