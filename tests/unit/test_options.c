/* base/options.h: defaults, ranges, parsing and printing of every option. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/options.h"

#include <stdio.h>
#include <string.h>

static void counts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t value;
    } good[] = {{"0", 0},
                {"1", 1},
                {"007", 7},
                {"2e6", 2000000},
                {"2E6", 2000000},
                {"1.5e3", 1500},
                {"1e+3", 1000},
                {".5e1", 5},
                {"12.", 12},
                {"1.0", 1},
                {"1.250e3", 1250},
                {"0e999", 0},
                {"1e19", UINT64_C(10000000000000000000)},
                {"18446744073709551615", UINT64_MAX},
                {"1844674407370955161.5e1", UINT64_MAX}};
    static const char *const bad[] = {"",
                                      "x",
                                      "-1",
                                      "+1",
                                      " 1",
                                      "1 ",
                                      "1x",
                                      "1.5",
                                      "1e",
                                      "1e-3",
                                      "1e+",
                                      "e5",
                                      ".",
                                      ".e3",
                                      "0x10",
                                      "1,000",
                                      "1e20",
                                      "2e19",
                                      "1e99999999999999999999",
                                      "1.2.3",
                                      "1e3.5",
                                      "inf",
                                      "nan",
                                      "1.25e1",
                                      "18446744073709551616",
                                      "99999999999999999999999"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t value = 42;
        if (!gess__parse_count(good[i].text, &value) || value != good[i].value)
            fail_msg("'%s' gave %llu", good[i].text, (unsigned long long)value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t value = 42;
        if (gess__parse_count(bad[i], &value)) fail_msg("'%s' gave %llu", bad[i], (unsigned long long)value);
        assert_true(value == 42); /* untouched */
    }
}

static void times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"0", 0},     {"90", 90},    {"90s", 90},  {"1.5m", 90},
                {"2h", 7200}, {"1d", 86400}, {"0.5", 0.5}, {"1e3s", 1000}};
    static const char *const bad[] = {"",    "s",   "m",   "-1",   "-1s",   "1w",  "1 s s",
                                      "nan", "inf", "1hm", "five", "1e999", "5:00"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value = 42;
        if (!gess__parse_time(good[i].text, &value) || value != good[i].seconds)
            fail_msg("'%s' gave %g", good[i].text, value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        double value = 42;
        if (gess__parse_time(bad[i], &value)) fail_msg("'%s' gave %g", bad[i], value);
        assert_true(value == 42);
    }
}

static void assert_texts(const char *got, const char *want)
{
    if (want == NULL)
        assert_null(got);
    else
        assert_string_equal(got, want);
}

static void defaults(void **state)
{
    (void)state;
    gess_options o;
    memset(&o, 0xff, sizeof o);
    gess__options_init(&o);
#define GESS_COUNT(name, flag, value, low, high, unit, help) assert_true(o.name == (uint64_t)(value));
#define GESS_COUNT_OR_AUTO(name, flag, low, high, unit, help) assert_true(o.name == GESS_AUTO);
#define GESS_COUNT_AUTO_TOO(name, flag, value, low, high, unit, help) assert_true(o.name == (uint64_t)(value));
#define GESS_REAL(name, flag, value, low, high, unit, help) assert_true(o.name == (value));
#define GESS_TIME(name, flag, unit, help) assert_true(o.name == 0.0);
#define GESS_TEXT(name, flag, value, unit, help) assert_texts(o.name, value);
#define GESS_FLAG(name, flag, help) assert_int_equal(o.name, 0);
#include "base/options_rows.h"
    /* every default is in its range */
    const gess__option *row;
    for (size_t i = 0; (row = gess__option_row(i)) != NULL; i++) {
        if (row->type == GESS__OPTION_COUNT) assert_true(row->count >= row->low && row->count <= row->high);
        if (row->type == GESS__OPTION_REAL) assert_true(row->real >= row->min && row->real <= row->max);
        if (row->type == GESS__OPTION_COUNT_OR_AUTO) assert_true(row->high < GESS_AUTO);
    }
}

