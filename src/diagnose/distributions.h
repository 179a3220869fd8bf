/* Quantile functions of the normal and the beta distribution, and normal scores of Student's t, for the diagnostics. */
#ifndef GESS_DIAGNOSE_DISTRIBUTIONS_H
#define GESS_DIAGNOSE_DISTRIBUTIONS_H

/* Standard normal quantile, 1e-100 < p < 1; relative error near 1e-16.
 * M. J. Wichura, Algorithm AS 241, Applied Statistics 37 (1988), 477-484, routine PPND16. */
double gess__normal_quantile(double p);

/* Quantile of the beta distribution with shapes a, b >= 1, 0 < p < 1. NaN for NaN. */
double gess__beta_quantile(double p, double a, double b);

/* The z for which P(Z > z) = P(T > t), Z standard normal and T Student's t with `freedom` > 0 degrees; relative error
 * below 1e-9 for any tail. NaN for NaN. */
double gess__normal_score_of_t(double t, double freedom);

#endif
