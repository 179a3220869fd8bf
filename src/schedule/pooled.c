/* Pooled adaptation: T is fitted to the draws of all chains in the last warm-up window, then frozen.
 *
 * While T is being learned, chains are updated with a T that depends on their past, which is not invariant, so
 * warm-up draws are discarded. After warm-up T does not change, so every chain is plain generalized elliptical slice
 * sampling, exact and independent of the others given T and where warm-up left them. */
#include "schedule/all_chains.h"

static int open(gess__sampler *s, const gess_options *options, gess_error *err)
{
    gess__learning *learning = NULL;
    (void)options;
    int status = gess__learning_new(&learning, &s->adaptation, 0, err);
    s->state = learning;
    return status;
}

static void free_state(void *state)
{
    gess__learning_free(state);
}

static void archive(gess__sampler *s, gess__archive *a)
{
    gess__learning_archive(s->state, a);
}

static int assess(gess__sampler *s)
{
    return gess__learning_assess(s->state);
}

static const gess__learning *learning_of(const gess__sampler *s)
{
    return s->state;
}

const gess__schedule gess__schedule_pooled = {
    .name = "pooled",
    .help = "fit to all chains in warm-up, then freeze: no chain waits",
    .min_chains = 2,
    .fits_points = 1,
    .open = open,
    .free = free_state,
    .archive = archive,
    .next = gess__all_chains_next,
    .ran = gess__all_chains_ran,
    .assess = assess,
    .learning = learning_of,
};