static void set_bad(const char *name, const char *value, const char *piece, const char *other)
{
    gess_options o, before;
    gess_error err = {0};
    gess__options_init(&o);
    memcpy(&before, &o, sizeof o);
    assert_int_equal(gess_options_set(&o, name, value, &err), GESS_ERR_USAGE);
    assert_int_equal(err.status, GESS_ERR_USAGE);
    if (strstr(err.text, piece) == NULL || strstr(err.text, other) == NULL)
        fail_msg("'%s' should hold '%s' and '%s'", err.text, piece, other);
    assert_memory_equal(&before, &o, sizeof o);
}

static void refusals(void **state)
{
    (void)state;
    set_bad("nonsense", "1", "--nonsense", "no such option");
    set_bad("", "1", "no such option", "help");
    set_bad("chain", "1", "--chain:", "no such option");
    set_bad("chains", "ten", "--chains ten", "1e3");
    set_bad("draws", "-5", "--draws -5", "whole number");
    set_bad("warmup", "", "--warmup", "whole number");
    assert_int_equal(gess_options_set(&(gess_options){0}, "nonsense", "1", NULL), GESS_ERR_USAGE);
}

/* Both ends of every range are accepted, values beyond them are refused. */
static void ranges(void **state)
{
    (void)state;
    const gess__option *row;
    for (size_t i = 0; (row = gess__option_row(i)) != NULL; i++) {
        if (row->type == GESS__OPTION_REAL) {
            char beyond[64];
            snprintf(beyond, sizeof beyond, "%.17g", row->max + 1.0);
            set_bad(row->name, beyond, row->name, "out of range");
            snprintf(beyond, sizeof beyond, "%.17g", row->min - 1.0);
            set_bad(row->name, beyond, row->name, "out of range");
            set_bad(row->name, "nan", row->name, "out of range");
            set_bad(row->name, "much", row->name, "not a number");
        }
        if (row->type == GESS__OPTION_TIME) set_bad(row->name, "soon", row->name, "not a time");
        if (row->type != GESS__OPTION_COUNT && row->type != GESS__OPTION_COUNT_OR_AUTO) continue;
        if (row->type == GESS__OPTION_COUNT) set_bad(row->name, "auto", row->name, "whole number");
        const uint64_t ends[] = {row->low, row->high};
        for (size_t j = 0; j < 2; j++) {
            gess_options o;
            gess_error err = {0};
            char text[32], shown[32];
            gess__options_init(&o);
            snprintf(text, sizeof text, "%llu", (unsigned long long)ends[j]);
            if (gess_options_set(&o, row->name, text, &err) != GESS_OK) fail_msg("%s", err.text);
            gess__option_show(&o, row, shown, sizeof shown);
            assert_string_equal(shown, text);
        }
        char text[32];
        if (row->low > 0) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)row->low - 1);
            set_bad(row->name, text, row->name, "out of range");
        }
        if (row->high < UINT64_MAX) {
            snprintf(text, sizeof text, "%llu", (unsigned long long)row->high + 1);
            set_bad(row->name, text, row->name, "out of range");
        }
    }
}

