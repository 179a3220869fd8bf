/* Starts from the draws of another run: which draws are taken, by default and with --best, and what is refused. */
#include "base/folder.h"
#include "base/options.h"
#include "draws/writer.h"
#include "model/model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIM = 2, COLUMNS = DIM + 2, CHAINS = 4, DRAWS = 10, MAX_KEPT = 200 };

static char folder[] = "test_init_from-XXXXXX";
static char store[64], config[64];
static double rows[CHAINS * DRAWS * COLUMNS];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) return 1;
    snprintf(store, sizeof store, "%s/draws.gess", folder);
    snprintf(config, sizeof config, "%s/config.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(store);
    unlink(config);
    return rmdir(folder);
}

static double *row_of(size_t chain, size_t draw)
{
    return rows + (chain * DRAWS + draw) * COLUMNS;
}

/* Columns lp__, b, a, sum; a = 100 chain + draw, b = −a, and the same lp__ everywhere. */
static void fill(void)
{
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++) {
            double a = 100.0 * (double)c + (double)i;
            memcpy(row_of(c, i), (double[]){-1.0, -a, a, 0.0}, COLUMNS * sizeof(double));
        }
}

static void write_run(uint64_t draws, const char *b, const char *text)
{
    gess_error err = {0};
    gess__writer *writer = NULL;
    size_t start = 0;
    const char *names[COLUMNS] = {"lp__", b, "a", "sum"};
    double used[CHAINS * DRAWS * COLUMNS];
    for (size_t c = 0; c < CHAINS; c++)
        memcpy(used + c * draws * COLUMNS, row_of(c, 0), draws * COLUMNS * sizeof(double));
    assert_int_equal(gess__writer_new(&writer, GESS__NO_FOLDER, store, CHAINS, 1, &start, COLUMNS, names, 1, &err),
                     GESS_OK);
    if (draws > 0) assert_int_equal(gess__writer_append(writer, 0, CHAINS, 0, draws, used, &err), GESS_OK);
    assert_int_equal(gess__writer_sync(writer, &err), GESS_OK);
    gess__writer_free(writer);
    FILE *file = fopen(config, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* ---- the new run ---- */

typedef struct seen {
    size_t count;
    double a[MAX_KEPT], b[MAX_KEPT];
    double highest; /* the support ends there */
    size_t limit;   /* the number of chains: what comes after their starts is not noted */
} seen;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    seen *s = user;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        values[i] = x[i * dim] > s->highest ? -INFINITY : 0.0;
        if (s->count == MAX_KEPT) return 1;
        if (s->count == s->limit) continue;
        s->a[s->count] = x[i * dim];
        s->b[s->count++] = x[i * dim + 1];
    }
    return 0;
}

static const char *const names[] = {"a", "b"};

static gess_options options_of(uint64_t chains)
{
    gess_options o;
    gess__options_init(&o);
    o.chains = chains;
    o.schedule = "fixed";
    o.warmup = o.draws = 0;
    o.threads = 1;
    return o;
}

