/* Chains that are sampled together: their states, starts, warm-up and schedule.
 *
 * A schedule says who is fitted to whom. It is one file and one row of schedules.def, and answers
 * one question, `next`: which chains run how many iterations with which approximation. Such a
 * stretch has no exchange between chains, so its blocks run on any threads in any order.
 *
 * Warm-up goes in stages, each a quarter longer than the one before. A window is what the
 * approximation is fitted to: the draws of the last stages, as far back as they look alike. What is
 * decided at the end of a stage counts evaluations and iterations, never seconds. */
#ifndef GESS_EXECUTE_ENSEMBLE_H
#define GESS_EXECUTE_ENSEMBLE_H

#include "approx/fit.h"
#include "base/archive.h"
#include "kernel/kernel.h"
#include "parallel/team.h"

#include <stdatomic.h>

typedef struct gess__schedule gess__schedule;

/* Chains first .. first + count - 1 run `iterations` updates from iteration `start` on. */
typedef struct gess__stretch {
    size_t first, count;
    uint64_t start, iterations;
    const gess__approx *approx;
    const gess__mixture *mixture;   /* or NULL */
    unsigned globals, period, axes; /* as in gess__update */
    int rebind;                     /* the approximation is new to these chains */
} gess__stretch;

/* The draws of a warm-up window, in the sampling space, thinned to fit. */
typedef struct gess__window {
    uint64_t start;     /* iteration at which it began */
    uint64_t stage;     /* iteration at which its newest stage began */
    uint64_t length;    /* iterations of the newest stage */
    uint64_t stride;    /* one iteration in so many is kept */
    size_t draws;       /* kept of each chain */
    size_t room;        /* draws of each chain that there is room for */
    double *points;     /* (draw · chains + chain) × dim; NULL where the schedule fits to none */
    double *values;     /* draw · chains + chain: their log densities */
    double *packed;     /* the points again, those of the first half of the chains first */
    double *own;        /* of each chain: its mean log density in the newest stage that is complete */
    double *own_before; /* the same of the stage before, while there is a newer one */
} gess__window;

/* How warm-up stands. */
typedef struct gess__warmup {
    int over;
    int settled;         /* it ended because nothing improved any more */
    uint64_t iterations; /* it took, once over */
    uint64_t fixed;      /* iterations asked for, or GESS_AUTO */
    uint64_t max_evals;
    unsigned stages; /* complete */
    unsigned calm;   /* stages in a row without improvement */
    /* of the stage that is being run */
    int open;
    double value_before, error_before;
    /* of the last one */
    int moved;                          /* the last stage's draws differ from those before: the next starts a window */
    double mean_value, mean_error;      /* of log densities in the last stage, and its standard error */
    double reach;                       /* largest |y| after the first stage */
    double each;                        /* evaluations an update, in the last stage */
    double score, gap, gain, shrinkage; /* what the last fit said (docs/statistics.md) */
    int leans;                          /* and whether it leans towards the summit's T */
    /* summit.h */
    int climbing;          /* a climb was stopped */
    int summit, by_summit; /* there is one; its T is in use */
    uint64_t climbed;      /* evaluations of the climb */
    /* refinements (refine.h) */
    uint64_t refines, refined_at;              /* how many, and the evaluations, without the climb's, at the last */
    int improving;                             /* the last one brought something: there will be another */
    unsigned vain;                             /* so many in a row brought nothing */
    unsigned skip, skips;                      /* as many will not search; as many did not, last time */
    unsigned layers, layer[GESS__MAX_LAYERS]; /* of the map: how many, and their kinds (refine.c) */
    double map_gain, mixture_gain;             /* what the last one found */
    double acceptance, independence;           /* expected of independence moves: share accepted, draws an evaluation */
    double accepted;                           /* the share that was, in the last stage */
    double drawn;                              /* `independence` after the last refinement */
    double cost;                               /* evaluations of an update around an ellipse */
    double fitted_nu[GESS__MAX_COMPONENTS];   /* before they were capped for independence moves; 0: never */
    double ellipse;                            /* measured of updates around ellipses: draws an evaluation */
    gess__tally before;                        /* at the beginning of the stage */
} gess__warmup;

