/* Special functions and a root finder, for fits. */
#ifndef GESS_BASE_SPECIAL_H
#define GESS_BASE_SPECIAL_H

/* ψ(x), x > 0, relative error below 1e-14 away from its root at 1.4616…. */
double gess__digamma(double x);

/* ψ'(x), x > 0, relative error below 1e-12. */
double gess__trigamma(double x);

/* log Γ(x), x > 0; thread-safe, unlike lgamma(). */
double gess__log_gamma(double x);

/* A root of f between low and high, where f(low) and f(high) differ in sign (an end where f is 0 is
 * returned): Brent's method (1973), never outside the bracket, to within `tolerance` of x. */
double gess__root(double (*f)(double x, void *data), void *data, double low, double high, double tolerance);

#endif
