/* Starts a thread with a stack that is large enough for fits and for users' densities. */
#ifndef GESS_PARALLEL_THREAD_H
#define GESS_PARALLEL_THREAD_H

#include <pthread.h>

/* To be called first by a thread: a density that asks for its thread's cancellation does not end it later, at a place
 * where others would wait for it for ever. */
static inline void gess__thread_keep(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
}

/* pthread_create(), with at least 2 MiB of stack: musl's default is 128 KiB. Returns its error code. */
static inline int gess__thread_start(pthread_t *thread, void *(*body)(void *data), void *data)
{
    const size_t least = (size_t)2 << 20;
    size_t size = 0;
    pthread_attr_t attributes;
    int code = pthread_attr_init(&attributes);
    if (code != 0) return code;
    if (pthread_attr_getstacksize(&attributes, &size) == 0 && size < least)
        pthread_attr_setstacksize(&attributes, least);
    code = pthread_create(thread, &attributes, body, data);
    pthread_attr_destroy(&attributes);
    return code;
}

#endif
