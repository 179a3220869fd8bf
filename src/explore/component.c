/* One component of T: draws and density of a multivariate t. */
#include "explore/component.h"

void gess__component_draw(const gess__approx *t, const gess__ensemble *e, uint64_t set, uint32_t index, double *normals,
                          double *x)
{
    gess__key key = {.seed = e->seed,
                     .iteration = set + ((uint64_t)e->chains.first << 32),
                     .chain = index,
                     .purpose = GESS__FOR_WEIGHING};
    gess__approx_draw(t, key, GESS__FOR_WEIGHING_SCALE, normals, x);
}

double gess__component_log_density(const gess__approx *t, const double *x, double *z)
{
    double square = 0.0;
    for (size_t i = 0; i < t->dim; i++) {
        double sum = x[i] - t->mu[i];
        for (size_t j = 0; j < i; j++) sum -= t->chol[i + j * t->dim] * z[j];
        z[i] = sum * t->inverse_diagonal[i];
        square += z[i] * z[i];
    }
    return gess__approx_log_t(t, square) + gess__approx_log_norm(t);
}
