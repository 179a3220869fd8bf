/* Finds the point at which a density crashed, and prints the one message of a command that died. The points that were
 * under way are evaluated one by one, each in a process of its own, until one of these dies, too. */
#include "crash.h"

#include "command.h"

#include <fcntl.h>
#include <gess/draws.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROBE_SECONDS 5.0 /* for all points together */

/* A point that was under way. */
struct suspect {
    uint64_t chain;
    size_t n, dim; /* points of the call; dim 0: they were too long to be noted */
    const double *x;
    int derived, certain;
};

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Opens the model and evaluates one point; does not return. */
static void evaluate_alone(const struct shared *s, const double *x)
{
    gess_model *model = NULL;
    double value;
    int nowhere = open("/dev/null", O_RDWR);
    for (int i = 0; i < 3; i++) dup2(nowhere, i);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    if (gess_model_open(&model, s->model, s->data[0] != '\0' ? s->data : NULL, NULL) == GESS_OK)
        gess_model_evaluate(model, 1, x, &value, NULL, NULL);
    _exit(GESS_ERR_NOT_CONVERGED); /* it came back; a status that a density is unlikely to exit with */
}

/* Whether the density ends the process at this point by itself. */
static int dies_alone(const struct shared *s, const double *x, double deadline)
{
    int status;
    pid_t probe = fork();
    if (probe < 0) return 0;
    if (probe == 0) evaluate_alone(s, x);
    struct timespec pause = {.tv_nsec = 1000000};
    while (waitpid(probe, &status, WNOHANG) == 0) {
        if (seconds_now() > deadline) {
            kill(probe, SIGKILL);
            waitpid(probe, &status, 0);
            return 0;
        }
        nanosleep(&pause, NULL);
    }
    return WIFSIGNALED(status) || WEXITSTATUS(status) != GESS_ERR_NOT_CONVERGED;
}

/* 0: nothing was being evaluated. */
static int find_suspect(struct shared *s, struct suspect *found)
{
    double deadline = seconds_now() + PROBE_SECONDS;
    found->n = 0;
    for (unsigned worker = 0; worker < s->workers; worker++) {
        const struct slot *slot = slot_of(s, worker);
        if (slot == NULL || !atomic_load(&slot->active)) continue;
        /* whatever wrote there: no more than the slot holds */
        size_t noted = slot->noted < slot_room(s, slot->n, slot->dim) ? slot->noted : slot_room(s, slot->n, slot->dim);
        if (noted == 0 && found->n == 0) *found = (struct suspect){.n = slot->n, .derived = slot->derived};
        for (size_t i = 0; i < noted; i++) {
            struct suspect p = {.chain = slot->chain[i],
                                .n = slot->n,
                                .dim = slot->dim,
                                .x = slot->x + i * slot->dim,
                                .derived = slot->derived};
            if (found->dim == 0) *found = p;
            if (slot->derived || seconds_now() > deadline || !dies_alone(s, p.x, deadline)) continue;
            *found = p;
            found->certain = 1;
            return 1;
        }
    }
    return found->n > 0;
}

/* ---- the message ---- */

static void print_numbers(FILE *out, const double *x, size_t dim)
{
    for (size_t i = 0; i < dim; i++) fprintf(out, "%s%.17g", i > 0 ? "," : "", x[i]);
}

/* The command that evaluates points of the model, ready to paste, into text[size]; `points`: a file of them, or empty.
 */
static void describe_eval(const char *model, const char *data, const char *points, char *text, size_t size)
{
    const char *const words[] = {"gess eval ", model, " --data ", data, " --points ", points};
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < 6 && used < size; i += 2) {
        char *quoted = NULL;
        if (words[i + 1][0] == '\0') continue;
        gess_text_quote(words[i + 1], &quoted, NULL);
        used += (size_t)snprintf(text + used, size - used, "%s%s", words[i], quoted != NULL ? quoted : words[i + 1]);
        gess_text_free(quoted);
    }
}

/* How to evaluate the point alone; a long point goes into a file. */
static void print_eval(const struct shared *s, const struct suspect *p)
{
    enum { SHORT = 12 };
    char path[4200], eval[16384];
    if (p->dim <= SHORT) {
        describe_eval(s->model, s->data, "", eval, sizeof eval);
        fprintf(stderr, "; to see it alone: echo '");
        print_numbers(stderr, p->x, p->dim);
        fprintf(stderr, "' | %s", eval);
        return;
    }
    snprintf(path, sizeof path, "%s/crash.csv", s->directory);
    FILE *file = s->directory[0] != '\0' ? fopen(path, "w") : NULL;
    if (file == NULL) return;
    print_numbers(file, p->x, p->dim);
    fputc('\n', file);
    if (fclose(file) != 0) return;
    describe_eval(s->model, s->data, path, eval, sizeof eval);
    fprintf(stderr, "; to see it alone: %s", eval);
}

static void print_point(const struct shared *s, const struct suspect *p)
{
    enum { SHOWN = 12 };
    fprintf(stderr, " while it was evaluating %s", p->derived ? "derived quantities at " : "");
    if (p->dim == 0) {
        fprintf(stderr, "a point with too many numbers to be noted");
        return;
    }
    fprintf(stderr, "the point (");
    print_numbers(stderr, p->x, p->dim < SHOWN ? p->dim : SHOWN);
    fprintf(stderr, "%s)", p->dim > SHOWN ? ",…" : "");
    if (p->chain > 0) fprintf(stderr, " of chain %llu", (unsigned long long)p->chain);
    if (!p->certain && p->n > 1) fprintf(stderr, ", the first of %zu points of a call; each alone does no harm", p->n);
    if (!p->derived) print_eval(s, p);
}

