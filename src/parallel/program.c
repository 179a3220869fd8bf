/* Starts external programs, and exchanges bytes with them without ever blocking: whatever a program does or does not do
 * with its three streams, this side polls, and looks at the clock and at whether it is interrupted. */
#include "parallel/program.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long a wait lasts before the next look at the clock, and how long a program that has closed its output may take
 * to end. */
#define POLL_SECONDS 0.05
#define END_SECONDS 0.5

enum { BUFFER = 1 << 16, LINE = 400, MAX_DRAIN = 1 << 22 };

struct gess__program {
    pid_t process; /* and its group; 0: it has been waited for */
    const gess__keeper *keeper;
    int in, in_reader; /* both ends of its input: with a reader of our own, writing never raises SIGPIPE */
    int out, errors;
    int wait_status; /* valid if process == 0 */
    int status_known;
    gess__program_heard_fn *heard;
    void *user;
    char line[LINE + 1], last[LINE + 1]; /* of standard error: the present line, and the last one that was not empty */
    size_t length;
    char buffer[BUFFER];
};

/* ---- starting ---- */

/* Announces itself to the keeper before the command begins, so that no moment is left in which nobody would kill it. */
static const char launcher[] = "echo \"+ $$\" >&3; exec 3>&-; exec /bin/sh -c \"$0\"";

/* Whether a command is a program with its arguments, for which the shell need not stay. */
static int is_simple(const char *command)
{
    static const char *const builtins[] = {"exit", "cd", "eval", "exec", ".", ":"};
    size_t first = strcspn(command, " \t");
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (first == strlen(builtins[i]) && strncmp(command, builtins[i], first) == 0) return 0;
    return strpbrk(command, ";&|(){}`\n#") == NULL && memchr(command, '=', first) == NULL && command[0] != '!';
}

static size_t name_length(const char *variable)
{
    return strcspn(variable, "=") + 1;
}

/* The environment of this process with `more` in it; freed by the caller as one block. */
static char **make_environment(const char *const *more)
{
    size_t count = 0, used = 0;
    for (char **e = environ; *e != NULL; e++) count++;
    for (const char *const *m = more; *m != NULL; m++) count++;
    char **all = calloc(count + 1, sizeof *all);
    if (all == NULL) return NULL;
    for (char **e = environ; *e != NULL; e++) {
        int replaced = 0;
        for (const char *const *m = more; *m != NULL; m++) replaced |= strncmp(*e, *m, name_length(*m)) == 0;
        if (!replaced) all[used++] = *e;
    }
    for (const char *const *m = more; *m != NULL; m++) memcpy(&all[used++], m, sizeof *all);
    return all;
}

static void set_files(posix_spawn_file_actions_t *files, int in, int out, int errors, int keeper)
{
    const int from[] = {in, out, errors, keeper};
    posix_spawn_file_actions_init(files);
    for (int i = 0; i < 4; i++) posix_spawn_file_actions_adddup2(files, from[i], i);
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 34)
    posix_spawn_file_actions_addclosefrom_np(files, 4);
#endif
}

static int spawn(gess__program *p, const char *command, const char *const *environment, int in, int out, int errors,
                 gess_error *err)
{
    char name[] = "sh", option[] = "-c", text[sizeof launcher], *words = NULL;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    sigset_t none, all;
    char **variables = make_environment(environment);
    size_t room = strlen(command) + 6;
    int status = gess__alloc_bytes(&words, room, 1, "command", err);
    if (status == GESS_OK && variables == NULL) status = gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    if (status == GESS_OK) {
        char *arguments[] = {name, option, text, words, NULL};
        memcpy(text, launcher, sizeof launcher);
        snprintf(words, room, "%s%s", is_simple(command) ? "exec " : "", command);
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_init(&attributes);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        set_files(&files, in, out, errors, gess__keeper_pipe(p->keeper));
        int code = posix_spawn(&p->process, "/bin/sh", &files, &attributes, arguments, variables);
        posix_spawn_file_actions_destroy(&files);
        posix_spawnattr_destroy(&attributes);
        if (code != 0) status = gess__fail(err, GESS_ERR_INTERNAL, "cannot start /bin/sh: %s", strerror(code));
    }
    free(words);
    free(variables);
    return status;
}

static void close_end(int *descriptor)
{
    if (*descriptor > 0) close(*descriptor);
    *descriptor = 0;
}