/* The shown value of every row can be set again, with and without dashes; no other field changes. */
static void round_trips(void **state)
{
    (void)state;
    const gess__option *row;
    size_t rows = 0;
    for (; (row = gess__option_row(rows)) != NULL; rows++) {
        gess_options o, again, plain;
        gess_error err = {0};
        char text[64], dashed[64];
        gess__options_init(&o);
        gess__options_init(&again);
        gess__options_init(&plain);
        const char *value = row->type == GESS__OPTION_TEXT ? "some/path with blanks" : "1";
        snprintf(dashed, sizeof dashed, "--%s", row->name);
        if (gess_options_set(&o, dashed, value, &err) != GESS_OK) fail_msg("%s", err.text);
        gess__option_show(&o, row, text, sizeof text);
        assert_string_equal(text, value);
        assert_int_equal(gess_options_set(&again, row->name, text, &err), GESS_OK);
        char shown[64];
        gess__option_show(&again, row, shown, sizeof shown);
        assert_string_equal(shown, text);
        for (size_t other = 0; gess__option_row(other) != NULL; other++) {
            if (other == rows) continue;
            char left[64], right[64];
            gess__option_show(&o, gess__option_row(other), left, sizeof left);
            gess__option_show(&plain, gess__option_row(other), right, sizeof right);
            assert_string_equal(left, right);
        }
        /* the help has texts for readers */
        assert_true(strlen(row->name) > 0 && strlen(row->help) > 0);
        assert_int_equal(row->unit == NULL, row->type == GESS__OPTION_FLAG);
        gess__options_clear(&o);
        gess__options_clear(&again);
    }
    assert_true(rows >= 13);
    assert_null(gess__option_row(rows + 5));
}

/* Numbers come back to the last bit, `auto` as `auto`. */
static void other_kinds(void **state)
{
    (void)state;
    const gess__option *row;
    size_t seen = 0;
    for (size_t i = 0; (row = gess__option_row(i)) != NULL; i++) {
        if (row->type != GESS__OPTION_REAL && row->type != GESS__OPTION_TIME && row->type != GESS__OPTION_COUNT_OR_AUTO)
            continue;
        gess_options o, again;
        gess_error err = {0};
        char text[64], shown[64];
        gess__options_init(&o);
        gess__options_init(&again);
        if (row->type == GESS__OPTION_COUNT_OR_AUTO)
            snprintf(text, sizeof text, "auto");
        else
            snprintf(text, sizeof text, "%.17g",
                     row->type == GESS__OPTION_REAL ? row->min + (row->max - row->min) / 3.0 : 1.0 / 3.0);
        if (row->type == GESS__OPTION_COUNT_OR_AUTO)
            assert_int_equal(gess_options_set(&o, row->name, "5", &err), GESS_OK);
        if (gess_options_set(&o, row->name, text, &err) != GESS_OK) fail_msg("%s", err.text);
        gess__option_show(&o, row, shown, sizeof shown);
        assert_int_equal(gess_options_set(&again, row->name, shown, &err), GESS_OK);
        assert_memory_equal((const char *)&o + row->offset, (const char *)&again + row->offset, 8);
        gess__option_show(&again, row, text, sizeof text);
        assert_string_equal(shown, text);
        seen++;
    }
    assert_true(seen >= 1);
}

static void flags_and_texts(void **state)
{
    (void)state;
    gess_options o;
    gess__options_init(&o);
    const gess__option *row;
    for (size_t i = 0; (row = gess__option_row(i)) != NULL; i++) {
        char text[8];
        if (row->type == GESS__OPTION_FLAG) {
            gess_options_set(&o, row->name, NULL, NULL);
            gess__option_show(&o, row, text, sizeof text);
            assert_string_equal(text, "1");
            gess_options_set(&o, row->name, "0", NULL);
            gess__option_show(&o, row, text, sizeof text);
            assert_string_equal(text, "0");
        } else if (row->type == GESS__OPTION_TEXT) {
            gess_options_set(&o, row->name, "longer than the buffer", NULL);
            gess__option_show(&o, row, text, sizeof text);
            assert_string_equal(text, "longer ");
            gess_options_set(&o, row->name, NULL, NULL);
            gess__option_show(&o, row, text, sizeof text);
            const char *usual = row->text != NULL ? row->text : "";
            assert_memory_equal(text, usual, strlen(usual) < sizeof text ? strlen(usual) + 1 : sizeof text - 1);
        }
    }
    gess__options_clear(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts), cmocka_unit_test(defaults),    cmocka_unit_test(refusals),
        cmocka_unit_test(ranges), cmocka_unit_test(round_trips), cmocka_unit_test(flags_and_texts),
        cmocka_unit_test(times),  cmocka_unit_test(other_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
