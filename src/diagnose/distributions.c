/* Computes normal quantiles by rational approximations, and beta quantiles and tails of Student's t from the continued
 * fraction of the incomplete beta function. */
#include "diagnose/distributions.h"

#include "base/special.h"
#include "base/vmath.h"

#include <float.h>

static double horner(const double coefficients[8], double r)
{
    double sum = coefficients[0];
    for (int i = 1; i < 8; i++) sum = sum * r + coefficients[i];
    return sum;
}

double gess__normal_quantile(double p)
{
    static const double centre_over[8] = {2509.0809287301226727, 33430.575583588128105, 67265.770927008700853,
                                          45921.953931549871457, 13731.693765509461125, 1971.5909503065514427,
                                          133.14166789178437745, 3.387132872796366608};
    static const double centre_under[8] = {5226.495278852545925,  28729.085735721942674,
                                           39307.89580009271061,  21213.794301586595867,
                                           5394.1960214247511077, 687.1870074920579083,
                                           42.313330701600911252, 1.0};
    static const double tail_over[8] = {7.7454501427834140764e-4, 0.0227238449892691845833, 0.24178072517745061177,
                                        1.27045825245236838258,   3.64784832476320460504,   5.7694972214606914055,
                                        4.6303378461565452959,    1.42343711074968357734};
    static const double tail_under[8] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                                         0.0151986665636164571966,  0.14810397642748007459,
                                         0.68976733498510000455,    1.6763848301838038494,
                                         2.05319162663775882187,    1.0};
    static const double far_over[8] = {2.01033439929228813265e-7, 2.71155556874348757815e-5, 0.0012426609473880784386,
                                       0.026532189526576123093,   0.29656057182850489123,    1.7848265399172913358,
                                       5.4637849111641143699,     6.6579046435011037772};
    static const double far_under[8] = {2.04426310338993978564e-15, 1.4215117583164458887e-7,
                                        1.8463183175100546818e-5,   7.868691311456132591e-4,
                                        0.0148753612908506148525,   0.13692988092273580531,
                                        0.59983220655588793769,     1.0};
    double q = p - 0.5;
    if (fabs(q) <= 0.425) {
        double r = 0.180625 - q * q;
        return q * horner(centre_over, r) / horner(centre_under, r);
    }
    double r = sqrt(-gess__log(q < 0.0 ? p : 1.0 - p));
    double z = r <= 5.0 ? horner(tail_over, r - 1.6) / horner(tail_under, r - 1.6)
                        : horner(far_over, r - 5.0) / horner(far_under, r - 5.0);
    return q < 0.0 ? -z : z;
}

static const double tiny = 1e-300;

/* One term of a continued fraction, by Lentz's method. */
static void lentz_step(double term, double *c, double *d, double *value)
{
    *d = 1.0 + term * *d;
    if (fabs(*d) < tiny) *d = tiny;
    *c = 1.0 + term / *c;
    if (fabs(*c) < tiny) *c = tiny;
    *d = 1.0 / *d;
    *value *= *d * *c;
}

/* The continued fraction of the incomplete beta function, by Lentz's method; x <= (a+1)/(a+b+2). */
static double beta_fraction(double x, double a, double b)
{
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    if (fabs(d) < tiny) d = tiny;
    d = 1.0 / d;
    double value = d;
    for (int i = 1; i < 1000000; i++) { /* it takes about sqrt(max(a, b)) iterations */
        double m = (double)i, m2 = 2.0 * m;
        double term = m * (b - m) * x / ((a + m2 - 1.0) * (a + m2));
        lentz_step(term, &c, &d, &value);
        term = -(a + m) * (a + b + m) * x / ((a + m2) * (a + m2 + 1.0));
        lentz_step(term, &c, &d, &value);
        if (fabs(d * c - 1.0) <= 2.0 * DBL_EPSILON) break;
    }
    return value;
}

