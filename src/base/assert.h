/* GESS_ASSERT(): checks preconditions at the borders of folders, for mistakes of this program. A user's mistake gets
 * a message instead (base/status.h).
 *
 * Assertions are on in test builds (the presets asan, tsan, debug and coverage set GESS_ASSERTIONS) and off in release,
 * where the condition is compiled but never evaluated. */
#ifndef GESS_BASE_ASSERT_H
#define GESS_BASE_ASSERT_H

#ifdef GESS_ASSERTIONS

/* Prints the condition and its place in the source to stderr, then aborts. */
_Noreturn void gess__assert_failed(const char *condition, const char *file, int line);

#define GESS_ASSERT(condition) ((condition) ? (void)0 : gess__assert_failed(#condition, __FILE__, __LINE__))

#else

#define GESS_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))

#endif

#endif