/* The points that the chains start at. */
static seen start(const gess_options *o)
{
    gess_run *run = NULL;
    gess_error err = {0};
    seen s = {.highest = INFINITY, .limit = (size_t)o->chains};
    gess_model model = {.name = "test", .dim = DIM, .logp = logp, .user = &s, .names = names};
    if (gess_run_new(&run, &model, o, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(s.count, o->chains);
    for (size_t i = 0; i < s.count; i++) assert_true(s.b[i] == -s.a[i]);
    gess_run_free(run);
    return s;
}

static void assert_starts(const gess_options *o, const double *expected)
{
    seen s = start(o);
    for (size_t i = 0; i < s.count; i++)
        if (s.a[i] != expected[i]) fail_msg("start %zu is %g, not %g", i + 1, s.a[i], expected[i]);
}

static void refuse(const gess_options *o, double highest, const char *piece, const char *other)
{
    gess_run *run = NULL;
    gess_error err = {0};
    seen s = {.highest = highest};
    gess_model model = {.name = "test", .dim = DIM, .logp = logp, .user = &s, .names = names};
    int got = gess_run_new(&run, &model, o, NULL, &err);
    if (got != GESS_ERR_USAGE || strstr(err.text, piece) == NULL || strstr(err.text, other) == NULL)
        fail_msg("status %d, '%s'; expected '%s', '%s'", got, err.text, piece, other);
    gess_run_free(run);
}

/* ---- tests ---- */

static void last_draws(void **state)
{
    (void)state;
    fill();
    write_run(DRAWS, "b", "{\"dim\": 2}");
    gess_options o = options_of(4);
    o.init_from = folder;
    assert_starts(&o, (double[]){9, 109, 209, 309});
    o.ensembles = 2;
    assert_starts(&o, (double[]){9, 109, 209, 309});
    o.ensembles = 1;
    o.init_from = NULL;
    o.init = folder; /* the same */
    assert_starts(&o, (double[]){9, 109, 209, 309});
    o.chains = 8;
    assert_starts(&o, (double[]){4, 9, 104, 109, 204, 209, 304, 309});
    o.chains = 2;
    assert_starts(&o, (double[]){109, 309});
    o.chains = 3; /* draws 12, 25 and 39 of 40 */
    assert_starts(&o, (double[]){102, 205, 309});
    o.chains = 40;
    seen s = start(&o);
    for (size_t i = 0; i < 40; i++) assert_true(s.a[i] == 100.0 * (double)(i / 10) + (double)(i % 10));
    o.chains = 41;
    refuse(&o, INFINITY, "has 40 draws, and there are 41 chains", "--chains 40");
}

/* Chains 1 and 3 end at the highest level, which chain 3 reaches only in its last half. */
static void best_chains(void **state)
{
    (void)state;
    fill();
    for (size_t i = 0; i < DRAWS; i++) {
        row_of(0, i)[0] = -14.0;
        row_of(1, i)[0] = -3.0 + 0.1 * (double)(i % 2);
        row_of(2, i)[0] = -200.0 + (double)i;
        row_of(3, i)[0] = i < DRAWS / 2 ? -1000.0 : -4.0 - (double)(i % 3);
    }
    row_of(2, 9)[0] = 50.0; /* one high draw does not make a high chain */
    write_run(DRAWS, "b", "{\"dim\": 2}");
    gess_options o = options_of(10);
    o.init_from = folder;
    o.best = 1;
    assert_starts(&o, (double[]){105, 106, 107, 108, 109, 305, 306, 307, 308, 309});
    for (size_t i = 0; i < DRAWS; i++) row_of(0, i)[0] = -12.8 + 0.01 * (double)(i % 2); /* 9.9 nats below */
    write_run(DRAWS, "b", "{\"dim\": 2}");
    o.chains = 3;
    assert_starts(&o, (double[]){9, 109, 309});
    for (size_t i = 0; i < DRAWS; i++) row_of(0, i)[0] -= 1.0;
    write_run(DRAWS, "b", "{\"dim\": 2}");
    o.chains = 2;
    assert_starts(&o, (double[]){109, 309});
}

/* Draws that repeat the one before, as after a rejection, count once. */
static void best_are_distinct(void **state)
{
    (void)state;
    fill();
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t i = 0; i < DRAWS; i++) {
            if (c > 1) row_of(c, i)[0] = -500.0;
            if (i % 2 == 0) memcpy(row_of(c, i), row_of(c, i - (i > 0)), COLUMNS * sizeof(double));
        }
    write_run(DRAWS, "b", "{\"dim\": 2}");
    gess_options o = options_of(6); /* draws 5, 7 and 9 of two chains */
    o.init_from = folder;
    o.best = 1;
    assert_starts(&o, (double[]){5, 7, 9, 105, 107, 109});
    o.chains = 7;
    refuse(&o, INFINITY, "have 6 distinct draws", "--chains 6");
}

static void refusals(void **state)
{
    (void)state;
    gess_options o = options_of(4);
    fill();
    write_run(DRAWS, "beta", "{\"dim\": 2}");
    o.init_from = folder;
    refuse(&o, INFINITY, "has no parameter b;", folder);
    write_run(DRAWS, "b", "{\"dim\": 3}");
    refuse(&o, INFINITY, "that run has 3 parameters and the model 2", "same parameters");
    write_run(0, "b", "");
    refuse(&o, INFINITY, "no draws yet", folder);
    write_run(DRAWS, "b", ""); /* without config.json names decide */
    assert_starts(&o, (double[]){9, 109, 209, 309});
    refuse(&o, 150.0, "row 3 is outside the support", "--init-from");
    row_of(1, 9)[2] = NAN;
    write_run(DRAWS, "b", "{\"dim\": 2}");
    refuse(&o, INFINITY, "row 2, column 1 is not a finite number", "--init-from");
    o.init_from = store;
    refuse(&o, INFINITY, "is a file", "--init");
    o.init_from = "no/such/run";
    refuse(&o, INFINITY, "no run in it", "no/such/run");
    o.best = 1;
    o.init_from = NULL;
    refuse(&o, INFINITY, "--best", "--init-from DIR");
    o.init = store;
    refuse(&o, INFINITY, "--best", "--init-from DIR");
    o.best = 0;
    o.init_from = folder;
    refuse(&o, INFINITY, "both give starts", "give one of them");
    o.init = NULL;
    o.start_scale = 2.0;
    refuse(&o, INFINITY, "--start-scale 2", "--init-from gives others");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_draws),
        cmocka_unit_test(best_chains),
        cmocka_unit_test(best_are_distinct),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
