/* Means and sums of squares of many numbers, to about twice the digits of a double and in a fixed order. They stand in
 * for long double, which is another type on every processor. */
#ifndef GESS_BASE_SUMS_H
#define GESS_BASE_SUMS_H

#include <stddef.h>

/* The number high + low; |low| is at most a rounding error of high. */
typedef struct gess__pair {
    double high, low;
} gess__pair;

/* The mean of x[0], x[stride], …, n > 0 numbers. If it is not finite, neither is `high`, and low is 0. The mean of
 * equal numbers is that number. */
gess__pair gess__mean(size_t n, const double *x, size_t stride);

/* Σ (x − centre)². */
double gess__sum_of_squares(size_t n, const double *x, size_t stride, gess__pair centre);

#endif
