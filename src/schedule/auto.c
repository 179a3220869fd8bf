/* The default schedule, `auto`, and `annealed`: pooled adaptation (pooled.c) with everything that adapt/learning.h
 * adds, a Laplace approximation, learned maps, a mixture of t and independence moves.
 *
 * `annealed` begins warm-up with annealing (explore/annealing.h): T and the chains come from particles that have found
 * the modes between them. `auto` does so if its first stage finds several basins. */
#include "schedule/all_chains.h"

/* In warm-up one iteration in COORDINATE_PERIOD is a coordinate slice update; in more dimensions than MAX_COORDINATES a
 * coordinate would be updated too rarely. */
enum { COORDINATE_PERIOD = 8, MAX_COORDINATES = 100 };

static int open_auto(gess__sampler *s, const gess_options *options, gess_error *err)
{
    gess__exploration *exploration = NULL;
    (void)options;
    int status = gess__exploration_new(&exploration, &s->adaptation, err);
    s->state = exploration;
    return status;
}

static int open_annealed(gess__sampler *s, const gess_options *options, gess_error *err)
{
    size_t dim = s->ensemble.target.dim;
    if (gess__mixture_room(dim) == 1)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--schedule annealed: in the %zu dimensions of this model there is no room for a component "
                          "of T per mode; use --schedule auto",
                          dim);
    return open_auto(s, options, err);
}

static void free_state(void *state)
{
    gess__exploration_free(state);
}

static void archive(gess__sampler *s, gess__archive *a)
{
    gess__exploration_archive(s->state, a);
}

static void started(gess__sampler *s)
{
    gess__exploration_started(s->state, 0);
}

static void started_annealed(gess__sampler *s)
{
    gess__exploration_started(s->state, 1);
}

static void next(gess__sampler *s, uint64_t until, gess__stretch *stretch)
{
    const gess__warmup *u = &s->adaptation.warmup;
    gess__all_chains_next(s, until, stretch);
    if (!u->over && !u->exploring && !u->economy.trial && s->ensemble.target.dim <= MAX_COORDINATES)
        stretch->moves.coordinate = COORDINATE_PERIOD;
}

static int advance(void *self, uint64_t until, const gess__record *record, gess_error *err)
{
    return gess__sampler_advance(self, until, record, err);
}

static int explore(gess__sampler *s, const gess__record *record, int *busy, gess_error *err)
{
    return gess__exploration_step(s->state, advance, s, record, busy, err);
}

static int probe(gess__sampler *s, const gess__record *record, gess_error *err)
{
    return gess__exploration_probe(s->state, record, err);
}

static int assess(gess__sampler *s)
{
    return gess__exploration_assess(s->state);
}

static void freeze(gess__sampler *s)
{
    gess__exploration_freeze(s->state);
}

static int object(gess__sampler *s)
{
    return gess__exploration_objects(s->state);
}

static void ended(gess__sampler *s)
{
    gess__exploration_ended(s->state);
}

static int look(gess__sampler *s, const gess__record *record, size_t *found, gess_error *err)
{
    return gess__exploration_look(s->state, record, found, err);
}

static void dismiss(gess__sampler *s, size_t *found)
{
    gess__basins_remove(((gess__exploration *)s->state)->basins, found);
}

static const gess__learning *learning_of(const gess__sampler *s)
{
    return ((const gess__exploration *)s->state)->learning;
}

static const gess__exploration *exploration_of(const gess__sampler *s)
{
    return s->state;
}

/* What the two schedules share. */
#define EXPLORING                                                                                           \
    .min_chains = 2, .learns_map = 1, .mixture = 1, .anneals = 1, .fits_points = 1, .free = free_state,     \
    .archive = archive, .explore = explore, .next = next, .ran = gess__all_chains_ran, .probe = probe,      \
    .assess = assess, .freeze = freeze, .object = object, .ended = ended, .look = look, .dismiss = dismiss, \
    .learning = learning_of, .exploration = exploration_of

const gess__schedule gess__schedule_auto = {
    .name = "auto",
    .help = "pooled, with learned maps, a mixture of t and independence moves where they pay; annealed if there are "
            "several modes",
    .open = open_auto,
    .started = started,
    EXPLORING,
};

const gess__schedule gess__schedule_annealed = {
    .name = "annealed",
    .help = "auto, but warm-up begins with annealing (sequential Monte Carlo), which finds separate modes",
    .open = open_annealed,
    .started = started_annealed,
    EXPLORING,
};
