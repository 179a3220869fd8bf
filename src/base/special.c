/* Computes digamma and trigamma by recurrence and asymptotic series, and finds roots by Brent's method. */
#include "base/special.h"

#include "base/assert.h"

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
    return log(x) - 0.5 / x - tail - shift;
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

double gess__log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign);
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
            if (2.0 * p < fmin(3.0 * middle * q - fabs(accuracy * q), fabs(e * q))) {
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
