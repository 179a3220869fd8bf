/* The elementary functions against long double, and their vector form against their scalar form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/vmath.h"

#include <float.h>
#include <stdio.h>

enum { POINTS = 300000 };

static double uniform(uint32_t stream, uint32_t index)
{
    return gess__uniform((gess__key){.seed = 11, .chain = stream, .purpose = GESS__FOR_TEST}, index);
}

static double between(uint32_t stream, uint32_t index, double low, double high)
{
    return low + (high - low) * uniform(stream, index);
}

/* A positive number whose exponent is uniform between the two. */
static double scattered(uint32_t stream, uint32_t index, double low, double high)
{
    double power = floor(between(stream, index, low, high + 1.0));
    return ldexp(1.0 + uniform(stream + 1000, index), (int)power);
}

/* |got − exact| in units of the last place of a double near `exact`. */
static double ulps(double got, long double exact)
{
    if (exact == 0.0L) return got == 0.0 ? 0.0 : HUGE_VAL;
    int power;
    frexpl(exact, &power);
    if (power < -1021) power = -1021;
    return (double)(fabsl((long double)got - exact) / ldexpl(1.0L, power - 53));
}

typedef struct worst {
    double error, at;
} worst;

static void take(worst *w, double x, double got, long double exact)
{
    double error = ulps(got, exact);
    if (!(error <= w->error)) *w = (worst){error, x};
}

static void check(const char *name, worst w, double bound)
{
    print_message("%s: %.3f ulp at %.17g\n", name, w.error, w.at);
    if (!(w.error < bound)) fail_msg("%s is off by %g ulp at %.17g; at most %g", name, w.error, w.at, bound);
}

static void logarithm(void **state)
{
    (void)state;
    worst w = {0};
    for (uint32_t i = 0; i < POINTS; i++) {
        double x[] = {scattered(1, i, -1022, 1023),   between(2, i, 0.5, 2.0),
                      1.0 + scattered(3, i, -52, -2), 1.0 - scattered(4, i, -53, -2),
                      scattered(5, i, -1074, -1023),  0x1.6a09e667f3bcdp0 * (1.0 + between(6, i, -1e-13, 1e-13))};
        for (size_t j = 0; j < sizeof x / sizeof *x; j++)
            if (x[j] > 0.0) take(&w, x[j], gess__log(x[j]), logl(x[j]));
    }
    for (int k = -1074; k < 1024; k++) take(&w, ldexp(1.0, k), gess__log(ldexp(1.0, k)), logl(ldexpl(1.0L, k)));
    static const double edges[] = {DBL_MIN,       DBL_MAX,      DBL_TRUE_MIN, 0x0.fffffffffffffp-1022,
                                   1.0 - 0x1p-53, 1.0 + 0x1p-52};
    for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) take(&w, edges[i], gess__log(edges[i]), logl(edges[i]));
    check("log", w, 1.0);
    assert_true(gess__log(1.0) == 0.0);
    assert_true(gess__log(0.0) == -HUGE_VAL && gess__log(-0.0) == -HUGE_VAL);
    assert_true(gess__log(HUGE_VAL) == HUGE_VAL);
    assert_true(isnan(gess__log(-1.0)) && isnan(gess__log(-HUGE_VAL)) && isnan(gess__log(NAN)));
    assert_true(isnan(gess__log(-DBL_TRUE_MIN)));
}

static void logarithm_plus_one(void **state)
{
    (void)state;
    worst w = {0};
    for (uint32_t i = 0; i < POINTS; i++) {
        double x[] = {scattered(11, i, -1074, 1023), scattered(12, i, -60, 62), between(13, i, 0.0, 4.0),
                      between(14, i, 0.0, 0.5)};
        for (size_t j = 0; j < sizeof x / sizeof *x; j++) take(&w, x[j], gess__log1p(x[j]), log1pl(x[j]));
    }
    take(&w, DBL_MAX, gess__log1p(DBL_MAX), log1pl(DBL_MAX));
    take(&w, DBL_TRUE_MIN, gess__log1p(DBL_TRUE_MIN), log1pl(DBL_TRUE_MIN));
    check("log1p", w, 1.5);
    assert_true(gess__log1p(0.0) == 0.0);
    assert_true(gess__log1p(HUGE_VAL) == HUGE_VAL);
    assert_true(isnan(gess__log1p(NAN)));
}