/* Of parallel tempering, beside the chains' powers. */
typedef struct gess__ladder {
    uint64_t round;  /* iterations until it is tuned; 0: it never is */
    uint64_t from;   /* iteration at which it was */
    double *refused; /* of each pair since then: chances of refusal, summed */
    double *scratch; /* 2 × chains */
} gess__ladder;

typedef struct gess__scheduler gess__scheduler;
typedef struct gess__map_search gess__map_search;
typedef struct gess__laplace gess__laplace;
typedef struct gess__coordinator gess__coordinator;

typedef struct gess__ensemble {
    gess__target target;
    const gess__kernel *kernel;
    const gess__schedule *schedule;
    gess__chains chains;
    uint64_t seed, reuse;
    uint64_t speculate;    /* angles ahead, at most; 0: off; GESS_AUTO */
    gess__team *team;      /* borrowed */
    gess__coordinator *ranks;    /* borrowed; NULL: there are no other ranks */
    size_t number;         /* of this ensemble in the run */
    size_t block;          /* chains of a block, at most */
    gess__update *updates; /* one for each worker */
    gess__scheduler *stream;  /* what is in flight */
    gess__tally tally;
    gess__nans nans;
    gess__window window;
    gess__warmup warmup;
    /* the schedule's */
    gess__fitter *fitter;     /* NULL where nothing is fitted */
    gess__approx *approx;     /* in use, or used last */
    gess__approx *spare;      /* scratch of a fit, or NULL */
    gess__fit_report fit;     /* of the newest fit */
    gess__mixture *mixture;   /* auto: T; NULL elsewhere. One component: the t in approx */
    unsigned globals, period; /* auto: of `period` iterations, the first `globals` are independence moves */
    gess__map_search *refiner;   /* auto, in warm-up */
    gess__laplace *summit;     /* auto, in warm-up; or NULL */
    uint64_t fits;
    double seconds_learning; /* of this session, in what its schedule makes of windows */
    size_t half;             /* two-group: chains 0 .. half - 1 are the first group */
    int turn, fitted;        /* two-group: whose turn it is, and whether T is fitted for it */
    uint64_t turn_end;       /* two-group: iterations at which the turn passes */
    uint64_t done[2];        /* iterations that each group has behind it; [0] alone where there are no groups */
    int rebind;              /* the approximation, or the point, is new to the chains */
    gess__ladder ladder;     /* tempering */
    size_t kept;             /* chains whose draws are kept: the first ones, or all */
    size_t kept_first;       /* what the first of them is called among those of all ensembles */
    int frozen;              /* tests of invariance: no kernel adapts */
} gess__ensemble;

struct gess__schedule {
    const char *name, *help;
    size_t min_chains;
    int alone;        /* for kernels without an approximation, and for them only */
    int learns_maps;  /* gives the target a map that it may learn */
    int fits_windows; /* needs the points of warm-up windows, not their log densities alone */
    /* Checks and allocates what the schedule needs; the ensemble frees it. */
    int (*open)(gess__ensemble *e, const gess_options *options, gess_error *err);
    /* The next stretch towards `until` iterations of every chain; may fit. count = 0 where every
     * chain is there. */
    void (*next)(gess__ensemble *e, uint64_t until, gess__stretch *stretch);
    /* The stretch has been run. */
    void (*ran)(gess__ensemble *e, const gess__stretch *stretch);
    /* A stage has ended, its draws are in e->window: fits to the window if that is the schedule's
     * way, sets warmup.moved where the new draws are not like the old, and returns whether the
     * approximation can still be improved. */
    int (*look)(gess__ensemble *e);
};

const gess__schedule *gess__schedule_row(size_t i);
const gess__schedule *gess__schedule_find(const char *name);

/* Makes an ensemble of `chains` chains, numbered from `first` on, at their starts. `team` stays the
 * caller's. */
