/* base/csv.h: tables are read as they are written, and every bad file gets a message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/csv.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "test_csv-XXXXXX";

static int make_file(void **state)
{
    (void)state;
    int file = mkstemp(path);
    return file < 0 || close(file) != 0;
}

static int remove_file(void **state)
{
    (void)state;
    return unlink(path);
}

/* Writes `length` bytes and reads them as a table. */
static int read_bytes(gess__table *table, const char *bytes, size_t length, gess_error *err)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return gess__table_read(table, path, err);
}

static void read_good(gess__table *table, const char *text)
{
    gess_error err = {0};
    if (read_bytes(table, text, strlen(text), &err) != GESS_OK) fail_msg("%s", err.text);
}

/* Reading must fail, with both texts in the message and an empty table. */
static void read_bad(const char *text, const char *piece, const char *other)
{
    gess_error err = {0};
    gess__table table;
    assert_int_equal(read_bytes(&table, text, strlen(text), &err), GESS_ERR_USAGE);
    if (strstr(err.text, piece) == NULL || strstr(err.text, other) == NULL || strstr(err.text, path) == NULL)
        fail_msg("'%s' should hold '%s', '%s' and the path", err.text, piece, other);
    assert_null(table.values);
    assert_null(table.names);
    gess__table_free(&table);
}

static void assert_values(const gess__table *table, size_t rows, size_t columns, const double *expected)
{
    assert_int_equal(table->rows, rows);
    assert_int_equal(table->columns, columns);
    for (size_t i = 0; i < rows * columns; i++)
        assert_true(table->values[i] == expected[i] || (isnan(table->values[i]) && isnan(expected[i])));
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"1", 1},        {"-1.5e-3", -1.5e-3}, {" +2. ", 2},           {".5", 0.5},  {"\t7\r", 7},
        {"1E+10", 1e10}, {"inf", INFINITY},    {"-Inf", -INFINITY},    {"NaN", NAN}, {"-infinity", -INFINITY},
        {"1e-400", 0.0}, {"0", 0.0},           {"4.9e-324", 4.9e-324},
    };
    static const char *const bad[] = {"",    " ",     "x",       "1x", "0x10",  "1 2",    "1,5",
                                      "--1", "e5",    ".",       "1e", "1e+",   "nan(1)", "infin",
                                      "NA",  "1e999", "-1e999.", "+",  "0x1p3", "1..2"};
    double value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!gess__parse_real(good[i].text, &value)) fail_msg("'%s' is a number", good[i].text);
        assert_true(value == good[i].value || (isnan(value) && isnan(good[i].value)));
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (gess__parse_real(bad[i], &value)) fail_msg("'%s' is not a number", bad[i]);
}

/* The double that is nearest, and the even one of two that are equally near, whatever the C library. */
static void reading_rounds_correctly(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } hard[] = {
        {"1.00000000000000011102230246251565404236316680908203124",
         1.0}, /* beside the middle of 1 and the next double */
        {"1.00000000000000011102230246251565404236316680908203125", 1.0},
        {"1.00000000000000011102230246251565404236316680908203126", 0x1.0000000000001p0},
        {"1.00000000000000033306690738754696212708950042724609375", 0x1.0000000000002p0},
        {"9007199254740993", 0x1p53},
        {"9007199254740995", 0x1.0000000000002p53},
        {"9007199254740993.00000000000000000000000000000000000000000000000000000000000001", 0x1.0000000000001p53},
        {"1e23", 0x1.52d02c7e14af6p76},
        {"8.41e21", 0x1.c7e83209e90b2p72},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022},
        {"2.2250738585072012e-308", 0x1p-1022},
        {"2.4703282292062327e-324", 0.0}, /* below half of the smallest double, and above */
        {"2.4703282292062328e-324", 0x1p-1074},
        {"1.7976931348623158e308", 0x1.fffffffffffffp1023},
        {"6.631236846766476e-316", 0x0.0000008000000p-1022},
    };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        double value = -1.0;
        assert_true(gess__parse_real(hard[i].text, &value));
        if (value != hard[i].value) fail_msg("'%s' is read as %a, not %a", hard[i].text, value, hard[i].value);
    }
}

static void printing_rounds_correctly(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } hard[] = {
        {0.1, "0.10000000000000001"},
        {1.0 / 3.0, "0.33333333333333331"},
        {0x1p-1074, "4.9406564584124654e-324"},
        {0x0.fffffffffffffp-1022, "2.2250738585072009e-308"},
        {0x1.fffffffffffffp1023, "1.7976931348623157e+308"},
        {0x1p60, "1.152921504606847e+18"}, /* 1152921504606846976 */
        {0x1p-20, "9.5367431640625e-07"},
        {0x1.0000000000001p53, "9007199254740994"},
        {0x1.8000000000001p57, "2.1617278211378384e+17"}, /* ...838384 */
        {123456789012345680.0, "1.2345678901234568e+17"},
        {72057594037927945.0, "72057594037927952"}, /* is 72057594037927952 */
    };
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        char text[GESS__REAL_SIZE];
        gess__show_real(text, sizeof text, hard[i].value);
        assert_string_equal(text, hard[i].text);
    }
}

/* Every double comes back: random bits, so that all exponents occur. */
static void numbers_come_back(void **state)
{
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        char text[GESS__REAL_SIZE];
        double value, back;
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        gess__show_real(text, sizeof text, value);
        assert_true(gess__parse_real(text, &back));
        if (memcmp(&back, &value, sizeof back) != 0)
            fail_msg("%a is written as %s, which is read as %a", value, text, back);
    }
}

