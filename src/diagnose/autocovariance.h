/* Autocovariances of long series, by a small power-of-two Fourier transform in double precision.
 *
 * The real part of the autocovariance of a complex series a + ib is the sum of those of a and b, and the power spectra
 * of several series may be added before the inverse transform. So a forward transform serves two real series, and one
 * inverse transform serves all of them. Frequencies are only added, so they stay in the order in which the forward
 * transform leaves them, and nothing is reordered.
 *
 * Twiddles come from base/vmath.h and sums have a fixed order, so the bits do not depend on the vector width. */
#ifndef GESS_DIAGNOSE_AUTOCOVARIANCE_H
#define GESS_DIAGNOSE_AUTOCOVARIANCE_H

#include "base/status.h"

typedef struct gess__fft {
    size_t size;             /* points of a transform: a power of two, at least 4 */
    double *re, *im;         /* size each: the series, then its transform */
    double *power;           /* size: the sum of power spectra */
    double *cosines, *sines; /* 3 × quarter per stage: powers 1, 2 and 3 of its twiddles */
} gess__fft;

/* Room for series of at most `longest` values, with all their lags. Release with gess__fft_free(), also after a
 * failure. */
int gess__fft_init(gess__fft *fft, size_t longest, gess_error *err);
void gess__fft_free(gess__fft *fft);

/* power = 0. */
void gess__fft_clear(gess__fft *fft);

/* Adds the power spectrum of the two series in re[0..n-1] and im[0..n-1], after padding both with zeros. Overwrites
 * both. */
void gess__fft_add_power(gess__fft *fft, size_t n);

/* Puts Σ_series Σ_i x_i x_{i+k} into re[k], for k = 0 .. n-1. Overwrites im. */
void gess__fft_autocovariance(gess__fft *fft);

#endif
