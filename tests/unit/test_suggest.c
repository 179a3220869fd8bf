/* Edit distances and "did you mean", and arguments of shell commands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/shell.h"
#include "base/suggest.h"

#include <gess/draws.h>
#include <string.h>

static void distances(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {{"", "", 0},         {"abc", "abc", 0},        {"sampel", "sample", 1},
                 {"nutz", "nuts", 1}, {"ca", "abc", 3},         {"kernl", "kernel", 1},
                 {"", "abc", 3},      {"kitten", "sitting", 3}, {"ab", "ba", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(gess__edit_distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(gess__edit_distance(cases[i].b, cases[i].a), cases[i].distance);
    }
    char longer[200] = "";
    memset(longer, 'x', sizeof longer - 1);
    assert_int_equal(gess__edit_distance(longer, "x"), 62); /* bounded */
}

static void nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"sample", "summary", "resume", NULL, "fit"};
    size_t index;
    assert_int_equal(gess_nearest_name("sampel", 5, names, &index, NULL), GESS_OK);
    assert_int_equal(index, 0);
    assert_int_equal(gess_nearest_name("reusme", 5, names, &index, NULL), GESS_OK);
    assert_int_equal(index, 2);
    assert_int_equal(gess_nearest_name("elephant", 5, names, &index, NULL), GESS_OK);
    assert_int_equal(index, 5);
    assert_int_equal(gess_nearest_name("x", 5, names, &index, NULL), GESS_OK);
    assert_int_equal(index, 5);
    assert_int_equal(gess_nearest_name(NULL, 5, names, &index, NULL), GESS_ERR_USAGE);
}

static void quotes(void **state)
{
    (void)state;
    static const char *const cases[][2] = {{"runs/a-1", "runs/a-1"},
                                           {"my run", "'my run'"},
                                           {"it's", "'it'\\''s'"},
                                           {"", "''"},
                                           {"$(rm)", "'$(rm)'"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = NULL, small[64];
        assert_int_equal(gess_text_quote(cases[i][0], &text, NULL), GESS_OK);
        assert_string_equal(text, cases[i][1]);
        gess_text_free(text);
        assert_string_equal(gess__shell_quote(cases[i][0], small, sizeof small), cases[i][1]);
    }
    char little[4];
    assert_string_equal(gess__shell_quote("far too long", little, sizeof little), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(distances), cmocka_unit_test(nearest),
                                       cmocka_unit_test(quotes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
