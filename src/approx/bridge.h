/* Iterative bridge sampling: the ratio of the integral of a density π to that of a normalised density t, from points of
 * both. X.-L. Meng and W. H. Wong, "Simulating ratios of normalizing constants via a simple identity", Statistica
 * Sinica 6 (1996), 831-860; Q. F. Gronau et al., "A tutorial on bridge sampling", J. Math. Psychology 81 (2017).
 *
 * Modes are weighed with it (explore/weighing.c), and the evidence is computed with it (evidence/). */
#ifndef GESS_APPROX_BRIDGE_H
#define GESS_APPROX_BRIDGE_H

#include <stddef.h>

/* The level of a point is log π − log t there; −INFINITY if π is 0. */
typedef struct gess__bridge {
    size_t n1, n2;       /* points of the target; draws of t */
    const double *level; /* n1 + n2, in this order */
    double share;        /* of the points of the target among all, by effective numbers: s1; 1 − s1 is that of t */
    unsigned max_iterations;
} gess__bridge;

/* log ∫π, with the relative error that comes from the draws of t in *error. With fewer than 10 points of the target it
 * is importance sampling. −INFINITY if every level is. */
double gess__bridge_solve(const gess__bridge *bridge, double *error);

/* The terms that the estimate is a ratio of means of, at its solution: for point i of the target t / (s1 π + s2 t), for
 * draw j of t π / (s1 π + s2 t), with π normalised by exp(log_z). n1 + n2 numbers. */
void gess__bridge_terms(const gess__bridge *bridge, double log_z, double *terms);

#endif
