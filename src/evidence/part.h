/* A part of the evidence: a normalised T, the stored draws that it is bridged with, and fresh draws of it.
 *
 * part.c makes parts and their levels, fresh.c draws and evaluates, estimate.c estimates from all parts together,
 * refit.c fits a T to the other draws of a source. */
#ifndef GESS_EVIDENCE_PART_H
#define GESS_EVIDENCE_PART_H

#include "evidence/stored.h"
#include "evidence/values.h"

typedef struct gess__part {
    gess__ensemble *ensemble;
    const gess__target *target; /* the ensemble's */
    uint64_t number;            /* of the part in this computation, for random keys */
    gess__mixture *t;           /* owned; the second half of its components are wide copies of the first, if `wide` */
    gess__learned *map;         /* owned; from the sampling space to that of T; NULL: they are the same */
    int wide;
    int mirrored; /* fresh draws come in pairs that mirror each other at the centre of a component */
    const gess__stored *stored;
    size_t first, step; /* its series: first, first + step, … */
    size_t series, n1;  /* how many; their draws in all */
    double *level1;     /* n1: of its stored draws, series after series */
    size_t n2, room;    /* fresh draws so far; for how many there is memory */
    double *level2;     /* of the fresh draws */
    double log_circles; /* log ∫ over the sampling space minus log ∫ over x */
} gess__part;

/* Fresh draws are used in pairs. Every SECOND-th pair goes to the second estimate. Their number is a multiple of UNIT.
 */
enum { GESS__SECOND = 4, GESS__UNIT = 2 * GESS__SECOND };

/* A part whose T is `from`, or N(0, I) if that is NULL; gess__part_levels() must follow once T is
 * set. It has the same number of series as the other parts with this `step`, so up to step − 1 are left over. */
int gess__part_open(gess__part *part, gess__ensemble *ensemble, const gess__stored *stored, size_t first, size_t step,
                    uint64_t number, const gess__frozen *from, gess_error *err);
void gess__part_close(gess__part *part);

/* Sets level1. If it shows that T is not the density, gives T before a copy of every component that is wider in all
 * directions, with a tenth of its weight: weights π/T stay smaller where T's tails are too light. */
int gess__part_levels(gess__part *part, gess_error *err);

/* The mean level of its stored draws: log ∫π minus it is how likely T makes them. */
double gess__part_score(const gess__part *part);

/* Brings its fresh draws to n, evaluating what is not known. Adds to *evals and *nans. */
int gess__part_refresh(gess__part *part, const gess__evidence_input *input, gess__values *values, size_t n,
                       uint64_t *evals, uint64_t *nans, gess_error *err);

/* Fits the T, and a map behind which it lies, of each of the `folds` parts of a source, to the series that the part is
 * not bridged with. *done: 0 if there are too few draws. */
int gess__parts_refit(size_t folds, gess__part *part, gess__team *team, int *done, gess_error *err);

/* Sets the numbers of the result that come from stored and fresh draws of all parts. (estimate.c) */
int gess__parts_estimate(size_t parts, const gess__part *part, gess__evidence_result *result, gess_error *err);

#endif
