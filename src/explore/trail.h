/* Trail: the points evaluated last for any chain, in y, and their log densities there. */
#ifndef GESS_EXPLORE_TRAIL_H
#define GESS_EXPLORE_TRAIL_H

#include "adapt/learning.h"
#include "explore/outliers.h"

enum { GESS__TRAIL = 8192 };

typedef struct gess__trail {
    size_t dim;              /* 0: none is kept, because there are too many dimensions */
    uint64_t noted;          /* points in all; archived, like the following two */
    double *points, *values; /* GESS__TRAIL × dim, GESS__TRAIL */
} gess__trail;

int gess__trail_new(gess__trail *trail, size_t dim, gess_error *err);
void gess__trail_free(gess__trail *trail);

/* Takes the trails of the chains, whose map must be the present one. */
void gess__trail_take(gess__trail *trail, const gess__learning *learning);

/* The points that their neighbours do not explain. */
int gess__trail_outliers(const gess__trail *trail, gess__outliers *found, gess_error *err);

void gess__trail_archive(gess__trail *trail, gess__archive *archive);

#endif
