/* A banana: x1 ~ N(0, 1), x2 | x1 ~ N(b (x1² - 1), 1), every other coordinate N(0, 1). Its means are
 * all 0, var x2 = 1 + 2 b². */
#include "model/builtin/builtin.h"

#include "model/lane/banana.h"

enum { MAX_DIM = 10000 };

/* logp holds Σ x_i² over i > 2 on entry. */
static GESS__VECTOR(finish,
                    (const double *restrict numbers, size_t n, size_t dim, const double *restrict x,
                     double *restrict logp),
                    (numbers, n, dim, x, logp))
{
    for (size_t j = 0; j < n; j++) logp[j] = gess__banana_density(numbers, x[j * dim], x[j * dim + 1], logp[j]);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    for (size_t j = 0; j < n; j++) out[j] = gess__dot(dim - 2, x + j * dim + 2, x + j * dim + 2);
    finish(user, n, dim, x, out);
    return 0;
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    const double b = *(const double *)user;
    for (size_t j = 0; j < n; j++) {
        const double *point = x + j * dim;
        double *slope = slopes + j * dim;
        double bent = gess__fma(-b, gess__fma(point[0], point[0], -1.0), point[1]);
        slope[0] = gess__fma(2.0 * b * point[0], bent, -point[0]);
        slope[1] = -bent;
        for (size_t i = 2; i < dim; i++) slope[i] = -point[i];
    }
    return logp(user, worker, n, dim, x, out);
}

int gess__open_banana(gess__model *m, gess__parameters *p, gess_error *err)
{
    double *numbers = NULL;
    double b;
    GESS_TRY(gess__parameter_count(p, "dim", 2, 2, MAX_DIM, &m->model.dim, err));
    GESS_TRY(gess__parameter_real(p, "curvature", 1.0, -1e6, 1e6, &b, err));
    GESS_TRY(gess__model_lane(m, "banana", 2, &numbers, err));
    numbers[0] = b;
    numbers[1] = 0.5 * (double)m->model.dim * GESS__LOG_2PI;
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = numbers;
    return GESS_OK;
}
