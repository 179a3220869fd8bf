/* base/special.h and base/sort.h: special functions against slow ones, roots, sorting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/sort.h"
#include "base/special.h"
#include "base/sums.h"
#include "base/vmath.h"

#include <float.h>
#include <math.h>

static void assert_close(double got, long double exact, double tolerance, double at)
{
    if (!(fabsl((long double)got - exact) <= (long double)tolerance * fmaxl(1.0L, fabsl(exact))))
        fail_msg("%.17g at %.17g, should be %.17Lg", got, at, exact);
}

static void digamma_known(void **state)
{
    (void)state;
    static const struct {
        double x;
        long double value;
    } rows[] = {{1.0, -0.577215664901532860606512090082402431L},
                {0.5, -1.963510026021423479440976354998783L},
                {2.0, 0.422784335098467139393487909917597569L},
                {0.25, -4.227453533376265408089530146096683577L},
                {0.75, -1.085860879786472169626886762817180693L},
                {10.0, 2.251752589066721107647456163885851L},
                {3.0, 0.922784335098467139393487909917597569L},
                {1.5, 0.036489973978576520559023645001217L},
                {100.0, 4.600161852738087400416L}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_close(gess__digamma(rows[i].x), rows[i].value, 1e-14, rows[i].x);
    assert_true(fabs(gess__digamma(1.4616321449683623413)) < 1e-15);
}

/* The same function, slowly: shifted to 50, in long double. */
static long double slow_digamma(long double x)
{
    long double shift = 0.0L;
    for (; x < 50.0L; x += 1.0L) shift += 1.0L / x;
    long double z = 1.0L / (x * x);
    long double tail =
        z *
        (1.0L / 12 - z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z * (1.0L / 132 - z * (691.0L / 32760))))));
    return logl(x) - 0.5L / x - tail - shift;
}

static void digamma_everywhere(void **state)
{
    (void)state;
    gess__key key = {.seed = 3, .purpose = GESS__FOR_TEST};
    for (uint32_t i = 0; i < 100000; i++) {
        double x = exp(-20.0 + 50.0 * gess__uniform(key, i));
        assert_close(gess__digamma(x), slow_digamma(x), 1e-14, x);
    }
    assert_true(fabs(gess__digamma(1e300) - log(1e300)) < 1e-12);
    assert_true(isnan(gess__digamma(NAN)));
}

static void log_gamma(void **state)
{
    (void)state;
    static const struct {
        double x;
        long double value;
    } rows[] = {{0.5, 0.572364942924700087071713675676529L},
                {1.0, 0.0L},
                {2.0, 0.0L},
                {10.0, 12.801827480081469611207717874567L},
                {100.0, 359.134205369575398776044010460285L},
                {1e-10, 23.025850929882735L}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_close(gess__log_gamma(rows[i].x), rows[i].value, 4e-15, rows[i].x);
    gess__key key = {.seed = 4, .purpose = GESS__FOR_TEST};
    for (uint32_t i = 0; i < 20000; i++) {
        double x = exp(-10.0 + 25.0 * gess__uniform(key, i));
        assert_close(gess__log_gamma(x), lgammal(x), 1e-14, x);
        assert_close(gess__log_gamma(x + 1.0) - gess__log_gamma(x), logl(x), 1e-15 * fmax(10.0, x * fabs(log(x))), x);
    }
}

/* ---- roots ---- */

struct problem {
    double (*f)(double x);
    double low, high, root, tolerance;
    int calls;
    double min, max; /* range of the points at which f was evaluated */
};

static double linear(double x)
{
    return 3.0 * x - 1.0;
}
static double falling(double x)
{
    return 1.0 - 3.0 * x;
}
static double flat(double x)
{
    return pow(x - 0.3, 19.0);
}
static double very_flat(double x)
{
    return x == 0.25 ? 0.0 : copysign(exp(-1.0 / fabs(x - 0.25)), x - 0.25);
}
static double steep(double x)
{
    return tanh(1e8 * (x - 0.7));
}
static double step(double x)
{
    return x < 0.123456789 ? -1.0 : 1.0;
}
static double lopsided(double x)
{
    return exp(x) - 2.0;
}
static double huge_ends(double x)
{
    return x * x * x * 1e300;
}
static double pole(double x)
{
    return 1.0 / (x - 2.0) + 3.0;
}
static double cosine(double x)
{
    return cos(x) - x;
}

static double watched(double x, void *data)
{
    struct problem *p = data;
    p->calls++;
    p->min = fmin(p->min, x);
    p->max = fmax(p->max, x);
    return p->f(x);
}

static void roots(void **state)
{
    (void)state;
    struct problem problems[] = {
        {.f = linear, .low = -10, .high = 10, .root = 1.0 / 3.0, .tolerance = 1e-14},
        {.f = falling, .low = -10, .high = 10, .root = 1.0 / 3.0, .tolerance = 1e-14},
        {.f = flat, .low = -1, .high = 4, .root = 0.3, .tolerance = 1e-10},
        {.f = very_flat, .low = -1, .high = 2, .root = 0.25, .tolerance = 2e-2},
        {.f = steep, .low = -100, .high = 100, .root = 0.7, .tolerance = 1e-13},
        {.f = step, .low = -1e3, .high = 1e3, .root = 0.123456789, .tolerance = 1e-12},
        {.f = lopsided, .low = -700, .high = 700, .root = M_LN2, .tolerance = 1e-13},
        {.f = huge_ends, .low = -1, .high = 2, .root = 0.0, .tolerance = 1e-12},
        {.f = pole, .low = -1e6, .high = 2.0 - 1e-9, .root = 5.0 / 3.0, .tolerance = 1e-12},
        {.f = cosine, .low = 0, .high = 2, .root = 0.73908513321516064166, .tolerance = 1e-15},
    };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct problem p = problems[i];
        p.min = p.low, p.max = p.high;
        double root = gess__root(watched, &p, p.low, p.high, p.tolerance);
        if (!(fabs(root - p.root) <= p.tolerance + 4.0 * DBL_EPSILON * fabs(p.root)))
            fail_msg("problem %zu: %.17g, should be %.17g", i, root, p.root);
        assert_true(p.min == p.low && p.max == p.high); /* never outside the bracket */
        if (p.calls > 202) fail_msg("problem %zu took %d calls", i, p.calls);
    }
    /* a smooth function takes few calls */
    struct problem easy = problems[9];
    easy.calls = 0;
    gess__root(watched, &easy, easy.low, easy.high, easy.tolerance);
    assert_true(easy.calls <= 12);
}

