/* A part of the evidence: a normalised T, the stored draws that it is bridged with, and fresh draws of it.
 *
 * part.c makes parts and their levels, fresh.c draws and evaluates, estimate.c bridges, refit.c fits a T to halves of
 * the draws. */
#ifndef GESS_EVIDENCE_PART_H
#define GESS_EVIDENCE_PART_H

#include "diagnose/pareto.h"
#include "evidence/stored.h"
#include "evidence/values.h"

typedef struct gess__part {
    gess__ensemble *ensemble;
    const gess__target *target; /* the ensemble's */
    uint64_t number;            /* of the part in this computation, for random keys */
    gess__mixture *t;           /* owned */
    const gess__stored *stored;
    size_t first, step; /* its series: first, first + step, … */
    size_t series, n1;  /* how many; their draws in all */
    double *level1;     /* n1: of its stored draws, series after series */
    size_t n2, room;    /* fresh draws so far; for how many there is memory */
    double *level2;     /* of the fresh draws */
    double log_circles; /* log ∫ over the sampling space minus log ∫ over x */
} gess__part;

/* Every SECOND-th fresh draw goes to the second estimate. */
enum { GESS__SECOND = 4 };

/* A part whose T is `from`, or N(0, I) if that is NULL; gess__part_levels() must follow once T is set. */
int gess__part_open(gess__part *part, gess__ensemble *ensemble, const gess__stored *stored, size_t first, size_t step,
                    uint64_t number, const gess__frozen *from, gess_error *err);
void gess__part_close(gess__part *part);

/* Sets level1. */
int gess__part_levels(gess__part *part, gess_error *err);

/* The mean level of its stored draws: log ∫π minus it is how likely T makes them. */
double gess__part_score(const gess__part *part);

/* Brings its fresh draws to n, evaluating what is not known. Adds to *evals and *nans. */
int gess__part_refresh(gess__part *part, const gess__evidence_input *input, gess__values *values, size_t n,
                       uint64_t *evals, uint64_t *nans, gess_error *err);

typedef struct gess__part_estimate {
    double log_z;                /* in the user's scale */
    double var_draws, var_fresh; /* relative variances from stored and fresh draws */
    double uncovered, effective; /* as in gess__evidence_result */
    int outside;                 /* every fresh draw has density zero */
} gess__part_estimate;

int gess__part_estimate_of(const gess__part *part, gess__part_estimate *out, gess_error *err);

/* The second estimate, from its share of the fresh draws of all parts, in the user's scale; k̂ of all of them, and the
 * largest that can be trusted. */
int gess__parts_second(size_t parts, const gess__part *part, gess__smoothed *second, double *k, double *max_k,
                       gess_error *err);

/* Fits T of part[0] to the series of part[1], and the other way round. *done: 0 if there are too few draws. */
int gess__part_refit(gess__part part[2], gess__team *team, int *done, gess_error *err);

#endif
