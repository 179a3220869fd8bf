/* The parent waits for the child that runs the command. It passes on signals, ends the child if a stop or --max-time is
 * not heeded because the density does not return, and explains a child that did not end by itself: which point was
 * being evaluated is in memory that both share, where every worker of the child notes it before a call. */
#include "supervise.h"

#include "command.h"
#include "crash.h"
#include "launch.h"
#include "shared.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A child that is asked to stop has this long before it is killed; with it the command ends within two seconds. */
#define PATIENCE 1.5
/* The same for rank 0 of several: what it gives up is lost to the others, too, since their evaluations since the last
 * checkpoint are in no journal. */
#define PATIENCE_WITH_RANKS 30.0
/* Of several ranks whose densities crash together one speaks: the others wait, by their rank, and are ended meanwhile.
 */
#define TURN 0.1

static struct shared *shared; /* NULL: there is no parent */
static pid_t child;
static int rank, ranks = 1;

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the child ---- */

static pthread_key_t evaluating; /* set to a thread's slot; its destructor finds threads that end in the density */

static int has_key;

static struct slot own_slot; /* of supervised_call(), if there is no parent */

static void on_thread_end(void *slot)
{
    if (!atomic_load(&((struct slot *)slot)->active)) return;
    if (shared != NULL)
        atomic_store(&shared->thread_ended, 1);
    else
        fprintf(stderr, "gess: the density ended its thread (pthread_exit)\n");
    _exit(GESS_ERR_MODEL);
}

static void watch(void *user, unsigned worker, const gess_evaluation *e)
{
    (void)user;
    if (e->what == GESS_WATCH_SAVING || e->what == GESS_WATCH_SAVED) {
        atomic_store(&shared->saving, e->what == GESS_WATCH_SAVING);
        return;
    }
    struct slot *slot = slot_of(shared, worker);
    if (slot == NULL) return;
    if (e->what == GESS_WATCH_RETURNED) {
        atomic_store_explicit(&slot->active, 0, memory_order_release);
        return;
    }
    if (pthread_getspecific(evaluating) != slot) pthread_setspecific(evaluating, slot);
    slot_note(shared, slot, e);
    atomic_store_explicit(&slot->active, 1, memory_order_release);
}

void supervised_begin(const char *model, const char *data, const char *directory)
{
    if (shared == NULL) return;
    atomic_store(&shared->opened, 0);
    snprintf(shared->model, sizeof shared->model, "%s", model);
    snprintf(shared->data, sizeof shared->data, "%s", data);
    snprintf(shared->directory, sizeof shared->directory, "%s", directory);
    atomic_store(&shared->phase, RUNNING);
}

void supervised_directory(const char *directory)
{
    if (shared != NULL) snprintf(shared->directory, sizeof shared->directory, "%s", directory);
}

void supervised_opened(void)
{
    if (shared != NULL) atomic_store(&shared->opened, 1);
}

static int make_key(gess_error *err)
{
    if (has_key || pthread_key_create(&evaluating, on_thread_end) == 0) return has_key = 1, GESS_OK;
    return fail(err, GESS_ERR_INTERNAL, "cannot make a key for threads");
}

/* A slot for each; the runs of `compare` may have different numbers of them. */
static void set_workers(unsigned workers)
{
    if (shared->workers == workers) return;
    shared->workers = workers;
    for (unsigned worker = 0; worker < workers; worker++) {
        struct slot *slot = slot_of(shared, worker);
        if (slot != NULL) atomic_store(&slot->active, 0);
    }
}

int supervised_watch(gess_options *options, gess_error *err)
{
    if (shared == NULL) return GESS_OK;
    unsigned workers;
    TRY(gess_options_workers(options, &workers, err));
    set_workers(workers);
    TRY(make_key(err));
    return gess_options_set_watch(options, watch, NULL, err);
}

int supervised_call(size_t n, size_t dim, const double *x, gess_error *err)
{
    TRY(make_key(err));
    if (shared == NULL) {
        pthread_setspecific(evaluating, &own_slot);
        atomic_store(&own_slot.active, x != NULL);
        return GESS_OK;
    }
    set_workers(1);
    const gess_evaluation e = {.what = x != NULL ? GESS_WATCH_DENSITY : GESS_WATCH_RETURNED,
                               .n = n,
                               .dim = dim,
                               .x = x};
    watch(NULL, 0, &e);
    return GESS_OK;
}

