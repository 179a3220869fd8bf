/* What the two sides of gess__processes share: processes.c (this process) and processes_spawner.c (the spawner and the
 * workers). */
#ifndef GESS_PARALLEL_PROCESSES_STATE_H
#define GESS_PARALLEL_PROCESSES_STATE_H

#include "parallel/processes.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

/* The state of a call. It is a futex: whoever waits for a change sleeps on it. */
enum {
    GESS__WORK_IDLE,
    GESS__WORK_ASKED,   /* set by the caller */
    GESS__WORK_RUNNING, /* set by the worker that has taken it */
    GESS__WORK_DONE,    /* set by that worker */
    GESS__WORK_DIED,    /* set by the spawner: the worker ended while it was running the call */
    GESS__WORK_LOST,    /* set by the spawner: the worker ended before it took the call, so nobody has seen it */
    GESS__WORK_NO_FORK  /* set by the spawner: fork() failed */
};

/* A worker's place, in memory that all processes share. */
typedef struct gess__process_seat {
    _Alignas(64) atomic_uint state;
    atomic_int alive;        /* there is a worker; set and cleared by the spawner */
    atomic_int exit_called;  /* by the worker, as long as it is alive: exit() was called */
    atomic_int thread_ended; /* the same for its thread */
    int wait_status;         /* of the last worker that died, by waitpid() */
} gess__process_seat;

struct gess__processes {
    gess__processes_settings settings;
    gess__process_seat *seats; /* settings.workers of them, shared */
    unsigned char *memory;     /* settings.workers × bytes, shared */
    size_t seats_bytes, memory_bytes;
    int socket;  /* to the spawner, or in the spawner to this process; its messages are gess__process_order */
    int spawner; /* its process number */
};

/* An order to the spawner. */
typedef struct gess__process_order {
    uint32_t worker;
    uint32_t kill; /* 0: start it, unless it is alive; 1: kill it, if it is alive */
} gess__process_order;

/* The spawner's life; `parent` is the process that forked it. Does not return. */
_Noreturn void gess__spawner_run(gess__processes *p, int parent);

/* Sleeps while *word is `value`, for `seconds` at most (0: for ever), or until it is woken; may wake early. */
void gess__futex_wait(atomic_uint *word, unsigned value, double seconds);
void gess__futex_wake(atomic_uint *word);

#endif
