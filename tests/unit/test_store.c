/* draws/writer.h and draws/draws.h: written draws are read back, and all damage is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/folder.h"
#include "draws/draws.h"
#include "draws/writer.h"
#include "unit/raw_store.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

static char path[] = "test_store-XXXXXX";

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

enum { CHAINS = 5, COLUMNS = 3, FIRST_GROUP = 2 };
static const char *const names[COLUMNS] = {"lp__", "x", "\xc3\xa9t\xc3\xa9 \"q\", </script>"};

static const size_t all_together[] = {0}, in_groups[] = {0, FIRST_GROUP};

static void new_file(void)
{
    assert_int_equal(raw_new(path, CHAINS, COLUMNS, names, 7), 0);
}

static void append(size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws)
{
    assert_int_equal(raw_append(path, COLUMNS, first_chain, chains, first_draw, draws), 0);
}

/* The file must be good and have `draws` draws per chain. */
static void assert_holds(uint64_t draws)
{
    gess__draws d;
    gess_error err = {0};
    if (gess__draws_read(&d, path, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(d.chains, CHAINS);
    assert_int_equal(d.columns, COLUMNS);
    assert_int_equal(d.thin, 7);
    assert_int_equal(d.draws, draws);
    for (size_t j = 0; j < COLUMNS; j++) {
        assert_string_equal(d.names[j], names[j]);
        for (size_t c = 0; c < CHAINS; c++)
            for (uint64_t i = 0; i < draws; i++)
                assert_true(d.values[(j * CHAINS + c) * draws + i] == raw_value(c, i, j));
    }
    gess__draws_free(&d);
}

static void one_rectangle(void **state)
{
    (void)state;
    new_file();
    append(0, CHAINS, 0, 11);
    assert_holds(11);
}

static void empty(void **state)
{
    (void)state;
    new_file();
    assert_holds(0);
}

/* Two groups in turn, with different lengths in every turn; then the same for single chains. */
static void two_groups(void **state)
{
    (void)state;
    new_file();
    uint64_t done = 0;
    for (uint64_t turn = 1; turn <= 20; turn++) {
        append(0, FIRST_GROUP, done, turn);
        append(FIRST_GROUP, CHAINS - FIRST_GROUP, done, 1);
        if (turn > 1) append(FIRST_GROUP, CHAINS - FIRST_GROUP, done + 1, turn - 1);
        done += turn;
    }
    for (size_t c = CHAINS; c-- > 0;) append(c, 1, done, 2);
    assert_holds(done + 2);
}

/* Draws that only some chains have are left out. */
static void partial_draws(void **state)
{
    (void)state;
    new_file();
    append(0, FIRST_GROUP, 0, 6);
    assert_holds(0); /* the second group has none */
    new_file();
    append(0, FIRST_GROUP, 0, 6);
    append(FIRST_GROUP, CHAINS - FIRST_GROUP, 0, 6);
    append(0, FIRST_GROUP, 6, 4);
    append(FIRST_GROUP, 1, 6, 3);
    assert_holds(6);
}

/* ---- the writer ---- */

static void give(gess__writer *w, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws)
{
    gess_error err = {0};
    double *rows = raw_rows(COLUMNS, first_chain, chains, first_draw, draws);
    if (gess__writer_append(w, first_chain, chains, first_draw, draws, rows, &err) != GESS_OK) fail_msg("%s", err.text);
    free(rows);
}

static long file_size(void)
{
    struct stat information;
    assert_int_equal(stat(path, &information), 0);
    return (long)information.st_size;
}

static char *file_content(size_t *size)
{
    *size = (size_t)file_size();
    char *content = malloc(*size);
    FILE *file = fopen(path, "rb");
    assert_int_equal(fread(content, 1, *size, file), *size);
    fclose(file);
    return content;
}

/* The bytes of the file depend only on the draws: not on the portions in which they come, on syncs in between, or on a
 * close and reopen. */
static void portions(void **state)
{
    (void)state;
    gess_error err = {0};
    char *first = NULL;
    size_t first_size = 0;
    for (int way = 0; way < 4; way++) {
        gess__writer *w = NULL;
        assert_int_equal(gess__writer_new(&w, GESS__NO_FOLDER, path, CHAINS, 2, in_groups, COLUMNS, names, 7, &err),
                         GESS_OK);
        uint64_t unit = gess__writer_unit(w), total = 2 * unit + unit / 3,
                 portion = way == 0   ? total
                           : way == 1 ? 777
                                      : 5000;
        assert_true(unit > 1000);
        for (uint64_t done = 0; done < total; done += portion) {
            uint64_t count = total - done < portion ? total - done : portion;
            give(w, 0, FIRST_GROUP, done, count);
            give(w, FIRST_GROUP, CHAINS - FIRST_GROUP, done, count);
            if (way >= 2) assert_int_equal(gess__writer_sync(w, &err), GESS_OK);
            if (way == 2) assert_holds(done + count);
            if (way == 3) { /* killed here: everything after the archive is cut off */
                gess__archive a = {0};
                assert_int_equal(gess__writer_archive(w, &a, &err), GESS_OK);
                give(w, 0, FIRST_GROUP, done + count, unit + 3);
                assert_int_equal(gess__writer_sync(w, &err), GESS_OK);
                gess__writer_free(w);
                a.reading = 1;
                assert_int_equal(gess__writer_reopen(&w, GESS__NO_FOLDER, path, CHAINS, 2, in_groups, COLUMNS, &err),
                                 GESS_OK);
                assert_int_equal(gess__writer_archive(w, &a, &err), GESS_OK);
                assert_true(!a.bad && a.at == a.size);
                gess__archive_free(&a);
            }
        }
        assert_int_equal(gess__writer_sync(w, &err), GESS_OK);
        gess__writer_free(w);
        assert_holds(total);
        size_t size;
        char *content = file_content(&size);
        /* in one portion, all blocks of the first group precede those of the second; else they alternate */
        if (way == 1) {
            first = content;
            first_size = size;
            continue;
        }
        if (way > 1) {
            assert_int_equal(size, first_size);
            assert_memory_equal(content, first, size);
        }
        free(content);
    }
    free(first);
}

static void writer_refuses(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__writer *w = NULL;
    double rows[CHAINS * COLUMNS] = {0};
    assert_int_equal(gess__writer_new(&w, GESS__NO_FOLDER, path, CHAINS, 2, in_groups, COLUMNS, names, 7, &err),
                     GESS_OK);
    assert_int_equal(gess__writer_append(w, 0, CHAINS, 0, 1, rows, &err), GESS_ERR_INTERNAL);      /* not a group */
    assert_int_equal(gess__writer_append(w, 0, FIRST_GROUP, 1, 1, rows, &err), GESS_ERR_INTERNAL); /* draw 0 is lost */
    gess__writer_free(w);
    /* a file shorter than the checkpoint knows */
    gess__archive a = {0};
    assert_int_equal(gess__writer_new(&w, GESS__NO_FOLDER, path, CHAINS, 1, all_together, COLUMNS, names, 7, &err),
                     GESS_OK);
    uint64_t unit = gess__writer_unit(w);
    give(w, 0, CHAINS, 0, unit);
    assert_int_equal(gess__writer_sync(w, &err), GESS_OK);
    assert_int_equal(gess__writer_archive(w, &a, &err), GESS_OK);
    gess__writer_free(w);
    assert_int_equal(truncate(path, file_size() - 1), 0);
    a.reading = 1;
    assert_int_equal(gess__writer_reopen(&w, GESS__NO_FOLDER, path, CHAINS, 1, all_together, COLUMNS, &err), GESS_OK);
    assert_int_equal(gess__writer_archive(w, &a, &err), GESS_ERR_FILE);
    assert_non_null(strstr(err.text, path));
    gess__writer_free(w);
    gess__archive_free(&a);
}

/* ---- damage ---- */

static unsigned char bytes[1 << 14];
static size_t length;

static void load(void)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    length = fread(bytes, 1, sizeof bytes, file);
    assert_true(length < sizeof bytes);
    fclose(file);
}

static void save(const unsigned char *content, size_t count)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Reads the file. A failure must have a message that names it. */
static int read_status(uint64_t *draws)
{
    gess__draws d;
    gess_error err = {0};
    int status = gess__draws_read(&d, path, &err);
    if (status != GESS_OK) {
        assert_int_equal(status, GESS_ERR_FILE);
        assert_int_equal(err.status, status);
        assert_non_null(strstr(err.text, path));
    }
    *draws = status == GESS_OK ? d.draws : 0;
    gess__draws_free(&d);
    return status;
}

static void write_small(size_t ends[4])
{
    new_file();
    load();
    ends[0] = length;
    for (size_t blocks = 1; blocks <= 3; blocks++) {
        new_file();
        append(0, FIRST_GROUP, 0, 2);
        if (blocks > 1) append(FIRST_GROUP, CHAINS - FIRST_GROUP, 0, 2);
        if (blocks > 2) append(0, CHAINS, 2, 1);
        load();
        ends[blocks] = length;
    }
}

static void every_flip(void **state)
{
    (void)state;
    size_t ends[4];
    uint64_t draws;
    write_small(ends);
    assert_holds(3);
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    for (size_t at = 0; at < length; at++) {
        for (unsigned bit = 0; bit < 9; bit++) {
            unsigned char mask = (unsigned char)(bit < 8 ? 1u << bit : 0xffu),
                          flipped = (unsigned char)(bytes[at] ^ mask);
            assert_int_equal(pwrite(file, &flipped, 1, (off_t)at), 1);
            if (read_status(&draws) == GESS_OK) fail_msg("a flip of byte %zu by %02x was not seen", at, mask);
        }
        assert_int_equal(pwrite(file, &bytes[at], 1, (off_t)at), 1);
    }
    close(file);
    assert_holds(3);
}

static void every_truncation(void **state)
{
    (void)state;
    static const uint64_t held[] = {0, 0, 2, 3};
    size_t ends[4], good = 0;
    uint64_t draws;
    write_small(ends);
    for (size_t size = length + 1; size-- > 0;) {
        assert_int_equal(truncate(path, (off_t)size), 0);
        int status = read_status(&draws);
        size_t block = 0;
        while (block < 4 && ends[block] != size) block++;
        assert_int_equal(status == GESS_OK, block < 4); /* good only if cut between blocks */
        if (block < 4) assert_int_equal(draws, held[block]);
        good += status == GESS_OK;
    }
    assert_int_equal(good, 4);
}

/* Blocks that are out of order, repeated or lost are found, although every block is good. */
static void wrong_order(void **state)
{
    (void)state;
    uint64_t draws;
    new_file();
    append(0, CHAINS, 0, 2);
    append(0, CHAINS, 3, 2); /* draw 2 is lost */
    assert_int_equal(read_status(&draws), GESS_ERR_FILE);
    new_file();
    append(0, CHAINS, 0, 2);
    append(0, CHAINS, 0, 2);
    assert_int_equal(read_status(&draws), GESS_ERR_FILE);
    new_file();
    append(3, 5, 0, 2); /* more chains than the header has */
    assert_int_equal(read_status(&draws), GESS_ERR_FILE);
}

static void expect(const char *file, const char *piece)
{
    gess__draws d;
    gess_error err = {0};
    assert_int_equal(gess__draws_read(&d, file, &err), GESS_ERR_FILE);
    if (strstr(err.text, piece) == NULL || strstr(err.text, file) == NULL)
        fail_msg("'%s' should hold '%s' and '%s'", err.text, piece, file);
    gess__draws_free(&d);
}

static void no_store(void **state)
{
    (void)state;
    expect("no/such/draws.gess", "No such file");
    save((const unsigned char *)"", 0);
    expect(path, "not a gess draws file");
    static const char table[] = "x,y\n1,2\n3,4\n5,6\n7,8\n";
    save((const unsigned char *)table, sizeof table - 1);
    expect(path, "not a gess draws file");
    size_t ends[4];
    write_small(ends);
    bytes[8] = 2; /* a later format */
    save(bytes, length);
    expect(path, "version 2");

    gess__draws d;
    gess_error err = {0};
    assert_int_equal(gess__draws_read(&d, ".", &err), GESS_ERR_FILE);
    gess__draws_free(&d);
}

static void cannot_write(void **state)
{
    (void)state;
    gess__writer *w;
    gess_error err = {0};
    assert_int_equal(gess__writer_new(&w, GESS__NO_FOLDER, "no/such/folder/draws.gess", 1, 1, all_together, COLUMNS,
                                      names, 1, &err),
                     GESS_ERR_FILE);
    assert_non_null(strstr(err.text, "no/such/folder/draws.gess"));
    gess__writer_free(w);
    gess__writer_free(NULL);

    FILE *full = fopen("/dev/full", "wb");
    if (full == NULL) skip();
    fclose(full);
    int status = gess__writer_new(&w, GESS__NO_FOLDER, "/dev/full", CHAINS, 1, all_together, COLUMNS, names, 1, &err);
    static double rows[CHAINS * COLUMNS * 20000];
    if (status == GESS_OK) status = gess__writer_append(w, 0, CHAINS, 0, 20000, rows, &err);
    if (status == GESS_OK) status = gess__writer_sync(w, &err);
    assert_int_equal(status, GESS_ERR_FILE);
    assert_non_null(strstr(err.text, "/dev/full"));
    gess__writer_free(w);
}

/* A name that is not UTF-8 is refused; a header without that column would be unreadable. */
static void names_not_utf8(void **state)
{
    (void)state;
    static const char *const broken[] = {"lp__", "x", "\xff\xfe"};
    gess__writer *w;
    gess_error err = {0};
    assert_int_not_equal(gess__writer_new(&w, GESS__NO_FOLDER, path, 1, 1, all_together, COLUMNS, broken, 1, &err),
                         GESS_OK);
    assert_non_null(strstr(err.text, "UTF-8"));
    gess__writer_free(w);
}

/* Random bytes behind a good beginning never crash the reader and are never accepted. */
static void noise(void **state)
{
    (void)state;
    size_t ends[4];
    uint64_t draws;
    write_small(ends);
    static unsigned char content[4096];
    uint32_t seed = 7;
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    for (size_t round = 0; round < 2000; round++) {
        size_t keep = ends[round % 4], extra = 1 + round % 300;
        memcpy(content, bytes, keep);
        for (size_t i = 0; i < extra; i++) {
            seed = seed * 1664525u + 1013904223u;
            content[keep + i] = (unsigned char)(seed >> 24);
        }
        if (round % 2 == 0 && extra > 40) memcpy(content + keep, "BLK1", 4);
        assert_int_equal(pwrite(file, content, keep + extra, 0), keep + extra);
        assert_int_equal(ftruncate(file, (off_t)(keep + extra)), 0);
        assert_int_equal(read_status(&draws), GESS_ERR_FILE);
    }
    close(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portions),       cmocka_unit_test(writer_refuses),   cmocka_unit_test(one_rectangle),
        cmocka_unit_test(empty),          cmocka_unit_test(two_groups),       cmocka_unit_test(partial_draws),
        cmocka_unit_test(every_flip),     cmocka_unit_test(every_truncation), cmocka_unit_test(wrong_order),
        cmocka_unit_test(no_store),       cmocka_unit_test(cannot_write),     cmocka_unit_test(noise),
        cmocka_unit_test(names_not_utf8),
    };
    return cmocka_run_group_tests(tests, make_file, remove_file);
}