static void exponential(void **state)
{
    (void)state;
    worst w = {0}, small = {0};
    for (uint32_t i = 0; i < POINTS; i++) {
        double sign = i % 2 == 0 ? 1.0 : -1.0, half = (floor(between(24, i, -1000.0, 1000.0)) + 0.5) * M_LN2;
        double x[] = {between(21, i, -708.0, 709.7), between(22, i, -1.0, 1.0), sign * scattered(23, i, -80, 8),
                      half * (1.0 + between(25, i, -1e-14, 1e-14))};
        for (size_t j = 0; j < sizeof x / sizeof *x; j++)
            if (x[j] > -708.0 && x[j] < 709.7) take(&w, x[j], gess__exp(x[j]), expl(x[j]));
        double y = between(26, i, -745.0, -708.0);
        take(&small, y, gess__exp(y), expl(y));
    }
    check("exp", w, 1.0);
    check("exp, subnormal", small, 1.0);
    assert_true(gess__exp(0.0) == 1.0 && gess__exp(-0.0) == 1.0);
    assert_true(gess__exp(DBL_TRUE_MIN) == 1.0 && gess__exp(-DBL_TRUE_MIN) == 1.0);
    take(&w, 709.78, gess__exp(709.78), expl(709.78L));
    assert_true(gess__exp(0x1.62e42fefa39efp9) <= DBL_MAX); /* the largest x that does not overflow */
    assert_true(gess__exp(0x1.62e42fefa39f0p9) == HUGE_VAL);
    assert_true(gess__exp(1e4) == HUGE_VAL && gess__exp(HUGE_VAL) == HUGE_VAL);
    assert_true(gess__exp(-745.2) == 0.0 && gess__exp(-1e4) == 0.0 && gess__exp(-HUGE_VAL) == 0.0);
    assert_true(gess__exp(-744.5) > 0.0);
    assert_true(isnan(gess__exp(NAN)));
}

static void exponentials_of_both_signs(void **state)
{
    (void)state;
    worst above = {0}, below = {0};
    double plus, minus;
    for (uint32_t i = 0; i < POINTS; i++) {
        double half = (floor(between(33, i, 0.0, 1000.0)) + 0.5) * M_LN2;
        double x[] = {between(31, i, 0.0, 707.0), between(32, i, 0.0, 1.0), scattered(34, i, -80, 8),
                      half * (1.0 + between(35, i, -1e-14, 1e-14))};
        for (size_t j = 0; j < sizeof x / sizeof *x; j++) {
            if (!(x[j] < 707.0)) continue;
            gess__exp_both(x[j], &plus, &minus);
            take(&above, x[j], plus, expl(x[j]));
            take(&below, x[j], minus, expl(-(long double)x[j]));
        }
    }
    check("exp of x >= 0", above, 4.0);
    check("exp of -x", below, 4.0);
    gess__exp_both(0.0, &plus, &minus);
    assert_true(plus == 1.0 && minus == 1.0);
    gess__exp_both(1e4, &plus, &minus);
    assert_true(plus == HUGE_VAL && minus == 0.0);
    gess__exp_both(HUGE_VAL, &plus, &minus);
    assert_true(plus == HUGE_VAL && minus == 0.0);
    gess__exp_both(NAN, &plus, &minus);
    assert_true(isnan(plus) && isnan(minus));
}

/* sin and cos of 2π t from the exact remainder, in long double. */
static void exact_turns(double t, long double *sine, long double *cosine)
{
    const long double two_pi = 6.283185307179586476925286766559005768L;
    long double quarter = rintl(4.0L * t), x = ((long double)t - quarter / 4.0L) * two_pi;
    long double s = sinl(x), c = cosl(x);
    switch ((int)fmodl(quarter, 4.0L) & 3) {
    case 0: *sine = s, *cosine = c; break;
    case 1: *sine = c, *cosine = -s; break;
    case 2: *sine = -s, *cosine = -c; break;
    default: *sine = -c, *cosine = s; break;
    }
}

static void take_turns(worst *w, double t)
{
    double sine, cosine;
    long double exact_sine, exact_cosine;
    gess__sincos_turns(t, &sine, &cosine);
    exact_turns(t, &exact_sine, &exact_cosine);
    take(w, t, sine, exact_sine);
    take(w, t, cosine, exact_cosine);
}