static void roots_at_ends(void **state)
{
    (void)state;
    struct problem low = {.f = linear, .low = 1.0 / 3.0, .high = 7}, high = {.f = linear, .low = -7, .high = 1.0 / 3.0};
    assert_true(3.0 * (1.0 / 3.0) - 1.0 == 0.0);
    assert_true(gess__root(watched, &low, low.low, low.high, 1e-12) == low.low);
    assert_true(gess__root(watched, &high, high.low, high.high, 1e-12) == high.high);
}

/* Numbers in any order, many of them equal, some infinite, come out ascending and unchanged. */
static void sorted(void **state)
{
    (void)state;
    enum { MAX_TERMS = 3000 };
    static double x[MAX_TERMS];
    for (size_t n = 0; n < MAX_TERMS; n = n < 80 ? n + 1 : n * 3 / 2)
        for (int kind = 0; kind < 6; kind++) {
            double sum = 0.0, after = 0.0;
            for (size_t i = 0; i < n; i++) {
                double u =
                    gess__uniform((gess__key){.seed = 5, .iteration = n, .purpose = GESS__FOR_TEST}, (uint32_t)i);
                x[i] = kind == 0   ? u
                       : kind == 1 ? (double)i
                       : kind == 2 ? (double)(n - i)
                       : kind == 3 ? floor(4.0 * u)
                       : kind == 4 ? 1.0
                                   : fabs((double)i - 0.5 * (double)n);
                sum += floor(1024.0 * x[i]);
            }
            if (n > 2 && kind == 0) {
                x[n / 2] = -HUGE_VAL;
                x[n - 1] = HUGE_VAL;
            }
            gess__sort(n, x);
            for (size_t i = 1; i < n; i++) assert_true(x[i - 1] <= x[i]);
            for (size_t i = 0; i < n; i++) after += floor(1024.0 * x[i]);
            if (kind > 0) assert_true(after == sum);
            if (n > 2 && kind == 0) assert_true(x[0] == -HUGE_VAL && x[n - 1] == HUGE_VAL);
        }
}

/* Against libm's, in long double where it has one; this machine's are good to far more than the tolerances. */
static void others_everywhere(void **state)
{
    (void)state;
    gess__key key = {.seed = 4, .purpose = GESS__FOR_TEST};
    for (uint32_t i = 0; i < 100000; i++) {
        double u = gess__uniform(key, i), x = exp(-20.0 + 40.0 * u), z = -8.0 + 36.0 * u;
        assert_close(gess__log_gamma(x), lgammal(x), 2e-14, x);
        assert_close(gess__log10(x), log10l(x), 1e-15, x);
        long double erfc_z = erfcl(z), small = (long double)x + 0.05L;
        if (fabsl((long double)gess__erfc(z) - erfc_z) > 1e-13L * erfc_z && erfc_z > 1e-300L)
            fail_msg("erfc(%.17g) is %.17g, should be %.17Lg", z, gess__erfc(z), erfc_z);
        if (small > 10.0L) continue;
        long double left = lgammal(small) - ((small - 0.5L) * logl(small) - small + 0.918938533204672741780329736L);
        assert_close(gess__stirling_remainder((double)small), left, 1e-13, (double)small);
    }
    assert_close(gess__stirling_remainder(1e5), 1.0L / 12.0L / 1e5L, 1e-15, 1e5);
    for (int power = 0; power <= 22; power++) {
        double ten = 1.0;
        for (int k = 0; k < power; k++) ten *= 10.0;
        assert_true(gess__log10(ten) == (double)power);
    }
    assert_true(gess__erfc(0.0) == 1.0 && gess__erfc(40.0) == 0.0 && gess__erfc(-40.0) == 2.0 &&
                isnan(gess__erfc(NAN)));
}

