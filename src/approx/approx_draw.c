/* Draws points of the approximation T. */
#include "approx/approx.h"

#include <math.h>

void gess__approx_draw(const gess__approx *t, gess__key key, enum gess__purpose scale, double *normals, double *x)
{
    gess__normals(key, t->dim, normals);
    key.purpose = scale;
    double root = isfinite(t->nu) ? sqrt(0.5 * t->nu / gess__gamma(key, 0.5 * t->nu)) : 1.0;
    for (size_t r = 0; r < t->dim; r++) {
        double sum = 0.0;
        for (size_t c = 0; c <= r; c++) sum += t->chol[r + c * t->dim] * normals[c];
        x[r] = t->mu[r] + root * sum;
    }
}
