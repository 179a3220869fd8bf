/* Solves the fixed-point equation of the optimal bridge. */
#include "approx/bridge.h"

#include "base/assert.h"
#include "base/vmath.h"

#include <math.h>

enum { MIN_POINTS = 10 }; /* of the target, for a bridge */

/* The relative error of the mean over the draws of t, of the terms at the solution r. */
static double error_of_draws(const gess__bridge *b, double max, double r)
{
    double mean = 0.0, square = 0.0, n2 = (double)b->n2;
    for (size_t i = b->n1; i < b->n1 + b->n2; i++) {
        double x = gess__exp(b->level[i] - max);
        x = b->n1 >= MIN_POINTS ? x / (b->share * x + (1.0 - b->share) * r) : x;
        mean += x / n2;
        square += x * x / n2;
    }
    return mean > 0.0 ? sqrt(gess__max(square / (mean * mean) - 1.0, 0.0) / n2) : INFINITY;
}

double gess__bridge_solve(const gess__bridge *b, double *error)
{
    size_t n1 = b->n1, n2 = b->n2;
    const double *level = b->level;
    double max = -INFINITY, r = 0.0, s1 = b->share, s2 = 1.0 - s1;
    GESS_ASSERT(n2 > 0 && s1 >= 0.0 && s1 < 1.0);
    for (size_t i = 0; i < n1 + n2; i++) max = gess__max(max, level[i]);
    *error = INFINITY;
    if (!(max > -INFINITY)) return -INFINITY;
    for (size_t i = n1; i < n1 + n2; i++) r += gess__exp(level[i] - max) / (double)n2;
    if (!(r > 0.0)) r = 1e-300;
    for (unsigned it = 0; it < (n1 >= MIN_POINTS ? b->max_iterations : 0); it++) {
        double up = 0.0, down = 0.0, before = r;
        for (size_t i = 0; i < n1; i++) down += 1.0 / (s1 * gess__exp(level[i] - max) + s2 * r);
        for (size_t i = n1; i < n1 + n2; i++) {
            double x = gess__exp(level[i] - max);
            up += x / (s1 * x + s2 * r);
        }
        if (!(up > 0.0 && down > 0.0)) break;
        r = (up / (double)n2) / (down / (double)n1);
        if (fabs(r - before) < 1e-8 * r) break;
    }
    *error = error_of_draws(b, max, r);
    return gess__log(r) + max;
}

void gess__bridge_terms(const gess__bridge *b, double log_z, double *terms)
{
    double s1 = b->share, s2 = 1.0 - s1;
    for (size_t i = 0; i < b->n1 + b->n2; i++) {
        double away = b->level[i] - log_z; /* log of normalised π / t */
        if (i < b->n1)                     /* t / (s1 π + s2 t) */
            terms[i] = away > 0.0 ? gess__exp(-away) / (s1 + s2 * gess__exp(-away)) : 1.0 / (s1 * gess__exp(away) + s2);
        else
            terms[i] = away > 0.0 ? 1.0 / (s1 + s2 * gess__exp(-away)) : gess__exp(away) / (s1 * gess__exp(away) + s2);
    }
}
