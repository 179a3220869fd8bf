/* The tail index: known indices of independent and of correlated draws, the size of its standard error, and what it
 * says about the moments. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diagnose/tail_index.h"

#include <math.h>

enum { CHAINS = 64, DRAWS = 150, TOTAL = CHAINS * DRAWS, REPEATS = 40 };

static double x[TOTAL];
static uint64_t state;

static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return ((double)(state >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* A t with nu degrees of freedom: R. W. Bailey, Mathematics of Computation 62 (1994), 779-781. */
static double student(double nu)
{
    return sqrt(nu * (pow(uniform(), -2.0 / nu) - 1.0)) * cos(6.283185307179586 * uniform());
}

typedef double draw(double parameter);

static double normal_draw(double unused)
{
    (void)unused;
    return normal();
}

static double exponential(double unused)
{
    (void)unused;
    return -log(uniform());
}

static double uniform_draw(double unused)
{
    (void)unused;
    return uniform();
}

static double pareto(double index)
{
    return pow(uniform(), -index);
}

static double negative_pareto(double index)
{
    return 3.0 - 1e-3 * pow(uniform(), -index);
}

static double lognormal(double sd)
{
    return exp(sd * normal());
}

/* A coordinate of Neal's funnel. */
static double funnel(double sd)
{
    double v = sd * normal();
    return exp(0.5 * v) * normal();
}

static gess__tail_index index_of(size_t chains, size_t n, const double *draws)
{
    gess__posterior_workspace *work = NULL;
    gess__tail_index tail;
    gess_error err = {0};
    assert_int_equal(gess__posterior_workspace_new(&work, chains, n, &err), GESS_OK);
    gess__posterior_load(work, draws);
    gess__tail_index_of(work, &tail);
    gess__posterior_workspace_free(work);
    return tail;
}

static gess__tail_index index_of_draws(draw *from, double parameter, uint64_t seed)
{
    state = seed * 2654435761u + 88172645463325252u;
    for (size_t i = 0; i < 10; i++) uniform();
    for (size_t i = 0; i < TOTAL; i++) x[i] = from(parameter);
    return index_of(CHAINS, DRAWS, x);
}

static void known_indices(void **unused)
{
    (void)unused;
    const struct {
        const char *name;
        draw *from;
        double parameter, low, high; /* bounds of the mean index: the outer tenth is not yet the limit */
    } cases[] = {
        {"Cauchy", student, 1.0, 0.95, 1.03},
        {"t 1.5", student, 1.5, 0.60, 0.70},
        {"t 3", student, 3.0, 0.24, 0.36},
        {"normal", normal_draw, 0.0, -0.17, -0.08},
        {"exponential", exponential, 0.0, -0.03, 0.03},
        {"uniform", uniform_draw, 0.0, -1.03, -0.93},
        {"Pareto 0.3", pareto, 0.3, 0.28, 0.32},
        {"Pareto 0.7", pareto, 0.7, 0.67, 0.73},
        {"lower tail", negative_pareto, 0.7, 0.67, 0.73},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double sum = 0.0, squares = 0.0, errors = 0.0;
        for (uint64_t seed = 1; seed <= REPEATS; seed++) {
            gess__tail_index t = index_of_draws(cases[c].from, cases[c].parameter, seed);
            sum += t.index / REPEATS;
            squares += t.index * t.index / REPEATS;
            errors += t.se * t.se / REPEATS;
            assert_true(t.inefficiency >= 1.0 && t.inefficiency < 4.0);
        }
        double sd = sqrt(squares - sum * sum), se = sqrt(errors);
        if (!(sum > cases[c].low && sum < cases[c].high)) fail_msg("%s: the index is %g", cases[c].name, sum);
        if (sum > -0.5 && !(se > 0.65 * sd && se < 1.5 * sd)) fail_msg("%s: se %g, sd %g", cases[c].name, se, sd);
    }
}

/* An autoregression, as normal scores, of Cauchy draws. */
static void fill_correlated(double phi, uint64_t seed)
{
    state = seed * 2654435761u + 88172645463325252u;
    for (size_t c = 0; c < CHAINS; c++) {
        double z = normal();
        for (size_t i = 0; i < DRAWS; i++) {
            z = phi * z + sqrt(1.0 - phi * phi) * normal();
            x[c * DRAWS + i] = tan(3.141592653589793 * (0.5 - 0.5 * erfc(z / 1.4142135623730951)));
        }
    }
}

