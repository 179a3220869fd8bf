/* Germination of seeds on 21 plates, M. J. Crowder, "Beta-binomial ANOVA for proportions", Applied Statistics
 * 27 (1978), 34-37: a binomial regression with an effect b_i per plate, in the centred form.
 *
 *   alpha_0, alpha_1, alpha_2, alpha_12 ~ N(0, 10²), sigma ~ half-Cauchy(0, 1), b_i ~ N(0, sigma²)
 *   logit p_i = alpha_0 + alpha_1 seed_i + alpha_2 extract_i + alpha_12 seed_i extract_i + b_i
 *   r_i ~ Binomial(n_i, p_i)
 *
 * x = (alpha_0, alpha_1, alpha_2, alpha_12, sigma > 0, b_1 .. b_21). Normalised except for the
 * binomial coefficients. Points are evaluated in tiles. */
#include "model/builtin/builtin.h"

#include "model/lane/seeds.h"

#include <string.h>

enum { W = GESS__LANES, PLATES = GESS__SEEDS_PLATES, HEAD = GESS__SEEDS_HEAD, DIM = HEAD + PLATES };

static const double grown[PLATES] = {10, 23, 23, 26, 17, 5, 53, 55, 32, 46, 10, 8, 10, 8, 23, 0, 3, 22, 15, 32, 3};
static const double sown[PLATES] = {39, 62, 81, 51, 39, 6, 74, 72, 51, 79, 13, 16, 30, 28, 45, 4, 12, 41, 30, 51, 7};
static const double seed[PLATES] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const double extract[PLATES] = {0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};

static GESS__VECTOR(logp_tile, (const double *restrict numbers, const double *restrict tile, double *restrict density),
                    (numbers, tile, density))
{
    double square[W];
    gess__seeds_tile(W, numbers, tile, square, density);
}

static GESS__VECTOR(gradient_tile,
                    (const double *restrict numbers, const double *restrict tile, double *restrict density,
                     double *restrict slopes),
                    (numbers, tile, density, slopes))
{
    double square[W], over[W];
    gess__seeds_tile(W, numbers, tile, square, density);
    for (size_t i = 0; i < 4; i++) GESS__FOR_LANES(l) slopes[i * W + l] = -0.01 * tile[i * W + l];
    GESS__FOR_LANES(l) over[l] = 1.0 / tile[4 * W + l];
    GESS__FOR_LANES(l)
    {
        double sigma = tile[4 * W + l];
        slopes[4 * W + l] =
            -2.0 * sigma / gess__fma(sigma, sigma, 1.0) + gess__fma(square[l] * over[l], over[l], -PLATES) * over[l];
    }
    for (size_t i = 0; i < PLATES; i++) {
        const gess__seeds_plate plate = gess__seeds_plate_of(numbers, i);
        GESS__FOR_LANES(l)
        {
            double eta = gess__seeds_predictor(W, plate, tile, i, l), small = gess__exp_minus(__builtin_fabs(eta));
            double chance = gess__select(eta > 0.0, 1.0, small) / (1.0 + small);
            double pull = gess__fma(-plate.sown, chance, plate.grown);
            slopes[l] += pull;
            slopes[W + l] = gess__fma(plate.seed, pull, slopes[W + l]);
            slopes[2 * W + l] = gess__fma(plate.extract, pull, slopes[2 * W + l]);
            slopes[3 * W + l] = gess__fma(plate.seed * plate.extract, pull, slopes[3 * W + l]);
            slopes[(HEAD + i) * W + l] = gess__fma(-tile[(HEAD + i) * W + l] * over[l], over[l], pull);
        }
    }
    for (size_t i = 0; i < DIM; i++) GESS__FOR_LANES(l)
        {
            double outside = gess__from_bits(UINT64_C(0x7ff8000000000000));
            slopes[i * W + l] = gess__select(density[l] > -HUGE_VAL, slopes[i * W + l], outside);
        }
}

GESS__TILED(DIM)

int gess__open_seeds(gess__model *m, gess__parameters *p, gess_error *err)
{
    static const char *const head[HEAD] = {"alpha0", "alpha1", "alpha2", "alpha12", "sigma"};
    double *numbers = NULL;
    const char **names = NULL;
    (void)p;
    GESS_TRY(gess__model_lane(m, "seeds", GESS__SEEDS_NUMBERS, &numbers, err));
    numbers[0] = (2.0 + 0.5 * PLATES) * GESS__LOG_2PI + 4.0 * gess__log(10.0) + gess__log(0.5 * 3.14159265358979323846);
    for (size_t i = 0; i < PLATES; i++) {
        const double plate[4] = {grown[i], sown[i], seed[i], extract[i]};
        memcpy(numbers + 1 + 4 * i, plate, sizeof plate);
    }
    m->model.dim = DIM;
    GESS_TRY(gess__model_number_names(m, "b", 1, PLATES, err));
    GESS_MODEL_ALLOC(m, &names, DIM, err);
    for (size_t i = 0; i < DIM; i++) names[i] = i < HEAD ? head[i] : m->model.names[i - HEAD];
    m->model.names = names;
    m->model.logp = logp;
    m->model.observations = PLATES;
    m->model.gradient = gradient;
    m->model.user = numbers;
    return gess__model_positive_range(m, 4, 1, err);
}
