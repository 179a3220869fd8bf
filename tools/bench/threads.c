/* Two threads against one, sampling with one t (`pooled`) after warm-up, 100 chains, the median of five: densities of
 * at least 5 µs, and funnel, which is far cheaper. A cheap density is evaluated several times per point, so that a
 * point takes 5 or 20 µs in batches of any size. Verified: the chains have the same bits as with one thread.
 *
 * The limit of the machine is measured too: two bare loops over the density at once against two in turn. */
#include "bench/warmed.h"

#include <math.h>
#include <string.h>

enum { CHAINS = 100, TRIALS = 5, BATCH = 25 };

typedef struct loop {
    const gess__warmed *f;
    int calls;
} loop;

static int bare_loop(void *data, unsigned worker, size_t item, gess_error *err)
{
    const loop *l = data;
    const gess_model *inner = l->f->inner;
    size_t step = l->f->timed.repeats > 1 ? 1 : BATCH;
    double logp[BATCH];
    (void)item;
    (void)err;
    for (int i = 0; i < l->calls; i++)
        for (size_t j = 0; j < BATCH; j += step)
            for (uint64_t r = 0; r < l->f->timed.repeats; r++)
                inner->logp(inner->user, worker, step, inner->dim, l->f->points + j * inner->dim, logp);
    return GESS_OK;
}

/* Seconds of one loop per thread of the team, at once. */
static int time_loops(const loop *l, gess__team *team, double *seconds, gess_error *err)
{
    double start = gess__seconds();
    GESS_TRY(gess__team_run(team, gess__team_size(team), bare_loop, (void *)(uintptr_t)l, err));
    *seconds = gess__seconds() - start;
    return GESS_OK;
}

static int check_equal(const gess__warmed *one, const gess__warmed *two, gess_error *err)
{
    const gess__chains *a = &one->ensemble->chains, *b = &two->ensemble->chains;
    if (gess__ensemble_done(one->ensemble) == gess__ensemble_done(two->ensemble) &&
        memcmp(a->x, b->x, a->count * a->dim * sizeof *a->x) == 0)
        return GESS_OK;
    return gess__fail(err, GESS_ERR_INTERNAL, "bench threads: two threads give other draws than one on %s",
                      one->inner->name);
}

typedef struct times {
    double one[TRIALS], two[TRIALS], one_loop[TRIALS], both[TRIALS];
} times;

static int alternate(gess__warmed *one, gess__warmed *two, double piece, times *t, gess_error *err)
{
    gess__lap lap = {0};
    uint64_t iterations;
    loop l = {.f = one, .calls = 1};
    GESS_TRY(gess__warmed_pace(one, piece, &iterations, err));
    GESS_TRY(gess__warmed_run(two, gess__ensemble_done(one->ensemble) - gess__ensemble_done(two->ensemble), &lap, err));
    GESS_TRY(gess__warmed_verify(one, err));
    while (t->one_loop[0] < 0.5 * piece) {
        l.calls *= 2;
        GESS_TRY(time_loops(&l, one->team, &t->one_loop[0], err));
    }
    for (int i = 0; i < TRIALS; i++) {
        GESS_TRY(gess__warmed_run(one, iterations, &lap, err));
        t->one[i] = lap.seconds;
        GESS_TRY(gess__warmed_run(two, iterations, &lap, err));
        t->two[i] = lap.seconds;
        GESS_TRY(check_equal(one, two, err));
        GESS_TRY(time_loops(&l, one->team, &t->one_loop[i], err));
        GESS_TRY(time_loops(&l, two->team, &t->both[i], err));
    }
    return GESS_OK;
}

/* sec_per_eval: time that an evaluation is made to take; 0: unchanged. */
static int measure(const char *model, double sec_per_eval, double goal, int quick, gess__bench_result *result,
                   gess_error *err)
{
    gess__warmed one, two = {0};
    times t = {0};
    char as[32] = "";
    uint64_t warmup = quick ? 5000 : 200000;
    int status = gess__warmed_open(&one, model, "pooled", 1, CHAINS, warmup, err);
    if (status == GESS_OK) status = gess__warmed_open(&two, model, "pooled", 2, CHAINS, warmup, err);
    if (status == GESS_OK && sec_per_eval > 0.0) status = gess__timed_calibrate(&one.timed, sec_per_eval, err);
    two.timed.repeats = one.timed.repeats;
    if (status == GESS_OK) status = alternate(&one, &two, quick ? 0.01 : 0.4, &t, err);
    if (status == GESS_OK) {
        if (sec_per_eval > 0.0) snprintf(as, sizeof as, " made to take %.0f us", 1e6 * sec_per_eval);
        gess__bench_add(result, gess__bench_median(TRIALS, t.two), gess__bench_median(TRIALS, t.one), goal, 1,
                        "%s%s: two threads against one", model, as);
        gess__bench_add(result, gess__bench_median(TRIALS, t.both), 2.0 * gess__bench_median(TRIALS, t.one_loop), NAN,
                        1, "  the machine: two bare loops at once against two in turn");
    }
    gess__warmed_close(&one);
    gess__warmed_close(&two);
    return status;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    static const struct {
        const char *model;
        double sec_per_eval, goal;
    } rows[] = {{"funnel", 0.0, 1.7},          {"ionosphere", 0.0, 1.9},     {"german-credit", 5e-6, 1.9},
                {"breast-cancer", 5e-6, 1.9},  {"snp", 5e-6, 1.9},           {"stochastic-volatility", 5e-6, 1.9},
                {"wishart:dim=50", 5e-6, 1.9}, {"german-credit", 20e-6, 1.9}};
    for (size_t i = 0; i < (options->quick ? 1 : sizeof rows / sizeof *rows); i++)
        GESS_TRY(measure(rows[i].model, rows[i].sec_per_eval, rows[i].goal, options->quick, result, err));
    return GESS_OK;
}

const gess__bench gess__bench_threads = {
    .name = "threads",
    .help = "two threads against one",
    .run = run,
};
