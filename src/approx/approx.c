/* The multivariate t as numbers: memory, copies, its log density, and reading one from a file. */
#include "approx/approx.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/special.h"
#include "base/vmath.h"

#include <jansson.h>
#include <stdlib.h>

int gess__approx_new(gess__approx **approx, size_t dim, gess_error *err)
{
    GESS_ASSERT(dim > 0);
    GESS_ALLOC(approx, 1, err);
    gess__approx *t = *approx;
    t->dim = dim;
    t->nu = INFINITY;
    GESS_ALLOC(&t->mu, dim, err);
    GESS_ALLOC(&t->chol, dim * dim, err);
    GESS_ALLOC(&t->inverse_diagonal, dim, err);
    for (size_t i = 0; i < dim; i++) t->chol[i * dim + i] = 1.0;
    gess__approx_ready(t);
    return GESS_OK;
}

void gess__approx_free(gess__approx *approx)
{
    if (approx == NULL) return;
    free(approx->mu);
    free(approx->chol);
    free(approx->inverse_diagonal);
    free(approx);
}

void gess__approx_copy(gess__approx *to, const gess__approx *from)
{
    size_t dim = from->dim;
    GESS_ASSERT(to->dim == dim);
    to->nu = from->nu;
    to->log_det = from->log_det;
    memcpy(to->mu, from->mu, dim * sizeof *to->mu);
    memcpy(to->chol, from->chol, dim * dim * sizeof *to->chol);
    memcpy(to->inverse_diagonal, from->inverse_diagonal, dim * sizeof *to->inverse_diagonal);
}

void gess__approx_ready(gess__approx *approx)
{
    GESS_ASSERT(approx->nu > 0.0);
    approx->log_det = 0.0;
    for (size_t i = 0; i < approx->dim; i++) {
        double pivot = approx->chol[i * approx->dim + i];
        approx->inverse_diagonal[i] = 1.0 / pivot;
        approx->log_det += 2.0 * gess__log(pivot);
    }
}

GESS__VECTOR_VALUE(double, gess__approx_log_t, (const gess__approx *approx, double delta), (approx, delta))
{
    if (isinf(approx->nu)) return -0.5 * delta;
    return -0.5 * (approx->nu + (double)approx->dim) * gess__log1p(delta / approx->nu);
}

static GESS__VECTOR(log_ts, (size_t n, double nu, double power, const double *restrict deltas, double *restrict out),
                    (n, nu, power, deltas, out))
{
    for (size_t i = 0; i < n; i++) out[i] = power * gess__log1p(deltas[i] / nu);
}

void gess__approx_log_ts(const gess__approx *approx, int gaussian, size_t n, const double *deltas, double *out)
{
    if (!gaussian && isfinite(approx->nu)) {
        log_ts(n, approx->nu, -0.5 * (approx->nu + (double)approx->dim), deltas, out);
        return;
    }
    for (size_t i = 0; i < n; i++) out[i] = -0.5 * deltas[i];
}

double gess__approx_log_norm(const gess__approx *approx)
{
    double dim = (double)approx->dim, nu = approx->nu;
    if (isinf(nu)) return -0.5 * (dim * gess__log(2.0 * M_PI) + approx->log_det);
    return gess__log_gamma(0.5 * (nu + dim)) - gess__log_gamma(0.5 * nu) - 0.5 * dim * gess__log(nu * M_PI) -
           0.5 * approx->log_det;
}

double gess__approx_trace(const gess__approx *approx)
{
    double trace = 0.0;
    for (size_t i = 0; i < approx->dim * approx->dim; i++) trace += approx->chol[i] * approx->chol[i];
    return trace;
}

/* ---- reading ---- */

/* A JSON array of exactly n finite numbers into out, `stride` apart. */
static bool read_numbers(const json_t *array, size_t n, size_t stride, double *out)
{
    if (!json_is_array(array) || json_array_size(array) != n) return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value) || !isfinite(json_number_value(value))) return false;
        out[i * stride] = json_number_value(value);
    }
    return true;
}

static int read_fields(gess__approx *approx, const json_t *root, const char *path, gess_error *err)
{
    size_t dim = approx->dim;
    const json_t *nu = json_object_get(root, "nu"), *sigma = json_object_get(root, "sigma");
    if (nu == NULL || json_is_null(nu))
        approx->nu = INFINITY;
    else if (json_is_number(nu) && json_number_value(nu) > 0.0)
        approx->nu = json_number_value(nu);
    else
        return gess__fail(err, GESS_ERR_USAGE, "%s: \"nu\" must be a positive number, or null for a Gaussian", path);
    if (!read_numbers(json_object_get(root, "mu"), dim, 1, approx->mu))
        return gess__fail(err, GESS_ERR_USAGE, "%s: \"mu\" must be a list of %zu numbers, one per parameter", path,
                          dim);
    bool square = json_is_array(sigma) && json_array_size(sigma) == dim;
    for (size_t i = 0; square && i < dim; i++)
        square = read_numbers(json_array_get(sigma, i), dim, dim, approx->chol + i);
    if (!square)
        return gess__fail(err, GESS_ERR_USAGE, "%s: \"sigma\" must be %zu lists of %zu numbers", path, dim, dim);
    for (size_t i = 0; i < dim; i++)
        for (size_t k = 0; k < i; k++)
            if (fabs(approx->chol[i + k * dim] - approx->chol[k + i * dim]) > 1e-8 * fabs(approx->chol[i + k * dim]))
                return gess__fail(err, GESS_ERR_USAGE, "%s: \"sigma\" is not symmetric at row %zu, column %zu", path,
                                  i + 1, k + 1);
    bool good = gess__cholesky(dim, approx->chol);
    if (!good) return gess__fail(err, GESS_ERR_USAGE, "%s: \"sigma\" is not positive definite", path);
    gess__approx_ready(approx);
    return GESS_OK;
}

int gess__approx_read(gess__approx *approx, const char *path, gess_error *err)
{
    GESS_ASSERT(approx != NULL && path != NULL);
    json_error_t place;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &place);
    if (root == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "%s, line %d: %s; expected the output of `gess fit --json`", path,
                          place.line, place.text);
    int status = read_fields(approx, root, path, err);
    json_decref(root);
    return status;
}
