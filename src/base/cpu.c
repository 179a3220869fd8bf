/* Asks the processor which of the instruction sets of GESS__VECTOR (base/vmath.h) it has. */
#include "base/cpu.h"

const char *gess__cpu_name(void)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) /* clang builds have no clones */
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return "x86-64-v4 (AVX-512)";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "x86-64-v3 (AVX2, FMA)";
    return "x86-64";
#else
    return "this build's baseline";
#endif
}
