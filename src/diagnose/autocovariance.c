/* Computes the Fourier transforms, radix 4 and in place, and the autocovariances from the summed power spectra. */
#include "diagnose/autocovariance.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"

#include <stdlib.h>
#include <string.h>

int gess__fft_init(gess__fft *fft, size_t longest, gess_error *err)
{
    *fft = (gess__fft){0};
    if (longest > SIZE_MAX / 4)
        return gess__fail(err, GESS_ERR_USAGE, "a series of %zu draws is too long to transform", longest);
    size_t size = 4;
    while (size < 2 * longest) size *= 2;
    fft->size = size;
    GESS_ALLOC(&fft->re, size, err);
    GESS_ALLOC(&fft->im, size, err);
    GESS_ALLOC(&fft->power, size, err);
    GESS_ALLOC(&fft->cosines, size, err);
    GESS_ALLOC(&fft->sines, size, err);
    double *c = fft->cosines, *s = fft->sines;
    for (size_t block = size; block >= 4; block /= 4)
        for (size_t power = 1; power <= 3; power++)
            for (size_t j = 0; j < block / 4; j++, c++, s++)
                gess__sincos_turns(-(double)(power * j) / (double)block, s, c);
    return GESS_OK;
}

void gess__fft_free(gess__fft *fft)
{
    free(fft->re);
    free(fft->im);
    free(fft->power);
    free(fft->cosines);
    free(fft->sines);
    *fft = (gess__fft){0};
}

void gess__fft_clear(gess__fft *fft)
{
    memset(fft->power, 0, fft->size * sizeof *fft->power);
}

/* One decimation-in-frequency stage of a block of 4 × quarter points: quarter r becomes the input
 * of the transform that gives the frequencies 4k + r. */
static GESS__VECTOR(forward_stage,
                    (size_t quarter, double *restrict re, double *restrict im, const double *restrict cosines,
                     const double *restrict sines),
                    (quarter, re, im, cosines, sines))
{
    double *r0 = re, *r1 = re + quarter, *r2 = r1 + quarter, *r3 = r2 + quarter;
    double *i0 = im, *i1 = im + quarter, *i2 = i1 + quarter, *i3 = i2 + quarter;
    const double *c1 = cosines, *c2 = c1 + quarter, *c3 = c2 + quarter;
    const double *s1 = sines, *s2 = s1 + quarter, *s3 = s2 + quarter;
#pragma GCC ivdep
    for (size_t j = 0; j < quarter; j++) {
        double sum_r = r0[j] + r2[j], difference_r = r0[j] - r2[j];
        double sum_i = i0[j] + i2[j], difference_i = i0[j] - i2[j];
        double odd_sum_r = r1[j] + r3[j], odd_difference_r = r1[j] - r3[j];
        double odd_sum_i = i1[j] + i3[j], odd_difference_i = i1[j] - i3[j];
        double y1r = difference_r + odd_difference_i, y1i = difference_i - odd_difference_r;
        double y2r = sum_r - odd_sum_r, y2i = sum_i - odd_sum_i;
        double y3r = difference_r - odd_difference_i, y3i = difference_i + odd_difference_r;
        r0[j] = sum_r + odd_sum_r;
        i0[j] = sum_i + odd_sum_i;
        r1[j] = y1r * c1[j] - y1i * s1[j];
        i1[j] = y1r * s1[j] + y1i * c1[j];
        r2[j] = y2r * c2[j] - y2i * s2[j];
        i2[j] = y2r * s2[j] + y2i * c2[j];
        r3[j] = y3r * c3[j] - y3i * s3[j];
        i3[j] = y3r * s3[j] + y3i * c3[j];
    }
}

