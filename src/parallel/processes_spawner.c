/* The spawner, which forks, collects and kills workers by order, and the life of a worker.
 *
 * The spawner sleeps in poll() until an order comes, a worker has ended (a signalfd for SIGCHLD), or the parent has
 * ended: its end of the socket closes, or, should another process have inherited that, its pidfd says so. */
#include "parallel/processes_state.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct spawner {
    gess__processes *p;
    pid_t *pids;          /* per worker; 0: none */
    int children, parent; /* a signalfd and a pidfd; parent -1: not known */
    sigset_t mask;        /* the parent's, for the workers */
} spawner;

/* Signals for the run: a terminal or a batch system sends them to every process of the group, and the parent decides
 * what they mean. */
static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1};
/* What a crash ends a worker with, whatever handlers the parent has. */
static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

enum { SECONDS_TO_END = 2 };

/* ---- a worker ---- */

static gess__process_seat *own_seat; /* of this worker */

static void on_exit_called(void)
{
    if (own_seat == NULL) return;
    atomic_store(&own_seat->exit_called, 1);
    fflush(stdout);
    _exit(0); /* the parent's exit handlers are not this process's business */
}

static void on_thread_end(void *seat)
{
    atomic_store(&((gess__process_seat *)seat)->thread_ended, 1);
    _exit(0);
}

/* Bytes of private memory, near enough: resident minus shared pages; 0: not known. */
static size_t private_bytes(void)
{
    char line[256] = "", *at = line;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file != NULL && fgets(line, sizeof line, file) == NULL) line[0] = '\0';
    if (file != NULL) fclose(file);
    strtoul(at, &at, 10); /* the size, which does not matter */
    unsigned long resident = strtoul(at, &at, 10), shared = strtoul(at, &at, 10);
    return resident > shared ? (resident - shared) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Whether the worker has grown too much; looks ten times per second at most. */
static int is_too_large(size_t max_grow, size_t *first, double *looked)
{
    double now = max_grow > 0 ? seconds_now() : 0.0;
    if (max_grow == 0 || now - *looked < 0.1) return 0;
    *looked = now;
    size_t bytes = private_bytes();
    if (*first == 0) *first = bytes;
    return bytes > *first + max_grow;
}

/* Takes calls until it is killed or has grown too much. */
static void serve(gess__processes *p, unsigned worker)
{
    gess__process_seat *seat = &p->seats[worker];
    void *memory = p->memory + worker * p->settings.bytes;
    size_t first = 0;
    double looked = 0.0;
    while (!is_too_large(p->settings.max_grow, &first, &looked)) {
        unsigned state = GESS__WORK_ASKED;
        while (!atomic_compare_exchange_strong(&seat->state, &state, GESS__WORK_RUNNING)) {
            gess__futex_wait(&seat->state, state, 0.0);
            state = GESS__WORK_ASKED;
        }
        p->settings.work(p->settings.data, worker, memory);
        fflush(stdout);
        atomic_store(&seat->state, GESS__WORK_DONE);
        gess__futex_wake(&seat->state);
    }
}

_Noreturn static void live(const spawner *s, unsigned worker, pid_t spawner_number)
{
    gess__processes *p = s->p;
    pthread_key_t key;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != spawner_number) _exit(0);
    close(p->socket);
    close(s->children);
    if (s->parent >= 0) close(s->parent);
    prctl(PR_SET_NAME, "gess-worker");
    if (!p->settings.keep_cores) prctl(PR_SET_DUMPABLE, 0);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) signal(fatal[i], SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_SETMASK, &s->mask, NULL);
    own_seat = &p->seats[worker];
    if (atexit(on_exit_called) != 0 || pthread_key_create(&key, on_thread_end) != 0) _exit(0);
    pthread_setspecific(key, own_seat);
    serve(p, worker);
    _exit(0);
}

/* ---- the spawner ---- */

static void start(spawner *s, unsigned worker)
{
    gess__process_seat *seat = &s->p->seats[worker];
    if (s->pids[worker] > 0) return;
    atomic_store(&seat->exit_called, 0);
    atomic_store(&seat->thread_ended, 0);
    atomic_store(&seat->alive, 1);
    pid_t self = getpid(), pid = fork();
    if (pid == 0) live(s, worker, self);
    if (pid > 0) {
        s->pids[worker] = pid;
        return;
    }
    unsigned state = GESS__WORK_ASKED;
    atomic_store(&seat->alive, 0);
    if (atomic_compare_exchange_strong(&seat->state, &state, GESS__WORK_NO_FORK)) gess__futex_wake(&seat->state);
}

/* Says that a worker is gone. A call that it had not taken can go to another one. */
static void report(gess__process_seat *seat, int wait_status)
{
    unsigned running = GESS__WORK_RUNNING, asked = GESS__WORK_ASKED;
    seat->wait_status = wait_status;
    atomic_store(&seat->alive, 0);
    if (!atomic_compare_exchange_strong(&seat->state, &running, GESS__WORK_DIED))
        atomic_compare_exchange_strong(&seat->state, &asked, GESS__WORK_LOST);
    gess__futex_wake(&seat->state);
}

static void collect(spawner *s)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (unsigned worker = 0; worker < s->p->settings.workers; worker++)
            if (s->pids[worker] == pid) {
                s->pids[worker] = 0;
                report(&s->p->seats[worker], status);
            }
}

/* Ends all workers and this process. */
_Noreturn static void end(spawner *s)
{
    unsigned left = 0;
    for (unsigned worker = 0; worker < s->p->settings.workers; worker++)
        if (s->pids[worker] > 0) {
            kill(s->pids[worker], SIGKILL);
            left++;
        }
    alarm(SECONDS_TO_END); /* should one of them be stuck in the kernel */
    while (left > 0 && waitpid(-1, NULL, 0) > 0) left--;
    _exit(0);
}

/* Takes one order; 0: the parent has closed its end. */
static int take_order(spawner *s)
{
    gess__process_order order;
    ssize_t got = recv(s->p->socket, &order, sizeof order, 0);
    if (got < 0) return errno == EINTR || errno == EAGAIN;
    if (got != sizeof order || order.worker >= s->p->settings.workers) return 0;
    if (!order.kill)
        start(s, order.worker);
    else if (s->pids[order.worker] > 0)
        kill(s->pids[order.worker], SIGKILL);
    return 1;
}

static void set_up(spawner *s, int parent)
{
    sigset_t child;
    signal(SIGALRM, SIG_DFL);
    signal(SIGCHLD, SIG_DFL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child, &s->mask);
    prctl(PR_SET_NAME, "gess-spawner");
    s->children = signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    s->parent = -1;
#ifdef SYS_pidfd_open
    s->parent = (int)syscall(SYS_pidfd_open, parent, 0);
#endif
    s->pids = calloc(s->p->settings.workers, sizeof *s->pids);
    if (s->children < 0 || s->pids == NULL || getppid() != parent) _exit(0);
}

_Noreturn void gess__spawner_run(gess__processes *p, int parent)
{
    spawner s = {.p = p};
    set_up(&s, parent);
    for (;;) {
        struct pollfd files[] = {{.fd = p->socket, .events = POLLIN},
                                 {.fd = s.children, .events = POLLIN},
                                 {.fd = s.parent, .events = POLLIN}};
        if (poll(files, 3, -1) < 0 && errno != EINTR) end(&s);
        struct signalfd_siginfo info;
        while (read(s.children, &info, sizeof info) > 0) continue;
        collect(&s);
        if (files[2].revents != 0) end(&s);
        if (files[0].revents != 0 && !take_order(&s)) end(&s);
    }
}
