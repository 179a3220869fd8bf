/* Philox against its published answers, the variates against their distributions. A failed statistical check is a
 * failed test: seeds are fixed, and every check rejects at p < 1e-6. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/rng.h"
#include "base/vmath.h"

#include <Random123/philox.h>
#include <stdlib.h>

static gess__key key_of(uint64_t seed, uint32_t chain, uint64_t iteration)
{
    return (gess__key){.seed = seed, .iteration = iteration, .chain = chain, .purpose = GESS__FOR_TEST};
}

/* ---- bits ---- */

/* Random123's kat_vectors, philox4x32 with 10 rounds: counter, key, answer. */
static const uint32_t known[][10] = {
    {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
     0x6d5451fd},
    {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
     0x24126ea1},
};

static void known_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        const uint32_t *v = known[i];
        philox4x32_ctr_t counter = {{v[0], v[1], v[2], v[3]}};
        philox4x32_key_t words = {{v[4], v[5]}};
        philox4x32_ctr_t direct = philox4x32(counter, words);
        /* the key's layout, as rng.h states it: 24 bits of the iteration and 8 of the purpose on top */
        gess__key key = {.seed = ((uint64_t)v[5] << 32) | v[4],
                         .iteration = ((uint64_t)(v[3] & 0xffffff) << 32) | v[2],
                         .chain = v[1],
                         .purpose = (enum gess__purpose)(v[3] >> 24)};
        uint32_t bits[4];
        gess__random_bits(key, v[0], bits);
        for (size_t j = 0; j < 4; j++) {
            assert_int_equal(direct.v[j], v[6 + j]);
            assert_int_equal(bits[j], v[6 + j]);
        }
    }
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Every part of the key counts: no two of many neighbouring keys give the same 64 bits. */
static void distinct_streams(void **state)
{
    (void)state;
    enum { MAX_CHAINS = 10000 };
    static uint64_t seen[MAX_CHAINS];
    static const uint64_t iterations[] = {0,
                                          1,
                                          2,
                                          UINT64_C(1) << 31,
                                          UINT64_C(1) << 32,
                                          (UINT64_C(1) << 32) + 1,
                                          UINT64_C(1) << 40,
                                          (UINT64_C(1) << 56) - 1};
    static const uint64_t seeds[] = {0, 1, UINT64_C(1) << 32, UINT64_MAX};
    static const uint32_t chains[] = {0, 1, 2, 255, 256, UINT32_MAX};
    size_t n = 0;
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < 8; i++)
            for (size_t c = 0; c < 6; c++)
                for (unsigned purpose = GESS__FOR_START; purpose <= GESS__FOR_TEST; purpose++)
                    for (uint32_t index = 0; index < 3; index++) {
                        gess__key key = {seeds[s], iterations[i], chains[c], (enum gess__purpose)purpose};
                        uint32_t bits[4];
                        gess__random_bits(key, index, bits);
                        assert_true(n < MAX_CHAINS);
                        seen[n++] = ((uint64_t)bits[0] << 32) | bits[1];
                    }
    qsort(seen, n, sizeof *seen, by_value);
    for (size_t i = 1; i < n; i++) assert_true(seen[i] != seen[i - 1]);
}

/* ---- variates as functions of the bits ---- */

static double unit(uint32_t low, uint32_t high)
{
    uint64_t u = ((uint64_t)high << 32) | low;
    return ((double)(u >> 12) + 0.5) * 0x1p-52;
}

static void uniforms_of_bits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        uint32_t bits[4];
        gess__random_bits(key_of(5, i, 77), i, bits);
        double u = gess__uniform(key_of(5, i, 77), i);
        assert_true(u > 0.0 && u < 1.0 && u == unit(bits[0], bits[1]));
    }
}

/* The vector code of gess__normals() against Random123; entries do not depend on n. */
static void normals_of_bits(void **state)
{
    (void)state;
    enum { MAX_CHAINS = 700 };
    static double whole[MAX_CHAINS], part[MAX_CHAINS + 1];
    static const uint64_t iterations[] = {0, 9, UINT64_C(0xabcdef12345678)};
    for (size_t round = 0; round < 3; round++) {
        gess__key key = key_of(UINT64_C(0x123456789abcdef0) * (round + 1), 41u * (uint32_t)round, iterations[round]);
        gess__normals(key, MAX_CHAINS, whole);
        for (uint32_t i = 0; i < MAX_CHAINS / 2; i++) {
            uint32_t bits[4];
            double sine, cosine;
            gess__random_bits(key, i, bits);
            double radius = sqrt(-2.0 * gess__log(unit(bits[0], bits[1])));
            gess__sincos_turns(unit(bits[2], bits[3]), &sine, &cosine);
            assert_true(whole[2 * i] == radius * cosine);
            assert_true(whole[2 * i + 1] == radius * sine);
        }
        for (size_t n = 0; n <= MAX_CHAINS; n += n < 300 ? 1 : 37) {
            part[n] = 12345.0;
            gess__normals(key, n, part);
            assert_memory_equal(part, whole, n * sizeof *part);
            assert_true(part[n] == 12345.0); /* nothing past the end */
        }
    }
}