/* x^a (1-x)^b / B(a, b), as its value at the mean x = a / (a + b), by Stirling's formula, times what it is relative to
 * that: large logarithms do not cancel. */
static double beta_kernel(double x, double a, double b)
{
    double mean = a / (a + b), rest = b / (a + b);
    double remainder = gess__stirling_remainder(a) + gess__stirling_remainder(b) - gess__stirling_remainder(a + b);
    double relative = a * gess__log1p((x - mean) / mean) + b * gess__log1p((mean - x) / rest);
    return sqrt(a * rest / 6.28318530717958647693) * gess__exp(relative - remainder);
}

double gess__beta_quantile(double p, double a, double b)
{
    if (!(p > 0.0 && p < 1.0 && a >= 1.0 && b >= 1.0) || isinf(a) || isinf(b)) return NAN;
    double low = 0.0, high = 1.0, x = a / (a + b);
    /* Newton steps; a step that would leave the bracket is replaced by halving it. */
    for (int i = 0; i < 200; i++) {
        double kernel = beta_kernel(x, a, b);
        double lower = x <= (a + 1.0) / (a + b + 2.0) ? kernel * beta_fraction(x, a, b) / a
                                                      : 1.0 - kernel * beta_fraction(1.0 - x, b, a) / b;
        double excess = lower - p;
        if (excess > 0.0)
            high = x;
        else
            low = x;
        double next = x - excess * x * (1.0 - x) / kernel;
        if (!(next > low && next < high)) next = 0.5 * (low + high);
        double moved = fabs(next - x);
        x = next;
        if (moved <= 4.0 * DBL_EPSILON * x) break;
    }
    return x;
}

/* ln P(T > t), t >= 0: half the incomplete beta function of x = ν / (ν + t²) with shapes ν/2 and 1/2. The kernel is
 * written as in beta_kernel(). */
static double log_tail_of_t(double t, double freedom)
{
    const double log_2 = 6.93147180559945309417e-01, two_pi = 6.28318530717958647693;
    double a = 0.5 * freedom, b = 0.5;
    if (t == 0.0) return -log_2;
    double square = t * t / freedom, log_x = -gess__log1p(square), log_rest = gess__log(square) + log_x;
    double remainder = gess__stirling_remainder(a) + gess__stirling_remainder(b) - gess__stirling_remainder(a + b);
    double log_kernel = a * (log_x + gess__log1p(b / a)) + b * (log_rest + gess__log((a + b) / b)) - remainder +
                        0.5 * gess__log(a * b / (a + b) / two_pi);
    double x = gess__exp(log_x);
    if (x <= (a + 1.0) / (a + b + 2.0)) return log_kernel + gess__log(beta_fraction(x, a, b) / a) - log_2;
    return gess__log1p(-gess__exp(log_kernel) * beta_fraction(gess__exp(log_rest), b, a) / b) - log_2;
}

/* The z > 0 with ln P(Z > z) = log_tail, far out, by Newton's method on the asymptotic series of the tail. */
static double far_normal_score(double log_tail)
{
    double z = sqrt(-2.0 * log_tail);
    for (int i = 0; i < 30; i++) {
        double u = 1.0 / (z * z);
        double series = 1.0 - u * (1.0 - 3.0 * u * (1.0 - 5.0 * u * (1.0 - 7.0 * u)));
        double log_here = -0.5 * z * z - 0.91893853320467274178 - gess__log(z) + gess__log(series);
        z += (log_here - log_tail) / (z + 1.0 / z);
    }
    return z;
}

double gess__normal_score_of_t(double t, double freedom)
{
    if (isnan(t) || !(freedom > 0.0)) return NAN;
    if (isinf(t)) return t;
    double log_tail = log_tail_of_t(fabs(t), freedom);
    double z = log_tail < -200.0 ? far_normal_score(log_tail) : -gess__normal_quantile(gess__exp(log_tail));
    return t < 0.0 ? -z : z;
}
