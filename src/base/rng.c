#include "base/rng.h"

#include "base/vmath.h"

#include <Random123/philox.h>

/* ---- bits ---- */

static uint32_t word3(gess__key key)
{
    return ((uint32_t)key.purpose << 24) | (uint32_t)((key.iteration >> 32) & 0xffffffu);
}

void gess__random_bits(gess__key key, uint32_t index, uint32_t bits[4])
{
    philox4x32_ctr_t counter = {{index, key.chain, (uint32_t)key.iteration, word3(key)}};
    philox4x32_key_t k = {{(uint32_t)key.seed, (uint32_t)(key.seed >> 32)}};
    philox4x32_ctr_t out = philox4x32(counter, k);
    for (int i = 0; i < 4; i++) bits[i] = out.v[i];
}

/* The same ten rounds as a straight line, which compilers turn into vector code over a loop of
 * counters; Random123's own form they do not. tests/unit/test_rng.c holds the two together. */
#define ROUND(a, b, c, d, k0, k1)                                                \
    do {                                                                         \
        uint64_t p0 = (uint64_t)(a)*0xD2511F53u, p1 = (uint64_t)(c)*0xCD9E8D57u; \
        (a) = (uint32_t)(p1 >> 32) ^ (b) ^ (k0);                                 \
        (c) = (uint32_t)(p0 >> 32) ^ (d) ^ (k1);                                 \
        (b) = (uint32_t)p1;                                                      \
        (d) = (uint32_t)p0;                                                      \
        (k0) += 0x9E3779B9u;                                                     \
        (k1) += 0xBB67AE85u;                                                     \
    } while (0)

#define TEN_ROUNDS(a, b, c, d, k0, k1) \
    do {                               \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
        ROUND(a, b, c, d, k0, k1);     \
    } while (0)

/* ---- uniforms ---- */

/* 52 bits into [1, 2), minus 1, plus half a step: (0, 1) without an integer conversion. */
GESS__INLINE double unit(uint32_t low, uint32_t high)
{
    uint64_t u = ((uint64_t)high << 32) | low;
    return gess__from_bits((u >> 12) | UINT64_C(0x3ff0000000000000)) - (1.0 - 0x1p-53);
}

double gess__uniform(gess__key key, uint32_t index)
{
    uint32_t bits[4];
    gess__random_bits(key, index, bits);
    return unit(bits[0], bits[1]);
}

enum { CHUNK = 64 };

/* Counter value `index` of up to CHUNK chains. */
GESS__VECTOR
static void uniform_chunk(uint64_t seed, const uint32_t *restrict chains, uint32_t index, uint32_t c2, uint32_t c3,
                          size_t n, double *restrict first, double *restrict second)
{
    uint32_t w0[CHUNK], w1[CHUNK], w2[CHUNK], w3[CHUNK];
    for (size_t i = 0; i < n; i++) {
        uint32_t a = index, b = chains[i], c = c2, d = c3;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        TEN_ROUNDS(a, b, c, d, k0, k1);
        w0[i] = a;
        w1[i] = b;
        w2[i] = c;
        w3[i] = d;
    }
    for (size_t i = 0; i < n; i++) {
        first[i] = unit(w0[i], w1[i]);
        second[i] = unit(w2[i], w3[i]);
    }
}

void gess__uniform_pairs(gess__key key, uint32_t index, size_t n, const uint32_t *chains, double *first, double *second)
{
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK;
        uniform_chunk(key.seed, chains + done, index, (uint32_t)key.iteration, word3(key), count, first + done,
                      second + done);
    }
}

/* ---- normals: Box & Muller (1958), a pair for each counter value ---- */

GESS__INLINE void normal_pair(double u1, double u2, double *first, double *second)
{
    double radius = __builtin_sqrt(-2.0 * gess__log(u1)), sine, cosine;
    gess__sincos_turns(u2, &sine, &cosine);
    *first = radius * cosine;
    *second = radius * sine;
}

/* CHUNK pairs from counter value `base` on: even entries into even, odd into odd. */
GESS__VECTOR
static void normal_chunk(uint64_t seed, uint32_t base, uint32_t c1, uint32_t c2, uint32_t c3, size_t pairs,
                         double *restrict even, double *restrict odd)
{
    uint32_t w0[CHUNK], w1[CHUNK], w2[CHUNK], w3[CHUNK];
    for (size_t i = 0; i < pairs; i++) {
        uint32_t a = base + (uint32_t)i, b = c1, c = c2, d = c3;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        TEN_ROUNDS(a, b, c, d, k0, k1);
        w0[i] = a;
        w1[i] = b;
        w2[i] = c;
        w3[i] = d;
    }
    for (size_t i = 0; i < pairs; i++) normal_pair(unit(w0[i], w1[i]), unit(w2[i], w3[i]), &even[i], &odd[i]);
}

