/* Monotonic time, for progress, limits and measurements. No draw may depend on it. */
#ifndef GESS_BASE_CLOCK_H
#define GESS_BASE_CLOCK_H

#include <time.h>

/* Seconds since some moment in the past. */
static inline double gess__seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
