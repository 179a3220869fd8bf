#include "map/learn_regress.h"

#include "base/lanes.h"
#include "base/vmath.h"

/* Numbers of several columns that stay near the processor together. */
enum { NEAR = 256 };

GESS__VECTOR
void gess__predict(const gess__terms *t, size_t begin, size_t end, double *restrict out)
{
    for (size_t j = begin; j < end; j++) out[j] = 0.0;
    for (size_t u = 0; u < t->count; u++) {
        const double *restrict column = t->columns[u];
        double factor = t->factors[u];
        for (size_t j = begin; j < end; j++) out[j] = gess__fma(factor, column[j], out[j]);
    }
}

GESS__VECTOR
void gess__multiply(size_t n, const double *restrict a, const double *restrict b, double *restrict out)
{
    for (size_t j = 0; j < n; j++) out[j] = a[j] * b[j];
}

void gess__normal_equations(const gess__terms *t, const double *weights, const double *y, size_t begin, size_t end,
                            double *work, double *a, double *b)
{
    size_t p = t->count;
    for (size_t u = 0; u < p; u++) b[u] = 0.0;
    for (size_t u = 0; u < p * p; u++) a[u] = 0.0;
    for (size_t j = begin; j < end; j += NEAR) {
        size_t n = end - j < NEAR ? end - j : NEAR;
        for (size_t u = 0; u < p; u++) {
            double *row = a + u * p;
            gess__multiply(n, t->columns[u] + j, weights + j, work);
            for (size_t v = u; v < p; v++) row[v] += gess__dot(n, work, t->columns[v] + j);
            if (y != NULL) b[u] += gess__dot(n, work, y + j);
        }
    }
    for (size_t u = 0; u < p; u++)
        for (size_t v = 0; v < u; v++) a[u * p + v] = a[v * p + u];
}

void gess__fit_mean(gess__terms *t, const double *weights, const double *y, size_t begin, size_t end, double *work,
                    double *r)
{
    double a[GESS__MOST_TERMS * GESS__MOST_TERMS];
    gess__normal_equations(t, weights, y, begin, end, work, a, t->factors);
    gess__learn_solve(t->count, a, t->factors);
    gess__predict(t, begin, end, r);
    for (size_t j = begin; j < end; j++) r[j] = y[j] - r[j];
}

GESS__VECTOR
double gess__spread_loss(const double *restrict r, size_t begin, size_t end, const double *restrict h,
                         double *restrict weights, double *restrict squares)
{
    double sums[GESS__LANES] = {0}, sum = 0.0;
    for (size_t j = begin; j < end; j++) {
        double level = gess__select(h[j] > 600.0, 600.0, h[j]);
        level = gess__select(level < -600.0, -600.0, level);
        weights[j] = gess__exp(-level);
        squares[j] = r[j] * r[j] * weights[j];
    }
    size_t whole = begin + (end - begin) / GESS__LANES * GESS__LANES;
    for (size_t j = begin; j < whole; j += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) sums[l] += h[j + l] + squares[j + l];
    for (size_t j = whole; j < end; j++) sum += h[j] + squares[j];
    for (size_t l = 0; l < GESS__LANES; l++) sum += sums[l];
    return 0.5 * sum / (double)(end - begin);
}
