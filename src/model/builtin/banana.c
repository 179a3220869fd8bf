/* A banana: x1 ~ N(0, 1), x2 | x1 ~ N(b (x1² - 1), 1), every other coordinate N(0, 1). Its means are
 * all 0, var x2 = 1 + 2 b². */
#include "model/builtin/builtin.h"

enum { MAX_DIM = 10000 };

typedef struct banana {
    double curvature; /* b */
    double constant;  /* of the log density */
} banana;

/* logp holds Σ x_i² over i > 2 on entry. */
static GESS__VECTOR(finish, (const banana *g, size_t n, size_t dim, const double *restrict x, double *restrict logp),
                    (g, n, dim, x, logp))
{
    const double b = g->curvature, constant = g->constant;
    for (size_t j = 0; j < n; j++) {
        double first = x[j * dim];
        double bent = gess__fma(-b, gess__fma(first, first, -1.0), x[j * dim + 1]);
        logp[j] = -0.5 * gess__fma(first, first, gess__fma(bent, bent, logp[j])) - constant;
    }
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
    const banana *g = user;
    for (size_t j = 0; j < n; j++) {
        const double *point = x + j * dim;
        double *slope = slopes + j * dim;
        double bent = gess__fma(-g->curvature, gess__fma(point[0], point[0], -1.0), point[1]);
        slope[0] = gess__fma(2.0 * g->curvature * point[0], bent, -point[0]);
        slope[1] = -bent;
        for (size_t i = 2; i < dim; i++) slope[i] = -point[i];
    }
    return logp(user, worker, n, dim, x, out);
}

int gess__open_banana(gess__model *m, gess__parameters *p, gess_error *err)
{
    banana *g = NULL;
    double b;
    GESS_TRY(gess__parameter_count(p, "dim", 2, 2, MAX_DIM, &m->model.dim, err));
    GESS_TRY(gess__parameter_real(p, "curvature", 1.0, -1e6, 1e6, &b, err));
    GESS_MODEL_ALLOC(m, &g, 1, err);
    g->curvature = b;
    g->constant = 0.5 * (double)m->model.dim * GESS__LOG_2PI;
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = g;
    return GESS_OK;
}
