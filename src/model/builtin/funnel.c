/* Neal's funnel: v ~ N(0, 9), x_i | v ~ N(0, e^v) (e^v is the variance), i = 1 .. dim - 1. */
#include "model/builtin/builtin.h"

#include "model/lane/funnel.h"

enum { MAX_DIM = 10000 };

/* Σ x_i², with the sums of gess__dot(). */
static double square(size_t dim, const double *x)
{
    return gess__dot(dim - 1, x + 1, x + 1);
}

/* logp holds Σ x_i² on entry. */
static GESS__VECTOR(finish,
                    (const double *restrict numbers, size_t n, size_t dim, const double *restrict x,
                     double *restrict logp),
                    (numbers, n, dim, x, logp))
{
    for (size_t j = 0; j < n; j++) logp[j] = gess__funnel_density(dim, numbers, x[j * dim], logp[j]);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    for (size_t j = 0; j < n; j++) out[j] = square(dim, x + j * dim);
    finish(user, n, dim, x, out);
    return 0;
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    for (size_t j = 0; j < n; j++) {
        const double *point = x + j * dim;
        double *slope = slopes + j * dim, precision = gess__exp(-point[0]);
        slope[0] = 0.5 * precision * square(dim, point) - 0.5 * (double)(dim - 1) - point[0] / 9.0;
        for (size_t i = 1; i < dim; i++) slope[i] = -point[i] * precision;
    }
    return logp(user, worker, n, dim, x, out);
}

int gess__open_funnel(gess__model *m, gess__parameters *p, gess_error *err)
{
    const char **names = NULL;
    double *numbers = NULL;
    GESS_TRY(gess__parameter_count(p, "dim", 10, 2, MAX_DIM, &m->model.dim, err));
    GESS_TRY(gess__model_number_names(m, "x", 0, m->model.dim, err));
    GESS_MODEL_ALLOC(m, &names, m->model.dim, err);
    names[0] = "v";
    for (size_t i = 1; i < m->model.dim; i++) names[i] = m->model.names[i];
    m->model.names = names;
    GESS_TRY(gess__model_lane(m, "funnel", 1, &numbers, err));
    numbers[0] =
        0.5 * (GESS__LOG_2PI + gess__log(9.0)) + 0.5 * (double)(m->model.dim - 1) * GESS__LOG_2PI; /* the constant */
    m->model.user = numbers;
    m->model.logp = logp;
    m->model.gradient = gradient;
    return GESS_OK;
}
