/* Schedules: who is fitted to whom. A schedule is one file and one row of schedules.def.
 *
 * It answers one question, `next`: which chains run how many iterations with which approximation. A sampler is an
 * ensemble with its warm-up and its schedule. */
#ifndef GESS_SCHEDULE_SCHEDULE_H
#define GESS_SCHEDULE_SCHEDULE_H

#include "adapt/learning.h"
#include "adapt/stages.h"
#include "execute/ensemble.h"
#include "explore/exploration.h"

typedef struct gess__schedule gess__schedule;

typedef struct gess__sampler {
    gess__ensemble ensemble;
    gess__adaptation adaptation;
    const gess__schedule *schedule;
    void *state;     /* the schedule's */
    int never_adapt; /* tests of invariance: no kernel adapts */
} gess__sampler;

struct gess__schedule {
    const char *name, *help;
    size_t min_chains;
    int no_approx;   /* for kernels without an approximation, and for them only */
    int learns_map;  /* gives the target a map that can be learned */
    int mixture;     /* T may become a mixture */
    int anneals;     /* the target may be annealed */
    int tempered;    /* chains have powers */
    int fits_points; /* fits to the points of warm-up windows, not only to present states */

    /* Makes s->state (NULL if it needs none) and checks the schedule's options. */
    int (*open)(gess__sampler *s, const gess_options *options, gess_error *err);
    /* Frees s->state; NULL: there is nothing to free. */
    void (*free)(void *state);
    /* Writes s->state to an archive, or reads it; NULL: there is nothing to save. */
    void (*archive)(gess__sampler *s, gess__archive *archive);

    /* The chains have got their starts; NULL: it does not matter. */
    void (*started)(gess__sampler *s);
    /* Before a stage of warm-up: may run a step of its own in place of a stage, and then sets *busy. NULL: never. */
    int (*explore)(gess__sampler *s, const gess__record *record, int *busy, gess_error *err);

    /* The next stretch towards `until` iterations of every chain; may fit. count = 0 if every chain is there. */
    void (*next)(gess__sampler *s, uint64_t until, gess__stretch *stretch);
    /* The stretch has been run. */
    void (*ran)(gess__sampler *s, const gess__stretch *stretch);
    /* A stage of warm-up has ended: `probe` may be NULL; both as in gess__stage_steps. */
    int (*probe)(gess__sampler *s, const gess__record *record, gess_error *err);
    int (*assess)(gess__sampler *s);
    /* As in gess__stage_steps; both NULL: warm-up has no trials. */
    void (*freeze)(gess__sampler *s);
    int (*object)(gess__sampler *s);
    /* Warm-up is over; NULL: it does not matter. */
    void (*ended)(gess__sampler *s);
    /* After sampling: looks for modes that the draws may have missed. *found: basins (explore/basins.h) that are new,
     * the last ones. NULL: never. */
    int (*look)(gess__sampler *s, const gess__record *record, size_t *found, gess_error *err);
    /* Removes the last *found basins. */
    void (*dismiss)(gess__sampler *s, size_t *found);
    /* What it learned; NULL: nothing is learned. */
    const gess__learning *(*learning)(const gess__sampler *s);
    /* How it explored; NULL: it does not explore. */
    const gess__exploration *(*exploration)(const gess__sampler *s);
};

/* Row i of schedules.def, NULL past the end; by name, NULL if there is none. */
const gess__schedule *gess__schedule_row(size_t i);
const gess__schedule *gess__schedule_find(const char *name);

/* Makes a sampler of `chains` chains, numbered from `first` on, at their starts. `team` stays the caller's. */
int gess__sampler_new(gess__sampler **sampler, const gess_model *model, const gess_options *options, size_t first,
                      size_t chains, gess__team *team, gess_error *err);
void gess__sampler_free(gess__sampler *sampler);

/* The same without starts, for states that come from a checkpoint. */
int gess__sampler_make(gess__sampler **sampler, const gess_model *model, const gess_options *options, size_t first,
                       size_t chains, gess__team *team, gess_error *err);

/* The schedule's next stretch, complete: with the phase and, in warm-up, the window that collects its points. */
void gess__sampler_next(gess__sampler *s, uint64_t until, gess__stretch *stretch);

/* Runs a stretch, and tells the schedule. */
int gess__sampler_run(gess__sampler *s, gess__stretch *stretch, const gess__record *record, gess_error *err);

/* Runs every chain up to `until` iterations, stretch by stretch. */
int gess__sampler_advance(gess__sampler *s, uint64_t until, const gess__record *record, gess_error *err);

/* Runs one more stage of warm-up. */
int gess__sampler_warm_up(gess__sampler *s, const gess__record *record, gess_error *err);

/* What the schedule learned, or NULL. */
const gess__learning *gess__sampler_learning(const gess__sampler *s);

/* How it explored, or NULL. */
const gess__exploration *gess__sampler_exploration(const gess__sampler *s);

/* Everything that its future depends on. */
void gess__sampler_archive(gess__sampler *s, gess__archive *archive);

#endif