static void plain(void **state)
{
    (void)state;
    gess__table table;
    read_good(&table, "1,2,3\n4,5,6\n");
    assert_values(&table, 2, 3, (double[]){1, 2, 3, 4, 5, 6});
    assert_null(table.names);
    gess__table_free(&table);

    read_good(&table, "1\n2"); /* one column, no newline at the end */
    assert_values(&table, 2, 1, (double[]){1, 2});
    gess__table_free(&table);
}

static void header(void **state)
{
    (void)state;
    gess__table table;
    read_good(&table, "# made by hand\n\n a ,\"b, \"\"c\"\"\",d\r\n1, 2 ,nan\r\n\n  # again\n-inf,\t5,6e1\r\n");
    assert_values(&table, 2, 3, (double[]){1, 2, NAN, -INFINITY, 5, 60});
    assert_string_equal(table.names[0], "a");
    assert_string_equal(table.names[1], "b, \"c\"");
    assert_string_equal(table.names[2], "d");
    gess__table_free(&table);

    read_good(&table, "\xef\xbb\xbf+1,2\n"); /* a byte-order mark is not part of the first field */
    assert_values(&table, 1, 2, (double[]){1, 2});
    assert_null(table.names);
    gess__table_free(&table);
}

static void faults(void **state)
{
    (void)state;
    read_bad("", "empty", "");
    read_bad("\n\r\n# only this\n", "comments", "");
    read_bad("a,b\n", "header", "no line of numbers");
    read_bad("a,b\n1,2\n\n1,2,3\n", "line 4", "3 fields, but the first line has 2");
    read_bad("1,2\n1\n", "line 2", "1 fields");
    read_bad("a,b\n1,2\n3,NA\n", "line 3, column 2", "'NA'");
    read_bad("1,2\n3,\n", "line 2, column 2", "''");
    read_bad("1,2\n3,0x10\n", "line 2, column 2", "'0x10'");
    read_bad("1,2\n3,1,\"\n", "line 2", "3 fields");
    read_bad("1\nthis field is a good deal longer than a message should repeat in full\n", "line 2", "...'");
}

static void no_file(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__table table;
    assert_int_equal(gess__table_read(&table, "no/such/file.csv", &err), GESS_ERR_FILE);
    assert_non_null(strstr(err.text, "no/such/file.csv"));
    assert_int_equal(gess__table_read(&table, ".", &err), GESS_ERR_FILE);
    assert_null(table.values);
}

/* Bytes that are not text give a message or a table, never a crash. */
static void binary(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__table table;
    static const char zero[] = "1,2\n3\0,4\n", name[] = "a\0b,c\n1,2\n";
    assert_int_equal(read_bytes(&table, zero, sizeof zero - 1, &err), GESS_ERR_USAGE);
    assert_non_null(strstr(err.text, "'3?'"));
    assert_int_equal(read_bytes(&table, name, sizeof name - 1, &err), GESS_OK);
    assert_string_equal(table.names[0], "ab");
    gess__table_free(&table);

    char noise[512];
    uint32_t seed = 1;
    static const char alphabet[] = "0123456789,,,\n\n.e-+\"#a \r\t\0nif\xff\x80x";
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof noise; i++) {
            seed = seed * 1664525u + 1013904223u;
            noise[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        if (read_bytes(&table, noise, (size_t)round % sizeof noise, &err) == GESS_OK) gess__table_free(&table);
    }
}

static void long_lines(void **state)
{
    (void)state;
    enum { COLUMNS = 40000 };
    size_t length = 0;
    char *text = malloc(COLUMNS * 16);
    assert_non_null(text);
    for (int row = 0; row < 2; row++)
        for (int i = 0; i < COLUMNS; i++)
            length += (size_t)sprintf(text + length, "%d%c", i + row, i + 1 < COLUMNS ? ',' : '\n');
    gess__table table;
    read_good(&table, text);
    assert_int_equal(table.rows, 2);
    assert_int_equal(table.columns, COLUMNS);
    assert_true(table.values[COLUMNS - 1] == COLUMNS - 1 && table.values[2 * COLUMNS - 1] == COLUMNS);
    gess__table_free(&table);
    free(text);
}

/* A decimal comma of the program's locale changes neither what is written nor what is read. tests/comma_locale.sh makes
 * the locale "comma"; without it, one that is installed is taken. */
static void numbers_in_any_locale(void **state)
{
    (void)state;
    static const char *const locales[] = {"comma", "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"};
    bool found = false;
    for (size_t l = 0; l < sizeof locales / sizeof *locales; l++) {
        if (setlocale(LC_NUMERIC, locales[l]) == NULL) continue; /* not installed */
        char comma[8];
        snprintf(comma, sizeof comma, "%.1f", 1.5);
        assert_string_equal(comma, "1,5");
        found = true;
        reading_rounds_correctly(state);
        printing_rounds_correctly(state);
        numbers_come_back(state);
    }
    setlocale(LC_NUMERIC, "C");
    if (found) return;
    assert_null(getenv("LOCPATH"));
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_any_locale),
        cmocka_unit_test(numbers),
        cmocka_unit_test(reading_rounds_correctly),
        cmocka_unit_test(printing_rounds_correctly),
        cmocka_unit_test(numbers_come_back),
        cmocka_unit_test(plain),
        cmocka_unit_test(header),
        cmocka_unit_test(faults),
        cmocka_unit_test(no_file),
        cmocka_unit_test(binary),
        cmocka_unit_test(long_lines),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
