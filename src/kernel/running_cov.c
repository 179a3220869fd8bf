/* Updates mean and Cholesky factor with one more point, by Givens rotations. */
#include "kernel/running_cov.h"

#include "base/tiles.h"
#include "base/vmath.h"

static GESS__VECTOR(add_scaled, (size_t n, double factor, const double *restrict column, double *restrict out),
                    (n, factor, column, out))
{
    for (size_t i = 0; i < n; i++) out[i] = gess__fma(factor, column[i], out[i]);
}

size_t gess__packed_size(size_t dim)
{
    return dim * (dim + 1) / 2;
}

void gess__packed_product(size_t dim, const double *chol, const double *in, double *out)
{
    memset(out, 0, dim * sizeof *out);
    for (size_t k = 0; k < dim; chol += dim - k++) add_scaled(dim - k, in[k], chol, out + k);
}

void gess__packed_transposed(size_t dim, const double *chol, const double *in, double *out)
{
    for (size_t k = 0; k < dim; chol += dim - k++) out[k] = gess__dot(dim - k, chol, in + k);
}

static GESS__VECTOR(rotate, (size_t n, double cosine, double sine, double *restrict column, double *restrict v),
                    (n, cosine, sine, column, v))
{
    for (size_t i = 0; i < n; i++) {
        double entry = gess__fma(cosine, column[i], sine * v[i]);
        v[i] = gess__fma(cosine, v[i], -sine * column[i]);
        column[i] = entry;
    }
}

void gess__packed_add(size_t dim, double *chol, size_t from, double *v)
{
    for (size_t k = 0; k < from; k++) chol += dim - k;
    for (size_t k = from; k < dim; chol += dim - k++) {
        double length = sqrt(gess__fma(chol[0], chol[0], v[k] * v[k]));
        if (!(length > 0.0)) continue;
        rotate(dim - k, chol[0] / length, v[k] / length, chol, v + k);
    }
}

size_t gess__running_cov_size(size_t dim)
{
    return 1 + dim + gess__packed_size(dim);
}

void gess__running_cov_add(size_t dim, double *history, const double *x, double *scratch)
{
    double *mean = history + 1, before = history[0], count = before + 1.0, weight = sqrt(before / count);
    for (size_t i = 0; i < dim; i++) {
        double step = x[i] - mean[i];
        mean[i] += step / count;
        scratch[i] = weight * step;
    }
    history[0] = count;
    gess__packed_add(dim, gess__running_cov_chol(dim, history), 0, scratch);
}
