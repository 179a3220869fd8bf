/* Asks the processor for its vector instructions when the library is loaded. It uses the instruction CPUID itself,
 * because __builtin_cpu_supports() of some compilers (zig) cannot be linked, and of others does not know the levels. */
#include "base/cpu.h"

#ifdef __x86_64__
#include <cpuid.h>
#endif

/* Tests build with a smaller limit, to have the code for AVX2 run on processors with AVX-512. */
#ifndef GESS_MAX_VECTORS
#define GESS_MAX_VECTORS GESS__WIDEST_VECTORS
#endif

gess__vectors gess__machine_vectors = GESS__NO_VECTORS;

#ifdef __x86_64__
enum {
    /* leaf 1, ecx: SSE3, SSSE3, FMA, CMPXCHG16B, SSE4.1, SSE4.2, MOVBE, POPCNT, OSXSAVE, AVX, F16C */
    BASIC = 1 << 0 | 1 << 9 | 1 << 12 | 1 << 13 | 1 << 19 | 1 << 20 | 1 << 22 | 1 << 23 | 1 << 27 | 1 << 28 | 1 << 29,
    NARROW = 1 << 3 | 1 << 5 | 1 << 8,              /* leaf 7, ebx: BMI1, AVX2, BMI2 */
    WIDEST = 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30, /* AVX-512 F, DQ, CD, BW; and VL, the sign bit */
    OTHER = 1 << 0 | 1 << 5,                        /* leaf 0x80000001, ecx: LAHF, LZCNT */
    SAVES_NARROW = 0x6,                             /* registers that the system saves */
    SAVES_WIDEST = 0xe6
};

static gess__vectors processor_vectors(void)
{
    unsigned a, b, c, d, basic, saved, high;
    if (!__get_cpuid(1, &a, &b, &basic, &d) || (basic & BASIC) != BASIC) return GESS__NO_VECTORS;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || (c & OTHER) != OTHER) return GESS__NO_VECTORS;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & NARROW) != NARROW) return GESS__NO_VECTORS;
    __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
    if ((saved & SAVES_NARROW) != SAVES_NARROW) return GESS__NO_VECTORS;
    int wide = (b & WIDEST) == WIDEST && b >> 31 == 1 && (saved & SAVES_WIDEST) == SAVES_WIDEST;
    return wide ? GESS__WIDEST_VECTORS : GESS__NARROW_VECTORS;
}

#ifndef GESS_NO_CLONES
__attribute__((constructor)) static void set_vectors(void)
{
    gess__vectors vectors = processor_vectors();
    gess__machine_vectors = vectors < GESS_MAX_VECTORS ? vectors : GESS_MAX_VECTORS;
}
#endif
#endif

const char *gess__cpu_name(void)
{
#ifdef __x86_64__
    static const char *const names[] = {"x86-64", "x86-64-v3 (AVX2, FMA)", "x86-64-v4 (AVX-512)"};
    return names[processor_vectors()];
#else
    return "this build's baseline";
#endif
}
