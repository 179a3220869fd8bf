/* The integrated autocorrelation time τ of the Python package emcee 3.1.6 (emcee.autocorr.integrated_time, c = 5),
 * after which this file is named.
 *
 * J. Goodman and J. Weare, Comm. App. Math. Comp. Sci. 5 (2010), with the automatic window of A. Sokal:
 * the chains' autocorrelation functions are averaged, τ(m) = 1 + 2 Σ ρ(1..m), and the smallest m with
 * m >= 5 τ(m) sets τ. */
#ifndef GESS_DIAGNOSE_EMCEE_H
#define GESS_DIAGNOSE_EMCEE_H

#include "diagnose/autocovariance.h"

/* In draws; x is chains × n: x[chain * n + draw]. The transform must have room for series of n values; `scratch` is n
 * doubles. NaN if a chain is constant or not finite, as in emcee. */
double gess__emcee_time(gess__fft *fft, size_t chains, size_t n, const double *x, double *scratch);

#endif
