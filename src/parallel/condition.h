/* Condition variables that wait by the monotonic clock, the clock of gess__seconds(). */
#ifndef GESS_PARALLEL_CONDITION_H
#define GESS_PARALLEL_CONDITION_H

#include <pthread.h>
#include <time.h>

static inline void gess__condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

/* Waits until the condition is signalled, or for at most `seconds`. */
static inline void gess__condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)(1e9 * (seconds - (double)(time_t)seconds));
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(condition, lock, &until);
}

#endif
