/* Figures of draws on a circle against scipy's (make_circular.py) and against those of a line where the seam is far
 * away; seams, constant draws, nearly uniform draws, and what a rotation must not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "report/summary_column.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { CHAINS = 16, DRAWS = 400, TOTAL = CHAINS * DRAWS };

static const struct {
    size_t count;
    double centre, spread, lower, upper, mean, sd, length; /* the last three are scipy's */
} scipys[] = {
    {1000, 0.105, 0.050000000000000003, 0, 6.2831853071795862, 0.104993855095565, 0.0373433387230486,
     0.999302980557498},
    {1000, 0.02, 0.10000000000000001, -3.1415926535897931, 3.1415926535897931, 0.0199877731029909, 0.07469630646065,
     0.997214118690197},
    {500, 359, 20, 0, 360, 358.967179491071, 14.9674897601088, 0.966454486084583},
    {800, 23.899999999999999, 1.5, 0, 24, 23.897842403399, 1.12401350096748, 0.957627647936387},
    {1000, 1, 3, 0, 6.2831853071795862, 4.12591856638608, 3.10927776862652, 0.00795619728541174},
    {300, 3.1415000000000002, 1.0000000000000001e-05, -3.1415926535897931, 3.1415926535897931, 3.14149997698102,
     7.48363256639383e-06, 0.999999999971998},
};

static double onto(double x, double lower, double period)
{
    return x - period * floor((x - lower) / period);
}

static void agrees_with_scipy(void **state)
{
    (void)state;
    double x[1000];
    for (size_t k = 0; k < sizeof scipys / sizeof *scipys; k++) {
        const gess__circle circle = {.lower = scipys[k].lower, .upper = scipys[k].upper};
        double period = circle.upper - circle.lower;
        for (size_t i = 0; i < scipys[k].count; i++) {
            double u = fmod((double)i * 0.6180339887498949, 1.0) - 0.5;
            x[i] = onto(scipys[k].centre + scipys[k].spread * tan(2.0 * u), circle.lower, period);
        }
        gess__circular_figures f;
        gess__circular_of(&circle, scipys[k].count, x, &f);
        assert_true(fabs(f.mean - scipys[k].mean) < 1e-11 * period);
        assert_true(fabs(f.sd / scipys[k].sd - 1.0) < (scipys[k].sd < 1e-3 ? 1e-4 : 1e-10)); /* scipy's cancels */
        assert_true(fabs(f.length - scipys[k].length) < 1e-12);
    }
}

/* ---- whole columns ---- */

static uint64_t random_state;

static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2.0 * log(uniform())) * cos(2.0 * PI * uniform());
}

static double draws[TOTAL], moved[TOTAL];

static gess__figures summarise(const gess__circle *circle, const double *x)
{
    static const gess__column_shape shape = {.chains = CHAINS, .draws = DRAWS, .ensembles = 1, .circular = true};
    gess__column_workspace work = {0};
    gess__figures f;
    gess_error err;
    assert_int_equal(gess__column_workspace_new(&work, &shape, &err), GESS_OK);
    gess__summarise_column(&f, &shape, circle, x, &work);
    gess__column_workspace_free(&work);
    return f;
}

/* Autoregressive chains on a line. */
static void fill(double centre, double sd, double memory)
{
    random_state = 88172645463325252;
    for (size_t c = 0; c < CHAINS; c++) {
        double y = normal();
        for (size_t i = 0; i < DRAWS; i++) {
            y = memory * y + sqrt(1.0 - memory * memory) * normal();
            draws[c * DRAWS + i] = centre + sd * y;
        }
    }
}

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance)) print_error("%.17g is not within %g of %.17g\n", a, tolerance, b);
    assert_true(fabs(a - b) <= tolerance);
}

