/* Computes uniforms, normals (Box and Muller) and gammas (Marsaglia and Tsang) from Philox counters, many chains per
 * call in vector code. A call for one variate gives the same bits. */
#include "base/rng.h"

#include "base/assert.h"
#include "base/variates.h"

#include <Random123/philox.h>

/* ---- bits ---- */

void gess__random_bits(gess__key key, uint32_t index, uint32_t bits[4])
{
    philox4x32_ctr_t counter = {{index, key.chain, (uint32_t)key.iteration, gess__key_word(key)}};
    philox4x32_key_t k = {{(uint32_t)key.seed, (uint32_t)(key.seed >> 32)}};
    philox4x32_ctr_t out = philox4x32(counter, k);
    for (int i = 0; i < 4; i++) bits[i] = out.v[i];
}

/* The rounds in 64-bit integers whose upper halves are garbage: fewer instructions if vectors of 64-bit integers can be
 * multiplied (AVX-512), more otherwise. */
#define ROUND_WIDE(a, b, c, d, k0, k1)                                                                         \
    do {                                                                                                       \
        uint64_t p0 = ((a)&0xffffffffu) * UINT64_C(0xD2511F53), p1 = ((c)&0xffffffffu) * UINT64_C(0xCD9E8D57); \
        (a) = (p1 >> 32) ^ (b) ^ (k0);                                                                         \
        (c) = (p0 >> 32) ^ (d) ^ (k1);                                                                         \
        (b) = p1;                                                                                              \
        (d) = p0;                                                                                              \
        (k0) += UINT64_C(0x9E3779B9);                                                                          \
        (k1) += UINT64_C(0xBB67AE85);                                                                          \
    } while (0)

enum { CHUNK = 64 };

/* The four words of at most CHUNK counters, as two 64-bit integers per counter. */
static GESS__VECTOR(words_narrow,
                    (uint64_t seed, uint32_t c2, uint32_t c3, size_t n, const uint32_t *restrict indices,
                     const uint32_t *restrict chains, uint64_t *restrict first, uint64_t *restrict second),
                    (seed, c2, c3, n, indices, chains, first, second))
{
    uint32_t w0[CHUNK], w1[CHUNK], w2[CHUNK], w3[CHUNK];
    for (size_t i = 0; i < n; i++) {
        uint32_t a = indices[i], b = chains[i], c = c2, d = c3;
        uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
        GESS__TEN_ROUNDS(GESS__PHILOX_ROUND, a, b, c, d, k0, k1);
        w0[i] = a;
        w1[i] = b;
        w2[i] = c;
        w3[i] = d;
    }
    for (size_t i = 0; i < n; i++) {
        first[i] = ((uint64_t)w1[i] << 32) | w0[i];
        second[i] = ((uint64_t)w3[i] << 32) | w2[i];
    }
}

#ifdef GESS__WIDEST
GESS__WIDEST
static void words_wide(uint64_t seed, uint32_t c2, uint32_t c3, size_t n, const uint32_t *restrict indices,
                       const uint32_t *restrict chains, uint64_t *restrict first, uint64_t *restrict second)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t a = indices[i], b = chains[i], c = c2, d = c3, k0 = (uint32_t)seed, k1 = seed >> 32;
        GESS__TEN_ROUNDS(ROUND_WIDE, a, b, c, d, k0, k1);
        first[i] = (b << 32) | (a & 0xffffffffu);
        second[i] = (d << 32) | (c & 0xffffffffu);
    }
}
#endif

/* n is at most CHUNK. It is rounded up to a multiple of 8, for which the arrays have room; the padding is discarded. */
static void words(gess__key key, size_t n, uint32_t *indices, uint32_t *chains, uint64_t *first, uint64_t *second)
{
    for (; n % 8 != 0; n++) indices[n] = chains[n] = 0;
#ifdef GESS__WIDEST
    if (gess__machine_vectors == GESS__WIDEST_VECTORS) {
        words_wide(key.seed, (uint32_t)key.iteration, gess__key_word(key), n, indices, chains, first, second);
        return;
    }
#endif
    words_narrow(key.seed, (uint32_t)key.iteration, gess__key_word(key), n, indices, chains, first, second);
}

/* ---- uniforms ---- */

GESS__INLINE double unit(uint32_t low, uint32_t high)
{
    return gess__unit_of(((uint64_t)high << 32) | low);
}

double gess__uniform(gess__key key, uint32_t index)
{
    uint32_t bits[4];
    gess__random_bits(key, index, bits);
    return unit(bits[0], bits[1]);
}

static GESS__VECTOR(units, (size_t n, const uint64_t *restrict words, double *restrict out), (n, words, out))
{
    for (size_t i = 0; i < n; i++) out[i] = gess__unit_of(words[i]);
}