/* Rows of several chains have the normals of single chains. */
static void normals_in_rows(void **state)
{
    (void)state;
    enum { ROWS = 70, LONGEST = 150 };
    static double batch[ROWS * LONGEST + 1], single[LONGEST];
    for (size_t n = 1; n <= LONGEST; n += n < 40 ? 1 : 11)
        for (size_t rows = 1; rows <= ROWS; rows += 23) {
            gess__key key = key_of(UINT64_C(0x9876543210fedcba), 17, UINT64_C(0x1000000005));
            batch[rows * n] = 12345.0;
            gess__normal_rows(key, rows, n, batch);
            assert_true(batch[rows * n] == 12345.0);
            for (size_t j = 0; j < rows; j++, key.chain++) {
                gess__normals(key, n, single);
                assert_memory_equal(batch + j * n, single, n * sizeof *single);
            }
        }
}

/* Chains get the same gammas in any group as by themselves. */
static void gammas_alone(void **state)
{
    (void)state;
    static const double shapes[] = {0.3, 0.999, 1.0, 1.5, 2.5, 50.0, 500.0};
    enum { MAX_CHAINS = 200 };
    uint32_t chains[MAX_CHAINS];
    double single[MAX_CHAINS], batch[MAX_CHAINS + 1];
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        gess__key key = key_of(8 + s, 12345, UINT64_C(0x300000001) + s);
        for (uint32_t j = 0; j < MAX_CHAINS; j++) {
            chains[j] = j % 5 == 0 ? 4000000000u - j : 7 * j;
            gess__key single_key = key;
            single_key.chain = chains[j];
            single[j] = gess__gamma(single_key, shapes[s]);
            assert_true(single[j] > 0.0 && isfinite(single[j]));
        }
        for (size_t n = 0; n <= MAX_CHAINS; n++) {
            size_t first = (n * 31) % (MAX_CHAINS - n + 1);
            batch[n] = -1.0;
            gess__gammas(key, shapes[s], n, chains + first, batch);
            assert_memory_equal(batch, single + first, n * sizeof *batch);
            assert_true(batch[n] == -1.0);
        }
    }
}

/* ---- distributions ---- */

enum { DRAWS = 200000 };
static double draws[DRAWS];

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Kolmogorov–Smirnov: √n D above 2.7 has p < 1e-6. Sorts the draws. */
static void assert_follows(const char *name, double (*cdf)(double x, double parameter), double parameter)
{
    qsort(draws, DRAWS, sizeof *draws, by_size);
    double max = 0.0;
    for (size_t i = 0; i < DRAWS; i++) {
        double p = cdf(draws[i], parameter);
        max = fmax(max, fmax((double)(i + 1) / DRAWS - p, p - (double)i / DRAWS));
    }
    double statistic = sqrt((double)DRAWS) * max;
    if (!(statistic < 2.7)) fail_msg("%s %g: Kolmogorov-Smirnov statistic %g", name, parameter, statistic);
}

/* A mean of DRAWS terms against its expectation and variance: p < 1e-6 beyond 4.9 sd. */
static void assert_mean(const char *name, double sum, double mean, double variance)
{
    double z = (sum / DRAWS - mean) / sqrt(variance / DRAWS);
    if (!(fabs(z) < 4.9)) fail_msg("%s: %g, expected %g (z = %g)", name, sum / DRAWS, mean, z);
}

static double uniform_cdf(double x, double unused)
{
    (void)unused;
    return x;
}

static void uniforms(void **state)
{
    (void)state;
    enum { BINS = 256 };
    static unsigned pairs[BINS];
    double sum = 0.0, squares = 0.0, lagged = 0.0, chi2 = 0.0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        /* over index, chain and iteration */
        draws[i] = gess__uniform(key_of(21, i % 100, i / 1000), (i / 100) % 10);
        sum += draws[i];
        squares += draws[i] * draws[i];
        if (i > 0) lagged += (draws[i] - 0.5) * (draws[i - 1] - 0.5);
    }
    assert_mean("uniform mean", sum, 0.5, 1.0 / 12);
    assert_mean("uniform square", squares, 1.0 / 3, 4.0 / 45);
    assert_mean("uniform lag", lagged, 0.0, 1.0 / 144);
    /* pairs of neighbours in 16 × 16 cells; 255 degrees of freedom, p < 1e-6 above 374 */
    for (size_t i = 0; i + 1 < DRAWS; i += 2) pairs[(size_t)(draws[i] * 16) * 16 + (size_t)(draws[i + 1] * 16)]++;
    for (size_t i = 0; i < BINS; i++) chi2 += (pairs[i] - DRAWS / 2.0 / BINS) * (pairs[i] - DRAWS / 2.0 / BINS);
    chi2 /= DRAWS / 2.0 / BINS;
    if (!(chi2 < 374.0 && chi2 > 160.0)) fail_msg("chi-square of pairs is %g", chi2);
    assert_follows("uniform", uniform_cdf, 0.0);
}

