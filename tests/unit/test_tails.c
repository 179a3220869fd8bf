/* Wide tails around a narrow core in which all chains start: no chain gets there before the targets are met, but the
 * last look does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gess/gess.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Half N(0, I), half N(0, WIDTH² I). */
#define WIDTH 6.0

static int core_and_tail(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double square = 0.0;
        for (size_t k = 0; k < dim; k++) square += x[i * dim + k] * x[i * dim + k];
        double core = -0.5 * square, tail = -0.5 * square / (WIDTH * WIDTH) - (double)dim * log(WIDTH);
        logp[i] = fmax(core, tail) + log1p(exp(-fabs(core - tail)));
    }
    return 0;
}

static void succeed(int status, const gess_error *err)
{
    if (status != GESS_OK) fail_msg("status %d: %s", status, err->text);
}

static void remove_run(const char *directory)
{
    static const char *const files[] = {"checkpoint", "checkpoint.old", "config.json", "draws.gess",   "history.json",
                                        "lock",       "log.txt",        "nans.csv",    "summary.json", "progress.json"};
    char path[200];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

/* Whether draw number i of a chain is in the tails: nearer to them than to the core. Draws that are given up are
 * overwritten by later ones. */
enum { CHAINS = 64, MAX_DRAWS = 20000 };
static unsigned char in_tails[CHAINS][MAX_DRAWS];

static int note(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                const double *rows)
{
    (void)user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws && first_draw + i < MAX_DRAWS; i++) {
            const double *x = rows + (c * draws + i) * columns + 1;
            double square = 0.0, dim = (double)(columns - 1);
            for (size_t k = 0; k + 1 < columns; k++) square += x[k] * x[k];
            in_tails[first_chain + c][first_draw + i] =
                0.5 * square > 0.5 * square / (WIDTH * WIDTH) + dim * log(WIDTH);
        }
    return 0;
}

/* The share of the draws that are in the tails. */
static double share_of_tails(size_t dim, const char *seed)
{
    char parent[] = "/tmp/gess-tails-XXXXXX", path[100];
    gess_density density = {.size = sizeof density, .dim = dim, .logp = core_and_tail};
    gess_error err = {0};
    gess_run *run = NULL;
    gess_stats stats;
    double share = 0.0;
    assert_non_null(mkdtemp(parent));
    snprintf(path, sizeof path, "%s/run", parent);
    gess_model *model = NULL;
    gess_options *options = NULL;
    succeed(gess_model_new(&model, &density, &err), &err);
    succeed(gess_options_new(&options, &err), &err);
    succeed(gess_options_set(options, "threads", "2", &err), &err);
    succeed(gess_options_set(options, "seed", seed, &err), &err);
    succeed(gess_options_set(options, "max-evals", "1000000", &err), &err);
    succeed(gess_run_new(&run, model, options, path, &err), &err);
    gess_options_free(options);
    succeed(gess_run_on_draw(run, note, NULL, &err), &err);
    succeed(gess_run_go(run, &err), &err);
    succeed(gess_run_stats(run, &stats, sizeof stats, &err), &err);
    gess_run_free(run);
    gess_model_free(model);
    remove_run(path);
    rmdir(parent);
    assert_true(stats.targets_met && stats.chains == CHAINS && stats.draws < MAX_DRAWS);
    for (size_t c = 0; c < CHAINS; c++)
        for (uint64_t i = 0; i < stats.draws; i++) share += in_tails[c][i];
    return share / CHAINS / (double)stats.draws;
}

static void tails_are_found(void **state)
{
    (void)state;
    static const char *const seeds[] = {"1", "2", "3", "4"};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++) {
        double few = share_of_tails(4, seeds[i]), many = share_of_tails(8, seeds[i]);
        if (!(fabs(few - 0.5) < 0.15 && fabs(many - 0.5) < 0.15))
            fail_msg("seed %s: %.3f and %.3f of the draws are in the tails", seeds[i], few, many);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(tails_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
