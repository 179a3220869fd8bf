/* The cheap test for several basins: ascents from chains, and from starts of chains, that the first maximum does not
 * explain.
 *
 * After the first stage of warm-up the Laplace search (adapt/laplace.h) has found a maximum and the curvature there. A
 * point is explained by it if its log density has fallen about as much as that curvature says. From some of the others
 * ascents start; they take one or two cheap steps if they lead to the same maximum. If one ends at another maximum,
 * with a valley of the density in between, there are several basins. */
#ifndef GESS_EXPLORE_SCOUT_H
#define GESS_EXPLORE_SCOUT_H

#include "adapt/laplace.h"

/* What the test has found. Saved in checkpoints as it is. */
typedef struct gess__scout_state {
    int done;
    int tested;              /* there was a first maximum to test */
    int several;             /* basins */
    uint64_t ascents, evals; /* that it took */
    uint64_t unexplained;    /* chains and starts that the first maximum does not explain */
    double first, second;    /* log densities of the two maxima in y */
    double valley;           /* the lowest log density between them */
} gess__scout_state;

typedef struct gess__scout {
    gess__scout_state state;
    gess__laplace *searcher;
    const double *start, *start_value; /* borrowed */
    double *ratio, *delta;             /* per start, then per chain */
    double *points, *values;
    double *top; /* dim: the second maximum, in y */
    /* during the test */
    const gess__approx *maximum;
    double maximum_value;
    double *scratch;
} gess__scout;

/* start, start_value: chains × dim, chains: where the chains begin, and the log densities there; chains may leave a
 * narrow basin for a wide one in the first stage. */
int gess__scout_new(gess__scout **scout, size_t dim, size_t chains, const double *start, const double *start_value,
                    gess_error *err);
void gess__scout_free(gess__scout *scout);

/* Makes the test once, after the Laplace search. A test that is stopped begins again at the next call. */
int gess__scout_run(gess__scout *scout, gess__learning *learning, const gess__record *record, gess_error *err);

#endif
