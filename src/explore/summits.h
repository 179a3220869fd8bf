/* Summits that T does not cover: places of high log density that particles or chains have seen, and a Laplace
 * approximation at each that a climb finds (adapt/laplace.h).
 *
 * Annealing loses a narrow mode if no particle is left in it, but some particle may have been there. So points at which
 * log π − log T was highest are noted on the way, and at the end, if the final T is too small there as well, a climb
 * starts from each. */
#ifndef GESS_EXPLORE_SUMMITS_H
#define GESS_EXPLORE_SUMMITS_H

#include "adapt/laplace.h"

enum { GESS__NOTED = 256, GESS__MAX_SUMMITS = 32 };

/* Saved in checkpoints as it is. */
typedef struct gess__summits_state {
    uint64_t noted;  /* so far; the newest GESS__NOTED are kept */
    uint64_t sorted; /* a search is under way, and the noted points are in its order */
    uint64_t next;   /* point to climb from */
    uint64_t climbs, count, evals;
    double value[GESS__MAX_SUMMITS]; /* log density in y at each summit */
} gess__summits_state;

typedef struct gess__summits {
    size_t dim;
    gess__summits_state state;
    double *point, *value;              /* GESS__NOTED × dim, GESS__NOTED */
    double *level;                      /* GESS__NOTED: scratch */
    gess__approx *t[GESS__MAX_SUMMITS]; /* of the summits found, in the space y */
    gess__laplace *climber;
    double *scale, *log_t, *scratch;
    /* of a search */
    const gess__mixture *mixture;
    double limit; /* T covers a point where log π − log T is at most this */
} gess__summits;

/* *summits is NULL if T has no room for a component of theirs. */
int gess__summits_new(gess__summits **summits, size_t dim, gess_error *err);
void gess__summits_free(gess__summits *summits);

/* Notes a point y with its log density. */
void gess__summits_note(gess__summits *summits, const double *y, double value);

/* Keeps the maximum that the last climb has found; there must be room. */
void gess__summits_keep(gess__summits *summits);

/* Forgets the summits that T covers by now. Then climbs from the noted points that T does not cover, at most
 * max_evals evaluations; log π − log T of points that it covers is about `typical`. `scale`: lengths to begin with, per
 * coordinate. If it is stopped, the next call goes on.
 */
int gess__summits_search(gess__summits *summits, gess__ensemble *ensemble, const gess__record *record, double typical,
                         const double *scale, uint64_t max_evals, gess_error *err);

void gess__summits_archive(gess__summits *summits, gess__archive *archive);

#endif
