/* base/status.h: messages, their truncation, and the exit statuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/status.h"

#include <string.h>

static void fails(void **state)
{
    (void)state;
    gess_error err = {0};
    assert_int_equal(gess__fail(&err, GESS_ERR_MODEL, "%s is %d", "x", 7), GESS_ERR_MODEL);
    assert_int_equal(err.status, GESS_ERR_MODEL);
    assert_string_equal(err.text, "x is 7");
    assert_int_equal(gess__fail(NULL, GESS_ERR_FILE, "%d", 1), GESS_ERR_FILE);
}

/* A message that does not fit is cut, and still ends with a NUL. */
static void truncates(void **state)
{
    (void)state;
    struct {
        gess_error err;
        char guard[16];
    } box;
    char text[4 * sizeof box.err.text];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    memset(&box, '#', sizeof box);
    gess__fail(&box.err, GESS_ERR_USAGE, "%s", text);
    assert_int_equal(strlen(box.err.text), sizeof box.err.text - 1);
    for (size_t i = 0; i < sizeof box.guard; i++) assert_int_equal(box.guard[i], '#');

    text[sizeof box.err.text - 1] = '\0'; /* just fits */
    gess__fail(&box.err, GESS_ERR_USAGE, "%s", text);
    assert_string_equal(box.err.text, text);
}

static void blames(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__fail(&err, GESS_ERR_FILE, "no room");
    assert_int_equal(gess__blame(&err, GESS_ERR_USAGE, "while reading %s", "this"), GESS_ERR_USAGE);
    assert_string_equal(err.text, "while reading this: no room");
    assert_int_equal(err.status, GESS_ERR_USAGE);
    assert_int_equal(gess__blame(&err, GESS_ERR_USAGE, "again"), GESS_ERR_USAGE);
    assert_string_equal(err.text, "again: while reading this: no room");
    assert_int_equal(gess__blame(NULL, GESS_ERR_FILE, "%d", 1), GESS_ERR_FILE);
}

static void blame_truncates(void **state)
{
    (void)state;
    struct {
        gess_error err;
        char guard[16];
    } box;
    char text[sizeof box.err.text];
    memset(text, 'b', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    for (size_t length = 1; length < sizeof text; length += 101) {
        memset(&box, '#', sizeof box);
        gess__fail(&box.err, GESS_ERR_USAGE, "%s", text);
        gess__blame(&box.err, GESS_ERR_USAGE, "%.*s", (int)length, text);
        size_t kept = strlen(box.err.text);
        assert_true(kept < sizeof box.err.text && kept >= sizeof box.err.text / 2 - 1);
        const char *colon = strchr(box.err.text, ':');
        assert_non_null(colon); /* parts of both context and message remain */
        assert_true(strlen(colon) > 3);
        for (size_t i = 0; i < sizeof box.guard; i++) assert_int_equal(box.guard[i], '#');
    }
}

static int inner(int status, int *reached)
{
    GESS_TRY(status);
    *reached = 1;
    return GESS_OK;
}

static void tries(void **state)
{
    (void)state;
    int reached = 0;
    assert_int_equal(inner(GESS_ERR_STOPPED, &reached), GESS_ERR_STOPPED);
    assert_int_equal(reached, 0);
    assert_int_equal(inner(GESS_OK, &reached), GESS_OK);
    assert_int_equal(reached, 1);
}

/* The exit statuses of the command are a contract. */
static void numbers(void **state)
{
    (void)state;
    const int expected[] = {GESS_OK,           GESS_ERR_USAGE, GESS_ERR_MODEL,        GESS_ERR_STOPPED,
                            GESS_ERR_INTERNAL, GESS_ERR_FILE,  GESS_ERR_NOT_CONVERGED};
    for (int i = 0; i < 7; i++) {
        assert_int_equal(expected[i], i);
        assert_true(strlen(gess_status_text(i)) > 0);
        for (int j = 0; j < i; j++) assert_string_not_equal(gess_status_text(i), gess_status_text(j));
    }
    assert_non_null(strstr(gess_status_text(99), "unknown"));
    assert_non_null(strstr(gess_status_text(-1), "unknown"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fails),           cmocka_unit_test(truncates), cmocka_unit_test(blames),
        cmocka_unit_test(blame_truncates), cmocka_unit_test(tries),     cmocka_unit_test(numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
