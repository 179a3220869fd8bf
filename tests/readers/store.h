/* A store of draws with known values, and its export, for the tests in this folder. */
#ifndef GESS_TESTS_READERS_STORE_H
#define GESS_TESTS_READERS_STORE_H

#include "export/registry.h"
#include "readers/draws_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* More draws than a chunk of an export has. */
#define LONG "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
enum { CHAINS = 60, DRAWS = 2500, COLUMNS = 10, DIM = 6 };
static const char *const names[COLUMNS] =
    {"lp__",  "x",          "=cmd()",   "a/b",  "a_b",
     "chain", "two\nlines", "\xc3\xa9", "end ", "x" LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG LONG};

static char folder[] = "test_readers-XXXXXX", draws_path[64], export_path[64];

/* Every (chain + 2)-th draw of a chain has the parameters of the draw before it. */
static double value_of(uint64_t chain, uint64_t draw, size_t column)
{
    if (column >= 1 && column <= DIM && draw > 0 && draw % (chain + 2) == 0) draw--;
    return (double)chain * 1e6 + (double)draw + 0.125 * (double)column;
}

static int make_store(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return 1;
    snprintf(draws_path, sizeof draws_path, "%s/draws.gess", folder);
    snprintf(export_path, sizeof export_path, "%s/export", folder);
    static double rows[CHAINS * 100 * COLUMNS];
    FILE *w = draws_file_new(draws_path, CHAINS, COLUMNS, names, 2);
    for (uint64_t first = 0; first < DRAWS; first += 100) {
        for (size_t c = 0; c < CHAINS; c++)
            for (uint64_t i = 0; i < 100; i++)
                for (size_t j = 0; j < COLUMNS; j++) rows[(c * 100 + i) * COLUMNS + j] = value_of(c, first + i, j);
        draws_file_append(w, COLUMNS, 0, CHAINS, first, 100, rows);
    }
    return fclose(w);
}

static int remove_store(void **state)
{
    (void)state;
    unlink(draws_path);
    unlink(export_path);
    return rmdir(folder);
}

/* Exports the store, checks that a second export is refused, and replaces it. Returns the path. */
static const char *export_store(const char *format)
{
    const gess__exporter *to = NULL;
    gess__reader *r = NULL;
    gess_error err = {0};
    if (gess__exporter_find(format, &to, &err) != GESS_OK) fail_msg("%s", err.text);
    if (gess__reader_open(&r, draws_path, &err) != GESS_OK) fail_msg("%s", err.text);
    gess__export run = {.draws = r,
                        .warmup_draws = r,
                        .dim = DIM,
                        .model = "model",
                        .seed = "17",
                        .warmup = 5,
                        .seconds_sampling = 1.5};
    if (gess__exporter_write(to, &run, export_path, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(gess__exporter_write(to, &run, export_path, &err), GESS_ERR_USAGE);
    run.overwrite = true;
    if (gess__exporter_write(to, &run, export_path, &err) != GESS_OK) fail_msg("%s", err.text);
    gess__reader_free(r);
    return export_path;
}

#endif
