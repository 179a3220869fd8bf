/* Special functions (digamma, trigamma, log gamma) and a root finder, for fits. */
#ifndef GESS_BASE_SPECIAL_H
#define GESS_BASE_SPECIAL_H

/* ψ(x), x > 0, relative error below 1e-14 away from its root at 1.4616…. */
double gess__digamma(double x);

/* ψ'(x), x > 0, relative error below 1e-12. */
double gess__trigamma(double x);

/* log Γ(x), x > 0; thread-safe, unlike lgamma(). */
double gess__log_gamma(double x);

/* A root of f between low and high, to within `tolerance`, by Brent's method (1973), which never leaves the bracket.
 * f(low) and f(high) must differ in sign; if f is 0 at an end, that end is returned. */
double gess__root(double (*f)(double x, void *data), void *data, double low, double high, double tolerance);

#endif
