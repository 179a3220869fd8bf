/* Computes normal quantiles by rational approximations, and beta quantiles and tails of Student's t from the continued
 * fraction of the incomplete beta function. */
#include "diagnose/distributions.h"

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

static const long double tiny = 1e-300L;

/* One term of a continued fraction, by Lentz's method. */
static void lentz_step(long double term, long double *c, long double *d, long double *value)
{
    *d = 1.0L + term * *d;
    if (fabsl(*d) < tiny) *d = tiny;
    *c = 1.0L + term / *c;
    if (fabsl(*c) < tiny) *c = tiny;
    *d = 1.0L / *d;
    *value *= *d * *c;
}

/* The continued fraction of the incomplete beta function, by Lentz's method; x <= (a+1)/(a+b+2). */
static long double beta_fraction(long double x, long double a, long double b)
{
    long double c = 1.0L, d = 1.0L - (a + b) * x / (a + 1.0L);
    if (fabsl(d) < tiny) d = tiny;
    d = 1.0L / d;
    long double value = d;
    for (int i = 1; i < 1000000; i++) { /* it takes about sqrt(max(a, b)) iterations */
        long double m = (long double)i, m2 = 2.0L * m;
        long double term = m * (b - m) * x / ((a + m2 - 1.0L) * (a + m2));
        lentz_step(term, &c, &d, &value);
        term = -(a + m) * (a + b + m) * x / ((a + m2) * (a + m2 + 1.0L));
        lentz_step(term, &c, &d, &value);
        if (fabsl(d * c - 1.0L) <= 2.0L * LDBL_EPSILON) break;
    }
    return value;
}

double gess__beta_quantile(double p, double shape_a, double shape_b)
{
    if (!(p > 0.0 && p < 1.0 && shape_a >= 1.0 && shape_b >= 1.0) || isinf(shape_a) || isinf(shape_b)) return NAN;
    long double a = shape_a, b = shape_b;
    int sign;
    long double log_beta = lgammal_r(a, &sign) + lgammal_r(b, &sign) - lgammal_r(a + b, &sign);
    long double low = 0.0L, high = 1.0L, x = a / (a + b);
    /* Newton steps; a step that would leave the bracket is replaced by halving it. */
    for (int i = 0; i < 200; i++) {
        long double kernel = expl(a * logl(x) + b * log1pl(-x) - log_beta); /* x^a (1-x)^b / B(a, b) */
        long double lower = x <= (a + 1.0L) / (a + b + 2.0L) ? kernel * beta_fraction(x, a, b) / a
                                                             : 1.0L - kernel * beta_fraction(1.0L - x, b, a) / b;
        long double excess = lower - (long double)p;
        if (excess > 0.0L)
            high = x;
        else
            low = x;
        long double next = x - excess * x * (1.0L - x) / kernel;
        if (!(next > low && next < high)) next = 0.5L * (low + high);
        long double moved = fabsl(next - x);
        x = next;
        if (moved <= 4.0L * LDBL_EPSILON * x) break;
    }
    return (double)x;
}

/* ln P(T > t), t >= 0: half the incomplete beta function of x = ν / (ν + t²) with shapes ν/2 and 1/2. */
static long double log_tail_of_t(long double t, long double freedom)
{
    long double a = 0.5L * freedom, b = 0.5L;
    if (t == 0.0L) return -logl(2.0L);
    long double square = t * t / freedom, log_x = -log1pl(square), log_rest = logl(square) + log_x, x = expl(log_x);
    int sign;
    long double log_beta = lgammal_r(a, &sign) + lgammal_r(b, &sign) - lgammal_r(a + b, &sign);
    long double log_kernel = a * log_x + b * log_rest - log_beta;
    if (x <= (a + 1.0L) / (a + b + 2.0L)) return log_kernel + logl(beta_fraction(x, a, b) / a) - logl(2.0L);
    return log1pl(-expl(log_kernel) * beta_fraction(expl(log_rest), b, a) / b) - logl(2.0L);
}

/* The z > 0 with ln P(Z > z) = log_tail, far out, by Newton's method on the asymptotic series of the tail. */
static long double far_normal_score(long double log_tail)
{
    long double z = sqrtl(-2.0L * log_tail);
    for (int i = 0; i < 30; i++) {
        long double u = 1.0L / (z * z);
        long double series = 1.0L - u * (1.0L - 3.0L * u * (1.0L - 5.0L * u * (1.0L - 7.0L * u)));
        long double log_here = -0.5L * z * z - 0.91893853320467274178L - logl(z) + logl(series);
        z += (log_here - log_tail) / (z + 1.0L / z);
    }
    return z;
}

double gess__normal_score_of_t(double t, double freedom)
{
    if (isnan(t) || !(freedom > 0.0)) return NAN;
    if (isinf(t)) return t;
    long double log_tail = log_tail_of_t(fabsl((long double)t), freedom);
    long double z =
        log_tail < -200.0L ? far_normal_score(log_tail) : -(long double)gess__normal_quantile((double)expl(log_tail));
    return (double)(t < 0.0 ? -z : z);
}