void gess__uniform_pairs(gess__key key, uint32_t index, size_t n, const uint32_t *chains, double *first, double *second)
{
    uint32_t indices[CHUNK], some[CHUNK];
    uint64_t u[CHUNK], v[CHUNK];
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK;
        for (size_t i = 0; i < count; i++) indices[i] = index;
        memcpy(some, chains + done, count * sizeof *some);
        words(key, count, indices, some, u, v);
        units(count, u, first + done);
        units(count, v, second + done);
    }
}

/* ---- normals: Box & Muller (1958), a pair per counter value ---- */

static GESS__VECTOR(normal_pairs,
                    (size_t n, const uint64_t *restrict u, const uint64_t *restrict v, double *restrict even,
                     double *restrict odd),
                    (n, u, v, even, odd))
{
    for (size_t i = 0; i < n; i++) gess__normal_pair(gess__unit_of(u[i]), gess__unit_of(v[i]), &even[i], &odd[i]);
}

/* out gets even[0], odd[0], even[1], …: n numbers. */
static GESS__VECTOR(interleave,
                    (size_t n, const double *restrict even, const double *restrict odd, double *restrict out),
                    (n, even, odd, out))
{
    for (size_t i = 0; i < n / 2; i++) {
        out[2 * i] = even[i];
        out[2 * i + 1] = odd[i];
    }
    if (n % 2 == 1) out[n - 1] = even[n / 2];
}

/* A chunk may hold pairs of several rows, so that short rows fill vectors too. */
void gess__normal_rows(gess__key key, size_t rows, size_t n, double *out)
{
    uint32_t indices[CHUNK], chains[CHUNK];
    uint64_t u[CHUNK] = {0}, v[CHUNK] = {0};
    double even[CHUNK] = {0}, odd[CHUNK] = {0};
    size_t pairs = (n + 1) / 2, total = rows * pairs;
    GESS_ASSERT(key.iteration >> 56 == 0 && (total == 0 || out != NULL));
    for (size_t done = 0; done < total;) {
        size_t count = total - done < CHUNK ? total - done : CHUNK, row = done / pairs, pair = done % pairs;
        for (size_t i = 0, r = row, k = pair; i < count; i++) {
            indices[i] = (uint32_t)k;
            chains[i] = key.chain + (uint32_t)r;
            if (++k < pairs) continue;
            k = 0;
            r++;
        }
        words(key, count, indices, chains, u, v);
        normal_pairs((count + 7) / 8 * 8, u, v, even, odd);
        for (size_t i = 0; i < count; row++, pair = 0) {
            size_t some = count - i < pairs - pair ? count - i : pairs - pair, left = n - 2 * pair;
            interleave(left < 2 * some ? left : 2 * some, even + i, odd + i, out + row * n + 2 * pair);
            i += some;
        }
        done += count;
    }
}

void gess__normals(gess__key key, size_t n, double *out)
{
    gess__normal_rows(key, 1, n, out);
}

/* ---- gammas ---- */

GESS__VECTOR_VALUE(double, gess__gamma, (gess__key key, double shape), (key, shape))
{
    GESS_ASSERT(shape > 0.0 && key.iteration >> 56 == 0);
    return gess__one_gamma(key, shape);
}

/* The first attempt of n <= CHUNK chains, from their random words. */
static GESS__VECTOR(gamma_attempts,
                    (size_t n, const uint64_t *restrict u, const uint64_t *restrict v, const uint64_t *restrict w,
                     double d, double c, double *restrict out),
                    (n, u, v, w, d, c, out))
{
    for (size_t i = 0; i < n; i++) {
        double normal, unused;
        gess__normal_pair(gess__unit_of(u[i]), gess__unit_of(v[i]), &normal, &unused);
        out[i] = gess__gamma_attempt(normal, gess__unit_of(w[i]), d, c);
    }
}

void gess__gammas(gess__key key, double shape, size_t n, const uint32_t *chains, double *out)
{
    double first[CHUNK] = {0}, d = shape - 1.0 / 3.0, c = 1.0 / __builtin_sqrt(9.0 * d);
    uint32_t indices[CHUNK], some[CHUNK];
    uint64_t u[CHUNK] = {0}, v[CHUNK] = {0}, w[CHUNK] = {0}, unused[CHUNK];
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK;
        if (shape >= 1.0 && count > 4) {
            memcpy(some, chains + done, count * sizeof *chains);
            for (size_t i = 0; i < count; i++) indices[i] = 2;
            words(key, count, indices, some, u, v);
            for (size_t i = 0; i < count; i++) indices[i] = 3;
            words(key, count, indices, some, w, unused);
            gamma_attempts((count + 7) / 8 * 8, u, v, w, d, c, first);
        } else {
            memset(first, 0, sizeof first);
        }
        for (size_t i = 0; i < count; i++) {
            key.chain = chains[done + i];
            out[done + i] = first[i] > 0.0 ? first[i] : gess__gamma(key, shape);
        }
    }
}
