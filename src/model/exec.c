/* Densities that a program computes, `exec:COMMAND`: one process per thread that calls, started when it is first
 * needed.
 *
 * ask() is one attempt: it starts the program of the calling worker if there is none, sends a batch, reads the answer.
 * Whatever goes wrong, the program is killed and the next attempt starts another. execute/isolate.c decides on further
 * attempts in a run; everywhere else logp() does: one more. A program is bound to the process that started it: after
 * fork() the copy starts programs, and a keeper, of its own. */
#include "model/exec.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/format.h"
#include "base/mem.h"
#include "model/shared_object.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How long a program may take to greet, to end at the end of its input, and how long the point to blame is searched. */
#define GREETING_SECONDS 120.0
#define END_SECONDS 0.3
#define PROBE_SECONDS 5.0
#define SILENT_SECONDS 60.0 /* without an answer, after which that is said, once per batch */

enum { MAX_WORKERS = 4097, MAX_LINES = 1000, PENDING = 1 << 15, MAX_BATCH = 1024, SHOWN = 12 };

struct exec;

/* A worker and its program. */
typedef struct seat {
    struct exec *exec;
    unsigned worker;
    pthread_mutex_t lock;
    gess__program *program; /* NULL: there is none */
    char *out;              /* room for a request */
    size_t room;
    /* why the last logp() failed */
    int status;
    double *point; /* dim */
    char cause[GESS__EXEC_CAUSE];
} seat;

typedef struct exec {
    const char *command, *data; /* data: or NULL */
    size_t dim;                 /* 0: not known yet */
    bool binary;
    locale_t c_locale;
    pthread_mutex_t lock; /* of what follows, seats' own fields apart */
    pid_t owner;          /* the process whose children the programs are */
    gess__keeper keeper;
    seat *seats[MAX_WORKERS];
    gess__model_line_fn *on_line;
    void *on_line_user;
    unsigned long lines;   /* that programs have written to standard error */
    char pending[PENDING]; /* of these, what has nowhere to go yet; each ends with a newline */
    size_t pending_size;
} exec;

/* ---- what programs say ---- */

/* Hands over the lines that have waited; under the lock. */
static void flush_pending(exec *e, bool to_terminal)
{
    char *line = e->pending, *end;
    for (; (end = memchr(line, '\n', e->pending_size - (size_t)(line - e->pending))) != NULL; line = end + 1) {
        *end = '\0';
        if (to_terminal)
            fprintf(stderr, "model: %s\n", line);
        else if (e->on_line == NULL || !e->on_line(e->on_line_user, line)) {
            *end = '\n';
            break;
        }
    }
    e->pending_size -= (size_t)(line - e->pending);
    memmove(e->pending, line, e->pending_size);
}

static void say(exec *e, const char *line)
{
    pthread_mutex_lock(&e->lock);
    size_t length = strlen(line);
    bool more = ++e->lines <= MAX_LINES && e->pending_size + length + 1 <= PENDING;
    if (e->lines == MAX_LINES) {
        line = "(what programs write to standard error from here on is not kept)";
        length = strlen(line);
        more = e->pending_size + length + 1 <= PENDING;
    }
    if (more) {
        memcpy(e->pending + e->pending_size, line, length);
        e->pending[e->pending_size + length] = '\n';
        e->pending_size += length + 1;
    }
    flush_pending(e, false);
    pthread_mutex_unlock(&e->lock);
}

static void on_heard(void *user, const char *line)
{
    const seat *s = user;
    char text[GESS__EXEC_LINE + 64];
    snprintf(text, sizeof text, "program of worker %u: %s", s->worker, line);
    say(s->exec, text);
}

static void listen(void *user, gess__model_line_fn *fn, void *data)
{
    exec *e = user;
    pthread_mutex_lock(&e->lock);
    e->on_line = fn;
    e->on_line_user = data;
    flush_pending(e, false);
    pthread_mutex_unlock(&e->lock);
}

/* ---- the programs ---- */

