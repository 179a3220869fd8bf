/* Stochastic volatility after Hoffman & Gelman (2014): x = (nu > 0, h_1 .. h_T), h_i = log s_i; nu, s_1
 * and tau are exponential with mean 100, h_i ~ N(h_{i-1}, 1/tau), r_i / s_i ~ t_nu. With tau integrated
 * out and the Jacobian of h, up to a constant,
 *
 *   -0.01 nu + h_1 - 0.01 e^{h_1} + Σ_i [log t_nu(r_i e^{-h_i}) - h_i]
 *     - (T + 1)/2 log(0.01 + ½ Σ_{i > 1} (h_i - h_{i-1})²).
 *
 * The returns r are the first column of sv_returns.csv. Points are evaluated in tiles. With
 * t_i = (r_i / s_i)² / nu, Σ log(1 + t_i) is one logarithm: c = Π (1 + t_i) - 1 is built by c ← c + t + c t,
 * which does not lose small t. If it overflows, or h is beyond ±350, the terms are summed one by one. */
#include "model/builtin/builtin.h"

#include "model/lane/stochastic_volatility.h"

#include <string.h>

enum { W = GESS__LANES, RETURNS = GESS__VOLATILITY_RETURNS, DIM = 1 + RETURNS };

typedef gess__volatility_parts parts;

/* The derivative of gess__gamma_ratio(). */
GESS__INLINE double gamma_ratio_slope(double a)
{
    double steps = 0.0;
    for (int j = 0; j < 10; j++) {
        double b = a + (double)j;
        steps += 0.5 / (b * (b + 0.5)); /* 1/b - 1/(b + ½) */
    }
    double y = a + 10.0, v = 1.0 / y, z = v * v;
    double tail = 13.0 * 5461.0 / 425984.0;
    tail = gess__fma(tail, z, -11.0 * 691.0 / 180224.0);
    tail = gess__fma(tail, z, 9.0 * 31.0 / 18432.0);
    tail = gess__fma(tail, z, -7.0 * 17.0 / 14336.0);
    tail = gess__fma(tail, z, 5.0 / 640.0);
    tail = gess__fma(tail, z, -3.0 / 192.0);
    tail = gess__fma(tail, z, 1.0 / 8.0);
    return gess__fma(tail, z, 0.5 * v) + steps;
}

static GESS__VECTOR(logp_tile, (const double *restrict numbers, const double *restrict tile, double *restrict density),
                    (numbers, tile, density))
{
    parts p;
    gess__volatility_tile(W, numbers, tile, &p, density);
}

static GESS__VECTOR(gradient_tile,
                    (const double *restrict numbers, const double *restrict tile, double *restrict density,
                     double *restrict slopes),
                    (numbers, tile, density, slopes))
{
    parts p;
    double pull[W], over[W], shares[W] = {0};
    const double *h = tile + W, *squares = numbers + RETURNS;
    double *slope = slopes + W;
    gess__volatility_tile(W, numbers, tile, &p, density);
    GESS__FOR_LANES(l) pull[l] = 0.5 * (RETURNS + 1) / p.walk[l];
    GESS__FOR_LANES(l) over[l] = 1.0 / tile[l];
    for (size_t i = 0; i < RETURNS; i++) GESS__FOR_LANES(l)
        {
            double at = gess__select(h[i * W + l] > 350.0, 350.0, h[i * W + l]);
            at = gess__select(at < -350.0, -350.0, at);
            double t = gess__exp_within(-2.0 * at) * (squares[i] * over[l]);
            t = gess__select(t > 1e300, 1e300, t);
            double share = t / (1.0 + t);
            shares[l] += share;
            slope[i * W + l] = gess__fma(tile[l] + 1.0, share, -1.0);
        }
    for (size_t i = 1; i < RETURNS; i++) GESS__FOR_LANES(l)
        {
            double force = pull[l] * (h[i * W + l] - h[(i - 1) * W + l]);
            slope[i * W + l] -= force;
            slope[(i - 1) * W + l] += force;
        }
    GESS__FOR_LANES(l) slope[l] += gess__fma(-0.01, p.first[l], 1.0);
    GESS__FOR_LANES(l)
    {
        double nu = tile[l];
        slopes[l] = 0.5 * RETURNS * (gamma_ratio_slope(0.5 * nu) - 1.0 / nu) - 0.5 * p.logs[l] +
                    0.5 * (nu + 1.0) * shares[l] / nu - 0.01;
    }
    for (size_t i = 0; i < DIM; i++) GESS__FOR_LANES(l)
        {
            double outside = gess__from_bits(UINT64_C(0x7ff8000000000000));
            slopes[i * W + l] = gess__select(density[l] > -HUGE_VAL, slopes[i * W + l], outside);
        }
}

GESS__TILED(DIM)

static void start(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    memcpy(x, normals, dim * sizeof *x);
    x[0] = __builtin_fabs(x[0]);
}

int gess__open_stochastic_volatility(gess__model *m, gess__parameters *p, gess_error *err)
{
    double *numbers = NULL;
    gess__table data;
    const char **names = NULL;
    char path[4096];
    (void)p;
    GESS_TRY(gess__model_lane(m, "stochastic_volatility", GESS__VOLATILITY_NUMBERS, &numbers, err));
    GESS_TRY(gess__data_table("sv_returns.csv", &data, path, err));
    bool fits = data.rows == RETURNS;
    for (size_t i = 0; fits && i < RETURNS; i++) {
        numbers[i] = data.values[i * data.columns];
        numbers[RETURNS + i] = numbers[i] * numbers[i];
    }
    size_t rows = data.rows;
    gess__table_free(&data);
    if (!fits) return gess__fail(err, GESS_ERR_MODEL, "%s: %zu returns; %d are needed", path, rows, RETURNS);
    GESS_TRY(gess__model_number_names(m, "h", 0, DIM, err));
    GESS_MODEL_ALLOC(m, &names, DIM, err);
    names[0] = "nu";
    for (size_t i = 1; i < DIM; i++) names[i] = m->model.names[i];
    m->model.names = names;
    m->model.dim = DIM;
    m->model.logp = logp;
    m->model.observations = RETURNS;
    m->model.gradient = gradient;
    m->model.start = start;
    GESS_TRY(gess__model_positive(m, 1, err));
    m->model.user = numbers;
    return GESS_OK;
}
