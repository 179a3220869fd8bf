/* Chains that are sampled together: their states, starts and schedule.
 *
 * A schedule says who is fitted to whom. It is one file and one row of schedules.def, and answers
 * one question, `next`: which chains run how many iterations with which approximation. Such a
 * stretch has no exchange between chains, so its blocks run on any threads in any order. */
#ifndef GESS_ENSEMBLE_ENSEMBLE_H
#define GESS_ENSEMBLE_ENSEMBLE_H

#include "approx/fit.h"
#include "kernel/kernel.h"
#include "parallel/team.h"

typedef struct gess__schedule gess__schedule;

/* Chains first .. first + count - 1 run `iterations` updates from iteration `start` on. */
typedef struct gess__stretch {
    size_t first, count;
    uint64_t start, iterations;
    const gess__approx *approx;
    int rebind; /* the approximation is new to these chains */
} gess__stretch;

typedef struct gess__ensemble {
    gess__target target;
    const gess__kernel *kernel;
    const gess__schedule *schedule;
    gess__chains chains;
    uint64_t seed, reuse;
    gess__team *team;        /* borrowed */
    size_t block;            /* chains of a block, at most */
    gess__update *updates;   /* one for each worker */
    gess__tally tally;
    /* the schedule's */
    gess__fitter *fitter;    /* NULL where nothing is fitted */
    gess__approx *approx;    /* in use, or used last */
    gess__fit_report fit;    /* of the newest fit */
    uint64_t fits;
    size_t half;             /* two-group: chains 0 .. half - 1 are the first group */
    int turn, fitted;        /* two-group: whose turn it is, and whether T is fitted for it */
    uint64_t turn_end;       /* two-group: iterations at which the turn passes */
    uint64_t done[2];        /* iterations that each group has behind it; [0] alone where there are no groups */
} gess__ensemble;

struct gess__schedule {
    const char *name, *help;
    size_t fewest_chains;
    /* Checks and allocates what the schedule needs; the ensemble frees it. */
    int (*open)(gess__ensemble *e, const gess_options *options, gess_error *err);
    /* The next stretch towards `until` iterations of every chain, at most `most` iterations long;
     * may fit. count = 0 where every chain is there. */
    void (*next)(gess__ensemble *e, uint64_t until, uint64_t most, gess__stretch *stretch);
    /* The stretch has been run. */
    void (*ran)(gess__ensemble *e, const gess__stretch *stretch);
};

const gess__schedule *gess__schedule_row(size_t i);
const gess__schedule *gess__schedule_find(const char *name);

/* Makes the ensemble with all chains at their starts. `team` stays the caller's. */
int gess__ensemble_new(gess__ensemble **ensemble, const gess_model *model, const gess_options *options,
                       gess__team *team, gess_error *err);
void gess__ensemble_free(gess__ensemble *ensemble);

/* Where the draws of a stretch go, in the user's scale: row (chain − first) · kept + draw of
 * `columns` = 1 + dim doubles (log density, parameters). Iteration i is kept where i ≥ from and
 * (i − from + 1) is a multiple of thin. rows = NULL: nothing is kept. */
typedef struct gess__record {
    double *rows;
    uint64_t from, thin;
} gess__record;

/* Number of iterations kept among start .. start + iterations - 1, and before `iteration`. */
uint64_t gess__record_kept(const gess__record *record, uint64_t start, uint64_t iterations);

/* Runs a stretch on the team. Allocates nothing. */
int gess__ensemble_run(gess__ensemble *e, const gess__stretch *stretch, const gess__record *record, gess_error *err);

/* starts.c: starting points of all chains, with their densities. */
int gess__ensemble_start(gess__ensemble *e, const char *init, gess_error *err);

#endif