void gess__normals(gess__key key, size_t n, double *out)
{
    double even[CHUNK], odd[CHUNK];
    for (size_t done = 0; done < n; done += 2 * CHUNK) {
        size_t left = n - done, pairs = left >= 2 * CHUNK ? CHUNK : (left + 1) / 2;
        /* whole vectors: the tail is computed and dropped */
        size_t padded = (pairs + 7) / 8 * 8;
        normal_chunk(key.seed, (uint32_t)(done / 2), key.chain, (uint32_t)key.iteration, word3(key), padded, even, odd);
        for (size_t i = 0; i < left / 2 && i < CHUNK; i++) {
            out[done + 2 * i] = even[i]; /* NOLINT(clang-analyzer-core.uninitialized.Assign): padded > 0 */
            out[done + 2 * i + 1] = odd[i];
        }
        if (left < 2 * CHUNK && left % 2 == 1) out[done + left - 1] = even[left / 2];
    }
}

/* ---- gammas ---- */

/* One attempt of Marsaglia & Tsang's squeeze for shape >= 1. Returns 0 where it is rejected
 * (a few per cent for shape 1, fewer for larger ones). */
GESS__INLINE double gamma_attempt(double normal, double u, double d, double c)
{
    double v = gess__fma(c, normal, 1.0);
    v = v * v * v;
    double safe = gess__select(v > 0.0, v, 1.0);
    double limit = gess__fma(0.5 * normal, normal, d * (1.0 - safe + gess__log(safe)));
    return gess__select((v > 0.0) & (gess__log(u) < limit), d * v, 0.0);
}

double gess__gamma(gess__key key, double shape)
{
    double boosted = shape < 1.0 ? shape + 1.0 : shape;
    double d = boosted - 1.0 / 3.0, c = 1.0 / __builtin_sqrt(9.0 * d);
    for (uint32_t attempt = 1;; attempt++) {
        uint32_t bits[4];
        double normal, unused;
        gess__random_bits(key, 2 * attempt, bits);
        normal_pair(unit(bits[0], bits[1]), unit(bits[2], bits[3]), &normal, &unused);
        double value = gamma_attempt(normal, gess__uniform(key, 2 * attempt + 1), d, c);
        if (value > 0.0) return shape < 1.0 ? value * gess__exp(gess__log(gess__uniform(key, 0)) / shape) : value;
    }
}

/* The first attempt of n chains at once, n at most CHUNK. */
GESS__VECTOR
static void gamma_chunk(uint64_t seed, const uint32_t *restrict chains, uint32_t c2, uint32_t c3, double d, double c,
                        size_t n, double *restrict out)
{
    uint32_t w0[CHUNK], w1[CHUNK], w2[CHUNK], w3[CHUNK], v0[CHUNK], v1[CHUNK];
    for (size_t i = 0; i < n; i++) {
        uint32_t a = 2, b = chains[i], g = c2, h = c3;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        TEN_ROUNDS(a, b, g, h, k0, k1);
        w0[i] = a;
        w1[i] = b;
        w2[i] = g;
        w3[i] = h;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t a = 3, b = chains[i], g = c2, h = c3;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        TEN_ROUNDS(a, b, g, h, k0, k1);
        v0[i] = a;
        v1[i] = b;
    }
    for (size_t i = 0; i < n; i++) {
        double normal, unused;
        normal_pair(unit(w0[i], w1[i]), unit(w2[i], w3[i]), &normal, &unused);
        out[i] = gamma_attempt(normal, unit(v0[i], v1[i]), d, c);
    }
}

void gess__gammas(gess__key key, double shape, size_t n, const uint32_t *chains, double *out)
{
    double first[CHUNK] = {0};
    uint32_t padded[CHUNK] = {0};
    double d = shape - 1.0 / 3.0, c = 1.0 / __builtin_sqrt(9.0 * d);
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK;
        if (shape >= 1.0 && count > 4) {
            memcpy(padded, chains + done, count * sizeof *chains);
            gamma_chunk(key.seed, padded, (uint32_t)key.iteration, word3(key), d, c, (count + 7) / 8 * 8, first);
        } else {
            memset(first, 0, sizeof first);
        }
        for (size_t i = 0; i < count; i++) {
            key.chain = chains[done + i];
            out[done + i] = first[i] > 0.0 ? first[i] : gess__gamma(key, shape);
        }
    }
}