void supervised_limit(double seconds)
{
    if (shared != NULL && seconds > 0.0) shared->limit = shared->began + seconds;
}

int supervised_evaluating(void)
{
    const struct slot *slot = shared != NULL && has_key ? pthread_getspecific(evaluating) : NULL;
    return slot != NULL && atomic_load(&slot->active);
}

int supervised_out_of_time(void)
{
    return shared != NULL && atomic_load(&shared->out_of_time);
}

void supervised_report(void)
{
    if (shared != NULL) atomic_store(&shared->phase, REPORTING);
}

void supervised_end(int status)
{
    if (shared == NULL) return;
    shared->status = status;
    atomic_store(&shared->phase, ENDED);
}

/* ---- the parent ---- */

static volatile sig_atomic_t asked; /* signals that asked for a stop */
static volatile double asked_at;
static volatile sig_atomic_t is_gone; /* the child has been waited for: its number may be another process's */
static const int forwarded[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGQUIT};

/* A terminal sends its signals to both processes; others are passed on. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    int code = errno;
    if (asked++ == 0) asked_at = seconds_now();
    if (info->si_code <= 0 && !is_gone) kill(child, number);
    errno = code;
}

static void handle_signals(void)
{
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) {
        struct sigaction old;
        /* nohup's choice stays; the child handles the others, even if a shell ignores them for its background jobs */
        int number = forwarded[i], ignored = sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
        if (!ignored || (number != SIGHUP && number != SIGQUIT)) sigaction(number, &action, NULL);
    }
}

/* At the first signal: what the stop waits for. */
static void print_waiting(void)
{
    size_t busy = 0;
    uint64_t chain = 0;
    for (unsigned worker = 0; worker < shared->workers; worker++) {
        const struct slot *slot = slot_of(shared, worker);
        if (slot == NULL || !atomic_load(&slot->active)) continue;
        busy++;
        if (chain == 0) chain = slot->chain[0];
    }
    fprintf(stderr, "\ngess: stopping; waiting for ");
    if (busy == 0)
        fprintf(stderr, "the updates under way");
    else
        fprintf(stderr, "%zu call%s of the density", busy, busy == 1 ? "" : "s");
    if (chain > 0) fprintf(stderr, " (chain %llu%s)", (unsigned long long)chain, busy > 1 ? " and others" : "");
    fprintf(stderr, ", two seconds at most; another signal quits at once\n");
}

/* Whether the child may take its time. A long summary is not worth waiting for: resume makes it. */
static int is_excused(void)
{
    return atomic_load(&shared->saving) || atomic_load(&shared->phase) == ENDED;
}

static void rest(double seconds)
{
    struct timespec pause = {.tv_sec = 0, .tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&pause, NULL);
}

static double patience(void)
{
    return ranks > 1 ? PATIENCE_WITH_RANKS : PATIENCE;
}

/* At the time limit: asks the child to stop, once. Returns whether it has had its time to do so; that counts from the
 * request, since both processes may have been stopped meanwhile. */
static int enforce_limit(double now, int running)
{
    static double told_at;
    if (shared->limit <= 0.0 || now <= shared->limit || rank > 0) return 0;
    if (told_at > 0.0) return now > told_at + patience();
    told_at = now;
    atomic_store(&shared->out_of_time, 1);
    if (running) kill(child, SIGUSR1);
    return 0;
}

/* Waits for the child and ends it if it does not stop in time. Returns what waitpid() says; *killed: 1 after a signal,
 * 2 after the time limit. */
