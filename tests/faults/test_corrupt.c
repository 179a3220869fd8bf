/* Every single-byte change and every truncation of the files of a small run.
 *
 * If a checkpoint is damaged, the run resumes from the one before and ends with the same draws; without one it is an
 * error. Damaged draws are an error. A damaged config.json gives an error or the same draws. There is never a crash,
 * never a huge allocation (which ASan would refuse), and never a run with other draws and no error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/archive.h"
#include "base/folder.h"
#include "draws/draws.h"
#include "run/config.h"
#include "run/run.h"
#include "schedule/schedule.h"

#include <gess/gess.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64]; /* in memory if possible: tens of thousands of files are written */
static gess_model *model;
static const unsigned char changes[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
enum { CHANGES = sizeof changes };

/* ---- files as bytes ---- */

typedef struct bytes {
    size_t size;
    unsigned char *at;
} bytes;

static const char *path_of(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static bytes read_bytes(const char *name)
{
    FILE *file = fopen(path_of(name), "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    bytes b = {.size = (size_t)ftell(file)};
    b.at = malloc(b.size + 1);
    assert_non_null(b.at);
    rewind(file);
    assert_int_equal(fread(b.at, 1, b.size, file), b.size);
    fclose(file);
    return b;
}

static void write_bytes(const char *name, const unsigned char *at, size_t size)
{
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    if (size > 0) assert_int_equal(fwrite(at, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static void put(const char *name, bytes b)
{
    write_bytes(name, b.at, b.size);
}

/* ---- the run whose files are changed ---- */

static bytes draws, checkpoint, old, config; /* the files as of the second checkpoint */
static bytes whole;                          /* the draws of the finished run */

static gess_options options_of(uint64_t count)
{
    gess_options options;
    gess__options_init(&options);
    options.chains = 4;
    options.warmup = 10;
    options.draws = count;
    options.threads = 1;
    options.checkpoint_every = 3;
    options.overwrite = 1;
    options.schedule = "two-group";
    options.reuse = 2;
    return options;
}

/* Keeps the files as they are at the third stretch of draws. */
static int keep_files(void *user, const gess_stats *stats, uint64_t planned)
{
    (void)user, (void)planned;
    if (stats->draws < 6 || config.at != NULL) return 0;
    checkpoint = read_bytes("checkpoint");
    old = read_bytes("checkpoint.old");
    config = read_bytes("config.json");
    draws = read_bytes("draws.gess");
    return 0;
}

static int prepare(void **state)
{
    (void)state;
    gess_error err;
    gess_run *run = NULL;
    gess_options options = options_of(10);
    snprintf(folder, sizeof folder, "%s/test_corrupt-XXXXXX", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : ".");
    if (mkdtemp(folder) == NULL || gess_model_open(&model, "mixture", NULL, &err) != GESS_OK) return -1;
    if (gess_run_new(&run, model, &options, folder, &err) != GESS_OK) return -1;
    gess_run_on_progress(run, keep_files, NULL, NULL);
    if (gess_run_go(run, &err) != GESS_OK || config.at == NULL) return -1;
    gess_run_free(run);
    whole = read_bytes("draws.gess");
    return 0;
}

static void put_all(void)
{
    put("checkpoint", checkpoint);
    put("checkpoint.old", old);
    put("draws.gess", draws);
    put("config.json", config);
}

static int clean(void **state)
{
    (void)state;
    static const char *const names[] = {"checkpoint", "checkpoint.old", "checkpoint.tmp", "draws.gess",  "config.json",
                                        "lock",       "log.txt",        "summary.json",   "history.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unlink(path_of(names[i]));
    rmdir(folder);
    gess_model_free(model);
    free(draws.at);
    free(checkpoint.at);
    free(old.at);
    free(config.at);
    free(whole.at);
    return 0;
}

/* Resumes the run in the folder, as `gess resume` does. same: the draws are those of the whole run. */
static int go_on(int *same, gess_error *err)
{
    gess_run *run = NULL;
    gess_options options;
    const char *name = NULL;
    gess_model *opened = NULL;
    json_t *keep = NULL;
    *same = 0;
    err->text[0] = '\0';
    gess__options_init(&options);
    int status = gess__config_read(path_of("config.json"), &options, &name, &keep, err);
    if (status == GESS_OK) status = gess__config_verify(path_of("config.json"), keep, err);
    if (status == GESS_OK) status = gess_model_open(&opened, name, options.data, err);
    options.threads = options.threads > 4 ? 4 : options.threads;
    if (status == GESS_OK) status = gess_run_resume(&run, opened, &options, folder, err);
    if (status == GESS_OK) status = gess_run_go(run, err);
    gess_run_free(run);
    if (opened != NULL) gess_model_free(opened);
    json_decref(keep);
    if (status == GESS_OK) {
        bytes now = read_bytes("draws.gess");
        *same = now.size == whole.size && memcmp(now.at, whole.at, now.size) == 0;
        free(now.at);
    }
    return status;
}

static void assert_says(int status, const gess_error *err)
{
    assert_int_not_equal(status, GESS_OK);
    assert_int_not_equal(status, GESS_ERR_INTERNAL);
    assert_true(err->text[0] != '\0');
}

/* The file with a change, case by case: bytes × changes, then every truncation. Returns 0 past the last. */
static int damage(const char *name, bytes good, size_t number, const char **what)
{
    static char text[80];
    *what = text;
    if (number < good.size * CHANGES) {
        size_t at = number / CHANGES;
        unsigned char kept = good.at[at];
        good.at[at] = (unsigned char)(kept ^ changes[number % CHANGES]);
        put(name, good);
        snprintf(text, sizeof text, "%s, byte %zu: %02x became %02x", name, at, kept, good.at[at]);
        good.at[at] = kept;
        return 1;
    }
    number -= good.size * CHANGES;
    if (number >= good.size) return 0;
    write_bytes(name, good.at, number);
    snprintf(text, sizeof text, "%s, cut to %zu bytes", name, number);
    return 1;
}

/* ---- the checkpoint ---- */

static void test_nothing_damaged(void **state)
{
    (void)state;
    gess_error err;
    int same;
    put_all();
    assert_int_equal(go_on(&same, &err), GESS_OK);
    assert_true(same);
}

/* All changes, by the reader only. */
static void test_checkpoint_read(void **state)
{
    (void)state;
    const char *what;
    size_t number = 0;
    put_all();
    for (; damage("checkpoint", checkpoint, number, &what); number++) {
        gess__archive a = {0};
        gess_error err = {0};
        int is_old = 0;
        put("checkpoint.old", old);
        int status = gess__archive_load(&a, folder, "checkpoint", &is_old, &err);
        if (status != GESS_OK || !is_old) print_error("%s: status %d\n", what, status);
        assert_int_equal(status, GESS_OK);
        assert_true(is_old);
        assert_true(a.size + 24 == old.size && memcmp(a.bytes, old.at + 24, a.size) == 0);
        gess__archive_free(&a);
        unlink(path_of("checkpoint.old"));
        assert_true(damage("checkpoint", checkpoint, number, &what));
        assert_says(gess__archive_load(&a, folder, "checkpoint", &is_old, &err), &err);
        gess__archive_free(&a);
    }
    print_message("%zu damaged checkpoints\n", number);
}

/* Some of the changes, in whole runs: the draws are the same. */
static void test_checkpoint_run(void **state)
{
    (void)state;
    const char *what;
    size_t number = 0, runs = 0;
    for (put_all(); damage("checkpoint", checkpoint, number, &what); number += 101, put_all()) {
        gess_error err;
        int same, status = go_on(&same, &err);
        if (!same) print_error("%s: status %d, %s\n", what, status, err.text);
        assert_int_equal(status, GESS_OK);
        assert_true(same);
        runs++;
    }
    put_all();
    unlink(path_of("checkpoint"));
    gess_error err;
    int same;
    assert_int_equal(go_on(&same, &err), GESS_OK);
    assert_true(same);
    print_message("%zu runs from the checkpoint before\n", runs);
}

static void test_both_checkpoints(void **state)
{
    (void)state;
    const char *what;
    put_all();
    for (size_t number = 0;
         damage("checkpoint", checkpoint, number, &what) && damage("checkpoint.old", old, number, &what);
         number += 1009, put_all()) {
        gess_error err;
        int same;
        assert_says(go_on(&same, &err), &err);
    }
}

/* ---- the draws ---- */

static void test_draws_read(void **state)
{
    (void)state;
    const char *what;
    size_t number = 0, accepted = 0;
    for (; damage("draws.gess", whole, number, &what); number++) {
        gess__draws d;
        gess_error err = {0};
        int status = gess__draws_read(&d, path_of("draws.gess"), &err);
        /* a file may end after any block, or have none */
        if (status == GESS_OK && number >= whole.size * CHANGES)
            accepted++;
        else if (status == GESS_OK)
            print_error("%s was not noticed\n", what);
        if (number < whole.size * CHANGES) assert_says(status, &err);
        gess__draws_free(&d);
    }
    assert_in_range(accepted, 1, 40);
    print_message("%zu damaged files of draws\n", number);
}

/* Damaged draws of a run that is resumed: an error then, or when the draws are read. */
static void test_draws_run(void **state)
{
    (void)state;
    const char *what;
    size_t runs = 0;
    put_all();
    for (size_t number = 0; damage("draws.gess", draws, number, &what); number += 7, put_all(), runs++) {
        gess_error err;
        gess__draws d;
        int same, status = go_on(&same, &err);
        if (status == GESS_OK) status = gess__draws_read(&d, path_of("draws.gess"), &err);
        if (status == GESS_OK) gess__draws_free(&d);
        if (status == GESS_OK && !same) print_error("%s was not noticed\n", what);
        if (!same) assert_says(status, &err);
    }
    put_all();
    unlink(path_of("draws.gess"));
    gess_error err;
    int same;
    assert_says(go_on(&same, &err), &err);
    print_message("%zu runs with damaged draws\n", runs);
}

/* Valid draws of another run: with other chains, or with other columns. */
static void test_draws_of_others(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_run *run = NULL;
    gess_options mine = options_of(GESS_AUTO), others = options_of(200);
    gess_model *other = NULL;
    mine.max_evals = 3000;
    for (int kind = 0; kind < 2; kind++) {
        others.chains = kind == 0 ? 64 : 4;
        assert_int_equal(gess_model_open(&other, kind == 0 ? "mixture" : "german-credit", NULL, &err), GESS_OK);
        assert_int_equal(gess_run_new(&run, other, &others, folder, &err), GESS_OK);
        assert_int_equal(gess_run_go(run, &err), GESS_OK);
        gess_run_free(run);
        gess_model_free(other);
        bytes foreign = read_bytes("draws.gess");
        assert_int_equal(gess_run_new(&run, model, &mine, folder, &err), GESS_OK);
        assert_int_equal(gess_run_go(run, &err), GESS_OK);
        gess_run_free(run);
        put("draws.gess", foreign);
        free(foreign.at);
        gess_options more = mine; /* more draws, since a complete run does not read its draws */
        more.draws = 1000000;
        assert_says(gess_run_resume(&run, model, &more, folder, &err), &err);
        assert_non_null(strstr(err.text, "another run"));
        gess_run_free(run);
        run = NULL;
    }
}

/* ---- a checkpoint in the middle of annealing ---- */

static bytes middle; /* that checkpoint */

static gess_options annealed_options(void)
{
    gess_options options = options_of(10);
    options.schedule = "annealed";
    options.chains = 40;
    options.warmup = 2;
    options.checkpoint_every = 100;
    return options;
}

static int keep_middle(void *user, const gess_stats *stats, uint64_t planned)
{
    const gess_run *run = *(gess_run *const *)user;
    const gess__annealing *a = gess__sampler_exploration(run->sampler[0])->annealing;
    (void)stats, (void)planned;
    if (middle.at != NULL || !a->state.open || a->state.steps < 2) return 0;
    middle = read_bytes("checkpoint");
    return 0;
}

static void check_annealed(bytes straight)
{
    gess_error err = {0};
    gess_run *run = NULL;
    gess_options options = annealed_options();
    assert_int_equal(gess_run_resume(&run, model, &options, folder, &err), GESS_OK);
    assert_true(gess__sampler_exploration(run->sampler[0])->annealing->state.under_way);
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    gess_run_free(run);
    bytes now = read_bytes("draws.gess");
    assert_true(now.size == straight.size && memcmp(now.at, straight.at, now.size) == 0);
    free(now.at);
}

/* Ends a run that was resumed from a checkpoint with impossible contents at its first report. */
static int end_at_once(void *user, const gess_stats *stats, uint64_t planned)
{
    (void)user, (void)stats, (void)planned;
    return 1;
}

/* The contents with a changed byte and the right checksum: the run is refused with words, or goes on for a while. */
static void test_annealing_contents(gess_options *options, size_t *refused, size_t *accepted)
{
    gess__archive a = {.size = middle.size - 24, .bytes = middle.at + 24};
    for (size_t at = 0; at < a.size; at += at < 20000 ? 163 : 9973) {
        gess_error err = {0};
        gess_run *run = NULL;
        unsigned char kept = a.bytes[at];
        a.bytes[at] ^= changes[at % CHANGES];
        assert_int_equal(gess__archive_save(&a, GESS__NO_FOLDER, folder, "checkpoint", &err), GESS_OK);
        a.bytes[at] = kept;
        unlink(path_of("checkpoint.old"));
        int status = gess_run_resume(&run, model, options, folder, &err);
        if (status == GESS_OK) {
            ++*accepted;
            gess_run_on_progress(run, end_at_once, NULL, NULL);
            status = gess_run_go(run, &err);
        } else {
            ++*refused;
        }
        if (status != GESS_OK && status != GESS_ERR_STOPPED) assert_says(status, &err);
        gess_run_free(run);
    }
}

static void test_annealing(void **state)
{
    (void)state;
    const char *what;
    gess_error err = {0};
    gess_run *run = NULL;
    gess_options options = annealed_options();
    size_t number = 0, refused = 0, accepted = 0;
    assert_int_equal(gess_run_new(&run, model, &options, folder, &err), GESS_OK);
    gess_run_on_progress(run, keep_middle, &run, NULL);
    if (gess_run_go(run, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_run_free(run);
    assert_non_null(middle.at);
    bytes straight = read_bytes("draws.gess");
    put("checkpoint", middle);
    check_annealed(straight);
    unlink(path_of("checkpoint.old"));
    for (; damage("checkpoint", middle, number, &what); number += 9973) {
        run = NULL;
        int status = gess_run_resume(&run, model, &options, folder, &err);
        if (status == GESS_OK) print_error("%s was not noticed\n", what);
        assert_says(status, &err);
        gess_run_free(run);
    }
    test_annealing_contents(&options, &refused, &accepted);
    print_message("%zu bytes: %zu changed contents refused, %zu accepted\n", middle.size, refused, accepted);
    assert_true(refused > 0 && accepted > 0);
    free(straight.at);
    free(middle.at);
}

/* ---- config.json ---- */

static void test_config(void **state)
{
    (void)state;
    const char *what;
    size_t number = 0, fine = 0, silent = 0;
    put_all();
    for (; damage("config.json", config, number, &what); number++) {
        gess_error err;
        int same, status = go_on(&same, &err);
        if (status != GESS_OK) {
            if (err.text[0] == '\0' || status == GESS_ERR_INTERNAL)
                print_error("%s: status %d, %s\n", what, status, err.text);
            assert_says(status, &err);
            continue;
        }
        fine += (size_t)same;
        silent += (size_t)!same;
        if (!same && silent < 40) {
            size_t at = number / CHANGES, from = at > 24 ? at - 24 : 0;
            print_error("%s: other draws without a word, at: %.*s\n", what, (int)(at - from + 4), config.at + from);
        }
        put_all();
    }
    print_message("%zu damaged config.json, %zu of them without an effect\n", number, fine);
    assert_int_equal(silent, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_damaged), cmocka_unit_test(test_checkpoint_read),
        cmocka_unit_test(test_checkpoint_run),  cmocka_unit_test(test_both_checkpoints),
        cmocka_unit_test(test_draws_read),      cmocka_unit_test(test_draws_run),
        cmocka_unit_test(test_draws_of_others), cmocka_unit_test(test_config),
        cmocka_unit_test(test_annealing),
    };
    return cmocka_run_group_tests(tests, prepare, clean);
}
