/* Worker processes: numbered processes that do one piece of work after another for the threads of this one.
 *
 * gess__processes_new() forks one process, the SPAWNER, before the caller starts its threads. It has one thread, does
 * no work, and forks the workers, so that a worker that is lost at any later time can be replaced although this process
 * has threads by then. A worker and this process share `bytes` of memory: the caller writes its request there,
 * gess__processes_call() has the worker do it, and the answer is there afterwards.
 *
 * Who ends with whom: the spawner ends, with all workers, when this process ends in whatever way (its end of a socket
 * closes), and the workers end when the spawner does (PR_SET_PDEATHSIG). The spawner collects workers that end, so none
 * stays behind as a zombie, and wakes the thread that waits for the one that was lost. */
#ifndef GESS_PARALLEL_PROCESSES_H
#define GESS_PARALLEL_PROCESSES_H

#include "base/status.h"

typedef struct gess__processes gess__processes;

/* Does the piece of work whose request is in `memory`, in the worker process. */
typedef void gess__process_work_fn(void *data, unsigned worker, void *memory);

typedef struct gess__processes_settings {
    unsigned workers;
    size_t bytes; /* of memory per worker */
    gess__process_work_fn *work;
    void *data;      /* for work(): the workers have a copy of it as it is when the spawner is forked */
    int keep_cores;  /* a worker that crashes may leave a core file */
    size_t max_grow; /* bytes by which a worker may grow before it is replaced, between two calls; 0: no limit */
} gess__processes_settings;

/* No worker is started before its first call. */
int gess__processes_new(gess__processes **processes, const gess__processes_settings *settings, gess_error *err);
/* Ends the spawner and all workers, and waits for that. */
void gess__processes_free(gess__processes *processes /* or NULL */);

void *gess__processes_memory(const gess__processes *processes, unsigned worker);

/* How a call ended. */
enum gess__process_end {
    GESS__PROCESS_DONE,        /* the answer is there */
    GESS__PROCESS_DIED,        /* the worker ended; `death` says how */
    GESS__PROCESS_LATE,        /* it took longer than the limit, and was killed */
    GESS__PROCESS_INTERRUPTED, /* interrupt() said so, and it was killed */
    GESS__PROCESS_FAILED,      /* no worker can be started any more: the spawner is gone, or fork() fails */
    GESS__PROCESS_WRONG        /* of an external program: what it wrote is no answer */
};

/* How a worker ended: by a signal, by exit(), by _exit(), or its thread by pthread_exit(). */
typedef struct gess__process_death {
    int signal;       /* 0: none */
    int status;       /* of _exit(); -1: exit() was called, with a status that is not known */
    int thread_ended; /* its only thread ended */
} gess__process_death;

/* Polled while a call is under way; other than 0: the call must end now. */
typedef int gess__interrupt_fn(void *user);

/* Has a worker do what its memory asks for; starts it if there is none. One thread at a time per worker. `seconds`: the
 * limit; 0: none. */
enum gess__process_end gess__processes_call(gess__processes *processes, unsigned worker, double seconds,
                                            gess__interrupt_fn *interrupt, void *user, gess__process_death *death);

/* Writes the death as words that follow "the density": "crashed with signal 11 (Segmentation fault)". */
void gess__process_describe(const gess__process_death *death, char *text, size_t size);

#endif