static double normal_cdf(double x, double unused)
{
    (void)unused;
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static void normals(void **state)
{
    (void)state;
    enum { ROW = 50 };
    double m1 = 0, m2 = 0, m3 = 0, m4 = 0, in_pair = 0, across = 0, squares = 0, tail = 0;
    for (uint32_t row = 0; row < DRAWS / ROW; row++)
        gess__normals(key_of(22, row % 64, row / 64), ROW, draws + row * ROW);
    for (size_t i = 0; i < DRAWS; i++) {
        double x = draws[i], before = i >= ROW ? draws[i - ROW] : 0.0, other = draws[i ^ 1];
        m1 += x, m2 += x * x, m3 += x * x * x, m4 += x * x * x * x;
        in_pair += i % 2 == 0 ? M_SQRT2 * x * other : 0.0;
        squares += i % 2 == 0 ? M_SQRT2 * (x * x - 1.0) * (other * other - 1.0) : 0.0;
        across += x * before; /* the same entry of the previous chain */
        tail += fabs(x) > 3.5;
    }
    assert_mean("normal mean", m1, 0, 1);
    assert_mean("normal square", m2, 1, 2);
    assert_mean("normal cube", m3, 0, 15);
    assert_mean("normal fourth power", m4, 3, 96);
    assert_mean("normal pair", in_pair, 0, 1);
    assert_mean("normal pair of squares", squares, 0, 4);
    assert_mean("normal chains", across, 0, 1);
    assert_mean("normal tail", tail, erfc(3.5 * M_SQRT1_2), erfc(3.5 * M_SQRT1_2));
    assert_follows("normal", normal_cdf, 0.0);
}

/* P(a, x): the series below a + 1, Lentz's continued fraction above. */
static double gamma_cdf(double x, double a)
{
    double front = exp(a * log(x) - x - lgamma(a));
    if (x < a + 1.0) {
        double term = 1.0 / a, sum = term;
        for (double n = a + 1.0; term > 1e-14 * sum; n += 1.0) sum += term *= x / n;
        return sum * front;
    }
    double b = x + 1.0 - a, c = 1e300, d = 1.0 / b, h = d;
    for (int i = 1; i < 10000; i++) {
        double an = -i * (i - a);
        b += 2.0;
        d = 1.0 / (an * d + b);
        c = b + an / c;
        h *= d * c;
        if (fabs(d * c - 1.0) < 1e-14) break;
    }
    return 1.0 - front * h;
}

static void gammas(void **state)
{
    (void)state;
    static const double shapes[] = {0.3, 1.0, 2.5, 50.0, 500.0};
    assert_true(fabs(gamma_cdf(1.0, 1.0) - (1.0 - exp(-1.0))) < 1e-13 &&
                fabs(gamma_cdf(3.0, 1.0) - (1.0 - exp(-3.0))) < 1e-13);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        enum { CHAINS = 40 };
        double a = shapes[s], m1 = 0, m2 = 0, lagged = 0;
        uint32_t chains[CHAINS];
        for (uint32_t j = 0; j < CHAINS; j++) chains[j] = j;
        for (uint32_t i = 0; i < DRAWS / CHAINS; i++)
            gess__gammas(key_of(23 + s, 0, i), a, CHAINS, chains, draws + i * CHAINS);
        for (size_t i = 0; i < DRAWS; i++) {
            m1 += draws[i];
            m2 += (draws[i] - a) * (draws[i] - a);
            lagged += i > 0 ? (draws[i] - a) * (draws[i - 1] - a) : 0.0;
        }
        assert_mean("gamma mean", m1, a, a);
        assert_mean("gamma variance", m2, a, 2 * a * a + 6 * a);
        assert_mean("gamma neighbours", lagged, 0, a * a);
        assert_follows("gamma", gamma_cdf, a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),   cmocka_unit_test(distinct_streams), cmocka_unit_test(uniforms_of_bits),
        cmocka_unit_test(normals_of_bits), cmocka_unit_test(gammas_alone),     cmocka_unit_test(uniforms),
        cmocka_unit_test(normals_in_rows), cmocka_unit_test(normals),          cmocka_unit_test(gammas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
