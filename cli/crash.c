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
    size_t n, dim; /* points of the call */
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
        for (size_t i = 0; i < slot->noted; i++) {
            struct suspect p = {.chain = slot->chain[i],
                                .n = slot->n,
                                .dim = slot->dim,
                                .x = slot->x + i * slot->dim,
                                .derived = slot->derived};
            if (found->n == 0) *found = p;
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

/* The command that evaluates the point alone; a long point goes into a file. */
static void print_eval(const struct shared *s, const struct suspect *p)
{
    enum { SHORT = 12 };
    char path[4200], data[4200] = "";
    if (s->data[0] != '\0') snprintf(data, sizeof data, " --data %s", s->data);
    if (p->dim <= SHORT) {
        fprintf(stderr, "; to see it alone: echo '");
        print_numbers(stderr, p->x, p->dim);
        fprintf(stderr, "' | gess eval %s%s", s->model, data);
        return;
    }
    snprintf(path, sizeof path, "%s/crash.csv", s->directory);
    FILE *file = fopen(path, "w");
    if (file == NULL) return;
    print_numbers(file, p->x, p->dim);
    fputc('\n', file);
    if (fclose(file) == 0) fprintf(stderr, "; to see it alone: gess eval %s%s --points %s", s->model, data, path);
}

static void print_point(const struct shared *s, const struct suspect *p)
{
    enum { SHOWN = 12 };
    fprintf(stderr, " while it was evaluating %s", p->derived ? "derived quantities at " : "");
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
    if (has_run(s))
        print_resume("; to continue from the last checkpoint", s->directory);
    else
        fprintf(stderr, "; nothing was written yet\n");
}

int explain_crash(struct shared *s, int number, int code)
{
    struct suspect p = {0};
    int known = find_suspect(s, &p), opening = !atomic_load(&s->opened);
    int model = known || opening || number == 0 || atomic_load(&s->thread_ended);
    fprintf(stderr, "gess: %s ", known || !model ? "the density" : opening ? "the model" : "the density");
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

/* ---- with --isolate ---- */

/* The command that evaluates the point of an error alone, into text[size]: the last row of crashes.csv if the point is
 * long; empty if that is not there. */
static void show_eval(const char *model, const char *data, const char *directory, const gess_error *err, char *text,
                      size_t size)
{
    enum { SHORT = 6 };
    char path[4200];
    size_t used = 0;
    text[0] = '\0';
    snprintf(path, sizeof path, "%s/crashes.csv", directory);
    int listed = strstr(err->text, "worker process") != NULL && access(path, F_OK) == 0;
    if (err->dim > SHORT && !listed) return;
    if (err->dim > SHORT) used = (size_t)snprintf(text, size, "tail -n 1 %s | cut -d, -f4-", path);
    for (size_t i = 0; err->dim <= SHORT && i < err->dim && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.17g", i > 0 ? "," : "echo '", err->point[i]);
    if (used < size)
        used += (size_t)snprintf(text + used, size - used, "%s | gess eval %s%s%s", err->dim > SHORT ? "" : "'", model,
                                 data[0] != '\0' ? " --data " : "", data);
    if (used >= size) text[0] = '\0';
}

int explain_lost(int status, const char *model, const gess_options *options, const char *directory, gess_error *err)
{
    char isolate[8] = "", data[4096] = "", eval[400] = "", config[4200];
    gess_options_get(options, "isolate", isolate, sizeof isolate, NULL);
    if (status != GESS_ERR_MODEL || strcmp(isolate, "1") != 0 || err->dim == 0) return status;
    gess_options_get(options, "data", data, sizeof data, NULL);
    show_eval(model, data, directory, err, eval, sizeof eval);
    size_t used = strlen(err->text), size = sizeof err->text;
    if (eval[0] != '\0') snprintf(err->text + used, size - used, "; to see it alone: %s", eval);
    used = strlen(err->text);
    char *quoted = NULL;
    snprintf(config, sizeof config, "%s/config.json", directory);
    gess_text_quote(directory, &quoted, NULL);
    if (access(config, F_OK) == 0 && quoted != NULL)
        snprintf(err->text + used, size - used, "; to continue from the last checkpoint: gess resume %s", quoted);
    gess_text_free(quoted);
    return status;
}
