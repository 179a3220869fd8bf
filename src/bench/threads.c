/* Two threads against one, frozen sampling, a density of 20 µs; the median of five. Verified first:
 * the draws are the same. The machine's own ceiling is measured beside it: two independent loops over
 * the density against one. */
#include "base/mem.h"
#include "bench/bench.h"
#include "ensemble/ensemble.h"

#include <math.h>

enum { CHAINS = 64, ITERATIONS = 150, TRIALS = 5 };

typedef struct summed {
    const gess__ensemble *ensemble;
    uint64_t sum;
} summed;

static int sum_rows(void *user, const gess__segment *segment, gess_error *err)
{
    summed *s = user;
    (void)err;
    s->sum += gess__bench_checksum(segment, s->ensemble->target.columns);
    return GESS_OK;
}

static int time_run(const gess_model *model, unsigned threads, double *seconds, uint64_t *sum, gess_error *err)
{
    gess_options o;
    gess__team *team = NULL;
    gess__ensemble *e = NULL;
    gess_options_init(&o);
    o.schedule = "fixed";
    o.warmup = 0;
    summed rows = {0};
    gess__record record = {.thin = 1, .sink = sum_rows, .user = &rows};
    int status = gess__team_new(&team, threads, err);
    if (status == GESS_OK) status = gess__ensemble_new(&e, model, &o, 0, CHAINS, team, err);
    if (status == GESS_OK) {
        rows.ensemble = e;
        double start = gess__seconds();
        status = gess__ensemble_advance(e, ITERATIONS, &record, err);
        *seconds = gess__seconds() - start;
        *sum = rows.sum;
    }
    gess__ensemble_free(e);
    gess__team_free(team);
    return status;
}

static int bare_loop(void *data, unsigned worker, size_t item, gess_error *err)
{
    const gess_model *model = data;
    double x[8 * 64] = {0}, logp[8];
    (void)item;
    (void)err;
    for (int i = 0; i < 1000; i++) model->logp(model->user, worker, 8, model->dim, x, logp);
    return GESS_OK;
}

static int time_loops(const gess_model *model, unsigned threads, double *seconds, gess_error *err)
{
    gess__team *team = NULL;
    int status = gess__team_new(&team, threads, err);
    double start = gess__seconds();
    if (status == GESS_OK) status = gess__team_run(team, threads, bare_loop, (void *)(uintptr_t)model, err);
    *seconds = gess__seconds() - start;
    gess__team_free(team);
    return status;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    (void)options;
    const gess_model *inner = NULL;
    gess__timed timed;
    double one[TRIALS], two[TRIALS], alone[TRIALS], both[TRIALS];
    uint64_t sum_one = 0, sum_two = 0;
    GESS_TRY(gess_model_open(&inner, "german-credit", NULL, err));
    gess__timed_init(&timed, inner, 1);
    int status = gess__timed_calibrate(&timed, 20e-6, 32, err);
    for (int i = 0; status == GESS_OK && i < TRIALS; i++) {
        status = time_run(&timed.model, 1, &one[i], &sum_one, err);
        if (status == GESS_OK) status = time_run(&timed.model, 2, &two[i], &sum_two, err);
        if (status == GESS_OK && sum_one != sum_two)
            status = gess__fail(err, GESS_ERR_INTERNAL, "bench threads: two threads give other draws than one");
        if (status == GESS_OK) status = time_loops(&timed.model, 1, &alone[i], err);
        if (status == GESS_OK) status = time_loops(&timed.model, 2, &both[i], err);
    }
    if (status == GESS_OK) {
        gess__bench_add(result, gess__bench_median(TRIALS, two), gess__bench_median(TRIALS, one), 1.9, 1,
                        "two threads against one, 20 us density, %d chains", CHAINS);
        gess__bench_add(result, gess__bench_median(TRIALS, both), 2.0 * gess__bench_median(TRIALS, alone), NAN, 1,
                        "the machine: two bare loops at once against two in turn");
    }
    gess_model_close(inner);
    return status;
}

const gess__bench gess__bench_threads = {
    .name = "threads",
    .help = "two threads against one",
    .run = run,
};
