/* Warm-up in stages: how long a stage is, when a window starts anew, when warm-up ends. These rules are the same for
 * every schedule, but a schedule may add a condition for the end (its `assess`): schedule/pooled.c waits until
 * nothing is left to learn, schedule/independent.c and tempering.c until the kernel has had the iterations that it
 * adapts in.
 *
 * Each stage is a quarter longer than the one before. As long as the draws of a stage differ from those before (the
 * ensemble still travels), the next stage starts a new window and forgets the old draws; it is longer by a sixteenth
 * only, since the ensemble arrives soonest with many fits. Once the draws are alike the window grows. Warm-up ends by
 * itself after two stages in a row in which nothing was left to improve, or, for schedules with trials, after a trial
 * (economy.h) that passed. All decisions count evaluations and iterations, never seconds. */
#ifndef GESS_ADAPT_STAGES_H
#define GESS_ADAPT_STAGES_H

#include "adapt/economy.h"
#include "adapt/window.h"
#include "execute/ensemble.h"

/* How warm-up stands. Saved in checkpoints as it is. */
typedef struct gess__warmup {
    int over;
    int settled;         /* it ended because nothing improved any more */
    uint64_t iterations; /* it took so far */
    uint64_t fixed;      /* iterations asked for, or GESS_AUTO */
    uint64_t max_evals;
    unsigned stages; /* complete */
    unsigned calm;   /* stages in a row without improvement */
    uint64_t length; /* iterations of the last stage that was no trial */
    int exploring;   /* the window holds particles (explore/annealing.h), and stretches collect nothing */
    /* of the stage that is running */
    int open;
    double value_before, error_before; /* mean_value and mean_error of the stage before, or of its end */
    gess__tally before;                /* at its beginning */
    /* of the last complete stage */
    int moved;                     /* its draws differ from those before: the next stage starts a window */
    double mean_value, mean_error; /* mean log density, and its standard error */
    double reach;                  /* largest |coordinate| of a chain after the first stage */
    double evals_per_update;
    double accepted;                  /* share of independence moves that were accepted */
    double expected_evals_per_update; /* in the next stage, if the mix of moves has changed; 0: as measured */
    gess__economy economy;
} gess__warmup;

/* Warm-up of one ensemble. */
typedef struct gess__adaptation {
    gess__ensemble *ensemble; /* borrowed */
    gess__warmup warmup;
    gess__window window;     /* empty if there is no warm-up */
    double seconds_learning; /* of this session, in `assess` */
    int end_early;           /* the caller wants warm-up to end now; not saved */
} gess__adaptation;

/* What a schedule supplies for a stage. */
typedef struct gess__stage_steps {
    /* Runs every chain up to `until` iterations. */
    int (*advance)(void *self, uint64_t until, const gess__record *record, gess_error *err);
    /* Makes further evaluations after the stage's draws, and counts them; NULL: none. */
    int (*probe)(void *self, const gess__record *record, gess_error *err);
    /* Fits to the window, sets warmup.moved if the new draws are unlike the old, and returns whether the approximation
     * can still be improved. */
    int (*assess)(void *self);
    /* Leaves only what sampling is done with, for a trial; NULL: there are no trials. */
    void (*freeze)(void *self);
    /* Whether a basin was found or lost since, so that a trial has failed. */
    int (*object)(void *self);
} gess__stage_steps;

/* `fits_points`: the schedule fits to the points of windows. */
int gess__adaptation_open(gess__adaptation *a, gess__ensemble *e, const gess_options *options, int fits_points,
                          gess_error *err);
void gess__adaptation_free(gess__adaptation *a);

/* Runs one more stage, or the rest of one that was stopped, and assesses it; sets warmup.over after the last. */
int gess__warmup_stage(gess__adaptation *a, const gess__stage_steps *steps, void *self, const gess__record *record,
                       gess_error *err);

/* Goes back from sampling to warm-up, with a window of its own: learning may cost as much as everything so far, or the
 * first limit if that is more, and at most `left` evaluations. */
void gess__warmup_reopen(gess__adaptation *a, uint64_t left);

/* Makes the stage under way the last one, and ends it with the iterations that it has had. */
void gess__warmup_end_early(gess__adaptation *a);

/* Iterations of warm-up: those asked for, or the least that the kernel adapts in. */
uint64_t gess__warmup_min_iterations(const gess__adaptation *a);

/* Evaluations of a warm-up that ends itself which are still to come, if T gets no better: the shortest possible warm-up
 * before the first forecast, 0 once it is over or if its length was asked for. */
double gess__warmup_expected_left(const gess__adaptation *a);

/* Takes the mean log density of the last stage again, after a change of map has changed log densities. */
void gess__warmup_measure(gess__adaptation *a);

/* Measures what updates cost since warmup.before, and how many independence moves were accepted. */
void gess__warmup_measure_moves(gess__adaptation *a);

void gess__adaptation_archive(gess__adaptation *a, gess__archive *archive);

#endif