/* In a copy that fork() has made: gives up the original's programs. Under the lock. */
static int adopt(exec *e, gess_error *err)
{
    if (e->owner == getpid()) return GESS_OK;
    for (size_t i = 0; i < MAX_WORKERS && e->owner != 0; i++)
        if (e->seats[i] != NULL) {
            gess__program_abandon(e->seats[i]->program);
            e->seats[i]->program = NULL;
        }
    gess__keeper_abandon(&e->keeper);
    e->pending_size = 0;
    GESS_TRY(gess__keeper_start(&e->keeper, err));
    e->owner = getpid();
    return GESS_OK;
}

/* The worker's seat; NULL, with a message: it cannot be made. */
static seat *find_seat(exec *e, unsigned worker, gess_error *err)
{
    pthread_mutex_lock(&e->lock);
    int status = adopt(e, err);
    if (status == GESS_OK && worker >= MAX_WORKERS)
        status = gess__fail(err, GESS_ERR_MODEL, "a program can be run by at most %d threads", MAX_WORKERS - 1);
    if (status == GESS_OK && e->seats[worker] == NULL) {
        seat *s = NULL;
        status = gess__alloc_bytes(&s, 1, sizeof *s, "worker", err);
        if (status == GESS_OK) {
            s->exec = e;
            s->worker = worker;
            pthread_mutex_init(&s->lock, NULL);
            e->seats[worker] = s;
        }
    }
    seat *found = status == GESS_OK ? e->seats[worker] : NULL;
    if (e->pending_size > 0) flush_pending(e, false);
    pthread_mutex_unlock(&e->lock);
    return found;
}

static int spawn(exec *e, seat *s, gess_error *err)
{
    char worker[32], data[4200];
    const char *variables[4] = {worker};
    size_t used = 1;
    snprintf(worker, sizeof worker, "GESS_WORKER=%u", s->worker);
    if (e->data != NULL && (size_t)snprintf(data, sizeof data, "GESS_MODEL_DATA=%s", e->data) < sizeof data)
        variables[used++] = data;
    /* one program per thread: threads of its own would only be in the others' way */
    if (getenv("OMP_NUM_THREADS") == NULL) variables[used++] = "OMP_NUM_THREADS=1";
    return gess__program_start(&s->program, &e->keeper, e->command, variables, on_heard, s, err);
}

/* Ends a program that is of no more use; why, if it has died. */
static void give_up(seat *s, enum gess__process_end end, gess__program_call *call, const char *when)
{
    char how[300];
    if (end == GESS__PROCESS_DIED) {
        gess__program_describe(s->program, how, sizeof how);
        snprintf(call->cause, sizeof call->cause, "%s%s", how, when);
    }
    gess__program_stop(s->program, 0.0);
    s->program = NULL;
}

/* Sends the first line and reads the greeting into *text, which the caller frees. */
static enum gess__process_end greet(const exec *e, seat *s, gess__program_call *call, char **text)
{
    char line[48];
    gess__exec_greeting g = {0};
    int length =
        e->dim > 0 ? snprintf(line, sizeof line, "gess 1 %zu\n", e->dim) : snprintf(line, sizeof line, "gess 1 ?\n");
    const gess__exchange x = {.out = line,
                              .size = (size_t)length,
                              .take = gess__exec_take_greeting,
                              .reader = &g,
                              .seconds = GREETING_SECONDS,
                              .interrupt = call->interrupt,
                              .user = call->user};
    enum gess__process_end end = gess__program_exchange(s->program, &x);
    *text = g.text;
    call->bad = 0;
    if (end == GESS__PROCESS_LATE)
        gess__format(call->cause, sizeof call->cause, "did not greet within %g s", GREETING_SECONDS);
    if (end != GESS__PROCESS_WRONG) return end;
    char shown[80];
    gess__program_show(g.text != NULL ? g.text : "", g.length, shown, sizeof shown);
    snprintf(call->cause, sizeof call->cause,
             "wrote more than the line `%s` in answer to the first line that it was sent", shown);
    return end;
}