int gess__ensemble_new(gess__ensemble **ensemble, const gess_model *model, const gess_options *options, size_t first,
                       size_t chains, gess__team *team, gess_error *err);
void gess__ensemble_free(gess__ensemble *ensemble);

/* The same without starts, for states that come from a checkpoint. */
int gess__ensemble_make(gess__ensemble **ensemble, const gess_model *model, const gess_options *options, size_t first,
                        size_t chains, gess__team *team, gess_error *err);

/* As much of one as it takes to run tasks for another rank: no chains, no warm-up, no stream. */
int gess__ensemble_make_helper(gess__ensemble **ensemble, const gess_model *model, const gess_options *options,
                              size_t block, gess__team *team, gess_error *err);

/* Blocks for so many workers, where their size was not given: smaller ones than before, if any. */
int gess__ensemble_share(gess__ensemble *e, const gess_options *options, unsigned workers, gess_error *err);

/* save.c: writes the state to an archive, or reads it; what a stretch does not change alone. */
void gess__ensemble_archive(gess__ensemble *e, gess__archive *archive);
void gess__ensemble_archive_frozen(gess__ensemble *e, gess__archive *archive);

/* ---- running (stream.c) ---- */

/* A rectangle of draws in the user's scale: rows[(chain · draws + draw) · columns], the log density,
 * the parameters and the derived quantities. */
typedef struct gess__segment {
    size_t first, count; /* chains whose draws are kept */
    uint64_t iterations; /* that every one of these chains has behind it now */
    uint64_t first_draw, draws;
    uint64_t evals, updates; /* of this stretch so far, by all its blocks */
    const double *rows;
} gess__segment;

/* Gets segments in order, one call at a time, from any worker. */
typedef int gess__sink_fn(void *user, const gess__segment *segment, gess_error *err);

/* Which draws are kept, and who gets them: iteration i where i ≥ from and i − from + 1 is a
 * multiple of thin. thin = 0: none; the sink still hears of progress. */
typedef struct gess__record {
    uint64_t from, thin;
    gess__sink_fn *sink; /* or NULL */
    void *user;
    atomic_int *stop; /* or NULL: ends the stretch early when it becomes 1 */
} gess__record;

/* Number of iterations kept among start .. start + iterations - 1. */
uint64_t gess__record_kept(const gess__record *record, uint64_t start, uint64_t iterations);

/* Runs a stretch on the team; no worker waits for another, except for room to put draws. Allocates
 * nothing. Where it was stopped, stretch->iterations becomes what every chain has done of it. */
int gess__ensemble_run(gess__ensemble *e, gess__stretch *stretch, const gess__record *record, gess_error *err);

int gess__scheduler_new(gess__scheduler **stream, const gess__ensemble *e, gess_error *err);
void gess__scheduler_free(gess__scheduler *stream);

/* Every chain up to `until` iterations, stretch by stretch. */
int gess__ensemble_advance(gess__ensemble *e, uint64_t until, const gess__record *record, gess_error *err);

/* Evaluations that were made in advance, since the ensemble was made, and not used. */
uint64_t gess__ensemble_unused(const gess__ensemble *e);

/* Iterations that every chain has behind it. */
uint64_t gess__ensemble_done(const gess__ensemble *e);

/* ---- warm-up (warmup.c) ---- */

/* The mean of the log densities of the last stage, for warmup. */
void gess__window_mean_values(gess__ensemble *e);

/* Iterations of warm-up: those asked for, or what the kernel adapts in at least. */
uint64_t gess__warmup_min_iterations(const gess__ensemble *e);

int gess__warmup_open(gess__ensemble *e, const gess_options *options, gess_error *err);

/* One stage more, or the rest of one that was stopped, and a look at it; sets e->warmup.over when it was
 * the last. */
int gess__warmup_stage(gess__ensemble *e, const gess__record *record, gess_error *err);

/* ---- starts.c ---- */

/* Starting points of all chains, with their densities. */
int gess__ensemble_start(gess__ensemble *e, const char *init, gess_error *err);

#endif
