/* The multivariate t with nu degrees of freedom, centre 0 and identity scale:
 *   log π(x) = log Γ((nu + dim) / 2) - log Γ(nu / 2) - dim/2 log(nu pi) - (nu + dim)/2 log(1 + |x|² / nu). */
#include "model/builtin/builtin.h"

#include "base/special.h"

enum { MAX_DIM = 10000 };

typedef struct student_t {
    double nu, power; /* power = (nu + dim) / 2 */
    double constant;  /* of the log density */
} student_t;

/* logp holds |x|² on entry. */
static GESS__VECTOR(finish, (const student_t *g, size_t n, double *logp), (g, n, logp))
{
    const double nu = g->nu, power = g->power, constant = g->constant;
    for (size_t j = 0; j < n; j++) logp[j] = gess__fma(-power, gess__log1p(logp[j] / nu), constant);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    for (size_t j = 0; j < n; j++) out[j] = gess__dot(dim, x + j * dim, x + j * dim);
    finish(user, n, out);
    return 0;
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    const student_t *g = user;
    for (size_t j = 0; j < n; j++) {
        const double *point = x + j * dim;
        double factor = -2.0 * g->power / (g->nu + gess__dot(dim, point, point));
        for (size_t i = 0; i < dim; i++) slopes[j * dim + i] = factor * point[i];
    }
    return logp(user, worker, n, dim, x, out);
}

int gess__open_student_t(gess__model *m, gess__parameters *p, gess_error *err)
{
    student_t *g = NULL;
    double nu;
    GESS_TRY(gess__parameter_count(p, "dim", 5, 1, MAX_DIM, &m->model.dim, err));
    GESS_TRY(gess__parameter_real(p, "nu", 3.0, 1e-3, 1e6, &nu, err));
    GESS_MODEL_ALLOC(m, &g, 1, err);
    double dim = (double)m->model.dim;
    g->nu = nu;
    g->power = 0.5 * (nu + dim);
    g->constant = gess__log_gamma(g->power) - gess__log_gamma(0.5 * nu) -
                  0.5 * dim * (gess__log(nu) + 1.1447298858494001741); /* log pi */
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = g;
    return GESS_OK;
}