static void angles_everywhere(void **state)
{
    (void)state;
    gess__key key = {.seed = 5, .purpose = GESS__FOR_TEST};
    const long double turn = 6.283185307179586476925286766559L;
    for (uint32_t i = 0; i < 100000; i++) {
        double length = exp(-200.0 + 400.0 * gess__uniform(key, 2 * i)), angle = 7.0 * gess__uniform(key, 2 * i + 1);
        double x = length * cos(angle), y = length * sin(angle);
        long double exact = atan2l(y, x) / turn;
        if (fabsl((long double)gess__atan2_turns(y, x) - exact) > 5e-16L * fmaxl(fabsl(exact), 1e-3L))
            fail_msg("atan2(%a, %a) is %.17g turns, should be %.17Lg", y, x, gess__atan2_turns(y, x), exact);
    }
    assert_true(gess__atan2_turns(0.0, 1.0) == 0.0 && gess__atan2_turns(1.0, 0.0) == 0.25);
    assert_true(gess__atan2_turns(0.0, -1.0) == 0.5 && gess__atan2_turns(-0.0, -1.0) == -0.5);
    assert_true(gess__atan2_turns(-2.0, 0.0) == -0.25 && gess__atan2_turns(-3.0, 3.0) == -0.125);
    assert_true(gess__atan2_turns(0.0, 0.0) == 0.0 && isnan(gess__atan2_turns(NAN, 1.0)));
}

/* Means far from zero and of equal numbers, in any stride. */
static void means_are_exact(void **state)
{
    (void)state;
    static const double far[] = {0.0, 0.1, 1e9, -3e15, 1.0 / 3.0};
    double x[300];
    for (size_t f = 0; f < sizeof far / sizeof *far; f++)
        for (size_t n = 1; n <= 100; n++)
            for (size_t stride = 1; stride <= 3; stride++) {
                long double sum = 0.0L;
                for (size_t i = 0; i < n; i++) x[i * stride] = far[f];
                gess__pair equal = gess__mean(n, x, stride);
                assert_true(equal.high + equal.low == far[f]);
                assert_true(gess__sum_of_squares(n, x, stride, equal) == 0.0);
                for (size_t i = 0; i < n; i++) {
                    x[i * stride] =
                        far[f] + gess__uniform((gess__key){.seed = 6, .purpose = GESS__FOR_TEST}, (uint32_t)i);
                    sum += (long double)x[i * stride];
                }
                gess__pair mean = gess__mean(n, x, stride);
                long double error = (long double)mean.high + (long double)mean.low - sum / (long double)n;
                assert_true(fabsl(error) <= 1e-16L + 2e-19L * fabsl(sum));
            }
    x[0] = INFINITY;
    assert_true(gess__mean(5, x, 1).high == INFINITY);
    x[1] = -INFINITY;
    assert_true(isnan(gess__mean(5, x, 1).high));
}

/* Of zeros, NaN and infinities. */
static void smaller_larger_and_length(void **state)
{
    (void)state;
    assert_true(gess__min(1.0, 2.0) == 1.0 && gess__max(1.0, 2.0) == 2.0 && gess__min(2.0, 1.0) == 1.0);
    assert_true(gess__min(NAN, 2.0) == 2.0 && gess__max(2.0, NAN) == 2.0 && isnan(gess__min(NAN, NAN)));
    assert_true(signbit(gess__max(0.0, -0.0)) && !signbit(gess__max(-0.0, 0.0)) && signbit(gess__min(0.0, -0.0)));
    assert_true(gess__hypot(3.0, -4.0) == 5.0 && gess__hypot(0.0, 0.0) == 0.0 &&
                gess__hypot(-INFINITY, 1.0) == INFINITY);
    assert_true(gess__hypot(3e300, 4e300) == 5e300 && isnan(gess__hypot(NAN, 1.0)) && isnan(gess__hypot(1.0, NAN)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_everywhere), cmocka_unit_test(angles_everywhere),
        cmocka_unit_test(means_are_exact),   cmocka_unit_test(smaller_larger_and_length),
        cmocka_unit_test(digamma_known),     cmocka_unit_test(digamma_everywhere),
        cmocka_unit_test(log_gamma),         cmocka_unit_test(roots),
        cmocka_unit_test(roots_at_ends),     cmocka_unit_test(sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
