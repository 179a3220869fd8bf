/* The multivariate t with nu degrees of freedom, centre 0 and identity scale:
 *   log π(x) = log Γ((nu + dim) / 2) - log Γ(nu / 2) - dim/2 log(nu pi) - (nu + dim)/2 log(1 + |x|² / nu). */
#include "model/builtin/builtin.h"

#include "base/special.h"
#include "model/lane/student_t.h"

enum { MAX_DIM = 10000 };

/* logp holds |x|² on entry. */
static GESS__VECTOR(finish, (const double *restrict numbers, size_t n, double *restrict logp), (numbers, n, logp))
{
    for (size_t j = 0; j < n; j++) logp[j] = gess__student_t_density(numbers, logp[j]);
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
    const double *numbers = user, nu = numbers[0], power = numbers[1];
    for (size_t j = 0; j < n; j++) {
        const double *point = x + j * dim;
        double factor = -2.0 * power / (nu + gess__dot(dim, point, point));
        for (size_t i = 0; i < dim; i++) slopes[j * dim + i] = factor * point[i];
    }
    return logp(user, worker, n, dim, x, out);
}

int gess__open_student_t(gess__model *m, gess__parameters *p, gess_error *err)
{
    double *numbers = NULL;
    double nu;
    GESS_TRY(gess__parameter_count(p, "dim", 5, 1, MAX_DIM, &m->model.dim, err));
    GESS_TRY(gess__parameter_real(p, "nu", 3.0, 1e-3, 1e6, &nu, err));
    GESS_TRY(gess__model_lane(m, "student_t", 3, &numbers, err));
    double dim = (double)m->model.dim;
    numbers[0] = nu;
    numbers[1] = 0.5 * (nu + dim);
    numbers[2] = gess__log_gamma(numbers[1]) - gess__log_gamma(0.5 * nu) -
                 0.5 * dim * (gess__log(nu) + 1.1447298858494001741); /* log pi */
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = numbers;
    return GESS_OK;
}
