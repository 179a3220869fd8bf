/* Growth of 30 rats, weighed at five ages: A. E. Gelfand, S. E. Hills, A. Racine-Poon and A. F. M. Smith,
 * "Illustration of Bayesian inference in normal data models using Gibbs sampling", Journal of the American
 * Statistical Association 85 (1990), 972-985. Intercepts and slopes that vary, in the centred form:
 *
 *   mu_alpha, mu_beta ~ N(0, 1000²); sigma_alpha, sigma_beta, sigma ~ half-Cauchy(0, 25)
 *   alpha_i ~ N(mu_alpha, sigma_alpha²), beta_i ~ N(mu_beta, sigma_beta²)
 *   y_ij ~ N(alpha_i + beta_i (age_j - 22), sigma²)
 *
 * x = (mu_alpha, mu_beta, sigma_alpha, sigma_beta, sigma, alpha_1 .. alpha_30, beta_1 .. beta_30), in grams
 * and days. Normalised as a density of x and y. The ages are centred, so the squares of a rat are those
 * about its least-squares line and 5 (alpha - a)² + 490 (beta - b)². Points are evaluated in tiles. */
#include "model/builtin/builtin.h"

#include "model/lane/rats.h"

#include <string.h>

enum { W = GESS__LANES, RATS = GESS__RATS, AGES = GESS__RATS_AGES, HEAD = GESS__RATS_HEAD, DIM = HEAD + 2 * RATS };

static const double weights[RATS][AGES] =
    {{151, 199, 246, 283, 320}, {145, 199, 249, 293, 354}, {147, 214, 263, 312, 328}, {155, 200, 237, 272, 297},
     {135, 188, 230, 280, 323}, {159, 210, 252, 298, 331}, {141, 189, 231, 275, 305}, {159, 201, 248, 297, 338},
     {177, 236, 285, 350, 376}, {134, 182, 220, 260, 296}, {160, 208, 261, 313, 352}, {143, 188, 220, 273, 314},
     {154, 200, 244, 289, 325}, {171, 221, 270, 326, 358}, {163, 216, 242, 281, 312}, {160, 207, 248, 288, 324},
     {142, 187, 234, 280, 316}, {156, 203, 243, 283, 317}, {157, 212, 259, 307, 336}, {152, 203, 246, 286, 321},
     {154, 205, 253, 298, 334}, {139, 190, 225, 267, 302}, {146, 191, 229, 272, 302}, {157, 211, 250, 285, 323},
     {132, 185, 237, 286, 331}, {160, 207, 257, 303, 345}, {169, 216, 261, 295, 333}, {157, 205, 248, 289, 316},
     {137, 180, 219, 258, 291}, {153, 200, 244, 286, 324}};
static const double ages[AGES] = {-14, -7, 0, 7, 14}; /* days from the 22nd */

typedef gess__rats_squares squares;

static GESS__VECTOR(logp_tile, (const double *restrict numbers, const double *restrict tile, double *restrict density),
                    (numbers, tile, density))
{
    squares s;
    gess__rats_tile(W, numbers, tile, &s, density);
}

GESS__INLINE double spread_slope(double sigma, double count, double squared)
{
    return -2.0 * sigma / gess__fma(sigma, sigma, 625.0) + (squared / (sigma * sigma) - count) / sigma;
}