/* Starts the worker's program, which must be the same as before; at first *text becomes its greeting. */
static enum gess__process_end start(exec *e, seat *s, gess__program_call *call, char **text)
{
    char *greeting = NULL;
    gess_error err = {0};
    if (spawn(e, s, &err) != GESS_OK) {
        snprintf(call->cause, sizeof call->cause, "could not be started: %.300s", err.text);
        return GESS__PROCESS_DIED;
    }
    enum gess__process_end end = greet(e, s, call, &greeting);
    if (end == GESS__PROCESS_DONE && e->dim > 0 && !gess__exec_same_greeting(greeting, e->dim, e->binary)) {
        snprintf(call->cause, sizeof call->cause, "greets with `%.100s`, unlike before", greeting);
        end = GESS__PROCESS_WRONG;
    }
    if (end != GESS__PROCESS_DONE) give_up(s, end, call, " before it had greeted");
    if (end == GESS__PROCESS_DONE && text != NULL)
        *text = greeting;
    else
        free(greeting);
    return end;
}

/* ---- a batch ---- */

/* Makes sure that there is a program, and that it is silent. */
static enum gess__process_end prepare(exec *e, seat *s, gess__program_call *call)
{
    char text[80] = "", line[GESS__EXEC_CAUSE + 128];
    if (s->program == NULL) return start(e, s, call, NULL);
    enum gess__process_end end = gess__program_check(s->program, text, sizeof text);
    if (end == GESS__PROCESS_DONE) return end;
    give_up(s, end, call, "");
    if (end == GESS__PROCESS_WRONG) {
        call->bad = 0;
        snprintf(call->cause, sizeof call->cause, "wrote `%s` after its last answer, before it was asked again", text);
        return end;
    }
    snprintf(line, sizeof line, "program of worker %u: %s while it had nothing to do; it is started again", s->worker,
             call->cause);
    say(e, line);
    return start(e, s, call, NULL);
}

/* What of the answer had come. */
static void add_progress(const gess__exec_reader *r, gess__program_call *call)
{
    size_t used = strlen(call->cause);
    if (r->n > 1 || r->got > 0 || r->length > 0)
        used += (size_t)snprintf(call->cause + used, sizeof call->cause - used, ", with %zu of %zu values written",
                                 r->got, r->n);
    if (r->length > 0 && used < sizeof call->cause) {
        char shown[48] = "";
        if (!r->binary) gess__program_show(r->line, r->length, shown, sizeof shown);
        snprintf(call->cause + used, sizeof call->cause - used, " and a part of the next%s%s%s",
                 shown[0] != '\0' ? " (`" : "", shown, shown[0] != '\0' ? "`, without an end of line)" : "");
    }
}

/* A batch that is waited for. */
typedef struct waiting {
    const seat *seat;
    const gess__program_call *call;
    size_t n;
    double begin;
    bool said;
} waiting;

/* An interrupt of an exchange: the call's own, if it has one. */
static int watch(void *user)
{
    waiting *w = user;
    exec *e = w->seat->exec;
    if (!w->said && gess__seconds() - w->begin > SILENT_SECONDS) {
        char line[200];
        w->said = true;
        gess__format(line, sizeof line, "program of worker %u: no answer to %zu point%s for %g s%s", w->seat->worker,
                     w->n, w->n == 1 ? "" : "s", SILENT_SECONDS,
                     w->call->seconds > 0.0 ? "" : "; it is waited for (--eval-timeout sets a limit)");
        say(e, line);
        pthread_mutex_lock(&e->lock);
        if (e->on_line == NULL) flush_pending(e, true);
        pthread_mutex_unlock(&e->lock);
    }
    return w->call->interrupt != NULL && w->call->interrupt(w->call->user);
}

