/* How the processor rounds, what it does with numbers below DBL_MIN, and which of its exceptions trap: control bits of
 * a thread that a user's function may leave changed, and on which the bits of everything after it depend. */
#ifndef GESS_BASE_ARITHMETIC_H
#define GESS_BASE_ARITHMETIC_H

#include <fenv.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#define GESS__CONTROL 0xffc0u /* the rest of MXCSR: exceptions that have occurred */

static inline unsigned gess__arithmetic(void)
{
    return _mm_getcsr() & GESS__CONTROL;
}

static inline void gess__arithmetic_restore(unsigned before)
{
    unsigned now = _mm_getcsr();
    if ((now & GESS__CONTROL) == before) return;
    fesetenv(FE_DFL_ENV); /* the x87 unit, too: printf() asks it how to round */
    _mm_setcsr((now & ~GESS__CONTROL) | before);
}
#elif defined(__aarch64__) && defined(__GNUC__)
static inline unsigned gess__arithmetic(void)
{
    unsigned long control;
    __asm__ volatile("mrs %0, fpcr" : "=r"(control));
    return (unsigned)control;
}

static inline void gess__arithmetic_restore(unsigned before)
{
    if (gess__arithmetic() == before) return;
    unsigned long control = before;
    __asm__ volatile("msr fpcr, %0" : : "r"(control));
}
#else
static inline unsigned gess__arithmetic(void)
{
    return (unsigned)fegetround();
}

static inline void gess__arithmetic_restore(unsigned before)
{
    if (gess__arithmetic() != before) fesetround((int)before);
}
#endif

#endif
