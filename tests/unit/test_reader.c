/* gess__reader_rows() gives the draws of gess__draws_read() for any rectangle, and the reader finds any damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "draws/draws.h"
#include "draws/reader.h"
#include "readers/draws_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "test_reader-XXXXXX";
enum { CHAINS = 7, COLUMNS = 3 };
static const char *const names[COLUMNS] = {"lp__", "x", "y"};

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

static double value_of(uint64_t chain, uint64_t draw, size_t column)
{
    return (double)chain * 1e6 + (double)draw + 0.25 * (double)column;
}

static FILE *new_file(void)
{
    return draws_file_new(path, CHAINS, COLUMNS, names, 3);
}

static void append(FILE *file, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws)
{
    double *rows = malloc(chains * draws * COLUMNS * sizeof *rows);
    assert_non_null(rows);
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t j = 0; j < COLUMNS; j++)
                rows[(c * draws + i) * COLUMNS + j] = value_of(first_chain + c, first_draw + i, j);
    draws_file_append(file, COLUMNS, first_chain, chains, first_draw, draws, rows);
    free(rows);
}

static void finish(FILE *file)
{
    assert_int_equal(fclose(file), 0);
}

static void assert_rectangle(const gess__reader *r, size_t first_chain, size_t chains, uint64_t first_draw,
                             uint64_t draws)
{
    gess_error err = {0};
    double *rows = malloc(chains * draws * COLUMNS * sizeof *rows + 1);
    assert_non_null(rows);
    if (gess__reader_rows(r, first_chain, chains, first_draw, draws, rows, &err) != GESS_OK) fail_msg("%s", err.text);
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t j = 0; j < COLUMNS; j++)
                assert_true(rows[(c * draws + i) * COLUMNS + j] == value_of(first_chain + c, first_draw + i, j));
    free(rows);
}

/* The file must be good and have `draws` draws per chain; every kind of rectangle must be right. */
static void assert_holds(uint64_t draws)
{
    gess__reader *r = NULL;
    gess_error err = {0};
    if (gess__reader_open(&r, path, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(r->chains, CHAINS);
    assert_int_equal(r->columns, COLUMNS);
    assert_int_equal(r->thin, 3);
    assert_int_equal(r->draws, draws);
    for (size_t j = 0; j < COLUMNS; j++) assert_string_equal(r->names[j], names[j]);
    for (size_t c = 0; c < CHAINS; c++) assert_rectangle(r, c, 1, 0, draws);
    static const uint64_t windows[] = {1, 2, 3, 7, 10, 64};
    for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
        for (uint64_t first = 0; first < draws; first += windows[k]) {
            uint64_t n = draws - first < windows[k] ? draws - first : windows[k];
            assert_rectangle(r, 0, CHAINS, first, n);
            assert_rectangle(r, 2, 3, first, n);
        }
    double row[COLUMNS];
    assert_int_equal(gess__reader_rows(r, 0, 1, draws, 1, row, &err), GESS_ERR_INTERNAL);
    assert_int_equal(gess__reader_rows(r, CHAINS, 1, 0, 1, row, &err), GESS_ERR_INTERNAL);
    gess__reader_free(r);
}

static void rectangles(void **state)
{
    (void)state;
    FILE *w = new_file();
    finish(w);
    assert_holds(0);
    w = new_file();
    append(w, 0, CHAINS, 0, 100);
    append(w, 0, CHAINS, 100, 1);
    append(w, 0, CHAINS, 101, 30);
    finish(w);
    assert_holds(131);
}

/* Groups in turn with blocks of different lengths; one ensemble after another; draws that only some chains have. */
static void groups(void **state)
{
    (void)state;
    FILE *w = new_file();
    uint64_t done = 0;
    for (uint64_t turn = 1; turn <= 12; turn++) {
        append(w, 0, 3, done, turn);
        append(w, 3, CHAINS - 3, done, 1);
        if (turn > 1) append(w, 3, CHAINS - 3, done + 1, turn - 1);
        done += turn;
    }
    append(w, 0, 2, done, 50);
    finish(w);
    assert_holds(done);
    w = new_file();
    for (uint64_t i = 0; i < 40; i += 4) append(w, 0, 4, i, 4);
    for (uint64_t i = 0; i < 40; i += 8) append(w, 4, CHAINS - 4, i, 8);
    finish(w);
    assert_holds(40);
}

/* Blocks that are larger than the reader's buffer. */
static void large_blocks(void **state)
{
    (void)state;
    enum { DRAWS = 60000 };
    FILE *w = new_file();
    append(w, 0, CHAINS, 0, DRAWS);
    append(w, 0, CHAINS, DRAWS, 5);
    finish(w);
    gess__reader *r = NULL;
    gess_error err = {0};
    if (gess__reader_open(&r, path, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(r->draws, DRAWS + 5);
    for (uint64_t first = 0; first < DRAWS + 5; first += 7001)
        assert_rectangle(r, 0, CHAINS, first, DRAWS + 5 - first < 7001 ? DRAWS + 5 - first : 7001);
    assert_rectangle(r, 0, CHAINS, 0, DRAWS + 5);
    assert_rectangle(r, 6, 1, DRAWS - 1, 3);
    gess__reader_free(r);
}

static int open_status(void)
{
    gess__reader *r = NULL;
    gess_error err = {0};
    int status = gess__reader_open(&r, path, &err);
    if (status != GESS_OK) {
        assert_int_equal(status, GESS_ERR_FILE);
        assert_non_null(strstr(err.text, path));
    }
    gess__reader_free(r);
    return status;
}

/* Every flipped bit and every truncation has the same status as in gess__draws_read(). */
static void damage(void **state)
{
    (void)state;
    static unsigned char bytes[1 << 14];
    FILE *w = new_file();
    append(w, 0, 3, 0, 2);
    append(w, 3, CHAINS - 3, 0, 2);
    append(w, 0, CHAINS, 2, 1);
    finish(w);
    int file = open(path, O_RDWR);
    assert_true(file >= 0);
    ssize_t length = read(file, bytes, sizeof bytes);
    assert_true(length > 0 && (size_t)length < sizeof bytes);
    for (ssize_t at = 0; at < length; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            unsigned char flipped = (unsigned char)(bytes[at] ^ (1u << bit));
            assert_int_equal(pwrite(file, &flipped, 1, at), 1);
            if (open_status() == GESS_OK) fail_msg("a flip of bit %u of byte %zd was not seen", bit, at);
        }
        assert_int_equal(pwrite(file, &bytes[at], 1, at), 1);
    }
    assert_holds(3);
    for (ssize_t size = length; size-- > 0;) {
        assert_int_equal(ftruncate(file, size), 0);
        gess__draws d;
        assert_int_equal(open_status(), gess__draws_read(&d, path, NULL));
        gess__draws_free(&d);
    }
    close(file);
}

static void no_file(void **state)
{
    (void)state;
    gess__reader *r = NULL;
    gess_error err = {0};
    assert_int_equal(gess__reader_open(&r, "no/such/draws.gess", &err), GESS_ERR_FILE);
    assert_non_null(strstr(err.text, "No such file"));
    gess__reader_free(r);
    assert_int_equal(gess__reader_open(&r, ".", &err), GESS_ERR_FILE);
    assert_non_null(strstr(err.text, "not a gess draws file"));
    gess__reader_free(r);
    gess__reader_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rectangles), cmocka_unit_test(groups),  cmocka_unit_test(large_blocks),
        cmocka_unit_test(damage),     cmocka_unit_test(no_file),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
