/* A program for exec:, with faults: a standard Gaussian in DIM dimensions.
 *   peer DIM [binary] [sleep MICROSECONDS] [fault KIND POINT] [once FILE] [report FILE]
 * The fault happens at the evaluation of point number POINT of a process, from 1; with `once` only if FILE does not
 * exist, which it makes: so it happens once in a run, or, without `once`, in every process. At the end of its input a
 * process adds to the file of `report` a line with the seconds that it has spent in the density. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_DIM = 1000 };

static long dim, count, at = -1, pause_us;
static int binary;
static const char *fault = "", *flag, *report;
static double busy; /* seconds in the density */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is(const char *kind)
{
    return strcmp(fault, kind) == 0;
}

static int is_due(void)
{
    if (count != at) return 0;
    if (flag == NULL) return 1;
    int made = open(flag, O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (made >= 0) close(made);
    return made >= 0;
}

_Noreturn static void wait_for_ever(void)
{
    for (;;) pause();
}

/* What does not need the value. Returns whether an answer is still to be written. */
static int misbehave(void)
{
    if (is("exit")) exit(3);
    if (is("crash")) raise(SIGSEGV);
    if (is("kill")) raise(SIGKILL);
    if (is("silence")) wait_for_ever();
    if (is("slow")) sleep(600);
    if (is("say-and-exit")) {
        fprintf(stderr, "ValueError: no such star\n");
        exit(1);
    }
    if (is("partial-exit") || is("partial")) {
        printf("-1.2");
        fflush(stdout);
        if (is("partial")) wait_for_ever();
        exit(0);
    }
    if (is("eof")) {
        close(1);
        wait_for_ever();
    }
    if (is("few")) { /* a value is missing, and the program waits for the next batch */
        return 0;
    }
    if (is("child")) { /* ends, and leaves a process of its group behind */
        if (fork() == 0) wait_for_ever();
        exit(4);
    }
    if (is("flood")) /* of standard error: no fault */
        for (int i = 0; i < 20000; i++) fprintf(stderr, "a line of a flood, number %d, that nobody needs\n", i);
    static const char *const lines[][2] = {{"garbage", "Traceback"},
                                           {"comma", "-1,5"},
                                           {"empty", ""},
                                           {"two", "-1 -2"},
                                           {"hex", "0x1p3"},
                                           {"overflow", "-1e999"},
                                           {"warning", "Warning: converged slowly"}};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (is(lines[i][0])) {
            puts(lines[i][1]);
            return 0;
        }
    if (is("long")) {
        for (int i = 0; i < 1 << 20; i++) putchar('1');
        putchar('\n');
        return 0;
    }
    if (is("many")) puts("-1.5"); /* a value too many */
    if (is("inf")) {
        puts("inf");
        return 0;
    }
    return 1;
}

static double density(const double *x)
{
    double sum = 0.0;
    for (long i = 0; i < dim; i++) sum += x[i] * x[i];
    return -0.5 * sum;
}

static void answer(const double *x)
{
    double before = now(), value = density(x);
    count++;
    if (pause_us > 0) usleep((useconds_t)pause_us);
    busy += now() - before;
    if (is_due() && !misbehave()) return;
    if (binary)
        fwrite(&value, sizeof value, 1, stdout);
    else
        printf("%.17g\n", value);
}

static int read_point(double *x)
{
    static char line[32 * MAX_DIM];
    if (binary) return fread(x, sizeof *x, (size_t)dim, stdin) == (size_t)dim;
    if (fgets(line, sizeof line, stdin) == NULL) return 0;
    char *c = line;
    for (long i = 0; i < dim; i++) x[i] = strtod(c, &c);
    return 1;
}

static int read_count(long *n)
{
    double value;
    char line[64];
    if (binary) {
        if (fread(&value, sizeof value, 1, stdin) != 1) return 0;
        *n = (long)value;
        return 1;
    }
    if (fgets(line, sizeof line, stdin) == NULL) return 0;
    *n = atol(line);
    return 1;
}

int main(int argc, char **argv)
{
    static double x[MAX_DIM];
    char line[64];
    dim = atol(argv[1]);
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "binary") == 0) binary = 1;
        if (strcmp(argv[i], "sleep") == 0) pause_us = atol(argv[++i]);
        if (strcmp(argv[i], "once") == 0) flag = argv[++i];
        if (strcmp(argv[i], "report") == 0) report = argv[++i];
        if (strcmp(argv[i], "fault") == 0) {
            fault = argv[++i];
            at = atol(argv[++i]);
        }
    }
    static char out[1 << 16];
    setvbuf(stdout, out, _IOFBF, sizeof out);
    if (is("deaf") && is_due()) wait_for_ever();
    if (fgets(line, sizeof line, stdin) == NULL) return 1;
    if (is("greeting") && is_due()) {
        puts("Hello");
        fflush(stdout);
        wait_for_ever();
    }
    if (is("other-dim") && strchr(line, '?') == NULL) dim++;
    printf("ok %s%ld\n", binary ? "binary " : "", dim);
    fflush(stdout);
    for (long n; read_count(&n);) {
        if (is("ignore") && is_due()) wait_for_ever(); /* does not read its points */
        for (long i = 0; i < n; i++) {
            if (!read_point(x)) return 1;
            answer(x);
        }
        if (is("late") && count >= at) puts("-0.5"); /* a line too many, with the next answer or alone */
        fflush(stdout);
    }
    FILE *file = report != NULL ? fopen(report, "a") : NULL;
    if (file != NULL) {
        fprintf(file, "%.6f\n", busy);
        fclose(file);
    }
    return 0;
}