static enum gess__process_end exchange(exec *e, seat *s, size_t n, const double *x, double *logp,
                                       gess__program_call *call)
{
    size_t room = gess__exec_request_room(e->binary, n, e->dim);
    gess__exec_reader r = {.binary = e->binary, .n = n, .values = logp, .c_locale = e->c_locale};
    if (room > s->room) {
        char *more = realloc(s->out, room);
        if (more == NULL) return GESS__PROCESS_FAILED;
        s->out = more;
        s->room = room;
    }
    waiting w = {.seat = s, .call = call, .n = n, .begin = gess__seconds()};
    const gess__exchange what = {.out = s->out,
                                 .size = gess__exec_request(e->binary, n, e->dim, x, s->out),
                                 .take = gess__exec_take,
                                 .reader = &r,
                                 .seconds = call->seconds,
                                 .interrupt = watch,
                                 .user = &w};
    enum gess__process_end end = gess__program_exchange(s->program, &what);
    call->took = gess__seconds() - w.begin;
    if (end == GESS__PROCESS_DONE) return end;
    if (end == GESS__PROCESS_WRONG) {
        call->bad = r.bad;
        snprintf(call->cause, sizeof call->cause, "%s",
                 r.cause[0] != '\0' ? r.cause : "answered before it had read its points");
    }
    if (end == GESS__PROCESS_LATE)
        gess__format(call->cause, sizeof call->cause, "did not answer within %g s", call->seconds);
    give_up(s, end, call, "");
    if (end == GESS__PROCESS_LATE || end == GESS__PROCESS_DIED) add_progress(&r, call);
    return end;
}

static enum gess__process_end ask(void *user, unsigned worker, size_t n, const double *x, double *logp,
                                  gess__program_call *call)
{
    exec *e = user;
    gess_error err = {0};
    GESS_ASSERT(n > 0 && e->dim > 0);
    seat *s = find_seat(e, worker, &err);
    if (s == NULL) {
        snprintf(call->cause, sizeof call->cause, "could not be started: %.300s", err.text);
        return GESS__PROCESS_DIED;
    }
    pthread_mutex_lock(&s->lock);
    enum gess__process_end end = prepare(e, s, call);
    if (end == GESS__PROCESS_DONE) end = exchange(e, s, n, x, logp, call);
    pthread_mutex_unlock(&s->lock);
    return end;
}

/* ---- calls outside runs ---- */

static bool is_lost(enum gess__process_end end)
{
    return end == GESS__PROCESS_DIED || end == GESS__PROCESS_LATE;
}

/* One attempt more if the program is lost. Fails with the point to blame. */
static int evaluate(exec *e, unsigned worker, size_t n, const double *x, double *values)
{
    gess__program_call call = {0};
    enum gess__process_end end = ask(e, worker, n, x, values, &call);
    if (is_lost(end)) {
        char line[GESS__EXEC_CAUSE + 64];
        snprintf(line, sizeof line, "program of worker %u: %s; it is started again", worker, call.cause);
        say(e, line);
        end = ask(e, worker, n, x, values, &call);
    }
    if (end == GESS__PROCESS_DONE) return 0;
    seat *s = find_seat(e, worker, NULL);
    if (s == NULL) return -1;
    size_t bad = end == GESS__PROCESS_WRONG ? call.bad : 0;
    double until = gess__seconds() + PROBE_SECONDS;
    snprintf(s->cause, sizeof s->cause, "%s", call.cause);
    for (size_t i = 0; is_lost(end) && n > 1 && i < n && gess__seconds() < until; i++) {
        call.seconds = until - gess__seconds();
        if (ask(e, worker, 1, x + i * e->dim, values, &call) != GESS__PROCESS_DIED) continue;
        bad = i;
        snprintf(s->cause, sizeof s->cause, "%s", call.cause);
        break;
    }
    s->status = GESS_ERR_MODEL;
    if (s->point == NULL) gess__alloc_bytes(&s->point, e->dim, sizeof *s->point, "point", NULL);
    if (s->point != NULL) memcpy(s->point, x + bad * e->dim, e->dim * sizeof *s->point);
    return -1;
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    exec *e = user;
    int code = 0;
    seat *s = find_seat(e, worker, NULL);
    if (s != NULL) s->status = GESS_OK;
    for (size_t first = 0; code == 0 && first < n; first += MAX_BATCH)
        code = evaluate(e, worker, n - first < MAX_BATCH ? n - first : MAX_BATCH, x + first * dim, values + first);
    pthread_mutex_lock(&e->lock);
    if (e->on_line == NULL && e->pending_size > 0) flush_pending(e, true);
    pthread_mutex_unlock(&e->lock);
    return code;
}

