/* Figures of draws on a circle: circular mean and standard deviation, their Monte Carlo standard errors, and the place
 * where the circle is best cut open.
 *
 * K. V. Mardia and P. E. Jupp, "Directional Statistics", Wiley (2000), sections 2.2 and 2.3; N. I. Fisher, "Statistical
 * Analysis of Circular Data", Cambridge University Press (1993), section 2.3. docs/specification.md has the formulas.
 *
 * Draws are x[chain * n + draw] of a parameter whose bounds `lower` and `upper` are one point of the circle. */
#ifndef GESS_DIAGNOSE_CIRCULAR_H
#define GESS_DIAGNOSE_CIRCULAR_H

#include "diagnose/posterior.h"

typedef struct gess__circle {
    double lower, upper; /* both 0: the parameter is not periodic */
    bool interval;       /* no circle: the parameter lies between the two, so all its moments exist */
} gess__circle;

typedef struct gess__circular_figures {
    double mean;      /* direction of the mean vector, from `lower` to below `upper` */
    double length;    /* of the mean vector, R: 1 if all draws are equal, near 0 if they are spread evenly */
    double sd;        /* √(−2 ln R), in units of the parameter */
    double mcse_mean; /* by the delta method */
    double mcse_sd;   /* likewise */
    double cut;       /* where draws are few, at most one period below the mean */
} gess__circular_figures;

static inline bool gess__is_circle(const gess__circle *circle)
{
    return circle->upper > circle->lower && !circle->interval;
}

/* Mean, length, sd and cut of x[count]. All NaN if a draw is not finite. */
void gess__circular_of(const gess__circle *circle, size_t count, const double *x, gess__circular_figures *figures);

/* y[count]: the draws on the branch from the cut to below cut + period. A draw that is there already keeps its bits. y
 * may be x. */
void gess__circular_unwrap(const gess__circle *circle, double cut, size_t count, const double *x, double *y);

/* Sets mcse_mean and mcse_sd. `work` has room for the draws, which it loses; `scratch` holds `count` doubles. */
void gess__circular_errors(const gess__circle *circle, size_t count, const double *x, gess__posterior_workspace *work,
                           double *scratch, gess__circular_figures *figures);

/* Whether `ess` effective draws show no mean direction: Rayleigh's test of a uniform distribution, exp(−ess · R²), does
 * not reject it at 0.1 %. */
bool gess__circular_no_mean(double ess, double length);

#endif
