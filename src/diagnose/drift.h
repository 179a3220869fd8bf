/* drift_z: whether the mean of independent series changes from their beginnings to their ends, as a standard normal
 * score.
 *
 * The contrast of a series s[0 .. n-1] is a_1, with a_j = −√(2/n) Σ s_i cos(π j (i + ½) / n): positive if the series
 * rises. Under a stationary series a_1, a_2, … are uncorrelated and, for j well below the number of autocorrelation
 * times, have one variance, the spectral density at frequency 0.
 *
 * - From 8 series on, their contrasts are compared: t = mean(a_1) / (sd(a_1) / √series), with series − 1 degrees of
 *   freedom. Nothing is assumed about autocorrelations.
 * - With fewer, a_2 … a_12 of each series estimate the variance, too: U. K. Müller, "HAC corrections for strongly
 *   autocorrelated time series", Journal of Business & Economic Statistics 32 (2014), 311-322; E. Lazarus et al., "HAR
 *   inference: recommendations for practice", same journal 36 (2018), 541-559. This holds if a series has about 25
 *   autocorrelation times or more.
 *
 * The result is the normal score with the same tail probability as t. */
#ifndef GESS_DIAGNOSE_DRIFT_H
#define GESS_DIAGNOSE_DRIFT_H

#include <stddef.h>

/* Of `series` independent series, s[series × n]. NaN for fewer than 8 numbers per series, and if there is no variance.
 */
double gess__drift_z(size_t series, size_t n, const double *s);

#endif