static void correlation_widens_the_error(void **unused)
{
    (void)unused;
    double sum = 0.0, squares = 0.0, errors = 0.0, inefficiency = 0.0;
    for (uint64_t seed = 1; seed <= 2 * REPEATS; seed++) {
        fill_correlated(0.9, seed);
        gess__tail_index t = index_of(CHAINS, DRAWS, x);
        sum += t.index / (2 * REPEATS);
        squares += t.index * t.index / (2 * REPEATS);
        errors += t.se * t.se / (2 * REPEATS);
        inefficiency += t.inefficiency / (2 * REPEATS);
    }
    double sd = sqrt(squares - sum * sum), se = sqrt(errors);
    if (!(sum > 0.9 && sum < 1.05)) fail_msg("the index is %g", sum);
    if (!(se > 0.7 * sd && se < 1.4 * sd)) fail_msg("se %g, sd %g", se, sd);
    if (!(inefficiency > 2.0 && inefficiency < 15.0)) fail_msg("inefficiency %g", inefficiency);
}

/* How many of REPEATS columns have at least this verdict. */
static size_t count_lost(draw *from, double parameter, gess__moments_known least)
{
    size_t count = 0;
    for (uint64_t seed = 1; seed <= REPEATS; seed++) {
        gess__tail_index t = index_of_draws(from, parameter, seed);
        count += gess__moments_of(&t) >= least;
    }
    return count;
}

static void moments_that_do_not_exist(void **unused)
{
    (void)unused;
    assert_true(count_lost(student, 1.0, GESS__NO_MEAN) >= REPEATS - 1);
    assert_int_equal(count_lost(student, 1.0, GESS__NO_SD), REPEATS);
    assert_int_equal(count_lost(student, 0.7, GESS__NO_MEAN), REPEATS);
    assert_int_equal(count_lost(student, 1.5, GESS__SD_DOUBTFUL), REPEATS);
    assert_true(count_lost(student, 1.5, GESS__NO_MEAN) <= REPEATS / 8); /* its index, 2/3, is near the limit of 0.7 */
    assert_int_equal(count_lost(student, 1.8, GESS__NO_MEAN), 0);
    assert_true(count_lost(student, 2.0, GESS__SD_DOUBTFUL) > REPEATS / 4);
}

static void moments_that_exist(void **unused)
{
    (void)unused;
    assert_int_equal(count_lost(student, 3.0, GESS__NO_SD), 0);
    assert_true(count_lost(student, 3.0, GESS__SD_DOUBTFUL) <= 1);
    assert_int_equal(count_lost(normal_draw, 0.0, GESS__SD_DOUBTFUL), 0);
    assert_int_equal(count_lost(exponential, 0.0, GESS__SD_DOUBTFUL), 0);
    assert_int_equal(count_lost(uniform_draw, 0.0, GESS__SD_DOUBTFUL), 0);
    assert_int_equal(count_lost(pareto, 0.3, GESS__NO_SD), 0);
    assert_int_equal(count_lost(lognormal, 1.0, GESS__SD_DOUBTFUL), 0);
    assert_int_equal(count_lost(lognormal, 1.5, GESS__NO_SD), 0);
    assert_int_equal(count_lost(funnel, 3.0, GESS__NO_SD), 0);
}

/* An index that a Cauchy has by chance costs the mean, whatever its error and the far index. */
static void cauchy_by_chance(void **unused)
{
    (void)unused;
    gess__tail_index t = {.index = 0.72, .se = 0.07, .far_index = 0.47, .far_se = 0.08, .inefficiency = 1.3};
    assert_int_equal(gess__moments_of(&t), GESS__NO_MEAN);
    t.se = 0.02;
    assert_int_equal(gess__moments_of(&t), GESS__NO_MEAN);
    t.se = 0.06, t.index = 0.69;
    assert_int_equal(gess__moments_of(&t), GESS__SD_DOUBTFUL);
    t.beside_heavy = true;
    assert_int_equal(gess__moments_of(&t), GESS__NO_MEAN);
    t.index = 0.43;
    assert_int_equal(gess__moments_of(&t), GESS__NO_MEAN);
    t.index = 0.41;
    assert_int_equal(gess__moments_of(&t), GESS__MOMENTS_EXIST);
    t.index = 0.34, t.se = 0.09; /* of a Cauchy beside another one with 0.85, in 1,600 draws of a short run */
    assert_int_equal(gess__moments_of(&t), GESS__NO_MEAN);
    t.se = 0.06;
    t.index = 0.42, t.inefficiency = 4.6; /* of a Cauchy beside another one, in 4,608 draws of a short run */
    assert_int_equal(gess__moments_of(&t), GESS__NO_MEAN);
    t.index = 0.37;
    assert_true(gess__moments_of(&t) < GESS__NO_MEAN);
    t.beside_heavy = false, t.index = 0.64, t.se = 0.11; /* alone: three standard errors below 1 */
    assert_int_equal(gess__moments_of(&t), GESS__NO_MEAN);
    t.inefficiency = 1.6; /* as of the widest parameters of a funnel, nearly */
    assert_true(gess__moments_of(&t) < GESS__NO_MEAN);
    t.inefficiency = 4.6, t.index = 0.54;
    assert_true(gess__moments_of(&t) < GESS__NO_MEAN);
}