static GESS__VECTOR(gradient_tile,
                    (const double *restrict numbers, const double *restrict tile, double *restrict density,
                     double *restrict slopes),
                    (numbers, tile, density, slopes))
{
    static const double share[2] = {5.0, 490.0};
    squares s;
    gess__rats_tile(W, numbers, tile, &s, density);
    GESS__FOR_LANES(l) slopes[4 * W + l] = spread_slope(tile[4 * W + l], RATS * AGES, s.data[l]);
    for (size_t c = 0; c < 2; c++) {
        const double *line = numbers + GESS__RATS_LINES + c * RATS;
        double sum[W] = {0}, prior[W], noise[W];
        GESS__FOR_LANES(l) prior[l] = 1.0 / (tile[(2 + c) * W + l] * tile[(2 + c) * W + l]);
        GESS__FOR_LANES(l) noise[l] = share[c] / (tile[4 * W + l] * tile[4 * W + l]);
        GESS__FOR_LANES(l) slopes[(2 + c) * W + l] = spread_slope(tile[(2 + c) * W + l], RATS, s.about[c][l]);
        for (size_t i = 0; i < RATS; i++) GESS__FOR_LANES(l)
            {
                double at = tile[(HEAD + c * RATS + i) * W + l], away = at - tile[c * W + l];
                sum[l] += away;
                slopes[(HEAD + c * RATS + i) * W + l] = gess__fma(noise[l], line[i] - at, -prior[l] * away);
            }
        GESS__FOR_LANES(l) slopes[c * W + l] = gess__fma(prior[l], sum[l], -1e-6 * tile[c * W + l]);
    }
    for (size_t i = 0; i < DIM; i++) GESS__FOR_LANES(l)
        {
            double outside = gess__from_bits(UINT64_C(0x7ff8000000000000));
            slopes[i * W + l] = gess__select(density[l] > -HUGE_VAL, slopes[i * W + l], outside);
        }
}

GESS__TILED(DIM)

/* Rough values from the data: weights near 240 g, growth near 6 g per day. */
static void start(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t i = 0; i < dim; i++) {
        int slope = i == 1 || i >= HEAD + RATS;
        x[i] = slope ? 6.0 + normals[i] : 240.0 + 10.0 * normals[i];
    }
    for (size_t i = 2; i < HEAD; i++) x[i] = 0.1 + 10.0 * __builtin_fabs(normals[i]);
}

static int name_all(gess__model *m, gess_error *err)
{
    static const char *const head[HEAD] = {"mu_alpha", "mu_beta", "sigma_alpha", "sigma_beta", "sigma"};
    const char **names = NULL, *const * numbered[2];
    GESS_TRY(gess__model_number_names(m, "alpha", 1, RATS, err));
    numbered[0] = m->model.names;
    GESS_TRY(gess__model_number_names(m, "beta", 1, RATS, err));
    numbered[1] = m->model.names;
    GESS_MODEL_ALLOC(m, &names, DIM, err);
    for (size_t i = 0; i < DIM; i++) names[i] = i < HEAD ? head[i] : numbered[(i - HEAD) / RATS][(i - HEAD) % RATS];
    m->model.names = names;
    return GESS_OK;
}

int gess__open_rats(gess__model *m, gess__parameters *p, gess_error *err)
{
    double *numbers = NULL;
    (void)p;
    GESS_TRY(gess__model_lane(m, "rats", GESS__RATS_NUMBERS, &numbers, err));
    double *intercept = numbers + GESS__RATS_LINES, *slope = intercept + RATS;
    for (size_t i = 0; i < RATS; i++) {
        for (size_t j = 0; j < AGES; j++) {
            intercept[i] += weights[i][j] / AGES;
            slope[i] += weights[i][j] * ages[j] / 490.0;
        }
        for (size_t j = 0; j < AGES; j++) {
            double miss = weights[i][j] - intercept[i] - slope[i] * ages[j];
            numbers[0] += miss * miss;
        }
    }
    numbers[1] = (1.0 + RATS + 0.5 * RATS * AGES) * GESS__LOG_2PI + 2.0 * gess__log(1000.0) +
                 3.0 * gess__log(12.5 * 3.14159265358979323846);
    m->model.dim = DIM;
    GESS_TRY(name_all(m, err));
    m->model.logp = logp;
    m->model.observations = RATS * AGES;
    m->model.gradient = gradient;
    m->model.start = start;
    m->model.user = numbers;
    return gess__model_positive_range(m, 2, 3, err);
}
