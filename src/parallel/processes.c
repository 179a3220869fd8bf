/* Forks the spawner, hands calls to workers through shared memory, and waits for answers, deaths, limits and
 * interruptions. */
#include "parallel/processes.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"
#include "parallel/processes_state.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of the kernel's interface; musl's compiler has no <linux/futex.h>. */
#ifndef FUTEX_WAIT
#define FUTEX_WAIT 0
#define FUTEX_WAKE 1
#endif

/* How long a caller sleeps before it looks again whether it is interrupted and the spawner is there. */
#define POLL_SECONDS 0.05

/* Looks at the state this often before the caller sleeps: an answer that comes at once saves a system call. */
enum { SPINS = 200 };

/* ---- the futex ---- */

void gess__futex_wait(atomic_uint *word, unsigned value, double seconds)
{
    struct timespec limit = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    syscall(SYS_futex, word, FUTEX_WAIT, value, seconds > 0.0 ? &limit : NULL, NULL, 0);
}

void gess__futex_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- making and freeing ---- */

static int map_shared(void *out, size_t bytes, gess_error *err)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return gess__fail(err, GESS_ERR_INTERNAL, "no shared memory for worker processes (%zu bytes): %s", bytes,
                          strerror(errno));
    memcpy(out, &memory, sizeof memory);
    return GESS_OK;
}

static int fork_spawner(gess__processes *p, gess_error *err)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return gess__fail(err, GESS_ERR_INTERNAL, "cannot make a socket for worker processes: %s", strerror(errno));
    int parent = getpid();
    fflush(NULL); /* or what is buffered is written by a worker, too */
    p->spawner = fork();
    if (p->spawner == 0) {
        close(ends[0]);
        p->socket = ends[1];
        gess__spawner_run(p, parent);
    }
    int code = errno;
    close(ends[1]);
    p->socket = ends[0];
    if (p->spawner > 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_INTERNAL, "cannot fork a process for the density: %s", strerror(code));
}

int gess__processes_new(gess__processes **out, const gess__processes_settings *settings, gess_error *err)
{
    GESS_ASSERT(settings->workers > 0 && settings->bytes > 0 && settings->work != NULL);
    GESS_ALLOC(out, 1, err);
    gess__processes *p = *out;
    long page = sysconf(_SC_PAGESIZE);
    size_t unit = page > 0 ? (size_t)page : 4096;
    p->settings = *settings;
    p->settings.bytes = (settings->bytes + unit - 1) / unit * unit;
    p->socket = p->spawner = -1;
    p->seats_bytes = settings->workers * sizeof *p->seats;
    p->memory_bytes = settings->workers * p->settings.bytes;
    GESS_TRY(map_shared(&p->seats, p->seats_bytes, err));
    GESS_TRY(map_shared(&p->memory, p->memory_bytes, err));
    return fork_spawner(p, err);
}

void gess__processes_free(gess__processes *p)
{
    if (p == NULL) return;
    if (p->socket >= 0) close(p->socket);
    if (p->spawner > 0)
        while (waitpid(p->spawner, NULL, 0) < 0 && errno == EINTR) continue;
    if (p->seats != NULL) munmap(p->seats, p->seats_bytes);
    if (p->memory != NULL) munmap(p->memory, p->memory_bytes);
    free(p);
}

void *gess__processes_memory(const gess__processes *p, unsigned worker)
{
    GESS_ASSERT(worker < p->settings.workers);
    return p->memory + worker * p->settings.bytes;
}

/* ---- calls ---- */

static void send_order(const gess__processes *p, unsigned worker, int kill_it)
{
    gess__process_order order = {.worker = worker, .kill = (uint32_t)kill_it};
    while (send(p->socket, &order, sizeof order, MSG_NOSIGNAL) < 0 && errno == EINTR) continue;
}

/* Whether the spawner has closed its end: it is dead, and so are the workers. */
static int spawner_is_gone(const gess__processes *p)
{
    char byte;
    ssize_t got = recv(p->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Hands the request over, to a worker that may have to be started. */
static void ask(gess__processes *p, unsigned worker)
{
    gess__process_seat *seat = &p->seats[worker];
    atomic_store(&seat->state, GESS__WORK_ASKED);
    if (atomic_load(&seat->alive))
        gess__futex_wake(&seat->state);
    else
        send_order(p, worker, 0);
}

static int is_over(unsigned state)
{
    return state != GESS__WORK_ASKED && state != GESS__WORK_RUNNING;
}

/* Waits until the call is over, or `until`; returns the state. */
static unsigned await_change(gess__process_seat *seat, double until)
{
    unsigned state = GESS__WORK_IDLE;
    for (int i = 0; i < SPINS; i++)
        if (is_over(state = atomic_load_explicit(&seat->state, memory_order_acquire))) return state;
    double left = until - gess__seconds();
    if (left > 0.0) gess__futex_wait(&seat->state, state, left < POLL_SECONDS ? left : POLL_SECONDS);
    return atomic_load(&seat->state);
}

/* Kills the worker and waits until it is dead. */
static enum gess__process_end kill_worker(gess__processes *p, unsigned worker, enum gess__process_end end)
{
    gess__process_seat *seat = &p->seats[worker];
    send_order(p, worker, 1);
    while (atomic_load(&seat->alive) && !spawner_is_gone(p)) {
        unsigned state = atomic_load(&seat->state);
        gess__futex_wait(&seat->state, state, 0.001);
    }
    return end;
}

static enum gess__process_end read_death(const gess__process_seat *seat, gess__process_death *death)
{
    int status = seat->wait_status;
    *death = (gess__process_death){.thread_ended = atomic_load(&seat->thread_ended)};
    if (WIFSIGNALED(status)) death->signal = WTERMSIG(status);
    if (WIFEXITED(status)) death->status = atomic_load(&seat->exit_called) ? -1 : WEXITSTATUS(status);
    return GESS__PROCESS_DIED;
}

enum gess__process_end gess__processes_call(gess__processes *p, unsigned worker, double seconds,
                                            gess__interrupt_fn *interrupt, void *user, gess__process_death *death)
{
    GESS_ASSERT(worker < p->settings.workers);
    gess__process_seat *seat = &p->seats[worker];
    double now = gess__seconds(), limit = seconds > 0.0 ? now + seconds : 1e300;
    for (ask(p, worker);;) {
        unsigned state = await_change(seat, limit);
        if (state == GESS__WORK_DONE) return GESS__PROCESS_DONE;
        if (state == GESS__WORK_DIED) return read_death(seat, death);
        if (state == GESS__WORK_NO_FORK) return GESS__PROCESS_FAILED;
        if (state == GESS__WORK_LOST) ask(p, worker);
        if (spawner_is_gone(p)) return GESS__PROCESS_FAILED;
        if (interrupt != NULL && interrupt(user)) return kill_worker(p, worker, GESS__PROCESS_INTERRUPTED);
        if (gess__seconds() > limit) return kill_worker(p, worker, GESS__PROCESS_LATE);
    }
}

void gess__process_describe(const gess__process_death *death, char *text, size_t size)
{
    if (death->thread_ended)
        snprintf(text, size, "ended its thread (pthread_exit)");
    else if (death->signal != 0)
        snprintf(text, size, "crashed with signal %d (%s)", death->signal, strsignal(death->signal));
    else if (death->status == -1)
        snprintf(text, size, "called exit()");
    else
        snprintf(text, size, "ended its process with exit status %d", death->status);
}
