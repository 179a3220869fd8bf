/* The generalised Pareto distribution of a tail, P(Y > y) = (1 + k y / σ)^(-1/k), and importance weights smoothed with
 * it.
 *
 * The fit: J. Zhang and M. A. Stephens, "A new and efficient estimation method for the generalized Pareto
 * distribution", Technometrics 51 (2009), 316-325. The smoothing: A. Vehtari, D. Simpson, A. Gelman, Y. Yao and
 * J. Gabry, "Pareto smoothed importance sampling", JMLR 25 (2024). */
#ifndef GESS_DIAGNOSE_PARETO_H
#define GESS_DIAGNOSE_PARETO_H

#include <stddef.h>

typedef struct gess__pareto {
    double shape, scale; /* k, σ */
} gess__pareto;

enum { GESS__PARETO_MAX_POINTS = 1000, GESS__PARETO_MIN_POINTS = 20 };

/* x ascends, with a positive first quartile; n is between the two limits above. */
gess__pareto gess__pareto_fit(size_t n, const double *x);

/* A mean of importance weights. */
typedef struct gess__smoothed {
    double log_mean; /* −INFINITY if every weight is 0 */
    double error;    /* relative standard error of the mean */
    double k;        /* k̂ of the weights, shrunk a little towards 1/2; INFINITY: nearly all are 0; NaN: not known */
} gess__smoothed;

/* Pareto-smooths n weights, given as logarithms (−INFINITY: 0), and takes their mean. Sorts `logs` in place. */
gess__smoothed gess__pareto_smooth(size_t n, double *logs);

/* The largest k̂ with which n weights can be trusted: 1 − 1/log10 n, at most 0.7. */
double gess__pareto_max_k(size_t n);

#endif
