/* The cost of a run directory: a run of the cheapest model with its files, against the same run without files; the
 * median of seven. Verified first: the file has the draws of the run without files. The directory is made in the folder
 * for temporary files, and removed again. */
#include "base/options.h"
#include "bench/bench.h"
#include "draws/draws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WRITING_DRAWS = 20000, WRITING_TRIALS = 7 };

typedef struct checksum {
    size_t columns;
    uint64_t sum;
} checksum;

static void add_block(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      const double *rows)
{
    checksum *s = user;
    gess__segment segment = {.first = first_chain,
                             .count = chains,
                             .first_draw = first_draw,
                             .draws = draws,
                             .rows = rows};
    s->sum += gess__bench_checksum(&segment, s->columns);
}

static int add_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                     const double *rows)
{
    (void)columns;
    add_block(user, first_chain, chains, first_draw, draws, rows);
    return 0;
}

/* One run, with files if there is a directory. *sum, if not NULL, gets the checksum of the draws. */
static int time_run(const gess_model *model, unsigned threads, const char *directory, double *seconds, uint64_t *sum,
                    gess_error *err)
{
    gess_options o;
    gess_run *run = NULL;
    checksum rows = {.columns = 1 + model->dim + model->derived};
    gess__options_init(&o);
    o.warmup = 100;
    o.draws = WRITING_DRAWS;
    o.threads = threads;
    o.overwrite = 1;
    double start = gess__seconds();
    int status = gess_run_new(&run, model, &o, directory, err);
    if (status == GESS_OK && sum != NULL) gess_run_on_draw(run, add_draws, &rows, NULL);
    if (status == GESS_OK) status = gess_run_go(run, err);
    *seconds = gess__seconds() - start;
    gess_run_free(run);
    if (sum != NULL) *sum = rows.sum;
    return status;
}

static int check_file(const char *directory, size_t columns, uint64_t expected, gess_error *err)
{
    char path[4096];
    checksum rows = {.columns = columns};
    snprintf(path, sizeof path, "%s/draws.gess", directory);
    GESS_TRY(gess__draws_visit(path, add_block, &rows, err));
    if (rows.sum == expected) return GESS_OK;
    return gess__fail(err, GESS_ERR_INTERNAL, "bench writing: %s does not have the draws of the run", path);
}

static int measure(gess__bench_result *result, const gess_model *model, unsigned threads, const char *directory,
                   gess_error *err)
{
    double with[WRITING_TRIALS], without[WRITING_TRIALS], unused;
    uint64_t sum = 0;
    GESS_TRY(time_run(model, threads, NULL, &unused, &sum, err));
    for (int i = 0; i < WRITING_TRIALS; i++) {
        GESS_TRY(time_run(model, threads, NULL, &without[i], NULL, err));
        GESS_TRY(time_run(model, threads, directory, &with[i], NULL, err));
        if (i == 0) GESS_TRY(check_file(directory, 1 + model->dim + model->derived, sum, err));
    }
    gess__bench_add(result, gess__bench_median(WRITING_TRIALS, with), gess__bench_median(WRITING_TRIALS, without), 1.02,
                    0, "%s with files against without, %u thread%s", model->name, threads, threads == 1 ? "" : "s");
    return GESS_OK;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    (void)options;
    gess_model *model = NULL;
    const char *place = getenv("TMPDIR");
    char directory[4096], path[4200];
    snprintf(directory, sizeof directory, "%s/gess-bench-XXXXXX", place != NULL ? place : "/tmp");
    if (mkdtemp(directory) == NULL) return gess__fail(err, GESS_ERR_FILE, "cannot make the folder %s", directory);
    int status = gess_model_open(&model, "funnel", NULL, err);
    if (status == GESS_OK) status = measure(result, model, 1, directory, err);
    if (status == GESS_OK) status = measure(result, model, 2, directory, err);
    gess_model_free(model);
    static const char *const files[] = {"config.json",  "draws.gess", "checkpoint", "checkpoint.old",
                                        "history.json", "lock",       "log.txt",    "summary.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
    return status;
}

const gess__bench gess__bench_writing = {
    .name = "writing",
    .help = "a run with its files against one without",
    .run = run,
};
