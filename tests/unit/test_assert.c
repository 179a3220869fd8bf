/* GESS_ASSERT(): a violation aborts with a message if assertions are on; the condition is not evaluated if they are
 * off.
 *
 * Both forms are tested in every build: the file is included twice, first with GESS_ASSERTIONS, then without. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#ifndef GESS_ASSERTIONS
#define GESS_ASSERTIONS
#endif
#include "base/assert.c" /* in a release build the library has no gess__assert_failed() */

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int evaluated;

static int count(int value)
{
    evaluated++;
    return value;
}

static void check_on(int value)
{
    GESS_ASSERT(count(value) > 0);
}

#undef GESS_ASSERTIONS
#undef GESS_ASSERT
#undef GESS_BASE_ASSERT_H
#include "base/assert.h"

static void check_off(int value)
{
    GESS_ASSERT(count(value) > 0);
}

static void violation_aborts(void **state)
{
    (void)state;
    int ends[2], status;
    char text[512] = "";
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL); /* cmocka catches it */
        dup2(ends[1], STDERR_FILENO);
        check_on(0);
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; length < sizeof text - 1 && (got = read(ends[0], text + length, sizeof text - 1 - length)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "assertion failed: count(value) > 0"));
    assert_non_null(strstr(text, "test_assert.c:"));
}

static void good_condition_passes(void **state)
{
    (void)state;
    evaluated = 0;
    check_on(1);
    assert_int_equal(evaluated, 1);
}

static void off_does_not_evaluate(void **state)
{
    (void)state;
    evaluated = 0;
    check_off(0);
    assert_int_equal(evaluated, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(violation_aborts), cmocka_unit_test(good_condition_passes),
                                       cmocka_unit_test(off_does_not_evaluate)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
