/* The arithmetic of random variates, one at a time: Philox's rounds, uniforms, normals, gammas. rng.c runs it over many
 * chains in vector code; a device runs it per chain (lane/). Both get the same bits. */
#ifndef GESS_BASE_VARIATES_H
#define GESS_BASE_VARIATES_H

#include "base/rng.h"
#include "base/vmath.h"

/* One of Philox's ten rounds, in a form that compilers turn into vector code over a loop of counters, which they do not
 * do with Random123's form. tests/unit/test_rng.c checks that both agree. */
#define GESS__PHILOX_ROUND(a, b, c, d, k0, k1)                                   \
    do {                                                                         \
        uint64_t p0 = (uint64_t)(a)*0xD2511F53u, p1 = (uint64_t)(c)*0xCD9E8D57u; \
        (a) = (uint32_t)(p1 >> 32) ^ (b) ^ (k0);                                 \
        (c) = (uint32_t)(p0 >> 32) ^ (d) ^ (k1);                                 \
        (b) = (uint32_t)p1;                                                      \
        (d) = (uint32_t)p0;                                                      \
        (k0) += 0x9E3779B9u;                                                     \
        (k1) += 0xBB67AE85u;                                                     \
    } while (0)

#define GESS__TEN_ROUNDS(ROUND_, a, b, c, d, k0, k1) \
    do {                                             \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
        ROUND_(a, b, c, d, k0, k1);                  \
    } while (0)

/* The last word of a key's counter. */
GESS__INLINE uint32_t gess__key_word(gess__key key)
{
    return ((uint32_t)key.purpose << 24) | (uint32_t)((key.iteration >> 32) & 0xffffffu);
}

/* The four words of one counter, as two 64-bit integers. */
GESS__INLINE void gess__philox(gess__key key, uint32_t index, uint64_t *first, uint64_t *second)
{
    uint32_t a = index, b = key.chain, c = (uint32_t)key.iteration, d = gess__key_word(key);
    uint32_t k0 = (uint32_t)key.seed, k1 = (uint32_t)(key.seed >> 32);
    GESS__TEN_ROUNDS(GESS__PHILOX_ROUND, a, b, c, d, k0, k1);
    *first = ((uint64_t)b << 32) | a;
    *second = ((uint64_t)d << 32) | c;
}

/* 52 bits into [1, 2), minus 1, plus half a step: (0, 1) without an integer conversion. */
GESS__INLINE double gess__unit_of(uint64_t u)
{
    return gess__from_bits((u >> 12) | UINT64_C(0x3ff0000000000000)) - (1.0 - 0x1p-53);
}

/* gess__uniform(), and both uniforms of gess__uniform_pairs(). */
GESS__INLINE double gess__one_uniform(gess__key key, uint32_t index)
{
    uint64_t first, second;
    gess__philox(key, index, &first, &second);
    return gess__unit_of(first);
}

GESS__INLINE void gess__two_uniforms(gess__key key, uint32_t index, double *first, double *second)
{
    uint64_t u, v;
    gess__philox(key, index, &u, &v);
    *first = gess__unit_of(u);
    *second = gess__unit_of(v);
}

/* Two normals from two uniforms: Box & Muller (1958). */
GESS__INLINE void gess__normal_pair(double u1, double u2, double *first, double *second)
{
    double radius = __builtin_sqrt(-2.0 * gess__log(u1)), sine, cosine;
    gess__sincos_turns(u2, &sine, &cosine);
    *first = radius * cosine;
    *second = radius * sine;
}

/* One attempt of Marsaglia & Tsang's method for shape >= 1. Returns 0 if it is rejected (a few per cent for shape 1,
 * fewer for larger shapes). */
GESS__INLINE double gess__gamma_attempt(double normal, double u, double d, double c)
{
    double v = gess__fma(c, normal, 1.0);
    v = v * v * v;
    double safe = gess__select(v > 0.0, v, 1.0);
    double limit = gess__fma(0.5 * normal, normal, d * (1.0 - safe + gess__log(safe)));
    return gess__select((v > 0.0) & (gess__log(u) < limit), d * v, 0.0);
}

/* gess__gamma(). */
GESS__INLINE double gess__one_gamma(gess__key key, double shape)
{
    double boosted = shape < 1.0 ? shape + 1.0 : shape;
    double d = boosted - 1.0 / 3.0, c = 1.0 / __builtin_sqrt(9.0 * d);
    for (uint32_t attempt = 1;; attempt++) {
        double first, second, normal, unused;
        gess__two_uniforms(key, 2 * attempt, &first, &second);
        gess__normal_pair(first, second, &normal, &unused);
        double value = gess__gamma_attempt(normal, gess__one_uniform(key, 2 * attempt + 1), d, c);
        if (value > 0.0) return shape < 1.0 ? value * gess__exp(gess__log(gess__one_uniform(key, 0)) / shape) : value;
    }
}

#endif