/* Far from the seam, all but the moments are those of a line, to the last bit; moments nearly. */
static void far_from_the_seam(void **state)
{
    (void)state;
    const gess__circle circle = {.lower = -PI, .upper = PI}, line = {.lower = 0.0, .upper = 0.0};
    fill(0.3, 0.1, 0.6);
    gess__figures a = summarise(&circle, draws), b = summarise(&line, draws);
    assert_true(a.q5 == b.q5 && a.q50 == b.q50 && a.q95 == b.q95 && a.r_hat == b.r_hat && a.tau == b.tau);
    assert_true(a.ess_bulk == b.ess_bulk && a.ess_tail == b.ess_tail && a.drift_z == b.drift_z);
    assert_true(a.mcse_q5 == b.mcse_q5 && a.geweke == b.geweke && a.mcse_series == b.mcse_series);
    assert_near(a.mean, b.mean, 1e-4);
    assert_near(a.sd / b.sd, 1.0, 0.01);
    assert_near(a.mcse_mean / b.mcse_mean, 1.0, 0.02);
    assert_near(a.mcse_sd / b.mcse_sd, 1.0, 0.05);
    assert_true(isnan(a.tail_index) && isnan(b.circle_length));
}

/* Across the seam: the same draws, turned, have the same figures, turned. */
static void across_the_seam(void **state)
{
    (void)state;
    const gess__circle circle = {.lower = 0.0, .upper = 2.0 * PI};
    fill(PI, 0.081, 0.6);
    gess__figures a = summarise(&circle, draws);
    for (size_t i = 0; i < TOTAL; i++) moved[i] = onto(draws[i] - PI + 0.105, 0.0, 2.0 * PI);
    gess__figures b = summarise(&circle, moved);
    assert_near(b.mean, a.mean - PI + 0.105, 1e-12);
    assert_near(b.q5, a.q5 - PI + 0.105, 1e-12);
    assert_near(b.q50, a.q50 - PI + 0.105, 1e-12);
    assert_near(b.q95, a.q95 - PI + 0.105, 1e-12);
    assert_true(b.q5 < 0.0 && b.q95 > 0.2 && b.mean > 0.0 && b.mean < 0.2);
    assert_near(b.sd, a.sd, 1e-12);
    assert_near(b.r_hat, a.r_hat, 1e-9);
    assert_near(b.ess_bulk / a.ess_bulk, 1.0, 1e-9);
    assert_near(b.ess_tail / a.ess_tail, 1.0, 1e-9);
    assert_near(b.drift_z, a.drift_z, 1e-9);
    assert_near(b.mcse_mean / a.mcse_mean, 1.0, 1e-9);
    assert_near(b.chains.gap, a.chains.gap, 1e-6); /* what the verdict looks at */
    assert_true(b.moments.sd > 1.0);               /* as numbers they are far apart */
}

/* Two modes half a circle apart, one of them across the seam: the cut is between them, and no mode is split. */
static void two_modes(void **state)
{
    (void)state;
    const gess__circle circle = {.lower = 0.0, .upper = 360.0};
    fill(0.0, 10.0, 0.0);
    for (size_t i = 0; i < TOTAL; i++) moved[i] = onto(draws[i] + (i / DRAWS % 2 == 0 ? 0.0 : 150.0), 0.0, 360.0);
    gess__figures f = summarise(&circle, moved);
    assert_true(f.r_hat > 1.5 && f.chains.gap > 3.0 && f.q95 - f.q5 < 200.0);
}