static int wait_for_child(int *killed)
{
    int status, said = 0;
    double pause = 0.001;
    siginfo_t ended;
    *killed = 0;
    for (;;) {
        ended.si_pid = 0;
        if (waitid(P_PID, (id_t)child, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == child) break;
        double now = seconds_now();
        int running = atomic_load(&shared->phase) == RUNNING, stopping = asked > 0;
        /* launchers pass signals on, also when another rank has failed */
        if (stopping && running && shared->makes_run && !said && ranks == 1 && now - asked_at > 0.05) {
            said = 1;
            print_waiting();
        }
        int late = enforce_limit(now, running);
        if (!*killed && !is_excused() && (late || (stopping && rank == 0 && now - asked_at > patience()))) {
            *killed = late ? 2 : 1;
            kill(child, SIGKILL);
        }
        rest(pause);
        pause = pause < 0.02 ? 1.2 * pause : 0.02;
    }
    is_gone = 1; /* before its number is free */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

/* Ends this process as the child ended. */
static void end_by_signal(int number)
{
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
    _exit(128 + number);
}

/* Whether what reads standard output or standard error is gone: then nobody sees a message. */
static int nobody_reads(void)
{
    struct pollfd streams[] = {{.fd = STDOUT_FILENO, .events = POLLOUT}, {.fd = STDERR_FILENO, .events = POLLOUT}};
    return poll(streams, 2, 0) > 0 && ((streams[0].revents | streams[1].revents) & POLLERR);
}

/* Of several ranks: waits for this one's turn to speak. Does not return if it was ended meanwhile, since another has
 * failed and spoken, or the user wanted a stop. */
static void take_turn(void)
{
    double until = seconds_now() + TURN * (rank < 20 ? rank : 20);
    if (ranks == 1) return;
    while (asked == 0 && seconds_now() < until) rest(0.01);
    if (asked > 0) _exit(GESS_ERR_INTERNAL);
}

/* The child died by a signal. */
static void end_after_signal(int number)
{
    /* stopped where the run does not heed a signal: while starts are evaluated, or the summary is made */
    int phase = atomic_load(&shared->phase), underway = phase == RUNNING || phase == REPORTING;
    /* all is written: a destructor of the model, or too late a signal */
    if (phase == ENDED) _exit(rank == 0 ? shared->status : GESS_OK);
    if (underway && number == SIGUSR1 && atomic_load(&shared->out_of_time)) _exit(explain_stop(shared, 1));
    if (underway) take_turn();
    if (underway && shared->makes_run && asked == 1 && (number == SIGINT || number == SIGTERM || number == SIGUSR1))
        _exit(explain_stop(shared, 0));
    if (underway && number == SIGKILL && asked == 0) explain_kill(shared);
    static const int asked_for[] = {SIGINT, SIGTERM, SIGUSR1, SIGHUP, SIGQUIT, SIGKILL};
    for (size_t i = 0; i < sizeof asked_for / sizeof *asked_for; i++)
        if (asked_for[i] == number) end_by_signal(number);
    if (number == SIGPIPE && nobody_reads()) end_by_signal(number); /* otherwise it was a pipe of the density */
    if (!underway) end_by_signal(number);
    _exit(explain_crash(shared, number, 0));
}

static void parent(void)
{
    int killed, status = wait_for_child(&killed);
    if (killed) _exit(explain_stop(shared, killed == 2));
    if (!WIFEXITED(status)) end_after_signal(WTERMSIG(status));
    int code = WEXITSTATUS(status), phase = atomic_load(&shared->phase);
    if (phase == ENDED || phase == STARTING) _exit(code != 0 || rank > 0 ? code : shared->status);
    take_turn();
    _exit(explain_crash(shared, 0, code));
}

/* Whether a command of this name runs a density. */
static int is_supervised(const char *name)
{
    static const char *const names[] = {"sample", "resume", "eval", "evidence", "compare"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return 1;
    return 0;
}

void supervise(const char *name)
{
    const char *alone = getenv("GESS_NO_SUPERVISOR");
    if (!is_supervised(name) || (alone != NULL && *alone == '1')) return;
    if (gess_comm_launched(&rank, &ranks, NULL) != GESS_OK) return;
    struct shared *s =
        mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (s == MAP_FAILED) return;
    s->began = seconds_now();
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    if (ranks > 1) snprintf(s->rank, sizeof s->rank, "rank %d on %s: ", rank, host);
    s->makes_run = strcmp(name, "sample") == 0 || strcmp(name, "resume") == 0;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* until the child is known to the handler */
    pid_t self = getpid();
    child = fork();
    if (child == 0) {
        shared = s;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        char number[32];
        snprintf(number, sizeof number, "%ld", (long)self);
        setenv("GESS_SUPERVISOR", number, 1);            /* for the lock of the run directory */
        if (getppid() != self) _exit(GESS_ERR_INTERNAL); /* the parent is gone already */
        return;
    }
    if (child > 0) {
        shared = s;
        handle_signals();
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (child > 0) parent();
    munmap(s, SHARED_BYTES); /* no fork: alone, then */
}
