/* `gess check`: runs every check in a process of its own and prints what it found. */
#include "command.h"
#include "base/assert.h"
#include "base/clock.h"
#include "check/check.h"

#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const struct stage {
    const char *name, *what;
    void (*run)(struct check *c);
} stages[] = {
    {"starts", "evaluating starts", check_starts},
    {"again", "evaluating its starts again", check_repeated},
    {"batches", "evaluating several points per call", check_batches},
    {"threads", "being called by several threads at once", check_threads},
    {"bounds", "evaluating points on and beyond the bounds", check_bounds},
    {"memory", "being watched for what it touches behind its points", check_memory_above},
    {"memory", "being watched for what it touches in front of its points", check_memory_below},
    {"gradient", "evaluating gradients", check_gradient},
    {"derived", "computing derived quantities", check_derived},
    {"blobs", "computing blobs", check_blobs},
    {"tools", "being run under valgrind or sanitizers", check_with_tools},
};
enum { STAGES = sizeof stages / sizeof *stages, CAME_BACK = 0, NO_MODEL = 77 };

struct arguments {
    const char *model, *data;
    size_t starts;
    double seconds;
    int json;
};

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct arguments *a = state->input;
    char *end;
    switch (key) {
    case 'd': a->data = argument; return 0;
    case 'j': a->json = 1; return 0;
    case 'n':
        a->starts = strtoul(argument, &end, 10);
        if (*end != '\0' || a->starts < 1 || a->starts > 100000) USAGE(state, "--starts takes 1 to 100000");
        return 0;
    case 't':
        a->seconds = strtod(argument, &end);
        if (strcmp(end, "s") == 0) end++;
        if (*end != '\0' || !(a->seconds > 0.0 && a->seconds < 1e6)) USAGE(state, "--max-time takes seconds");
        return 0;
    default: return take_one(key, argument, state, &a->model, "which model? `gess models` lists them");
    }
}

/* ---- one check, in a process of its own ---- */

static void run_stage(struct check *c, const struct stage *stage)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_DUMPABLE, 0);
    if (gess_model_open(&c->model, c->specification, c->data, NULL) != GESS_OK) _exit(NO_MODEL);
    stage->run(c);
    atomic_store(&c->shared->calling, 2); /* this is the end, and not an exit of the density */
    _exit(CAME_BACK);
}

/* What to say about a process that did not come back from a call. */
static void report_crash(struct check *c, const struct stage *stage, int status, double seconds)
{
    struct shared_check *s = c->shared;
    char how[160], text[1024] = "";
    int calling = atomic_load(&s->calling), crossing = atomic_load(&s->crossing);
    if (seconds > 0.0)
        snprintf(how, sizeof how, "did not come back within %g s (--max-time)", seconds);
    else if (WIFSIGNALED(status))
        snprintf(how, sizeof how, "crashed with signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(how, sizeof how, "ended the process with exit status %d", WEXITSTATUS(status));
    if (calling == 1) point_text(c, s->point, text, sizeof text);
    report(c, FAULT, "The density %s while it was %s%s.%s%s%s", how, stage->what,
           crossing ? ", at a point outside its bounds" : "", calling == 1 ? " The first point of the call: " : "",
           text, crossing ? " (Runs do not ask for such points; other programs may.)" : "");
}

static void run_in_process(struct check *c, const struct stage *stage, double seconds)
{
    int status = 0;
    struct timespec pause = {.tv_nsec = 1000000};
    c->stage = stage->name;
    atomic_store(&c->shared->calling, 0);
    atomic_store(&c->shared->crossing, 0);
    int before = atomic_load(&c->shared->findings);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) run_stage(c, stage);
    if (child < 0) {
        report(c, FAULT, "There is no process for this check.");
        return;
    }
    double until = gess__seconds() + seconds;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (gess__seconds() > until) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            report_crash(c, stage, status, seconds);
            return;
        }
        nanosleep(&pause, NULL);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == CAME_BACK && atomic_load(&c->shared->calling) == 2) return;
    /* a fault in guarded memory has its own message */
    if (WIFEXITED(status) && WEXITSTATUS(status) == CAME_BACK && atomic_load(&c->shared->findings) > before) return;
    report_crash(c, stage, status, 0.0);
}

/* ---- results ---- */

static const char *const severities[] = {"fault", "warning", "note"};

static size_t count_of(const struct check *c, int severity)
{
    size_t count = 0;
    int n = atomic_load(&c->shared->findings);
    for (int i = 0; i < n && i < MAX_FINDINGS; i++) count += c->shared->finding[i].severity == severity;
    return count;
}

