/* Pooled adaptation: T is fitted to the draws of all chains in the last warm-up window, then frozen.
 *
 * While T is being learned, chains are updated with a T that depends on their past, which is not invariant, so
 * warm-up draws are discarded. After warm-up T does not change, so every chain is plain generalized elliptical slice
 * sampling, exact and independent of the others given T and where warm-up left them. `auto` is this schedule with
 * everything that adapt/learning.h adds. */
#include "adapt/laplace.h"
#include "schedule/all_chains.h"

/* In warm-up of `auto`, one iteration in COORDINATE_PERIOD is a coordinate slice update; in more dimensions than
 * MAX_COORDINATES a coordinate would be updated too rarely. */
enum { COORDINATE_PERIOD = 8, MAX_COORDINATES = 100 };

static int open(gess__sampler *s, const gess_options *options, gess_error *err)
{
    gess__learning *learning = NULL;
    (void)options;
    int status = gess__learning_new(&learning, &s->adaptation, s->schedule->mixture, err);
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

static void next_auto(gess__sampler *s, uint64_t until, gess__stretch *stretch)
{
    gess__all_chains_next(s, until, stretch);
    if (!s->adaptation.warmup.over && s->ensemble.target.dim <= MAX_COORDINATES)
        stretch->moves.coordinate = COORDINATE_PERIOD;
}

static int probe_auto(gess__sampler *s, const gess__record *record, gess_error *err)
{
    return gess__laplace_search(s->state, record, err);
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

const gess__schedule gess__schedule_auto = {
    .name = "auto",
    .help = "pooled, with learned maps, a mixture of t and independence moves where they pay",
    .min_chains = 2,
    .learns_map = 1,
    .mixture = 1,
    .fits_points = 1,
    .open = open,
    .free = free_state,
    .archive = archive,
    .next = next_auto,
    .ran = gess__all_chains_ran,
    .probe = probe_auto,
    .assess = assess,
    .learning = learning_of,
};
