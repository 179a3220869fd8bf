/* The annealed route of warm-up: sequential Monte Carlo from the reference (transform/reference.h) to the target
 * (P. Del Moral, A. Doucet and A. Jasra, "Sequential Monte Carlo samplers", JRSS B 68 (2006)).
 *
 * Particles are drawn from the reference. A step raises the power β of the annealed density so far that the conditional
 * effective sample size of the particles' weights is a given share of their number, resamples them (systematic), and
 * moves each by a few updates with a T that was fitted to the particles before. At β = 1 the modes that the particles
 * have found are weighed by importance sampling from T: the number of particles in a mode does not tell its weight if
 * modes differ in width. The particles that come of it are the window that ordinary warm-up goes on from, and its
 * chains.
 *
 * Particles are the points of the warm-up window. They are moved in waves, one row of the window at a time: the chains
 * of the ensemble take the row's points, run as in any stretch, and give the points back. So threads, ranks,
 * speculation and stops work as always. */
#ifndef GESS_EXPLORE_ANNEALING_H
#define GESS_EXPLORE_ANNEALING_H

#include "adapt/learning.h"
#include "explore/clusters.h"
#include "explore/maxima.h"

/* Temperatures that are recorded; a run needs some tens. */
enum { GESS__MAX_POWERS = 256 };

/* Ascents of a step that may lead to nothing new. */
enum { GESS__MAX_FAILURES = 3 };

/* A mode may be given up if its share of the mass is below this. */
#define GESS__NEGLIGIBLE 1e-4

/* Whether hardly a particle inside the support is an error, or a reason to go another way. */
enum gess__annealing_wish { GESS__ANNEAL_IF_POSSIBLE, GESS__ANNEAL };

/* Why annealing was abandoned. */
enum gess__abandoned { GESS__TOO_SHORT, GESS__NO_SUPPORT };

/* Where the window of warm-up was. */
typedef struct gess__window_place {
    uint64_t start, stage, length, stride, draws;
} gess__window_place;

/* How annealing stands. Saved in checkpoints as it is. */
typedef struct gess__annealing_state {
    int under_way, done;
    int abandoned;       /* there is another route, and `why` says why it was taken */
    int wish;            /* enum gess__annealing_wish */
    int why;             /* enum gess__abandoned */
    int drawn;           /* the particles have been drawn from the reference */
    unsigned last_stage; /* of warm-up, in which it ended */
    int fixed;           /* the powers are given, T and the number of updates stay as they are (tests) */
    uint64_t particles;
    gess__window_place before; /* it began */
    int laplace[2];            /* what was known of a Laplace approximation then */
    unsigned steps;            /* complete */
    unsigned powers;           /* recorded */
    double power[GESS__MAX_POWERS];
    double log_z;    /* log of the estimated normalisation of the target so far */
    unsigned rounds; /* of moves at β = 1 */
    int searched;    /* maxima that T does not cover have been searched for */
    /* of the step that is under way */
    int open;
    uint64_t begun, length; /* iteration at which its first wave began; updates per wave */
    /* ascents from particles that the known maxima do not explain (unexplained.h) */
    uint64_t ascents, ascent_evals;
    uint64_t failed[GESS__MAX_FAILURES]; /* particles of this step from which ascents led to nothing new */
    unsigned failures;                   /* their number */
    unsigned unused;
    int rushed;   /* the last step was longer than it ought to be: evaluations ran out */
    int unplaced; /* a mode has no particles, and there is no room for any */
    uint64_t clusters;
    /* the modes that were weighed */
    uint64_t weighed;
    double weight[GESS__MAX_COMPONENTS], weight_error[GESS__MAX_COMPONENTS]; /* share of the mass; its error */
    uint32_t given_up[GESS__MAX_COMPONENTS];                                 /* 1: the weight is negligible */
    uint64_t evals;                                                          /* that annealing took, all in all */
} gess__annealing_state;

typedef struct gess__annealing {
    gess__learning *learning; /* borrowed */
    gess__annealing_state state;
    gess__clusters *clusters;
    gess__maxima *maxima;
    double *raw, *log_reference; /* per particle: log densities of target and reference in the space y */
    double *weight;              /* per particle */
    double *scratch;             /* of levels */
    double *centre;              /* GESS__MAX_COMPONENTS × dim: centres of the modes that were weighed */
} gess__annealing;

int gess__annealing_new(gess__annealing **annealing, gess__learning *learning, gess_error *err);
void gess__annealing_free(gess__annealing *annealing);

/* Begins: the particles are drawn by the first step. */
void gess__annealing_begin(gess__annealing *annealing, enum gess__annealing_wish wish);

/* Runs one step, or the rest of one that was stopped. `advance` runs all chains up to an iteration, as in
 * gess__stage_steps. */
int gess__annealing_step(gess__annealing *annealing,
                         int (*advance)(void *self, uint64_t until, const gess__record *record, gess_error *err),
                         void *self, const gess__record *record, gess_error *err);

/* Evaluates the points of the chains again for their blobs, which particles do not have. */
int gess__annealing_renew_blobs(gess__ensemble *ensemble, gess_error *err);

/* Goes back to ordinary warm-up; no chain has moved since annealing began. */
void gess__annealing_abandon(gess__annealing *annealing, enum gess__abandoned why);

void gess__annealing_archive(gess__annealing *annealing, gess__archive *archive);

#endif
