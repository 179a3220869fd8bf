/* Eight schools: effects theta_j of coaching in eight schools, D. B. Rubin, "Estimation in parallel
 * randomized experiments", Journal of Educational Statistics 6 (1981), 377-401.
 *
 *   mu ~ N(0, 5²), tau ~ half-Cauchy(0, 5), theta_j ~ N(mu, tau²), y_j ~ N(theta_j, sigma_j²)
 *
 * centred=1: x = (mu, tau > 0, theta_1 .. theta_8). centred=0: x = (mu, tau > 0, eta_1 .. eta_8) with
 * theta_j = mu + tau eta_j. Normalised as a density of x and y. Points are evaluated in tiles. */
#include "model/builtin/builtin.h"

#include "model/lane/eight_schools.h"

#include <string.h>

enum { W = GESS__LANES, SCHOOLS = GESS__SCHOOLS, DIM = 2 + SCHOOLS };

static const double effect[SCHOOLS] = {28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0};
static const double error[SCHOOLS] = {15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0};

static GESS__VECTOR(logp_tile, (const double *restrict numbers, const double *restrict tile, double *restrict density),
                    (numbers, tile, density))
{
    gess__schools_tile(W, numbers, tile, NULL, density);
}

static GESS__VECTOR(gradient_tile,
                    (const double *restrict numbers, const double *restrict tile, double *restrict density,
                     double *restrict slopes),
                    (numbers, tile, density, slopes))
{
    double theta[SCHOOLS * W];
    const double *mu = tile, *tau = tile + W, *school = tile + 2 * W, *precision = numbers + GESS__SCHOOLS_PRECISION;
    const int centred = numbers[0] != 0.0;
    gess__schools_tile(W, numbers, tile, theta, density);
    GESS__FOR_LANES(l) slopes[l] = -0.04 * mu[l];
    GESS__FOR_LANES(l) slopes[W + l] = -2.0 * tau[l] / gess__fma(tau[l], tau[l], 25.0);
    for (size_t j = 0; j < SCHOOLS; j++) GESS__FOR_LANES(l)
        {
            double pull = (effect[j] - theta[j * W + l]) * precision[j];
            double over = 1.0 / tau[l], away = (school[j * W + l] - mu[l]) * over;
            slopes[l] += centred ? away * over : pull;
            slopes[W + l] += centred ? gess__fma(away, away, -1.0) * over : pull * school[j * W + l];
            slopes[(2 + j) * W + l] =
                centred ? gess__fma(-away, over, pull) : gess__fma(tau[l], pull, -school[j * W + l]);
        }
    for (size_t i = 0; i < DIM; i++) GESS__FOR_LANES(l)
        {
            double outside = gess__from_bits(UINT64_C(0x7ff8000000000000));
            slopes[i * W + l] = gess__select(density[l] > -HUGE_VAL, slopes[i * W + l], outside);
        }
}

GESS__TILED(DIM)

static int log_prior(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    const bool centred = *(const double *)user != 0.0;
    const double constant =
        0.5 * (1.0 + SCHOOLS) * GESS__LOG_2PI + gess__log(5.0) + gess__log(2.5 * 3.14159265358979323846);
    (void)worker;
    for (size_t j = 0; j < n; j++, x += dim) {
        double mu = x[0], tau = x[1], square = mu * mu / 25.0, logs = gess__log1p(tau * tau / 25.0);
        for (size_t i = 2; i < DIM; i++) {
            double away = centred ? (x[i] - mu) / tau : x[i];
            square += away * away;
        }
        if (centred) logs += SCHOOLS * gess__log(tau);
        out[j] = tau > 0.0 ? -0.5 * square - logs - constant : -HUGE_VAL;
    }
    return 0;
}

int gess__open_eight_schools(gess__model *m, gess__parameters *p, gess_error *err)
{
    static const char *const centred[DIM] = {"mu",     "tau",    "theta1", "theta2", "theta3",
                                             "theta4", "theta5", "theta6", "theta7", "theta8"};
    static const char *const other[DIM] = {"mu", "tau", "eta1", "eta2", "eta3", "eta4", "eta5", "eta6", "eta7", "eta8"};
    double *numbers = NULL;
    size_t flag;
    GESS_TRY(gess__parameter_count(p, "centred", 1, 0, 1, &flag, err));
    GESS_TRY(gess__model_lane(m, "eight_schools", GESS__SCHOOLS_NUMBERS, &numbers, err));
    numbers[0] = (double)flag;
    /* N(mu; 0, 5²), half-Cauchy(tau; 0, 5), and the normals of the schools and of the data */
    numbers[1] = (0.5 + SCHOOLS) * GESS__LOG_2PI + gess__log(5.0) + gess__log(2.5 * 3.14159265358979323846);
    for (size_t j = 0; j < SCHOOLS; j++) {
        numbers[GESS__SCHOOLS_PRECISION + j] = 1.0 / (error[j] * error[j]);
        numbers[GESS__SCHOOLS_EFFECT + j] = effect[j];
        numbers[1] += gess__log(error[j]);
    }
    m->model.dim = DIM;
    m->model.names = flag ? centred : other;
    m->model.logp = logp;
    m->model.log_prior = log_prior;
    m->model.observations = SCHOOLS;
    m->model.gradient = gradient;
    m->model.user = numbers;
    return gess__model_positive_range(m, 1, 1, err);
}