static int lost(void *user, unsigned worker, const double **point, gess_error *err)
{
    exec *e = user;
    char where[600] = "";
    const seat *s = find_seat(e, worker, NULL);
    *point = s != NULL && s->status != GESS_OK ? s->point : NULL;
    if (s == NULL || s->status == GESS_OK) return GESS_OK;
    for (size_t i = 0, used = 0; s->point != NULL && i < e->dim && i < SHOWN && used < sizeof where; i++)
        used += (size_t)gess__format(where + used, sizeof where - used, "%s%.17g", i > 0 ? "," : "", s->point[i]);
    return gess__fail(err, s->status, "the program `%.100s` %s, at the point (%s%s)", e->command, s->cause, where,
                      e->dim > SHOWN ? ",…" : "");
}

/* ---- opening and closing ---- */

static void close_exec(gess__model *m)
{
    exec *e = m->loaded;
    bool own = e->owner == getpid();
    double until = gess__seconds() + END_SECONDS;
    for (size_t i = 0; i < MAX_WORKERS && own; i++)
        if (e->seats[i] != NULL) gess__program_end_input(e->seats[i]->program);
    for (size_t i = 0; i < MAX_WORKERS; i++) {
        seat *s = e->seats[i];
        if (s == NULL) continue;
        if (own)
            gess__program_stop(s->program, until - gess__seconds());
        else
            gess__program_abandon(s->program);
        pthread_mutex_destroy(&s->lock);
        free(s->out);
        free(s->point);
        free(s);
    }
    if (own)
        gess__keeper_end(&e->keeper);
    else
        gess__keeper_abandon(&e->keeper);
    flush_pending(e, true);
    pthread_mutex_destroy(&e->lock);
    if (e->c_locale != (locale_t)0) freelocale(e->c_locale);
}

/* The first program, which says what the model is. */
static int describe(exec *e, gess__model *m, gess_error *err)
{
    char *greeting = NULL, *text = NULL;
    gess__program_call call = {0};
    seat *s = find_seat(e, 0, err);
    if (s == NULL) return GESS_ERR_INTERNAL;
    enum gess__process_end end = start(e, s, &call, &greeting);
    int status = end == GESS__PROCESS_DONE ? GESS_OK : GESS_ERR_MODEL;
    if (status == GESS_OK) status = gess__model_alloc(m, &text, strlen(greeting) + 1, 1, err);
    if (status == GESS_OK) {
        strcpy(text, greeting);
        status = gess__exec_parse_greeting(m, text, &e->binary, call.cause, err);
    }
    free(greeting);
    e->dim = m->model.dim;
    if (status != GESS_OK && call.cause[0] != '\0')
        return gess__fail(err, GESS_ERR_MODEL, "the program `%.200s` %s", e->command, call.cause);
    return status == GESS_OK ? GESS_OK : gess__blame(err, status, "the program `%.200s`", e->command);
}

static int copy(gess__model *m, const char **to, const char *text, gess_error *err)
{
    char *own = NULL;
    GESS_TRY(gess__model_alloc(m, &own, strlen(text) + 1, 1, err));
    *to = strcpy(own, text);
    return GESS_OK;
}

int gess__open_exec(gess__model *m, const char *command, const char *data, gess_error *err)
{
    exec *e = NULL;
    char name[4096];
    command += strspn(command, " \t");
    if (*command == '\0') return gess__fail(err, GESS_ERR_USAGE, "exec: needs a command: 'exec:python3 model.py', say");
    GESS_TRY(gess__shared_object_data(command, data, err));
    GESS_MODEL_ALLOC(m, &e, 1, err);
    pthread_mutex_init(&e->lock, NULL);
    m->loaded = e;
    m->close = close_exec;
    GESS_TRY(copy(m, &e->command, command, err));
    if (data != NULL) GESS_TRY(copy(m, &e->data, data, err));
    e->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (e->c_locale == (locale_t)0) return gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    gess_model *model = &m->model;
    model->user = e;
    model->logp = logp;
    model->ask = ask;
    model->lost = lost;
    model->listen = listen;
    GESS_TRY(describe(e, m, err));
    gess__exec_name(command, name, sizeof name);
    GESS_TRY(copy(m, &model->name, name, err));
    int status = gess__model_check(model, err);
    return status == GESS_OK ? GESS_OK : gess__blame(err, status, "the program `%.200s`", command);
}
