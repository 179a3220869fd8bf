/* Outliers: evaluated points whose log density is higher than that of their neighbours explains. A point at the foot of
 * a narrow mode may be higher by a few per cent only, which no approximation of the whole density shows. */
#ifndef GESS_EXPLORE_OUTLIERS_H
#define GESS_EXPLORE_OUTLIERS_H

#include "base/status.h"

#include <stddef.h>

/* In more dimensions neighbours are too far away. */
enum { GESS__OUTLIERS_MAX_DIM = 4, GESS__OUTLIERS = 8 };

typedef struct gess__outliers {
    size_t count;
    size_t row[GESS__OUTLIERS];   /* the points, the worst explained first */
    double score[GESS__OUTLIERS]; /* their errors of prediction over the errors' standard deviation */
} gess__outliers;

/* Of n × dim points and their finite log densities, at most one per cell of neighbours. */
int gess__outliers_find(size_t n, size_t dim, const double *points, const double *values, gess__outliers *found,
                        gess_error *err);

#endif
