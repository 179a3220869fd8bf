/* Autocovariances by a small power-of-two Fourier transform in double precision.
 *
 * The autocovariance of a complex series a + ib has the sum of those of a and b as its real part,
 * and power spectra of many series may be added before going back. So each forward transform
 * serves two real series and a single inverse transform serves all of them. Frequencies are only
 * ever added, never looked up, so they stay in the order in which the forward transform leaves
 * them and nothing is reordered.
 *
 * Twiddles come from base/vmath.h and sums have a fixed order: the bits do not depend on the
 * vector width. */
#ifndef GESS_DIAGNOSE_FFT_H
#define GESS_DIAGNOSE_FFT_H

#include "base/status.h"

typedef struct gess__fft {
    size_t size;             /* points of a transform: a power of two, at least 4 */
    double *re, *im;         /* size each: the series, then its transform */
    double *power;           /* size: power spectra added up */
    double *cosines, *sines; /* 3 × quarter a stage: powers 1, 2 and 3 of its twiddles */
} gess__fft;

/* Room for series of up to `longest` values, all their lags included. gess__fft_free() releases
 * it, also after a failure. */
int gess__fft_init(gess__fft *fft, size_t longest, gess_error *err);
void gess__fft_free(gess__fft *fft);

/* power = 0. */
void gess__fft_clear(gess__fft *fft);

/* Adds the power spectrum of the series that the caller put in re[0..n-1] and im[0..n-1]; the
 * rest is padded with zeros here. Overwrites both. */
void gess__fft_add_power(gess__fft *fft, size_t n);

/* Leaves Σ_series Σ_i x_i x_{i+k} in re[k], for k = 0 .. n-1. Overwrites im. */
void gess__fft_autocovariance(gess__fft *fft);

#endif