/* Chains that stay long in the tails have not seen their far end, and nothing shows that a mean exists. */
static void slow_tails(void **unused)
{
    (void)unused;
    size_t slow = 0, lost = 0;
    for (uint64_t seed = 1; seed <= REPEATS; seed++) {
        fill_correlated(0.99, seed);
        gess__tail_index t = index_of(CHAINS, DRAWS, x);
        if (!gess__tails_slow(&t)) continue;
        slow++;
        lost += gess__moments_of(&t) == GESS__NO_MEAN;
        assert_true(gess__moments_of(&t) != GESS__MOMENTS_EXIST);
    }
    assert_true(slow > REPEATS / 2);
    assert_true(lost >= slow * 4 / 5); /* the 9,600 draws are worth about 100 */
    gess__tail_index light = {.index = -0.1, .se = 0.2, .far_index = 0.1, .far_se = 0.1, .inefficiency = 100.0};
    assert_int_equal(gess__moments_of(&light), GESS__MOMENTS_EXIST);
}

/* The index belongs to the shape: not to sign, place, unit or the order of draws within a block. */
static void shape_only(void **unused)
{
    (void)unused;
    gess__tail_index first = index_of_draws(student, 1.0, 3);
    for (size_t i = 0; i < TOTAL; i++) x[i] = -x[i];
    gess__tail_index flipped = index_of(CHAINS, DRAWS, x);
    assert_true(fabs(flipped.index - first.index) < 1e-12 && fabs(flipped.se - first.se) < 1e-12);
    assert_true(fabs(flipped.far_index - first.far_index) < 1e-12);
    for (size_t i = 0; i < TOTAL; i++) x[i] = 1024.0 * x[i] + 5.0;
    gess__tail_index moved = index_of(CHAINS, DRAWS, x);
    assert_true(fabs(moved.index - first.index) < 1e-6 && fabs(moved.se - first.se) < 1e-6);
}

static void assert_unknown(size_t chains, size_t n)
{
    gess__tail_index t = index_of(chains, n, x);
    assert_true(isnan(t.index) && isnan(t.se));
    assert_int_equal(gess__moments_of(&t), GESS__MOMENTS_EXIST);
    assert_false(gess__tails_slow(&t));
}

static void no_index(void **unused)
{
    (void)unused;
    index_of_draws(student, 1.0, 1);
    assert_unknown(7, 71);
    assert_true(isfinite(index_of(5, 100, x).index));
    assert_true(isfinite(index_of(1, 500, x).index));
    x[17] = NAN;
    assert_unknown(CHAINS, DRAWS);
    x[17] = -INFINITY;
    assert_unknown(CHAINS, DRAWS);
    for (size_t i = 0; i < TOTAL; i++) x[i] = 0.25;
    assert_unknown(CHAINS, DRAWS);
    for (size_t i = 0; i < TOTAL; i++) x[i] = i % 50 == 0 ? 1.0 : 0.0;
    assert_unknown(CHAINS, DRAWS);
    for (size_t i = 0; i < TOTAL; i++) x[i] = uniform() < 0.5 ? -1.7e308 : 1.7e308 * uniform();
    index_of(CHAINS, DRAWS, x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_indices),
        cmocka_unit_test(correlation_widens_the_error),
        cmocka_unit_test(moments_that_do_not_exist),
        cmocka_unit_test(moments_that_exist),
        cmocka_unit_test(cauchy_by_chance),
        cmocka_unit_test(slow_tails),
        cmocka_unit_test(shape_only),
        cmocka_unit_test(no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
