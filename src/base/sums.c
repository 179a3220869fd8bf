/* Sums with the rounding errors of every addition summed beside them (T. Ogita, S. M. Rump & S. Oishi, "Accurate sum
 * and dot product", SIAM Journal on Scientific Computing 26, 2005, algorithm Sum2), in LANES interleaved parts. */
#include "base/sums.h"

#include "base/tiles.h"

enum { W = GESS__LANES };

/* a + b and its rounding error. */
GESS__INLINE gess__pair add(double a, double b)
{
    double sum = a + b, part = sum - a;
    return (gess__pair){sum, (a - (sum - part)) + (b - part)};
}

/* Σ (x − shift). */
GESS__INLINE gess__pair sum_of(size_t n, const double *x, size_t stride, double shift)
{
    double high[W] = {0}, low[W] = {0}, errors = 0.0;
    size_t whole = n - n % W;
    for (size_t i = 0; i < whole; i += W)
        for (size_t l = 0; l < W; l++) {
            gess__pair s = add(high[l], x[(i + l) * stride] - shift);
            high[l] = s.high;
            low[l] += s.low;
        }
    for (size_t i = whole; i < n; i++) {
        gess__pair s = add(high[i - whole], x[i * stride] - shift);
        high[i - whole] = s.high;
        low[i - whole] += s.low;
    }
    gess__pair total = {0.0, 0.0};
    for (size_t l = 0; l < W; l++) {
        total = add(total.high, high[l]);
        errors += total.low + low[l];
    }
    return (gess__pair){total.high, errors};
}

GESS__INLINE gess__pair mean_of(size_t n, const double *x, size_t stride)
{
    gess__pair sum = sum_of(n, x, stride, 0.0);
    double first = sum.high / (double)n;
    if (!isfinite(first)) return (gess__pair){first, 0.0};
    /* a second pass finds what the division lost */
    gess__pair left = sum_of(n, x, stride, first);
    return add(first, (left.high + left.low) / (double)n);
}

GESS__VECTOR_VALUE(gess__pair, gess__mean, (size_t n, const double *x, size_t stride), (n, x, stride))
{
    return stride == 1 ? mean_of(n, x, 1) : mean_of(n, x, stride);
}

GESS__INLINE double squares_of(size_t n, const double *x, size_t stride, gess__pair centre)
{
    double sum[W] = {0};
    size_t whole = n - n % W;
    for (size_t i = 0; i < whole; i += W)
        for (size_t l = 0; l < W; l++) {
            double distance = x[(i + l) * stride] - centre.high - centre.low;
            sum[l] = gess__fma(distance, distance, sum[l]);
        }
    for (size_t i = whole; i < n; i++) {
        double distance = x[i * stride] - centre.high - centre.low;
        sum[i - whole] = gess__fma(distance, distance, sum[i - whole]);
    }
    return gess__lane_sum(sum);
}

GESS__VECTOR_VALUE(double, gess__sum_of_squares, (size_t n, const double *x, size_t stride, gess__pair centre),
                   (n, x, stride, centre))
{
    return stride == 1 ? squares_of(n, x, 1, centre) : squares_of(n, x, stride, centre);
}
