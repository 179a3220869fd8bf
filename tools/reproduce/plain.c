/* Runs single updates on a plain Gaussian, records the points that the density was asked for, and computes the ellipses
 * again from the variates of the kernel. */
#include "reproduce/plain.h"
#include "base/options.h"

#include "base/vmath.h"

#include <math.h>
#include <string.h>

static int density(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    gess__plain *p = user;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        double z[GESS__PLAIN_DIM], sum = 0.0;
        for (size_t j = 0; j < dim; j++) {
            z[j] = x[i * dim + j] - p->centre[j];
            for (size_t k = 0; k < j; k++) z[j] -= p->chol[j + k * dim] * z[k];
            z[j] /= p->chol[j + j * dim];
            sum += z[j] * z[j];
            if (p->noise > 0.0) {
                double away = (x[i * dim + j] - p->observed[j]) / p->noise;
                sum += away * away;
            }
        }
        logp[i] = -0.5 * sum;
        if (p->seen < GESS__PLAIN_SEEN) memcpy(p->points[p->seen], x + i * dim, dim * sizeof *x);
        p->seen++;
    }
    return 0;
}

/* Chains start at draws of the Gaussian. */
static void start(void *user, size_t dim, const double *normals, double *x)
{
    const gess__plain *p = user;
    for (size_t j = 0; j < dim; j++) {
        x[j] = p->centre[j];
        for (size_t k = 0; k <= j; k++) x[j] += p->chol[j + k * dim] * normals[k];
    }
}

void gess__plain_tilt(double chol[4], double along, double across, double degrees)
{
    double angle = degrees * 3.14159265358979323846 / 180.0, c = cos(angle), s = sin(angle);
    double xx = along * along * c * c + across * across * s * s, yy = along * along * s * s + across * across * c * c;
    double xy = (along * along - across * across) * s * c;
    chol[0] = sqrt(xx);
    chol[1] = xy / chol[0];
    chol[2] = 0.0;
    chol[3] = sqrt(yy - chol[1] * chol[1]);
}

int gess__plain_open(gess__plain *p, size_t dim, const char *kernel, size_t chains, uint64_t seed,
                     const gess__approx *approx, gess_error *err)
{
    gess_options o;
    gess__options_init(&o);
    o.kernel = kernel;
    o.schedule = "fixed";
    o.chains = chains;
    o.seed = seed;
    o.threads = 1;
    o.warmup = 0;
    p->model = (gess_model){0};
    p->model.name = "gaussian";
    p->model.dim = dim;
    p->model.logp = density;
    p->model.start = start;
    p->model.user = p;
    GESS_TRY(gess__team_new(&p->team, 1, err));
    GESS_TRY(gess__sampler_new(&p->sampler, &p->model, &o, 0, chains, p->team, err));
    p->ensemble = &p->sampler->ensemble;
    gess__approx_copy(p->ensemble->frozen.approx, approx);
    return GESS_OK;
}

void gess__plain_close(gess__plain *p)
{
    gess__sampler_free(p->sampler);
    gess__team_free(p->team);
    p->sampler = NULL;
    p->ensemble = NULL;
    p->team = NULL;
}

int gess__plain_step(gess__plain *p, gess_error *err)
{
    const gess__record none = {.thin = 0};
    return gess__sampler_advance(p->sampler, gess__ensemble_done(p->ensemble) + 1, &none, err);
}

/* Variates are functions of their keys, so the ones of kernel/ellipse.c and kernel/gess.c can be computed again. */
void gess__plain_ellipse(const gess__plain *p, size_t chain, double *nu, double *s)
{
    const gess__ensemble *e = p->ensemble;
    const gess__approx *t = e->frozen.approx;
    size_t dim = p->model.dim;
    double normals[GESS__PLAIN_DIM], delta = 0.0, z[GESS__PLAIN_DIM];
    gess__key key = {.seed = e->seed,
                     .iteration = gess__ensemble_done(e),
                     .chain = e->chains.first + (uint32_t)chain,
                     .purpose = GESS__FOR_SCALE};
    for (size_t j = 0; j < dim; j++) {
        z[j] = e->chains.x[chain * dim + j] - t->mu[j];
        for (size_t k = 0; k < j; k++) z[j] -= t->chol[j + k * dim] * z[k];
        z[j] /= t->chol[j + j * dim];
        delta += z[j] * z[j];
    }
    *s = 1.0;
    if (strcmp(e->kernel->name, "gess") == 0 && isfinite(t->nu))
        *s = 0.5 * (t->nu + delta) / gess__gamma(key, 0.5 * ((double)dim + t->nu));
    key.purpose = GESS__FOR_NORMALS;
    gess__normals(key, dim, normals);
    for (size_t j = 0; j < dim; j++) {
        nu[j] = t->mu[j];
        for (size_t k = 0; k <= j; k++) nu[j] += sqrt(*s) * t->chol[j + k * dim] * normals[k];
    }
}

void gess__plain_points(const gess__plain *p, size_t dim, uint64_t seed, size_t n, double *points)
{
    for (size_t i = 0; i < n; i++) {
        double normals[GESS__PLAIN_DIM];
        gess__key key = {.seed = seed, .chain = (uint32_t)i, .purpose = GESS__FOR_MODEL};
        gess__normals(key, dim, normals);
        start((void *)(uintptr_t)p, dim, normals, points + i * dim);
    }
}

double gess__plain_off(const double *centre, const double *old, const double *nu, const double *new_state)
{
    double a = old[0] - centre[0], b = nu[0] - centre[0], c = old[1] - centre[1], d = nu[1] - centre[1];
    double e = new_state[0] - centre[0], f = new_state[1] - centre[1], determinant = a * d - b * c;
    double first = (e * d - b * f) / determinant, second = (a * f - e * c) / determinant;
    return fabs(first * first + second * second - 1.0);
}

/* P(δ ≤ d) = 1 - (1 + d/ν)^(-ν/2) in two dimensions. */
double gess__plain_contour(double nu, double share)
{
    if (isinf(nu)) return -2.0 * log(1.0 - share);
    return nu * (pow(1.0 - share, -2.0 / nu) - 1.0);
}

json_t *gess__plain_json(size_t dim, const double *x)
{
    json_t *list = json_array();
    for (size_t i = 0; i < dim; i++) json_array_append_new(list, json_real(x[i]));
    return list;
}
