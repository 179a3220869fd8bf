/* Peaks: evaluated points that T does not explain, whether a chain has moved there or not. A narrow mode may show in
 * nothing but a few proposals that were rejected, or passed over. */
#ifndef GESS_EXPLORE_PEAKS_H
#define GESS_EXPLORE_PEAKS_H

#include "adapt/learning.h"
#include "explore/levels.h"
#include "explore/trail.h"

enum { GESS__PEAKS = 32 };

typedef struct gess__peaks {
    size_t dim;
    uint64_t count;          /* archived, like the following two */
    double *points, *values; /* GESS__PEAKS × dim: in y; log densities there */
    /* the same in the present sampling space, and levels there: valid after gess__peaks_collect() */
    double *inside, *inside_values, *levels;
    double *scratch;
    gess__trail trail;
    size_t outliers; /* of the trail: they follow the peaks, until the next call of gess__peaks_collect() */
} gess__peaks;

int gess__peaks_new(gess__peaks **peaks, size_t dim, size_t chains, gess_error *err);
void gess__peaks_free(gess__peaks *peaks);

/* Takes the points that chains have noted (kernel/driver.c), and keeps those with the highest levels under the present
 * T, the highest first; and their trails. */
int gess__peaks_collect(gess__peaks *peaks, const gess__learning *learning, gess_error *err);

/* Finds the outliers of the trail (outliers.h), and puts them behind the peaks. */
int gess__peaks_add_outliers(gess__peaks *peaks, const gess__learning *learning, gess_error *err);

/* Climbs from a point of the sampling space to higher levels: along the coordinates, by steps from half of `scale` (per
 * coordinate) down to a thousandth. So a point at the foot of a narrow mode leads to where the mode shows. Takes at
 * most about max_evals evaluations; value and level become those of the point. If it is stopped, nothing is counted. */
int gess__climb(gess__ensemble *ensemble, const gess__record *record, const double *scale, uint64_t max_evals,
                double *point, double *value, double *level, gess_error *err);

void gess__peaks_archive(gess__peaks *peaks, gess__archive *archive);

#endif