int gess__program_start(gess__program **out, const gess__keeper *keeper, const char *command,
                        const char *const *environment, gess__program_heard_fn *heard, void *user, gess_error *err)
{
    int in[2] = {0}, output[2] = {0}, errors[2] = {0};
    *out = NULL;
    GESS_ALLOC(out, 1, err);
    gess__program *p = *out;
    p->keeper = keeper;
    p->heard = heard;
    p->user = user;
    int status = gess__pipe(in, err);
    if (status == GESS_OK) status = gess__pipe(output, err);
    if (status == GESS_OK) status = gess__pipe(errors, err);
    p->in_reader = in[0];
    p->in = in[1];
    p->out = output[0];
    p->errors = errors[0];
    if (status == GESS_OK) {
        const int ours[] = {p->in, p->out, p->errors};
        for (int i = 0; i < 3; i++) fcntl(ours[i], F_SETFL, O_NONBLOCK);
        status = spawn(p, command, environment, in[0], output[1], errors[1], err);
    }
    close_end(&output[1]);
    close_end(&errors[1]);
    if (status == GESS_OK) return GESS_OK;
    p->process = 0;
    gess__program_abandon(p);
    *out = NULL;
    return status;
}

/* ---- ending ---- */

void gess__program_abandon(gess__program *p)
{
    if (p == NULL) return;
    close_end(&p->in);
    close_end(&p->in_reader);
    close_end(&p->out);
    close_end(&p->errors);
    free(p);
}

static int has_ended(const gess__program *p)
{
    siginfo_t info = {0};
    int code = waitid(P_PID, (id_t)p->process, &info, WEXITED | WNOHANG | WNOWAIT);
    return code == 0 ? info.si_pid != 0 : errno != EINTR;
}

/* If it has ended: ends what it has started, and collects it. */
static int collect(gess__program *p)
{
    if (p->process == 0) return 1;
    if (!has_ended(p)) return 0;
    kill(-p->process, SIGKILL); /* while its number cannot be another's */
    gess__keeper_forget(p->keeper, p->process);
    p->status_known = waitpid(p->process, &p->wait_status, 0) == p->process;
    p->process = 0;
    return 1;
}

/* Waits for its end for `seconds`; whether it has ended. */
static int wait_for(gess__program *p, double seconds)
{
    double until = gess__seconds() + seconds;
    for (struct timespec pause = {.tv_nsec = 500000}; !collect(p); nanosleep(&pause, NULL)) {
        if (gess__seconds() >= until) return 0;
        if (pause.tv_nsec < 16000000) pause.tv_nsec *= 2;
    }
    return 1;
}

static void kill_it(gess__program *p)
{
    if (p->process == 0) return;
    kill(-p->process, SIGKILL);
    kill(p->process, SIGKILL); /* should it not have made its group yet */
    wait_for(p, 10.0);
}

void gess__program_end_input(gess__program *p)
{
    if (p == NULL) return;
    close_end(&p->in);
    close_end(&p->in_reader);
}

void gess__program_stop(gess__program *p, double patience)
{
    if (p == NULL) return;
    gess__program_end_input(p);
    if (patience <= 0.0 || !wait_for(p, patience)) kill_it(p);
    gess__program_abandon(p);
}

/* ---- its standard error ---- */

void gess__program_show(const char *bytes, size_t size, char *text, size_t room)
{
    static const char more[] = "…";
    size_t shown = 0;
    while (shown < size && shown + sizeof more < room) {
        unsigned char c = (unsigned char)bytes[shown];
        text[shown++] = (char)((c < 32 && c != '\t') || c == 127 ? '?' : c);
    }
    text[shown] = '\0';
    if (shown < size) strcpy(text + shown, more);
}

static void end_line(gess__program *p)
{
    char text[sizeof p->line];
    while (p->length > 0 && (p->line[p->length - 1] == '\r' || p->line[p->length - 1] == ' ')) p->length--;
    gess__program_show(p->line, p->length, text, sizeof text);
    if (p->length > 0) memcpy(p->last, text, sizeof text);
    if (p->length > 0 && p->heard != NULL) p->heard(p->user, text);
    p->length = 0;
}

/* What is beyond LINE bytes of a line is dropped. Returns whether there may be more. */
static int read_errors(gess__program *p)
{
    ssize_t got = p->errors > 0 ? read(p->errors, p->buffer, sizeof p->buffer) : 0;
    for (ssize_t i = 0; i < got; i++) {
        if (p->buffer[i] == '\n')
            end_line(p);
        else if (p->length < LINE)
            p->line[p->length++] = p->buffer[i];
    }
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR))) return got > 0;
    close_end(&p->errors);
    if (p->length > 0) end_line(p);
    return 0;
}

