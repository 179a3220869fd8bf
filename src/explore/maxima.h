/* Maxima that T does not cover: places of high log density that particles or chains have seen, and a Laplace
 * approximation at each that an ascent finds (adapt/laplace.h).
 *
 * Annealing loses a narrow mode if no particle is left in it, but some particle may have been there. So points at which
 * log π − log T was highest are noted on the way, and at the end, if the final T is too small there as well, an ascent
 * starts from each. */
#ifndef GESS_EXPLORE_MAXIMA_H
#define GESS_EXPLORE_MAXIMA_H

#include "adapt/laplace.h"

enum { GESS__NOTED = 256, GESS__MAX_MAXIMA = 32 };

/* Saved in checkpoints as it is. */
typedef struct gess__maxima_state {
    uint64_t noted;  /* so far; the newest GESS__NOTED are kept */
    uint64_t sorted; /* a search is under way, and the noted points are in its order */
    uint64_t next;   /* point to ascend from */
    uint64_t ascents, count, evals;
    double value[GESS__MAX_MAXIMA]; /* log density in y at each maximum */
} gess__maxima_state;

typedef struct gess__maxima {
    size_t dim;
    gess__maxima_state state;
    double *point, *value;             /* GESS__NOTED × dim, GESS__NOTED */
    double *level;                     /* GESS__NOTED: scratch */
    gess__approx *t[GESS__MAX_MAXIMA]; /* of the maxima found, in the space y */
    gess__laplace *searcher;
    double *scale, *log_t, *scratch;
    /* of a search */
    const gess__mixture *mixture;
    double limit; /* T covers a point where log π − log T is at most this */
} gess__maxima;

/* *maxima is NULL if T has no room for a component of theirs. */
int gess__maxima_new(gess__maxima **maxima, size_t dim, gess_error *err);
void gess__maxima_free(gess__maxima *maxima);

/* Notes a point y with its log density. */
void gess__maxima_note(gess__maxima *maxima, const double *y, double value);

/* Keeps the maximum that the last ascent has found; there must be room. */
void gess__maxima_keep(gess__maxima *maxima);

/* Forgets the maxima that T covers by now. Then searches from the noted points that T does not cover, at most
 * max_evals evaluations; log π − log T of points that it covers is about `typical`. `scale`: lengths to begin with, per
 * coordinate. If it is stopped, the next call goes on.
 */
int gess__maxima_search(gess__maxima *maxima, gess__ensemble *ensemble, const gess__record *record, double typical,
                        const double *scale, uint64_t max_evals, gess_error *err);

void gess__maxima_archive(gess__maxima *maxima, gess__archive *archive);

#endif
