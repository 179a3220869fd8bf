/* N(0, C) with unit variances and the same correlation c between all pairs, c in (-1/(dim-1), 1).
 * C = (1 - c) I + c 11', so x'C⁻¹x = (Σx² - w (Σx)²) / (1 - c) with w = c / (1 + (dim - 1) c), and
 * log |C| = (dim - 1) log(1 - c) + log(1 + (dim - 1) c). */
#include "model/builtin/builtin.h"

enum { W = GESS__LANES, MAX_DIM = 10000 };

typedef struct gaussian {
    double scale;    /* 1 / (1 - c) */
    double common;   /* w */
    double constant; /* of the log density */
} gaussian;

/* Σx² and Σx, each in LANES interleaved partial sums. */
static GESS__VECTOR(moments, (size_t dim, const double *x, double *square, double *sum), (dim, x, square, sum))
{
    double squares[W] = {0}, sums[W] = {0};
    size_t whole = dim - dim % W;
    for (size_t i = 0; i < whole; i += W) {
        GESS__FOR_LANES(l) squares[l] = gess__fma(x[i + l], x[i + l], squares[l]);
        GESS__FOR_LANES(l) sums[l] += x[i + l];
    }
    for (size_t l = 0; l < dim % W; l++) {
        squares[l] = gess__fma(x[whole + l], x[whole + l], squares[l]);
        sums[l] += x[whole + l];
    }
    *square = gess__lane_sum(squares);
    *sum = gess__lane_sum(sums);
}

/* The difference cancels if x lies along (1, …, 1) and c is near 1; the error stays within C's condition number times
 * that of the sums. */
static double density(const gaussian *g, double square, double sum)
{
    return -0.5 * g->scale * gess__fma(-g->common * sum, sum, square) - g->constant;
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    for (size_t j = 0; j < n; j++) {
        double square, sum;
        moments(dim, x + j * dim, &square, &sum);
        out[j] = density(user, square, sum);
    }
    return 0;
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *slopes)
{
    const gaussian *g = user;
    (void)worker;
    for (size_t j = 0; j < n; j++) {
        const double *point = x + j * dim;
        double square, sum;
        moments(dim, point, &square, &sum);
        out[j] = density(g, square, sum);
        for (size_t i = 0; i < dim; i++) slopes[j * dim + i] = -g->scale * gess__fma(-g->common, sum, point[i]);
    }
    return 0;
}

int gess__open_gaussian(gess__model *m, gess__parameters *p, gess_error *err)
{
    gaussian *g = NULL;
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
    GESS_MODEL_ALLOC(m, &g, 1, err);
    g->scale = 1.0 / (1.0 - c);
    g->common = c / rest;
    g->constant = 0.5 * ((others + 1.0) * GESS__LOG_2PI + others * gess__log(1.0 - c) + gess__log(rest));
    m->model.logp = logp;
    m->model.gradient = gradient;
    m->model.user = g;
    return GESS_OK;
}
