/* Exploration: which way warm-up goes. It knows how many basins the chains fell into, whether annealing is called for,
 * and what became of every basin. It owns what warm-up learns (adapt/learning.h). */
#ifndef GESS_EXPLORE_EXPLORATION_H
#define GESS_EXPLORE_EXPLORATION_H

#include "adapt/learning.h"
#include "explore/annealing.h"
#include "explore/basins.h"
#include "explore/rare.h"
#include "explore/scout.h"

typedef struct gess__exploration {
    gess__learning *learning;
    gess__annealing *annealing;
    gess__scout *scout; /* NULL: too many dimensions for the evaluations that there are */
    gess__basins *basins;
    gess__rare_state rare;
    int found;                     /* basins that are new in this stage */
    double peak;                   /* the highest log density that was evaluated for chains, in the user's scale */
    double *peak_at;               /* dim: the point there, in y */
    gess__peaks *peaks;            /* NULL: T has no room for components */
    double *starts, *start_values; /* chains × dim, chains: where the chains started, in y, and the log densities */
} gess__exploration;

int gess__exploration_new(gess__exploration **exploration, gess__adaptation *adaptation, gess_error *err);
void gess__exploration_free(gess__exploration *exploration);

/* The chains are at their starts, which the reference of annealing comes from; `annealed`: begin with annealing. */
void gess__exploration_started(gess__exploration *exploration, int annealed);

/* Runs a step of annealing if that is under way, and then sets *busy. */
int gess__exploration_step(gess__exploration *exploration,
                           int (*advance)(void *self, uint64_t until, const gess__record *record, gess_error *err),
                           void *self, const gess__record *record, int *busy, gess_error *err);

/* After the draws of a stage: the Laplace search, and the search for other basins. */
int gess__exploration_probe(gess__exploration *exploration, const gess__record *record, gess_error *err);

/* After a stage: learns, unless annealing begins; returns whether there is more to learn. */
int gess__exploration_assess(gess__exploration *exploration);

/* Before a trial, and when warm-up ends: leaves only the moves that sampling is done with. */
void gess__exploration_freeze(gess__exploration *exploration);

/* After a trial: whether a basin was found in it, or T does not cover one any more. */
int gess__exploration_objects(gess__exploration *exploration);

/* Warm-up is over. */
void gess__exploration_ended(gess__exploration *exploration);

/* After sampling: looks into the evaluated points that T does not explain. *found: basins that are new, the last ones;
 * the draws may have missed them. */
int gess__exploration_look(gess__exploration *exploration, const gess__record *record, size_t *found, gess_error *err);

void gess__exploration_archive(gess__exploration *exploration, gess__archive *archive);

#endif
