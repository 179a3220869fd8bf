/* Runs `gess eval` at the starts under valgrind, or, where `gess new` made the Makefile, with a build of the model that
 * has the sanitizers of the compiler in it. */
#include "base/shell.h"
#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TOOL_POINTS = 10, TOOL_SECONDS = 60, ERROR_STATUS = 99 };

#define SLOW_EVALUATION 0.05 /* seconds; valgrind takes some 30 times as long */

static bool has_program(const char *name)
{
    char command[128];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", name);
    return system(command) == 0; /* NOLINT(cert-env33-c): the name is one of ours */
}

static bool write_points(const struct check *c, const char *path)
{
    FILE *file = fopen(path, "w");
    size_t dim = c->model->dim, n = c->shared->starts < TOOL_POINTS ? c->shared->starts : TOOL_POINTS;
    if (file == NULL) return false;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < dim; i++) fprintf(file, "%.17g%s", check_x(c)[k * dim + i], i + 1 < dim ? "," : "\n");
    return fclose(file) == 0;
}

/* The folder and the name without .so of a plug-in whose Makefile has the target NAME-sanitized.so. */
static bool find_makefile(const struct check *c, char *folder, char *name, size_t size)
{
    char makefile[4300], line[512], target[300];
    const char *slash = strrchr(c->specification, '/');
    if (slash == NULL) return false;
    snprintf(folder, size, "%.*s", (int)(slash - c->specification + 1), c->specification);
    snprintf(name, size, "%s", slash + 1);
    size_t length = strlen(name);
    if (length < 4 || length > 200 || strcmp(name + length - 3, ".so") != 0) return false;
    name[length - 3] = '\0';
    snprintf(makefile, sizeof makefile, "%sMakefile", folder);
    snprintf(target, sizeof target, "%s-sanitized.so:", name);
    FILE *file = fopen(makefile, "r");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = strncmp(line, target, strlen(target)) == 0;
    if (file != NULL) fclose(file);
    return found;
}

/* The first line of a file that has one of the words; empty: none. */
static void first_line(const char *path, const char *const *words, char *text, size_t size)
{
    char line[400];
    FILE *file = fopen(path, "r");
    text[0] = '\0';
    while (file != NULL && text[0] == '\0' && fgets(line, sizeof line, file) != NULL)
        for (size_t i = 0; words[i] != NULL; i++)
            if (strstr(line, words[i]) != NULL) {
                line[strcspn(line, "\n")] = '\0';
                const char *from = line;
                if (strncmp(line, "==", 2) == 0 && strstr(line + 2, "== ") != NULL) from = strstr(line + 2, "== ") + 3;
                snprintf(text, size, "%s", from);
                break;
            }
    if (file != NULL) fclose(file);
}

/* `prefix gess eval MODEL --points … `; returns its exit status. */
static int run_eval(const struct check *c, const char *prefix, const char *model, const char *folder)
{
    char self[4096] = "", command[32768], q[4][4200];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return -1;
    snprintf(command, sizeof command,
             "GESS_NO_SUPERVISOR=1 %s %s eval %s --points %s/points.csv %s %s >%s/out 2>%s/err", prefix,
             gess__shell_quote(self, q[0], sizeof q[0]), gess__shell_quote(model, q[1], sizeof q[1]), folder,
             c->data != NULL ? "--data" : "", c->data != NULL ? gess__shell_quote(c->data, q[2], sizeof q[2]) : "",
             folder, folder);
    int status = system(command); /* NOLINT(cert-env33-c): names are quoted for the shell */
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void use_sanitizers(struct check *c, const char *folder, const char *source, const char *name)
{
    static const char *const words[] = {"ERROR: AddressSanitizer", "runtime error:", "LeakSanitizer", NULL};
    char command[9000], model[4500], error[4200], line[400], quoted[4200], prefix[600];
    snprintf(command, sizeof command, "make -s -C %s %s-sanitized.so >%s/make 2>&1",
             gess__shell_quote(source, quoted, sizeof quoted), name, folder);
    if (system(command) != 0) { /* NOLINT(cert-env33-c): names are quoted for the shell */
        report(c, NOTE, "`make %s-sanitized.so` failed in %s, so the sanitizers were left out.", name, source);
        return;
    }
    snprintf(model, sizeof model, "%s%s-sanitized.so", source, name);
    snprintf(prefix, sizeof prefix,
             "LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:exitcode=%d "
             "UBSAN_OPTIONS=halt_on_error=1:exitcode=%d timeout %d",
             ERROR_STATUS, ERROR_STATUS, TOOL_SECONDS);
    int status = run_eval(c, prefix, model, folder);
    snprintf(error, sizeof error, "%s/err", folder);
    first_line(error, words, line, sizeof line);
    if (line[0] != '\0' || status == ERROR_STATUS)
        report(c, FAULT,
               "The sanitizers of the compiler find a mistake: %.300s. `make -C %s %s-sanitized.so` makes the "
               "build that shows it.",
               line, source, name);
    else if (status != 0)
        report(c, NOTE, "The build with sanitizers could not be run (status %d).", status);
}

static void use_valgrind(struct check *c, const char *folder)
{
    static const char *const words[] = {"Invalid", "uninitialised", "Process terminating", "overlap", NULL};
    char error[4200], line[400], prefix[200];
    snprintf(prefix, sizeof prefix, "timeout %d valgrind -q --error-exitcode=%d", TOOL_SECONDS, ERROR_STATUS);
    int status = run_eval(c, prefix, c->specification, folder);
    snprintf(error, sizeof error, "%s/err", folder);
    first_line(error, words, line, sizeof line);
    if (status == ERROR_STATUS)
        report(c, FAULT,
               "valgrind finds a mistake with memory: %.300s. Build the model with -g, and `valgrind gess eval` says "
               "where.",
               line);
    else if (status != 0)
        report(c, NOTE, "valgrind could not be run to the end (status %d).", status);
}

void check_with_tools(struct check *c)
{
    char folder[] = "/tmp/gess-check-XXXXXX", points[64], source[4200], name[4200], command[128];
    bool plugin =
        c->model->lane.file != NULL || (strchr(c->specification, '/') != NULL && strchr(c->specification, ':') == NULL);
    if (!plugin || c->shared->starts == 0 || mkdtemp(folder) == NULL) return;
    snprintf(points, sizeof points, "%s/points.csv", folder);
    if (c->shared->seconds_per_eval > SLOW_EVALUATION)
        report(c, NOTE, "The density is too slow for valgrind and sanitizers; they were left out.");
    else if (write_points(c, points)) {
        if (find_makefile(c, source, name, sizeof source) && has_program("make") && has_program("cc"))
            use_sanitizers(c, folder, source, name);
        else if (has_program("valgrind"))
            use_valgrind(c, folder);
        else
            report(c, NOTE,
                   "There is no valgrind here, and no Makefile of `gess new` beside the model: mistakes with "
                   "memory inside the density may not be seen.");
    }
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0) return; /* NOLINT(cert-env33-c): a folder of ours */
}
