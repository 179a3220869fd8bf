/* Computes gamma functions by recurrence and asymptotic series, erfc, atan2 and log10, and finds roots by Brent's
 * method. */
#include "base/special.h"

#include "base/angle.h"
#include "base/assert.h"
#include "base/vmath.h"

#include <float.h>
#include <math.h>

double gess__digamma(double x)
{
    GESS_ASSERT(!(x <= 0.0));
    double shift = 0.0;
    for (; x < 10.0; x += 1.0) shift += 1.0 / x;
    /* asymptotic series in 1/x²: Bernoulli numbers B₂ … B₁₄ divided by 2n */
    static const double c[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760.0, 1.0 / 12};
    double z = 1.0 / (x * x), tail = 0.0;
    for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--) tail = (tail + c[i]) * z;
    return gess__log(x) - 0.5 / x - tail - shift;
}

double gess__trigamma(double x)
{
    GESS_ASSERT(!(x <= 0.0));
    double sum = 0.0;
    for (; x < 10.0; x += 1.0) sum += 1.0 / (x * x);
    double y = 1.0 / (x * x);
    return sum + 1.0 / x + 0.5 * y +
           y / x * (1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * (5.0 / 66.0)))));
}

/* log √2π, in two parts. */
static const double log_root_2pi = 9.18938533204672669541e-01, log_root_2pi_low = 7.3471580960434e-17;

/* The series of Stirling's formula, x >= 10: B₂ₙ / (2n (2n − 1) x^(2n−1)). */
static double stirling_series(double x)
{
    static const double c[] = {1.0 / 12,   -1.0 / 360,        1.0 / 1260,  -1.0 / 1680,
                               1.0 / 1188, -691.0 / 360360.0, 1.0 / 156.0, -3617.0 / 122400.0};
    double z = 1.0 / (x * x), sum = 0.0;
    for (int i = (int)(sizeof c / sizeof *c) - 1; i >= 0; i--) sum = sum * z + c[i];
    return sum / x;
}

double gess__stirling_remainder(double x)
{
    if (x >= 10.0) return stirling_series(x);
    return gess__log_gamma(x) - (((x - 0.5) * gess__log(x) - x) + log_root_2pi);
}

double gess__log_gamma(double x)
{
    GESS_ASSERT(!(x <= 0.0));
    double product = 1.0;
    for (; x < 10.0; x += 1.0) product *= x;
    double large = (x - 0.5) * (gess__log(x) - 1.0) - 0.5; /* (x − 1/2) log x − x */
    return large + log_root_2pi + (log_root_2pi_low + stirling_series(x)) - gess__log(product);
}

double gess__log10(double x)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++)
        if (x == powers[i]) return (double)i;
    return gess__log(x) * 4.34294481903251816668e-01;
}

/* M. Abramowitz & I. A. Stegun, "Handbook of Mathematical Functions" (1964): the series 7.1.6, whose terms have one
 * sign, for small x, and for large x the continued fraction 7.1.14, from its end. */
double gess__erfc(double x)
{
    const double root_pi = 1.77245385090551602730;
    double size = fabs(x);
    if (x != x) return x;
    if (size > 28.0) return x > 0.0 ? 0.0 : 2.0;
    if (size < 1.3) {
        double term = x, sum = x;
        for (int n = 1; fabs(term) > 1e-18 * fabs(sum) && n < 200; n++) {
            term *= 2.0 * x * x / (2.0 * n + 1.0);
            sum += term;
        }
        return 1.0 - 2.0 / root_pi * gess__exp(-x * x) * sum;
    }
    double fraction = size;
    for (int n = 200; n > 0; n--) fraction = size + 0.5 * n / fraction;
    /* e^(−x²) with x² in two parts */
    double square = size * size, tail = gess__exp(-square) / (root_pi * fraction);
    tail = gess__fma(-tail, gess__fma(size, size, -square), tail);
    return x > 0.0 ? tail : 2.0 - tail;
}

double gess__atan2_turns(double y, double x)
{
    return gess__turns_of(y, x);
}

double gess__root(double (*f)(double x, void *data), void *data, double low, double high, double tolerance)
{
    double a = low, b = high, fa = f(a, data), fb = f(b, data), c = a, fc = fa, d = b - a, e = d;
    if (fa == 0.0) return a;
    for (int i = 0; i < 200 && fb != 0.0; i++) {
        if ((fb > 0.0) == (fc > 0.0)) {
            c = a;
            fc = fa;
            e = d = b - a;
        }
        if (fabs(fc) < fabs(fb)) {
            a = b, b = c, c = a;
            fa = fb, fb = fc, fc = fa;
        }
        double accuracy = 2.0 * DBL_EPSILON * fabs(b) + 0.5 * tolerance, middle = 0.5 * (c - b);
        if (fabs(middle) <= accuracy) break;
        if (fabs(e) >= accuracy && fabs(fa) > fabs(fb)) {
            double s = fb / fa, p, q;
            if (a == c) {
                p = 2.0 * middle * s;
                q = 1.0 - s;
            } else {
                double r = fb / fc, t = fa / fc;
                p = s * (2.0 * middle * t * (t - r) - (b - a) * (r - 1.0));
                q = (t - 1.0) * (r - 1.0) * (s - 1.0);
            }
            if (p > 0.0) q = -q;
            p = fabs(p);
            if (2.0 * p < gess__min(3.0 * middle * q - fabs(accuracy * q), fabs(e * q))) {
                e = d;
                d = p / q;
            } else {
                d = e = middle;
            }
        } else {
            d = e = middle;
        }
        a = b;
        fa = fb;
        b += fabs(d) > accuracy ? d : (middle > 0.0 ? accuracy : -accuracy);
        fb = f(b, data);
    }
    return b;
}
