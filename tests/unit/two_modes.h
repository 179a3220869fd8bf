/* A density with two modes, shared by the tests of exploration. */
#ifndef GESS_TESTS_UNIT_TWO_MODES_H
#define GESS_TESTS_UNIT_TWO_MODES_H

#include <math.h>
#include <stddef.h>

/* Unit Gaussians around −SIDE and SIDE in every coordinate; the first has WEIGHT. */
#define SIDE 8.0
#define WEIGHT 0.7

static int pair(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double left = log(WEIGHT), right = log(1.0 - WEIGHT);
        for (size_t k = 0; k < dim; k++) {
            double a = x[i * dim + k] + SIDE, b = x[i * dim + k] - SIDE;
            left -= 0.5 * a * a;
            right -= 0.5 * b * b;
        }
        logp[i] = fmax(left, right) + log1p(exp(-fabs(left - right)));
    }
    return 0;
}

static void start_widely(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t k = 0; k < dim; k++) x[k] = 10.0 * normals[k];
}

#endif
