/* N(0, C) with unit variances and the same correlation c between all pairs, c in (-1/(dim-1), 1).
 * C = (1 - c) I + c 11', so x'C⁻¹x = (Σx² - w (Σx)²) / (1 - c) with w = c / (1 + (dim - 1) c), and
 * log |C| = (dim - 1) log(1 - c) + log(1 + (dim - 1) c). */
#include "model/builtin/builtin.h"

#include "model/lane/gaussian.h"

enum { MAX_DIM = 10000 };

static GESS__VECTOR(moments, (size_t dim, const double *x, double *square, double *sum), (dim, x, square, sum))
{
    gess__gaussian_moments(dim, x, square, sum);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    for (size_t j = 0; j < n; j++) {
        double square, sum;
        moments(dim, x + j * dim, &square, &sum);
        out[j] = gess__gaussian_density(user, square, sum);
    }
    return 0;
}

static GESS__VECTOR(slope,
                    (const double *restrict numbers, size_t dim, double sum, const double *restrict point,
                     double *restrict out),
                    (numbers, dim, sum, point, out))
{
    for (size_t i = 0; i < dim; i++) out[i] = -numbers[0] * gess__fma(-numbers[1], sum, point[i]);
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    const double *numbers = user;
    (void)worker;
    for (size_t j = 0; j < n; j++) {
        const double *point = x + j * dim;
        double square, sum;
        moments(dim, point, &square, &sum);
        out[j] = gess__gaussian_density(numbers, square, sum);
        slope(numbers, dim, sum, point, slopes + j * dim);
    }
    return 0;
}

int gess__open_gaussian(gess__model *m, gess__parameters *p, gess_error *err)
{
    double *numbers = NULL;
    double c;
    GESS_TRY(gess__parameter_count(p, "dim", 10, 1, MAX_DIM, &m->model.dim, err));
    GESS_TRY(gess__parameter_real(p, "cor", 0.0, -1.0, 1.0, &c, err));
    double others = (double)m->model.dim - 1.0, rest = gess__fma(others, c, 1.0);
    if (!(c < 1.0) || !(rest > 0.0))
        return gess__fail(err, GESS_ERR_USAGE,
                          "model gaussian: with dim=%zu, cor=%g gives no covariance matrix; it must be above %g "
                          "and "
                          "below 1",
                          m->model.dim, c, others > 0.0 ? -1.0 / others : -1.0);
    GESS_TRY(gess__model_lane(m, "gaussian", 3, &numbers, err));
    numbers[0] = 1.0 / (1.0 - c);
    numbers[1] = c / rest;
    numbers[2] = 0.5 * ((others + 1.0) * GESS__LOG_2PI + others * gess__log(1.0 - c) + gess__log(rest));
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = numbers;
    return GESS_OK;
}
