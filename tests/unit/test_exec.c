/* Programs as densities: what is written and read, byte by byte; the pieces of a command; programs that are started,
 * stopped and abandoned. tests/cli/exec.sh and tests/exec/faults.py have whole runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "model/exec.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static locale_t c_locale;

/* The whole text, in pieces of `piece` bytes. */
static enum gess__program_more take(gess__exec_reader *r, const char *text, size_t size, size_t piece)
{
    enum gess__program_more more = GESS__PROGRAM_MORE;
    for (size_t at = 0; at < size && more == GESS__PROGRAM_MORE; at += piece)
        more = gess__exec_take(r, text + at, size - at < piece ? size - at : piece);
    return more;
}

static void text_answers(void **state)
{
    (void)state;
    static const char text[] = "-1.5\n  2e-3 \r\n-inf\nnan\n";
    double values[4];
    for (size_t piece = 1; piece <= sizeof text; piece++) {
        gess__exec_reader r = {.n = 4, .values = values, .c_locale = c_locale};
        assert_int_equal(take(&r, text, strlen(text), piece), GESS__PROGRAM_ENOUGH);
        assert_true(values[0] == -1.5 && values[1] == 2e-3 && values[2] == -INFINITY && isnan(values[3]));
    }
    static const struct {
        const char *text, *cause;
        size_t bad;
    } wrong[] = {{"-1\n2,5\n", "wrote `2,5` as line 2 of its answer to 2 points, which is not a number: write one", 1},
                 {"\n", "wrote `` as line 1 of its answer to 2 points, where a number is needed", 0},
                 {"1 2\n", "which is not a number", 0},
                 {"1\n2\n3\n", "a line too many", 1},
                 {"1\n2\n3", "more than was asked for", 1},
                 {"1\n\x1b[31m\n", "wrote `?[31m` as line 2", 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gess__exec_reader r = {.n = 2, .values = values, .c_locale = c_locale};
        assert_int_equal(take(&r, wrong[i].text, strlen(wrong[i].text), 100), GESS__PROGRAM_WRONG);
        assert_non_null(strstr(r.cause, wrong[i].cause));
        assert_int_equal(r.bad, wrong[i].bad);
    }
    gess__exec_reader r = {.n = 1, .values = values, .c_locale = c_locale};
    char digits[2 * GESS__EXEC_LINE];
    memset(digits, '1', sizeof digits);
    assert_int_equal(take(&r, digits, sizeof digits, 7), GESS__PROGRAM_WRONG);
    assert_non_null(strstr(r.cause, "too long"));
}

static void binary_answers(void **state)
{
    (void)state;
    const double sent[3] = {-1.5, 1e300, -INFINITY};
    double values[3];
    for (size_t piece = 1; piece <= sizeof sent; piece++) {
        gess__exec_reader r = {.binary = true, .n = 3, .values = values};
        assert_int_equal(take(&r, (const char *)sent, sizeof sent, piece), GESS__PROGRAM_ENOUGH);
        assert_memory_equal(values, sent, sizeof sent);
    }
    gess__exec_reader r = {.binary = true, .n = 2, .values = values};
    assert_int_equal(take(&r, (const char *)sent, sizeof sent, sizeof sent), GESS__PROGRAM_WRONG);
    assert_non_null(strstr(r.cause, "answered 2 points with 24 bytes or more instead of 16"));
}

static void requests(void **state)
{
    (void)state;
    const double x[4] = {0.1, -2.0, 1e-300, 3.0};
    char out[512];
    size_t size = gess__exec_request(false, 2, 2, x, out);
    static const char wanted[] = "2\n0.10000000000000001 -2\n1";
    assert_true(size <= gess__exec_request_room(false, 2, 2));
    assert_memory_equal(out, wanted, strlen(wanted));
    assert_memory_equal(out + size - 9, "1e-300 3\n", 9);
    double count = 2.0;
    assert_int_equal(gess__exec_request(true, 2, 2, x, out), 5 * sizeof(double));
    assert_memory_equal(out, &count, sizeof count);
    assert_memory_equal(out + sizeof count, x, sizeof x);
}

static void greetings(void **state)
{
    (void)state;
    gess__model m = {0};
    bool binary;
    char text[] = "ok binary 3 theta[1,2]  sigma(0,inf) phi(-3.5,3.5,periodic)", cause[GESS__EXEC_CAUSE] = "";
    assert_int_equal(gess__exec_parse_greeting(&m, text, &binary, cause, NULL), GESS_OK);
    assert_true(binary && m.model.dim == 3);
    assert_string_equal(m.model.names[0], "theta[1,2]");
    assert_string_equal(m.model.names[1], "sigma");
    assert_string_equal(m.model.names[2], "phi");
    assert_true(m.model.lower[0] == -INFINITY && m.model.lower[1] == 0.0 && m.model.upper[2] == 3.5);
    assert_true(!m.model.periodic[1] && m.model.periodic[2]);
    for (size_t i = 0; i < m.memory_count; i++) free(m.memory[i]);
    assert_true(gess__exec_same_greeting("ok binary 3 a b c", 3, true));
    assert_false(gess__exec_same_greeting("ok 3 a b c", 3, true));
    assert_false(gess__exec_same_greeting("ok binary 4", 3, true));
    static const char *const wrong[] = {"", "OK 3", "ok", "ok -1", "ok 3x", "okay 3", "ok 2 a", "ok 1 a b"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        gess__model other = {0};
        char copy[32];
        cause[0] = '\0';
        strcpy(copy, wrong[i]);
        assert_int_not_equal(gess__exec_parse_greeting(&other, copy, &binary, cause, NULL), GESS_OK);
        assert_true(cause[0] != '\0');
        for (size_t k = 0; k < other.memory_count; k++) free(other.memory[k]);
    }
}

static void commands(void **state)
{
    (void)state;
    char folder[] = "/tmp/gess-exec-XXXXXX", file[64], command[256], found[256];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/my model.py", folder);
    FILE *out = fopen(file, "w");
    assert_non_null(out);
    fclose(out);
    snprintf(command, sizeof command, "python3 -u '%s' --fast", file);
    assert_true(gess__exec_file(command, 0, found, sizeof found));
    assert_string_equal(found, file);
    assert_false(gess__exec_file(command, 1, found, sizeof found));
    gess__exec_name(command, found, sizeof found);
    assert_string_equal(found, "my model");
    gess__exec_name("nowhere/likelihood.exe 3", found, sizeof found);
    assert_string_equal(found, "likelihood");
    assert_string_equal(gess__exec_command("exec:a b"), "a b");
    assert_null(gess__exec_command("./exec:a"));
    unlink(file);
    rmdir(folder);
}

/* ---- processes ---- */

static bool is_alive(pid_t process)
{
    return kill(process, 0) == 0;
}

static pid_t read_process(const char *path)
{
    long number = 0;
    for (int i = 0; i < 500 && number == 0; i++) {
        FILE *file = fopen(path, "r");
        if (file != NULL && fscanf(file, "%ld", &number) != 1) number = 0;
        if (file != NULL) fclose(file);
        if (number == 0) usleep(10000);
    }
    return (pid_t)number;
}

static void await_end(pid_t process)
{
    double until = gess__seconds() + 10.0;
    while (is_alive(process) && gess__seconds() < until) usleep(10000);
    assert_false(is_alive(process));
}

/* A program, and what it has started, end with stop(). */
static void ends_with_stop(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    gess__keeper keeper = {0};
    gess__program *program = NULL;
    char path[] = "/tmp/gess-exec-XXXXXX", command[128];
    close(mkstemp(path));
    snprintf(command, sizeof command, "trap '' TERM; sleep 1000 & echo $! > %s; sleep 1000", path);
    assert_int_equal(gess__keeper_start(&keeper, NULL), GESS_OK);
    assert_int_equal(gess__program_start(&program, &keeper, command, none, NULL, NULL, NULL), GESS_OK);
    pid_t child = read_process(path);
    assert_true(child > 0 && is_alive(child));
    gess__program_stop(program, 0.0);
    await_end(child);
    gess__keeper_end(&keeper);
    unlink(path);
}

/* They end, too, if the process that has started them is killed. */
static void ends_with_owner(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    char path[] = "/tmp/gess-exec-XXXXXX", command[128];
    close(mkstemp(path));
    snprintf(command, sizeof command, "sleep 1000 & echo $! > %s; sleep 1000", path);
    pid_t owner = fork();
    if (owner == 0) {
        gess__keeper keeper = {0};
        gess__program *program = NULL;
        gess__keeper_start(&keeper, NULL);
        gess__program_start(&program, &keeper, command, none, NULL, NULL, NULL);
        for (;;) pause();
    }
    pid_t child = read_process(path);
    assert_true(child > 0);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    await_end(child);
    unlink(path);
}

/* A copy of the process has programs of its own. */
static void copies_start_their_own(void **state)
{
    (void)state;
    static const char echo[] = "exec:read g; echo ok 1; while read n; do while [ $n -gt 0 ]; do read x; echo $$; "
                               "n=$((n - 1)); done; done";
    gess_model *model = NULL;
    gess_error err = {0};
    double x[2] = {1.0, 2.0}, first[2], second[2];
    assert_int_equal(gess_model_open(&model, echo, NULL, &err), GESS_OK);
    assert_int_equal(gess_model_evaluate(model, 2, x, first, NULL, &err), GESS_OK);
    assert_true(first[0] == first[1]);
    pid_t copy = fork();
    if (copy == 0) {
        int status = gess_model_evaluate(model, 2, x, second, NULL, &err);
        gess_model_free(model);
        _exit(status == GESS_OK && second[0] != first[0] ? 0 : 1);
    }
    int ended;
    waitpid(copy, &ended, 0);
    assert_int_equal(ended, 0);
    assert_int_equal(gess_model_evaluate(model, 2, x, second, NULL, &err), GESS_OK);
    assert_true(second[0] == first[0]);
    gess_model_free(model);
}

static int make_locale(void **state)
{
    (void)state;
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return 0;
}

static int free_locale(void **state)
{
    (void)state;
    freelocale(c_locale);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_answers),    cmocka_unit_test(binary_answers),
                                       cmocka_unit_test(requests),        cmocka_unit_test(greetings),
                                       cmocka_unit_test(commands),        cmocka_unit_test(ends_with_stop),
                                       cmocka_unit_test(ends_with_owner), cmocka_unit_test(copies_start_their_own)};
    return cmocka_run_group_tests(tests, make_locale, free_locale);
}