static int print_json(const struct check *c, gess_error *err)
{
    json_t *list = json_array();
    int n = atomic_load(&c->shared->findings);
    for (int i = 0; i < n && i < MAX_FINDINGS; i++) {
        const struct finding *f = &c->shared->finding[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "severity", severities[f->severity], "check", f->check,
                                              "text", f->text));
    }
    json_t *root =
        json_pack("{s:s, s:I, s:I, s:I, s:f, s:b, s:o}", "model", c->specification, "dim", (json_int_t)c->model->dim,
                  "starts", (json_int_t)c->shared->starts, "evals", (json_int_t)atomic_load(&c->shared->evals),
                  "seconds_per_eval", c->shared->seconds_per_eval, "pass", count_of(c, FAULT) == 0, "findings", list);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(root);
    if (text == NULL) return fail(err, GESS_ERR_INTERNAL, "out of memory");
    printf("%s\n", text);
    free(text);
    return finish_output(err);
}

static int print_text_findings(const struct check *c, gess_error *err)
{
    int n = atomic_load(&c->shared->findings);
    for (int severity = FAULT; severity <= NOTE; severity++)
        for (int i = 0; i < n && i < MAX_FINDINGS; i++) {
            const struct finding *f = &c->shared->finding[i];
            if (f->severity == severity) printf("%s (%s)\n    %s\n\n", severities[severity], f->check, f->text);
        }
    size_t faults = count_of(c, FAULT), warnings = count_of(c, WARNING);
    printf("%s: %zu parameters, %zu starts, %llu evaluations (%.2g s each): ", c->specification, c->model->dim,
           c->shared->starts, (unsigned long long)atomic_load(&c->shared->evals), c->shared->seconds_per_eval);
    if (faults + warnings == 0)
        printf("nothing wrong was found\n");
    else
        printf("%zu fault%s, %zu warning%s\n", faults, faults == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
    return finish_output(err);
}

/* ---- the command ---- */

/* Opens the model in a process of its own first: a model that crashes while it is opened gives a message. */
static void nothing(struct check *c)
{
    (void)c;
}

static int open_safely(struct check *c, double seconds, gess_error *err)
{
    static const struct stage opening = {"open", "being opened", nothing};
    run_in_process(c, &opening, seconds);
    const struct finding *f = &c->shared->finding[0];
    if (atomic_load(&c->shared->findings) > 0 && strstr(f->text, "exit status 77") == NULL)
        return fail(err, GESS_ERR_MODEL, "%s", f->text);
    atomic_store(&c->shared->findings, 0);
    GESS_TRY(gess_model_open(&c->model, c->specification, c->data, err));
    GESS_TRY(gess__model_on_processor(c->model, err));
    return gess__model_check(c->model, err);
}

/* Memory for the findings, and for the starts of a model of this dimension. */
static int share(struct check *c, size_t dim, gess_error *err)
{
    size_t bytes = sizeof *c->shared + c->count * (dim + 1) * sizeof(double);
    c->shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c->shared == MAP_FAILED) return fail(err, GESS_ERR_INTERNAL, "out of memory for %zu starts", c->count);
    return GESS_OK;
}

int command_check(int argc, char **argv, gess_error *err)
{
    static const struct argp_option options[] = {{"data", 'd', "FILE", 0, "data file of your own model", 0},
                                                 {"starts", 'n', "N", 0, "starts to evaluate (default: 100)", 0},
                                                 {"max-time", 't', "SECONDS", 0,
                                                  "for each check, at most (default: 60)", 0},
                                                 {"json", 'j', NULL, 0, "print JSON", 0},
                                                 {0}};
    static const struct argp argp =
        {.options = options,
         .parser = take,
         .args_doc = "MODEL",
         .doc = "Tries the density of MODEL: the same values again, in batches, on several threads, on the bounds and "
                "beyond; gradients against differences; memory that it must not touch; valgrind or sanitizers if they "
                "are there. Says in plain words what is wrong. Exit status 2 if there is a fault."};
    struct arguments a = {.starts = 100, .seconds = 60.0};
    GESS_TRY(parse_arguments(&argp, argc, argv, &a));
    struct check c = {.specification = a.model, .data = a.data, .count = a.starts};
    GESS_TRY(share(&c, 1, err));
    GESS_TRY(open_safely(&c, a.seconds, err));
    GESS_ASSERT(c.model != NULL);
    GESS_TRY(share(&c, c.model->dim, err)); /* NOLINT(clang-analyzer-core.NullDereference): it is open */
    for (size_t i = 0; i < STAGES; i++) {
        run_in_process(&c, &stages[i], a.seconds);
        if (c.shared->starts == 0) break; /* the rest has nothing to evaluate */
    }
    int status = a.json ? print_json(&c, err) : print_text_findings(&c, err);
    size_t faults = count_of(&c, FAULT);
    gess_model_free(c.model);
    if (status != GESS_OK || faults == 0) return status;
    return fail(err, GESS_ERR_MODEL, "%s has %zu fault%s; see above", a.model, faults, faults == 1 ? "" : "s");
}
