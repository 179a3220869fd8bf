/* Elementary functions (exp, log, sin, cos, …) with the same bits in scalar code, in any vector width and on any
 * instruction set: no branches on data, every fused multiply-add written out, nothing that the compiler may reorder.
 * Loops over these inline functions vectorise. libm's do not, and libm's bits may change between its releases.
 *
 * Errors are below 1.5 ulp over the stated ranges, those of the softplus below 2 (tests/unit/test_vmath.c measures them
 * against long double). The polynomials are those of fdlibm (Sun Microsystems, 1993; notice in
 * THIRD_PARTY.md). */
#ifndef GESS_BASE_VMATH_H
#define GESS_BASE_VMATH_H

#include "base/cpu.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define GESS__INLINE static inline __attribute__((always_inline, unused))

/* `restrict`, in headers that C++ compilers read too. */
#define GESS__RESTRICT __restrict__

/* The head of a function whose loops should use the widest vectors of the machine; its body follows:
 *
 *   static GESS__VECTOR(name, (size_t n, double *x), (n, x)) { … }                  returns nothing
 *   static GESS__VECTOR_VALUE(double, name, (size_t n, double *x), (n, x)) { … }
 *
 * The body is compiled for the baseline, AVX2 and AVX-512, and a call goes to the one that the machine has
 * (base/cpu.h). The bits are the same in each. This needs nothing of the compiler but the attribute, and nothing of the
 * C library, so gcc, clang and zig have it with glibc and musl. Builds with sanitizers have the baseline only. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(GESS_NO_CLONES)
/* For functions that need these vectors: check gess__machine_vectors before a call. clang gets a list of the levels'
 * instructions besides, because zig's command line takes each of them away, which outweighs `arch`. */
#ifdef __clang__
#define GESS__V3_LIST ",avx,avx2,bmi,bmi2,cx16,f16c,fma,lzcnt,movbe,popcnt,sahf,sse3,ssse3,sse4.1,sse4.2,xsave"
#define GESS__V4_LIST GESS__V3_LIST ",avx512f,avx512bw,avx512cd,avx512dq,avx512vl" GESS__EVEX
#if __clang_major__ >= 18 && __clang_major__ <= 21
#define GESS__EVEX ",evex512"
#else
#define GESS__EVEX ""
#endif
#else
#define GESS__V3_LIST ""
#define GESS__V4_LIST ""
#endif
#define GESS__WIDEST __attribute__((target("arch=x86-64-v4" GESS__V4_LIST)))
#define GESS__NARROW __attribute__((target("arch=x86-64-v3" GESS__V3_LIST)))
#define GESS__VECTOR_AS(type, give, name, parameters, arguments)              \
    type name parameters;                                                     \
    static inline __attribute__((always_inline)) type name##_body parameters; \
    GESS__WIDEST static type name##_widest parameters                         \
    {                                                                         \
        give name##_body arguments;                                           \
    }                                                                         \
    GESS__NARROW static type name##_narrow parameters                         \
    {                                                                         \
        give name##_body arguments;                                           \
    }                                                                         \
    static __attribute__((noinline)) type name##_plain parameters             \
    {                                                                         \
        give name##_body arguments;                                           \
    }                                                                         \
    type name parameters                                                      \
    {                                                                         \
        if (gess__machine_vectors == GESS__WIDEST_VECTORS)                    \
            give name##_widest arguments;                                     \
        else if (gess__machine_vectors == GESS__NARROW_VECTORS)               \
            give name##_narrow arguments;                                     \
        else                                                                  \
            give name##_plain arguments;                                      \
    }                                                                         \
    static inline __attribute__((always_inline)) type name##_body parameters
#define GESS__VECTOR(name, parameters, arguments) GESS__VECTOR_AS(void, , name, parameters, arguments)
#define GESS__VECTOR_VALUE(type, name, parameters, arguments) GESS__VECTOR_AS(type, return, name, parameters, arguments)
#else
#define GESS__VECTOR(name, parameters, arguments) void name parameters
#define GESS__VECTOR_VALUE(type, name, parameters, arguments) type name parameters
#endif

GESS__INLINE uint64_t gess__bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