static void nearly_uniform(void **state)
{
    (void)state;
    const gess__circle circle = {.lower = 0.0, .upper = 2.0 * PI};
    random_state = 362436069;
    for (size_t i = 0; i < TOTAL; i++) moved[i] = 2.0 * PI * uniform();
    gess__figures f = summarise(&circle, moved), shown = gess__figures_shown(&f);
    assert_true(f.circle_length < 0.04 && f.sd > 2.5 && isfinite(f.mean) && isfinite(f.mcse_mean));
    assert_true(isnan(shown.mean) && isnan(shown.mcse_mean) && isfinite(shown.sd) && isfinite(shown.q50));
    assert_true(f.r_hat < 1.01 && f.ess_bulk > 0.8 * TOTAL && f.ess_tail > 0.8 * TOTAL);
    for (size_t i = 0; i < TOTAL; i++) moved[i] = onto(moved[i] + 0.4 * cos(moved[i] - 1.0), 0.0, 2.0 * PI);
    f = summarise(&circle, moved);
    shown = gess__figures_shown(&f);
    assert_true(isfinite(shown.mean) && f.circle_length > 0.1); /* a weak mean direction is one */
    /* half of the chains in one half of the circle, wherever it is cut */
    for (int turn = 0; turn < 8; turn++) {
        random_state = 362436069;
        for (size_t i = 0; i < TOTAL; i++)
            moved[i] = onto(PI * (uniform() + (double)(i / DRAWS % 2)) + turn * PI / 4.0, 0.0, 2.0 * PI);
        assert_true(summarise(&circle, moved).r_hat > 1.3);
    }
}

/* The error of the circular mean against its spread over many repetitions. */
static void errors_are_right(void **state)
{
    (void)state;
    const gess__circle circle = {.lower = -1.0, .upper = 1.0};
    double squares = 0.0, claimed = 0.0, squares_sd = 0.0, claimed_sd = 0.0, sds = 0.0;
    enum { REPEATS = 60 };
    gess__figures f[REPEATS];
    random_state = 521288629;
    for (size_t k = 0; k < REPEATS; k++) {
        for (size_t c = 0; c < CHAINS; c++) {
            double y = normal();
            for (size_t i = 0; i < DRAWS; i++) {
                y = 0.8 * y + 0.6 * normal();
                moved[c * DRAWS + i] = onto(0.98 + 0.25 * y, -1.0, 2.0);
            }
        }
        f[k] = summarise(&circle, moved);
        double away = remainder(f[k].mean - 0.98, 2.0);
        squares += away * away / REPEATS;
        claimed += f[k].mcse_mean * f[k].mcse_mean / REPEATS;
        claimed_sd += f[k].mcse_sd * f[k].mcse_sd / REPEATS;
        sds += f[k].sd / REPEATS;
    }
    for (size_t k = 0; k < REPEATS; k++) squares_sd += (f[k].sd - sds) * (f[k].sd - sds) / (REPEATS - 1);
    assert_near(sqrt(squares / claimed), 1.0, 0.3);
    assert_near(sqrt(squares_sd / claimed_sd), 1.0, 0.3);
    assert_near(sds, 0.25, 0.01); /* of a wrapped normal: that of the normal */
}

static void edges(void **state)
{
    (void)state;
    const gess__circle circle = {.lower = 0.0, .upper = 1.0};
    for (size_t i = 0; i < TOTAL; i++) moved[i] = 0.9375;
    gess__figures f = summarise(&circle, moved);
    assert_true(f.mean == 0.9375 && f.sd == 0.0 && isnan(f.r_hat) && f.q5 == 0.9375);
    moved[7] = NAN;
    f = summarise(&circle, moved);
    assert_true(isnan(f.mean) && isnan(f.sd) && isnan(f.r_hat) && isnan(f.drift_z));
    moved[7] = 1.0; /* the upper bound is the lower one */
    for (size_t i = 0; i < TOTAL; i++)
        if (i != 7) moved[i] = 0.0;
    f = summarise(&circle, moved);
    assert_true(f.sd < 1e-8 && f.q5 == 0.0 && f.q95 == 0.0 && f.mean < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_scipy),
                                       cmocka_unit_test(far_from_the_seam),
                                       cmocka_unit_test(across_the_seam),
                                       cmocka_unit_test(two_modes),
                                       cmocka_unit_test(nearly_uniform),
                                       cmocka_unit_test(errors_are_right),
                                       cmocka_unit_test(edges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