static int has_run(const struct shared *s)
{
    char path[4200];
    snprintf(path, sizeof path, "%s/config.json", s->directory);
    return s->directory[0] != '\0' && access(path, F_OK) == 0;
}

/* The command, ready to paste. */
static void print_resume(const char *words, const char *directory)
{
    char *quoted = NULL;
    gess_text_quote(directory, &quoted, NULL);
    fprintf(stderr, "%s: gess resume %s\n", words, quoted != NULL ? quoted : directory);
    gess_text_free(quoted);
}

static void print_continue(const struct shared *s)
{
    if (!s->makes_run)
        fputc('\n', stderr);
    else if (has_run(s))
        print_resume("; to continue from the last checkpoint", s->directory);
    else
        fprintf(stderr, "; nothing was written yet\n");
}

int explain_crash(struct shared *s, int number, int code)
{
    struct suspect p = {0};
    int known = find_suspect(s, &p), opening = !atomic_load(&s->opened);
    int model = known || opening || number == 0 || atomic_load(&s->thread_ended);
    fprintf(stderr, "gess: %s%s ", s->rank, known || !model ? "the density" : opening ? "the model" : "the density");
    if (!model) fprintf(stderr, "was not being evaluated: gess itself ");
    if (atomic_load(&s->thread_ended))
        fprintf(stderr, "ended its thread (pthread_exit)");
    else if (number != 0)
        fprintf(stderr, "crashed with signal %d (%s)", number, strsignal(number));
    else
        fprintf(stderr, "ended the process with exit status %d", code);
    if (opening) fprintf(stderr, " while %s was being opened", s->model);
    if (known) print_point(s, &p);
    print_continue(s);
    return model ? GESS_ERR_MODEL : GESS_ERR_INTERNAL;
}

int explain_stop(struct shared *s, int out_of_time)
{
    int reporting = atomic_load(&s->phase) == REPORTING;
    if (!s->makes_run) {
        fprintf(stderr, "gess: stopped without waiting for the density\n");
        return GESS_ERR_STOPPED;
    }
    fprintf(stderr, "gess: %sstopped %s", out_of_time ? "the time limit --max-time is over: " : "",
            reporting ? "before the summary was made" : "without waiting for the density");
    if (has_run(s))
        print_resume(reporting ? "; all draws are kept; to continue"
                               : "; its finished evaluations are kept; to continue",
                     s->directory);
    else
        fprintf(stderr, "; nothing was written yet\n");
    return GESS_ERR_STOPPED;
}

void explain_kill(struct shared *s)
{
    fprintf(stderr,
            "gess: %sthe process that calls the density was killed (signal 9): by the system, if memory ran out, or "
            "by someone",
            s->rank);
    print_continue(s);
}

/* ---- with --isolate, and for programs ---- */

/* The command that evaluates the point of an error alone, into text[size]: the last row of the list of crashes if the
 * point is long and in there; empty if there is no room for it. */
static void show_eval(const char *model, const char *data, const char *list, const gess_error *err, char *text,
                      size_t size)
{
    enum { SHORT = 6, KNOWN = sizeof err->point / sizeof *err->point };
    char eval[16384], *quoted = NULL;
    size_t used = 0;
    int from_list = err->dim > SHORT && list != NULL && gess_text_quote(list, &quoted, NULL) == GESS_OK;
    text[0] = '\0';
    describe_eval(model, data, "", eval, sizeof eval);
    if (from_list) used = (size_t)snprintf(text, size, "tail -n 1 %s | cut -d, -f4- | %s", quoted, eval);
    for (size_t i = 0; !from_list && err->dim <= KNOWN && i < err->dim && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.17g", i > 0 ? "," : "echo '", err->point[i]);
    if (!from_list && used > 0 && used < size) used += (size_t)snprintf(text + used, size - used, "' | %s", eval);
    if (used >= size) text[0] = '\0';
    gess_text_free(quoted);
}

/* Adds words to the message of an error, all of them or none. */
static void add_words(gess_error *err, const char *words, const char *text)
{
    size_t used = strlen(err->text), room = sizeof err->text - used;
    if (text[0] != '\0' && strlen(words) + strlen(text) < room) snprintf(err->text + used, room, "%s%s", words, text);
}

int explain_lost(int status, const char *model, const gess_options *options, const char *directory, gess_error *err)
{
    char isolate[8] = "", data[4096] = "", eval[1024] = "", config[4200], list[4200];
    gess_options_get(options, "isolate", isolate, sizeof isolate, NULL);
    int program = strncmp(model, "exec:", 5) == 0;
    if (status != GESS_ERR_MODEL || (!program && strcmp(isolate, "1") != 0) || err->dim == 0) return status;
    gess_options_get(options, "data", data, sizeof data, NULL);
    snprintf(config, sizeof config, "%s/config.json", directory);
    snprintf(list, sizeof list, "%s/crashes.csv", directory);
    /* without a list of it there is no run: its directory was removed, or holds the run before it again */
    int lost = strstr(err->text, program ? "the program " : "worker process") != NULL;
    int listed = lost && access(list, F_OK) == 0;
    show_eval(model, data, listed ? list : NULL, err, eval, sizeof eval);
    add_words(err, "; to see it alone: ", eval);
    if (access(config, F_OK) != 0 || listed != lost) return status;
    char *quoted = NULL;
    if (gess_text_quote(directory, &quoted, NULL) == GESS_OK)
        add_words(err, "; to continue from the last checkpoint: gess resume ", quoted);
    gess_text_free(quoted);
    return status;
}