GESS__INLINE double gess__from_bits(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

GESS__INLINE double gess__fma(double a, double b, double c)
{
    return __builtin_fma(a, b, c);
}

/* a if the condition holds, else b; compiles to a blend. */
GESS__INLINE double gess__select(int condition, double a, double b)
{
    uint64_t mask = (uint64_t)0 - (uint64_t)(condition != 0);
    return gess__from_bits((gess__bits(a) & mask) | (gess__bits(b) & ~mask));
}

/* The smaller and the larger number; of a number and NaN, the number. Unlike fmin() and fmax(), they say which zero of
 * two they return: the second. */
GESS__INLINE double gess__min(double a, double b)
{
    return a < b || b != b ? a : b;
}

GESS__INLINE double gess__max(double a, double b)
{
    return a > b || b != b ? a : b;
}

/* √(a² + b²), without overflow. */
GESS__INLINE double gess__hypot(double a, double b)
{
    double x = fabs(a), y = fabs(b), high = x > y ? x : y, low = x > y ? y : x, ratio = low / high;
    return high > 0.0 && high < HUGE_VAL ? high * sqrt(gess__fma(ratio, ratio, 1.0)) : x + y;
}

/* log x for x > 0 and normal. log 0 = -inf, log of a negative or NaN = NaN, log inf = inf;
 * subnormal x is scaled first. */
GESS__INLINE double gess__log(double x)
{
    const double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
    int tiny = x < 0x1p-1022;
    double scaled = gess__select(tiny, x * 0x1p54, x);
    double shift = gess__select(tiny, 54.0, 0.0);
    uint64_t ix = gess__bits(scaled);
    /* mantissa m in [sqrt(1/2), sqrt(2)), exponent k: x = 2^k m */
    uint64_t offset = ix - UINT64_C(0x3fe6a09e667f3bcd) + (UINT64_C(1023) << 52);
    double k = gess__from_bits((offset >> 52) | UINT64_C(0x4330000000000000)) - 0x1p52 - 1023.0;
    double m = gess__from_bits(ix - ((offset & UINT64_C(0xfff0000000000000)) - (UINT64_C(1023) << 52)));
    k -= shift;
    double f = m - 1.0, s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    double r = 1.479819860511658591e-01;
    r = gess__fma(r, z, 1.531383769920937332e-01);
    r = gess__fma(r, z, 1.818357216161805012e-01);
    r = gess__fma(r, z, 2.222219843214978396e-01);
    r = gess__fma(r, z, 2.857142874366239149e-01);
    r = gess__fma(r, z, 3.999999999940941908e-01);
    r = gess__fma(r, z, 6.666666666666735130e-01);
    r *= z;
    double y = gess__fma(k, ln2_hi, -((half - gess__fma(s, half + r, k * ln2_lo)) - f));
    y = gess__select(x == 0.0, -HUGE_VAL, y);
    y = gess__select(x > 0x1.fffffffffffffp1023, x, y);
    return gess__select(x >= 0.0, y, gess__from_bits(UINT64_C(0xfff8000000000000))); /* NaN, without a division */
}

/* log(1 + x) for x > -1; exact to first order for small x. */
GESS__INLINE double gess__log1p(double x)
{
    double w = 1.0 + x;
    double lost = gess__select(w > 0x1p60, 0.0, (x - (w - 1.0)) / w);
    return gess__log(w) + lost;
}

/* e^x; 0 below -745.2, inf above 709.8, NaN for NaN. */
GESS__INLINE double gess__exp(double x)
{
    const double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
    const double magic = 0x1.8p52;
    double clamped = gess__select(x > 800.0, 800.0, x);
    clamped = gess__select(x < -800.0, -800.0, clamped);
    double shifted = gess__fma(clamped, 1.44269504088896338700, magic);
    uint64_t ik = gess__bits(shifted) - gess__bits(magic); /* round(x / log 2), two's complement */
    double k = shifted - magic;
    double hi = gess__fma(-k, ln2_hi, clamped), lo = k * ln2_lo;
    double r = hi - lo, z = r * r;
    double c = 4.13813679705723846039e-08;
    c = gess__fma(c, z, -1.65339022054652515390e-06);
    c = gess__fma(c, z, 6.61375632143793436117e-05);
    c = gess__fma(c, z, -2.77777777770155933842e-03);
    c = gess__fma(c, z, 1.66666666666666019037e-01);
    c = r - c * z;
    double y = 1.0 - ((lo - (r * c) / (2.0 - c)) - hi);
    /* 2^k in two factors, so that overflow and gradual underflow come out right */
    uint64_t k1 = (ik + UINT64_C(4096)) / 2 - UINT64_C(2048), k2 = ik - k1;
    double scale1 = gess__from_bits((k1 + 1023) << 52), scale2 = gess__from_bits((k2 + 1023) << 52);
    y = y * scale1 * scale2;
    return gess__select(x == x, y, x);
}

/* e^x and e^-x for x >= 0, to 4 ulp, with one division for both: e^±r = (R ± r) / (R ∓ r) for the R of gess__exp(). */
GESS__INLINE void gess__exp_both(double x, double *plus, double *minus)
{
    const double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
    const double magic = 0x1.8p52;
    double clamped = gess__select(x > 800.0, 800.0, x);
    double shifted = gess__fma(clamped, 1.44269504088896338700, magic);
    uint64_t ik = gess__bits(shifted) - gess__bits(magic);
    double k = shifted - magic;
    double r = gess__fma(-k, ln2_lo, gess__fma(-k, ln2_hi, clamped)), z = r * r;
    double c = 4.13813679705723846039e-08;
    c = gess__fma(c, z, -1.65339022054652515390e-06);
    c = gess__fma(c, z, 6.61375632143793436117e-05);
    c = gess__fma(c, z, -2.77777777770155933842e-03);
    c = gess__fma(c, z, 1.66666666666666019037e-01);
    c = gess__fma(c, z, 2.0);
    double above = c + r, below = c - r, inverse = 1.0 / (above * below);
    uint64_t k1 = ik / 2, k2 = ik - k1;
    double scale1 = gess__from_bits((1023 + k1) << 52), scale2 = gess__from_bits((1023 + k2) << 52);
    double inverse1 = gess__from_bits((1023 - k1) << 52), inverse2 = gess__from_bits((1023 - k2) << 52);
    *plus = gess__select(x == x, above * above * inverse * scale1 * scale2, x);
    *minus = gess__select(x == x, below * below * inverse * inverse1 * inverse2, x);
}

/* sin and cos of 2π t, t in turns, |t| < 2^40. */
GESS__INLINE void gess__sincos_turns(double t, double *sine, double *cosine)
{
    const double magic = 0x1.8p52;
    double shifted = t * 4.0 + magic;
    uint64_t quadrant = gess__bits(shifted);
    double r = t - (shifted - magic) * 0.25;                /* exact, |r| <= 1/8 */
    double x = r * 6.28318530717958623200;                  /* 2π, rounded */
    double tail = gess__fma(r, 6.28318530717958623200, -x); /* rounding error of the product */
    tail = gess__fma(r, 2.44929359829470635445e-16, tail);  /* 2π minus its rounded value */
    double z = x * x;
    double s = 1.58969099521155010221e-10;
    s = gess__fma(s, z, -2.50507602534068634195e-08);
    s = gess__fma(s, z, 2.75573137070700676789e-06);
    s = gess__fma(s, z, -1.98412698298579493134e-04);
    s = gess__fma(s, z, 8.33333333332248946124e-03);
    double cube = z * x;
    double sx = x - ((z * (0.5 * tail - cube * s) - tail) - cube * -1.66666666666666324348e-01);
    double c = -1.13596475577881948265e-11;
    c = gess__fma(c, z, 2.08757232129817482790e-09);
    c = gess__fma(c, z, -2.75573143513906633035e-07);
    c = gess__fma(c, z, 2.48015872894767294178e-05);
    c = gess__fma(c, z, -1.38888888888741095749e-03);
    c = gess__fma(c, z, 4.16666666666666019037e-02);
    double half = 0.5 * z, w = 1.0 - half;
    double cx = w + (((1.0 - w) - half) + (z * (z * c) - x * tail));
    uint64_t odd = (uint64_t)0 - (quadrant & 1);
    uint64_t us = (gess__bits(sx) & ~odd) | (gess__bits(cx) & odd);
    uint64_t uc = (gess__bits(cx) & ~odd) | (gess__bits(sx) & odd);
    *sine = gess__from_bits(us ^ ((quadrant & 2) << 62));
    *cosine = gess__from_bits(uc ^ (((quadrant + 1) & 2) << 62));
}

/* log(1 + e^-z), for any finite z: minus the log of the logistic function. */
GESS__INLINE double gess__softplus_minus(double z)
{
    double magnitude = gess__from_bits(gess__bits(z) & UINT64_C(0x7fffffffffffffff));
    return gess__log1p(gess__exp(-magnitude)) + gess__select(z < 0.0, magnitude, 0.0);
}

/* e^x for |x| <= 700, NaN for NaN. Faster than gess__exp(): no division, no extremes. */
GESS__INLINE double gess__exp_within(double x)
{
    const double ln2_hi = 6.93147180369123816490e-01, ln2_lo = 1.90821492927058770002e-10;
    const double magic = 0x1.8p52;
    double shifted = gess__fma(x, 1.44269504088896338700, magic);
    double k = shifted - magic; /* round(x / log 2) */
    double r = gess__fma(-k, ln2_lo, gess__fma(-k, ln2_hi, x));
    double c = 1.0 / 6227020800.0; /* Taylor's series: |r| < 0.35 */
    c = gess__fma(c, r, 1.0 / 479001600.0);
    c = gess__fma(c, r, 1.0 / 39916800.0);
    c = gess__fma(c, r, 1.0 / 3628800.0);
    c = gess__fma(c, r, 1.0 / 362880.0);
    c = gess__fma(c, r, 1.0 / 40320.0);
    c = gess__fma(c, r, 1.0 / 5040.0);
    c = gess__fma(c, r, 1.0 / 720.0);
    c = gess__fma(c, r, 1.0 / 120.0);
    c = gess__fma(c, r, 1.0 / 24.0);
    c = gess__fma(c, r, 1.0 / 6.0);
    c = gess__fma(c, r, 0.5);
    c = gess__fma(c, r, 1.0);
    c = gess__fma(c, r, 1.0);
    return c * gess__from_bits((gess__bits(shifted) - gess__bits(magic) + 1023) << 52);
}

/* e^-a for a >= 0; e^-700 for a > 700, which is 0 to within 1e-304; NaN for NaN. */
GESS__INLINE double gess__exp_minus(double a)
{
    return gess__exp_within(-gess__select(a > 700.0, 700.0, a));
}

#endif
