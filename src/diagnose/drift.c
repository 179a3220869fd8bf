/* Computes the contrasts of series and their t statistic; distributions.c has the normal score of a t. */
#include "diagnose/drift.h"

#include "base/assert.h"
#include "base/vmath.h"
#include "diagnose/distributions.h"

#include <math.h>

enum { MANY = 8, ORDERS = 12, MIN_LENGTH = 8 };

/* a_j. The mean, m, only reduces rounding: the weights sum to 0. */
static double contrast(size_t n, const double *s, double m, size_t j)
{
    double sum = 0.0, step = 0.5 * (double)j / (double)n; /* in turns */
    for (size_t i = 0; i < n; i++) {
        double sine, cosine;
        gess__sincos_turns(step * ((double)i + 0.5), &sine, &cosine);
        sum -= (s[i] - m) * cosine;
    }
    return sum * sqrt(2.0 / (double)n);
}

static double mean_of(size_t n, const double *s)
{
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += s[i] - s[0];
    return s[0] + sum / (double)n;
}

double gess__drift_z(size_t series, size_t n, const double *s)
{
    double sum = 0.0, squares = 0.0, others = 0.0;
    GESS_ASSERT(series > 0 && s != NULL);
    if (n < MIN_LENGTH) return NAN;
    size_t orders = series >= MANY ? 1 : n / 4 < ORDERS ? n / 4 : ORDERS;
    for (size_t c = 0; c < series; c++) {
        double m = mean_of(n, s + c * n), a = contrast(n, s + c * n, m, 1);
        double away =
            c > 0 ? a - sum / (double)c : 0.0; /* from the mean of the series before, as Welford's method has it */
        sum += a;
        squares += away * (a - sum / (double)(c + 1));
        for (size_t j = 2; j <= orders; j++) {
            double other = contrast(n, s + c * n, m, j);
            others += other * other;
        }
    }
    double count = (double)series, freedom = (count - 1.0) + count * (double)(orders - 1);
    double error = sqrt((squares + others) / freedom / count);
    return error > 0.0 ? gess__normal_score_of_t(sum / count / error, freedom) : NAN;
}
