/* Special functions and a root finder, for fits and figures, with the same bits on every system. */
#ifndef GESS_BASE_SPECIAL_H
#define GESS_BASE_SPECIAL_H

/* ψ(x), x > 0, relative error below 1e-14 away from its root at 1.4616…. */
double gess__digamma(double x);

/* ψ'(x), x > 0, relative error below 1e-12. */
double gess__trigamma(double x);

/* log Γ(x), x > 0, with an error below 1e-14 times the larger of 1 and itself. */
double gess__log_gamma(double x);

/* log Γ(x) − ((x − 1/2) log x − x + log √2π), x > 0: what Stirling's formula leaves. */
double gess__stirling_remainder(double x);

/* log₁₀ x, x > 0: exact for powers of 10. */
double gess__log10(double x);

/* The complementary error function, with a relative error below 1e-13. */
double gess__erfc(double x);

/* The angle of the point (x, y) in turns, from -1/2 to 1/2: atan2(y, x) / 2π. Not vectorised. */
double gess__atan2_turns(double y, double x);

/* A root of f between low and high, to within `tolerance`, by Brent's method (1973), which never leaves the bracket.
 * f(low) and f(high) must differ in sign; if f is 0 at an end, that end is returned. */
double gess__root(double (*f)(double x, void *data), void *data, double low, double high, double tolerance);

#endif
