/* The effective size (effectiveSize) and Geweke's z (geweke.diag) of R's package coda 0.19-4, after which this file is
 * named. Both use an autoregressive fit (Yule-Walker, order by AIC). Non-finite draws and single draws, which coda
 * refuses, give NaN.
 *
 * A series is x[0 .. n-1]; chains × n draws are x[chain * n + draw]. `scratch` is n doubles of the caller. */
#ifndef GESS_DIAGNOSE_CODA_H
#define GESS_DIAGNOSE_CODA_H

#include <stddef.h>

/* spectrum0.ar(): spectral density at frequency zero, so that var(mean) = spectrum / n. 0 for a
 * series that is a straight line up to a residual sd of 1.49e-8. */
double gess__coda_spectrum0(size_t n, const double *x, double *scratch);

/* effectiveSize(): n var / spectrum, summed over the chains, not capped; a straight line counts 0. */
double gess__coda_effective_size(size_t chains, size_t n, const double *x, double *scratch);

/* geweke.diag(): z score between the means of the first tenth and of the last half of a chain. */
double gess__coda_geweke(size_t n, const double *x, double *scratch);

#endif