static void circle(void **state)
{
    (void)state;
    worst w = {0};
    for (uint32_t i = 0; i < POINTS; i++) {
        double sign = i % 2 == 0 ? 1.0 : -1.0;
        take_turns(&w, between(31, i, -1.0, 1.0));
        take_turns(&w, sign * scattered(32, i, -1000, -1));
        take_turns(&w, sign * scattered(33, i, 0, 39));
        /* beside every eighth of a turn */
        take_turns(&w, 0.125 * (double)(i % 17) - 1.0 + sign * scattered(34, i, -50, -10));
    }
    check("sine and cosine", w, 1.0);
    for (int eighth = -32; eighth <= 32; eighth += 2) {
        double sine, cosine;
        int quarter = (eighth / 2) & 3;
        gess__sincos_turns(0.125 * eighth, &sine, &cosine);
        assert_true(sine == (quarter == 1 ? 1.0 : quarter == 3 ? -1.0 : 0.0));
        assert_true(cosine == (quarter == 0 ? 1.0 : quarter == 2 ? -1.0 : 0.0));
    }
    double sine, cosine;
    gess__sincos_turns(NAN, &sine, &cosine);
    assert_true(isnan(sine) && isnan(cosine));
}

static void softplus(void **state)
{
    (void)state;
    worst w = {0};
    for (uint32_t i = 0; i < POINTS; i++) {
        double z[] = {between(41, i, -40.0, 40.0), between(42, i, -2.0, 2.0), between(43, i, -700.0, 700.0),
                      (i % 2 == 0 ? 1.0 : -1.0) * scattered(44, i, -80, 9)};
        for (size_t j = 0; j < sizeof z / sizeof *z; j++) {
            long double exact =
                z[j] > 0.0 ? log1pl(expl(-(long double)z[j])) : log1pl(expl((long double)z[j])) - (long double)z[j];
            if (exact > DBL_MIN) take(&w, z[j], gess__softplus_minus(z[j]), exact);
        }
    }
    check("softplus", w, 2.0);
    assert_true(gess__softplus_minus(0.0) == gess__softplus_minus(-0.0));
    assert_true(gess__softplus_minus(1e6) == 0.0);
    assert_true(gess__softplus_minus(-1e6) == 1e6);
    assert_true(gess__softplus_minus(-DBL_MAX) == DBL_MAX);
    assert_true(gess__softplus_minus(HUGE_VAL) == 0.0 && gess__softplus_minus(-HUGE_VAL) == HUGE_VAL);
    assert_true(isnan(gess__softplus_minus(NAN)));
}

/* ---- the same bits in vector code ---- */

typedef struct results {
    double log, log1p, exp, sine, cosine, softplus;
} results;

static results __attribute__((noinline)) scalar(double x)
{
    results r = {gess__log(fabs(x)), gess__log1p(fabs(x)), gess__exp(x), 0, 0, gess__softplus_minus(x)};
    gess__sincos_turns(x, &r.sine, &r.cosine);
    return r;
}

enum { VECTOR = 1000 };
static double in[VECTOR], out[6][VECTOR];

static GESS__VECTOR(vector,
                    (size_t n, const double *restrict x, double *restrict a, double *restrict b, double *restrict c,
                     double *restrict d, double *restrict e, double *restrict f),
                    (n, x, a, b, c, d, e, f))
{
    for (size_t i = 0; i < n; i++) a[i] = gess__log(gess__from_bits(gess__bits(x[i]) & UINT64_C(0x7fffffffffffffff)));
    for (size_t i = 0; i < n; i++) b[i] = gess__log1p(gess__from_bits(gess__bits(x[i]) & UINT64_C(0x7fffffffffffffff)));
    for (size_t i = 0; i < n; i++) c[i] = gess__exp(x[i]);
    for (size_t i = 0; i < n; i++) gess__sincos_turns(x[i], &d[i], &e[i]);
    for (size_t i = 0; i < n; i++) f[i] = gess__softplus_minus(x[i]);
}

static void vectors(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 40; round++) {
        for (uint32_t i = 0; i < VECTOR; i++)
            in[i] = (i % 2 == 0 ? 1.0 : -1.0) * scattered(51 + round, i, -70, round % 2 == 0 ? 2 : 38);
        in[0] = 0.0, in[1] = DBL_TRUE_MIN, in[2] = 1.0, in[3] = -745.0, in[4] = 709.9;
        vector(VECTOR, in, out[0], out[1], out[2], out[3], out[4], out[5]);
        for (size_t i = 0; i < VECTOR; i++) {
            results r = scalar(in[i]);
            double one[6] = {r.log, r.log1p, r.exp, r.sine, r.cosine, r.softplus};
            for (size_t j = 0; j < 6; j++)
                if (gess__bits(one[j]) != gess__bits(out[j][i]))
                    fail_msg("function %zu at %.17g: %a as a scalar, %a in a vector", j, in[i], one[j], out[j][i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logarithm),   cmocka_unit_test(logarithm_plus_one),
        cmocka_unit_test(exponential), cmocka_unit_test(exponentials_of_both_signs),
        cmocka_unit_test(circle),      cmocka_unit_test(softplus),
        cmocka_unit_test(vectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