static void drain_errors(gess__program *p)
{
    for (size_t i = 0; i < MAX_DRAIN / BUFFER && read_errors(p); i++) continue;
    if (p->length > 0) end_line(p);
}

void gess__program_describe(gess__program *p, char *text, size_t size)
{
    char how[96];
    if (!wait_for(p, END_SECONDS)) {
        kill_it(p);
        snprintf(how, sizeof how, "closed its standard output");
    } else if (!p->status_known)
        snprintf(how, sizeof how, "ended");
    else if (WIFSIGNALED(p->wait_status))
        snprintf(how, sizeof how, "was ended by signal %d (%s)", WTERMSIG(p->wait_status),
                 strsignal(WTERMSIG(p->wait_status)));
    else if (WEXITSTATUS(p->wait_status) > 128 && WEXITSTATUS(p->wait_status) < 128 + SIGRTMIN)
        snprintf(how, sizeof how, "was ended by signal %d (%s)", WEXITSTATUS(p->wait_status) - 128,
                 strsignal(WEXITSTATUS(p->wait_status) - 128)); /* as the shell says it */
    else
        snprintf(how, sizeof how, "ended with exit status %d", WEXITSTATUS(p->wait_status));
    drain_errors(p);
    if (p->last[0] != '\0')
        snprintf(text, size, "%s (the last it said: %.200s)", how, p->last);
    else
        snprintf(text, size, "%s", how);
}

/* ---- exchanges ---- */

/* Writes what the pipe takes. */
static void write_some(gess__program *p, const gess__exchange *x, size_t *written)
{
    while (*written < x->size) {
        ssize_t put = write(p->in, x->out + *written, x->size - *written);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return;
        *written += (size_t)put;
    }
}

/* Hands over what has come; GESS__PROGRAM_MORE with *closed set: nothing will come any more. */
static enum gess__program_more read_some(gess__program *p, const gess__exchange *x, int *closed)
{
    ssize_t got = read(p->out, p->buffer, sizeof p->buffer);
    if (got > 0) return x->take(x->reader, p->buffer, (size_t)got);
    *closed = got == 0 || (errno != EAGAIN && errno != EINTR);
    return GESS__PROGRAM_MORE;
}

enum gess__process_end gess__program_exchange(gess__program *p, const gess__exchange *x)
{
    GESS_ASSERT(p->process > 0 && x->take != NULL);
    size_t written = 0;
    int closed = 0, gone = 0;
    double now = gess__seconds(), limit = x->seconds > 0.0 ? now + x->seconds : 1e300, polled = now;
    write_some(p, x, &written);
    for (;;) {
        struct pollfd files[] = {{.fd = p->out, .events = POLLIN},
                                 {.fd = p->errors > 0 ? p->errors : -1, .events = POLLIN},
                                 {.fd = written < x->size ? p->in : -1, .events = POLLOUT}};
        double wait = limit - now < POLL_SECONDS ? limit - now : POLL_SECONDS;
        int ready = poll(files, 3, wait > 0.0 ? 1 + (int)(1e3 * wait) : 0);
        if (files[1].revents != 0) read_errors(p);
        enum gess__program_more more = files[0].revents != 0 ? read_some(p, x, &closed) : GESS__PROGRAM_MORE;
        /* an answer to what it has not been given is none */
        if (more == GESS__PROGRAM_ENOUGH && written < x->size) more = GESS__PROGRAM_WRONG;
        if (more != GESS__PROGRAM_MORE) {
            if (p->errors > 0 && more == GESS__PROGRAM_WRONG) drain_errors(p);
            return more == GESS__PROGRAM_ENOUGH ? GESS__PROCESS_DONE : GESS__PROCESS_WRONG;
        }
        /* what it has started may hold its output open; what it has written comes first */
        if (closed || (files[0].revents == 0 && gone)) return GESS__PROCESS_DIED;
        if (ready == 0) gone = has_ended(p);
        if (written < x->size) write_some(p, x, &written);
        now = gess__seconds();
        if (now > limit) return GESS__PROCESS_LATE;
        if (x->interrupt == NULL || now - polled < POLL_SECONDS) continue;
        polled = now;
        if (x->interrupt(x->user)) return GESS__PROCESS_INTERRUPTED;
    }
}

enum gess__process_end gess__program_check(gess__program *p, char *text, size_t size)
{
    ssize_t got = read(p->out, p->buffer, sizeof p->buffer);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return GESS__PROCESS_DONE;
    if (got <= 0) return GESS__PROCESS_DIED;
    gess__program_show(p->buffer, (size_t)got, text, size);
    return GESS__PROCESS_WRONG;
}
