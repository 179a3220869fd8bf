/* An ensemble: chains that run with one frozen state (map, T, mix of moves), and the memory of the workers that run
 * them. It knows how to run a stretch, and nothing of who is fitted to whom (schedule/) or of learning (adapt/). */
#ifndef GESS_EXECUTE_ENSEMBLE_H
#define GESS_EXECUTE_ENSEMBLE_H

#include "base/options.h"
#include "execute/accelerator.h"
#include "execute/remote.h"
#include "execute/stretch.h"
#include "frozen/frozen.h"
#include "parallel/team.h"

/* What an ensemble is made with. */
typedef struct gess__ensemble_settings {
    const gess__kernel *kernel;
    size_t first, chains; /* number of its first chain among those of the run; how many chains */
    int learns_map;       /* the target gets a map that can be learned */
    int mixture;          /* T may become a mixture */
    int anneals;          /* the target may be annealed */
    int tempered;         /* chains have powers */
} gess__ensemble_settings;

typedef struct gess__ensemble {
    gess__target target;
    const gess__kernel *kernel;
    gess__chains chains;
    gess__frozen frozen;
    uint64_t seed;
    gess__tally tally;
    gess__nans nans;
    /* how far it is */
    uint64_t done[2]; /* iterations that each group of chains has done; without groups both are the same */
    size_t group;     /* chains 0 .. group - 1 are the first group; 0: there are no groups */
    int rebind;       /* T, or the points, are new to the chains */
    /* whose draws are kept */
    size_t kept;       /* the first chains, or all */
    size_t kept_first; /* number of the first of them among the kept chains of all ensembles */
    /* who runs it */
    gess__team *team;               /* borrowed */
    gess__remote *remote;           /* borrowed; NULL: there are no other ranks */
    gess__accelerator *accelerator; /* borrowed; NULL: the processor runs every stretch */
    size_t number;                  /* of this ensemble in the run */
    size_t block;                   /* chains per block, at most */
    uint64_t speculate;             /* angles to predict, at most; 0: none; GESS_AUTO */
    gess__update *updates;          /* one per worker */
    gess__scheduler *scheduler;
} gess__ensemble;

/* Makes an ensemble whose chains have no states yet. `team` stays the caller's. */
int gess__ensemble_init(gess__ensemble *e, const gess_model *model, const gess_options *options,
                        const gess__ensemble_settings *settings, gess__team *team, gess_error *err);
void gess__ensemble_free(gess__ensemble *e);

/* As much of one as it takes to run tasks for another rank: no chains and no scheduler. settings->chains is the largest
 * block. */
int gess__ensemble_init_helper(gess__ensemble *e, const gess_model *model, const gess_options *options,
                               const gess__ensemble_settings *settings, gess__team *team, gess_error *err);

/* Sizes blocks for `workers` workers of all ranks, unless the size was given: smaller ones than before, if any. */
int gess__ensemble_share(gess__ensemble *e, const gess_options *options, unsigned workers, gess_error *err);

/* Runs a stretch on the team; no worker waits for another, except for room to put draws. Allocates nothing. If it was
 * stopped, stretch->iterations becomes what every chain has done of it. */
int gess__ensemble_run(gess__ensemble *e, gess__stretch *stretch, const gess__record *record, gess_error *err);

/* Waits for speculative evaluations that nobody uses any more, before the map or the model changes. */
void gess__ensemble_settle(gess__ensemble *e);

/* Iterations that every chain has done. */
uint64_t gess__ensemble_done(const gess__ensemble *e);

/* Speculative evaluations that were not used, since the ensemble was made. */
uint64_t gess__ensemble_unused(const gess__ensemble *e);

/* How far stretches should go that are run to measure time: whether nothing has been timed yet. */
int gess__ensemble_untimed(const gess__ensemble *e);

/* States, tallies and counters, for checkpoints; not the frozen state. */
void gess__ensemble_archive(gess__ensemble *e, gess__archive *archive);

#endif