/* Undoes forward_stage(), times 4. */
static GESS__VECTOR(backward_stage,
                    (size_t quarter, double *restrict re, double *restrict im, const double *restrict cosines,
                     const double *restrict sines),
                    (quarter, re, im, cosines, sines))
{
    double *r0 = re, *r1 = re + quarter, *r2 = r1 + quarter, *r3 = r2 + quarter;
    double *i0 = im, *i1 = im + quarter, *i2 = i1 + quarter, *i3 = i2 + quarter;
    const double *c1 = cosines, *c2 = c1 + quarter, *c3 = c2 + quarter;
    const double *s1 = sines, *s2 = s1 + quarter, *s3 = s2 + quarter;
#pragma GCC ivdep
    for (size_t j = 0; j < quarter; j++) {
        double y1r = r1[j] * c1[j] + i1[j] * s1[j], y1i = i1[j] * c1[j] - r1[j] * s1[j];
        double y2r = r2[j] * c2[j] + i2[j] * s2[j], y2i = i2[j] * c2[j] - r2[j] * s2[j];
        double y3r = r3[j] * c3[j] + i3[j] * s3[j], y3i = i3[j] * c3[j] - r3[j] * s3[j];
        double sum_r = r0[j] + y2r, sum_i = i0[j] + y2i;
        double odd_sum_r = r0[j] - y2r, odd_sum_i = i0[j] - y2i;
        double difference_r = y1r + y3r, difference_i = y1i + y3i;
        double odd_difference_i = y1r - y3r, odd_difference_r = y3i - y1i;
        r0[j] = sum_r + difference_r;
        i0[j] = sum_i + difference_i;
        r2[j] = sum_r - difference_r;
        i2[j] = sum_i - difference_i;
        r1[j] = odd_sum_r + odd_difference_r;
        i1[j] = odd_sum_i + odd_difference_i;
        r3[j] = odd_sum_r - odd_difference_r;
        i3[j] = odd_sum_i - odd_difference_i;
    }
}

/* The four points of the last stage: no twiddles. */
static void forward_four(double *restrict re, double *restrict im)
{
    double sum_r = re[0] + re[2], difference_r = re[0] - re[2], sum_i = im[0] + im[2], difference_i = im[0] - im[2];
    double odd_r = re[1] + re[3], turned_i = re[1] - re[3], odd_i = im[1] + im[3], turned_r = im[1] - im[3];
    re[0] = sum_r + odd_r;
    im[0] = sum_i + odd_i;
    re[1] = difference_r + turned_r;
    im[1] = difference_i - turned_i;
    re[2] = sum_r - odd_r;
    im[2] = sum_i - odd_i;
    re[3] = difference_r - turned_r;
    im[3] = difference_i + turned_i;
}

static void either_two(double *restrict re, double *restrict im)
{
    double r = re[1], i = im[1];
    re[1] = re[0] - r;
    im[1] = im[0] - i;
    re[0] += r;
    im[0] += i;
}

/* Depth first, so that the parts of a long transform stay in the cache. `twiddles` is the start of the table of this
 * block size. */
static void forward(const gess__fft *fft, size_t block, size_t start, size_t twiddles)
{
    if (block == 2) {
        either_two(fft->re + start, fft->im + start);
    } else if (block == 4) {
        forward_four(fft->re + start, fft->im + start);
    } else {
        size_t quarter = block / 4;
        forward_stage(quarter, fft->re + start, fft->im + start, fft->cosines + twiddles, fft->sines + twiddles);
        for (size_t r = 0; r < 4; r++) forward(fft, quarter, start + r * quarter, twiddles + 3 * quarter);
    }
}

static void backward(const gess__fft *fft, size_t block, size_t start, size_t twiddles)
{
    if (block == 2) {
        either_two(fft->re + start, fft->im + start);
    } else if (block >= 4) {
        size_t quarter = block / 4;
        for (size_t r = 0; r < 4; r++) backward(fft, quarter, start + r * quarter, twiddles + 3 * quarter);
        backward_stage(quarter, fft->re + start, fft->im + start, fft->cosines + twiddles, fft->sines + twiddles);
    }
}

static GESS__VECTOR(add_squares,
                    (size_t n, const double *restrict re, const double *restrict im, double *restrict power),
                    (n, re, im, power))
{
    for (size_t k = 0; k < n; k++) power[k] += re[k] * re[k] + im[k] * im[k];
}

void gess__fft_add_power(gess__fft *fft, size_t n)
{
    GESS_ASSERT(2 * n <= fft->size);
    memset(fft->re + n, 0, (fft->size - n) * sizeof *fft->re);
    memset(fft->im + n, 0, (fft->size - n) * sizeof *fft->im);
    forward(fft, fft->size, 0, 0);
    add_squares(fft->size, fft->re, fft->im, fft->power);
}

void gess__fft_autocovariance(gess__fft *fft)
{
    double scale = 1.0 / (double)fft->size;
    for (size_t k = 0; k < fft->size; k++) fft->re[k] = fft->power[k] * scale;
    memset(fft->im, 0, fft->size * sizeof *fft->im);
    backward(fft, fft->size, 0, 0);
}
