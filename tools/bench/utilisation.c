/* How well slow densities keep the workers busy, with a density that does nothing but sleep.
 *
 *   frozen   64 chains on 64 threads, exponential times of mean 10 ms, pooled sampling after warm-up, no speculation:
 *            the share of the threads' time that is spent inside the density.
 *   groups   the same chains and times, two-group, on a density that T fits poorly, so that updates take four
 *            evaluations or more: the time with speculation against the time without.
 *   few      4 chains on 64 threads, constant times, T fixed: the same comparison.
 *
 * The time that the density sleeps is a function of the point, so every run has the same times. Verified first in every
 * case: the draws and the number of evaluations are those of one thread without sleep. */
#include "base/mem.h"
#include "base/options.h"
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 64, DIM = 4, LINE = 8 };
#define SLEEP_SECONDS 0.01

/* A density of two kinds: a Gaussian, or a thin shell around the origin. */
typedef struct sleeper {
    gess_model model;
    double mean; /* seconds; 0: it does not sleep */
    int exponential;
    double thickness;              /* of the shell; 0: a Gaussian */
    double inside[THREADS * LINE]; /* per worker: seconds in the density */
} sleeper;

static double value_at(const sleeper *s, const double *x)
{
    double square = 0.0;
    for (size_t i = 0; i < DIM; i++) square += x[i] * x[i];
    if (s->thickness == 0.0) return -0.5 * square;
    double off = (sqrt(square) - sqrt(DIM)) / s->thickness;
    return -0.5 * off * off;
}

/* Seconds to sleep at a point. */
static double time_at(const sleeper *s, const double *x)
{
    uint64_t hash = 0;
    if (!s->exponential) return s->mean;
    for (size_t i = 0; i < DIM; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        hash = (hash ^ bits) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return -s->mean * log(((double)(hash >> 11) + 0.5) * 0x1p-53);
}

static int sleep_and_tell(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    sleeper *s = user;
    double start = s->mean > 0.0 ? gess__seconds() : 0.0;
    for (size_t i = 0; i < n; i++) {
        double seconds = s->mean > 0.0 ? time_at(s, x + i * dim) : 0.0;
        struct timespec pause = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
        if (seconds > 0.0) nanosleep(&pause, NULL);
        logp[i] = value_at(s, x + i * dim);
    }
    if (s->mean > 0.0) s->inside[worker * LINE] += gess__seconds() - start;
    return 0;
}

static void start_at(void *user, size_t dim, const double *normals, double *x)
{
    const sleeper *s = user;
    double square = 0.0;
    for (size_t i = 0; i < dim; i++) square += normals[i] * normals[i];
    /* on the shell, or anywhere */
    for (size_t i = 0; i < dim; i++) x[i] = s->thickness > 0.0 ? normals[i] * sqrt((double)DIM / square) : normals[i];
}

static void open_sleeper(sleeper *s, double mean, int exponential, double thickness)
{
    *s = (sleeper){.mean = mean, .exponential = exponential, .thickness = thickness};
    s->model = (gess_model){0};
    s->model.name = "sleeper";
    s->model.dim = DIM;
    s->model.logp = sleep_and_tell;
    s->model.start = start_at;
    s->model.user = s;
}

/* One of the three scenes, and its result. */
typedef struct scene {
    const char *name, *what, *schedule;
    size_t chains;
    int exponential;
    double thickness;
    uint64_t warmup, evals; /* iterations; evaluations per chain, roughly */
    double goal;
} scene;

typedef struct outcome {
    double seconds, inside; /* of sampling */
    uint64_t evals, updates, unused, sum;
} outcome;

typedef struct summed {
    uint64_t sum;
} summed;

static int sum_rows(void *user, const gess__segment *segment, gess_error *err)
{
    summed *s = user;
    (void)err;
    s->sum += gess__bench_checksum(segment, 1 + DIM);
    return GESS_OK;
}

static double inside(const sleeper *s)
{
    double sum = 0.0;
    for (unsigned i = 0; i < THREADS; i++) sum += s->inside[i * LINE];
    return sum;
}

/* Warm-up, then *iterations measured iterations; 0: as many as the scene's evaluations take. */
static int run_sampler(gess__sampler *sampler, const sleeper *s, const scene *c, uint64_t *iterations, outcome *out,
                       gess_error *err)
{
    const gess__ensemble *e = &sampler->ensemble;
    gess__record none = {0};
    summed rows = {0};
    while (!sampler->adaptation.warmup.over) GESS_TRY(gess__sampler_warm_up(sampler, &none, err));
    uint64_t done = gess__ensemble_done(e), evals = e->tally.evals, updates = e->tally.updates;
    if (*iterations == 0) { /* a few, to measure the evaluations per update */
        GESS_TRY(gess__sampler_advance(sampler, done + 20, &none, err));
        double per_update = (double)(e->tally.evals - evals) / (double)(e->tally.updates - updates);
        *iterations = (uint64_t)((double)c->evals / per_update) + 1;
        return GESS_OK;
    }
    double before = inside(s), start = gess__seconds();
    uint64_t unused = gess__ensemble_unused(e);
    gess__record record = {.from = done, .thin = 1, .sink = sum_rows, .user = &rows};
    GESS_TRY(gess__sampler_advance(sampler, done + *iterations, &record, err));
    *out = (outcome){.seconds = gess__seconds() - start,
                     .inside = inside(s) - before,
                     .evals = e->tally.evals - evals,
                     .updates = e->tally.updates - updates,
                     .unused = gess__ensemble_unused(e) - unused,
                     .sum = rows.sum};
    return GESS_OK;
}

static int run_scene(const scene *c, unsigned threads, double mean, const char *speculate, uint64_t *iterations,
                     outcome *out, gess_error *err)
{
    sleeper *s = NULL;
    gess_options o;
    gess__team *team = NULL;
    gess__sampler *sampler = NULL;
    GESS_ALLOC(&s, 1, err);
    open_sleeper(s, mean, c->exponential, c->thickness);
    gess__options_init(&o);
    o.schedule = c->schedule;
    o.warmup = c->warmup;
    o.speculate = speculate;
    int status = gess__team_new(&team, threads, err);
    if (status == GESS_OK) status = gess__sampler_new(&sampler, &s->model, &o, 0, c->chains, team, err);
    if (status == GESS_OK) status = run_sampler(sampler, s, c, iterations, out, err);
    gess__sampler_free(sampler);
    gess__team_free(team);
    free(s);
    return status;
}

static int verify(const scene *c, const outcome *plain, const outcome *o, gess_error *err)
{
    if (o->sum == plain->sum && o->evals == plain->evals) return GESS_OK;
    return gess__fail(err, GESS_ERR_INTERNAL, "bench utilisation, %s: %s than one thread has", c->name,
                      o->sum != plain->sum ? "other draws" : "other evaluations");
}

static int add_row(json_t *rows, const gess__bench_options *options, const scene *c, double ratio, double reference,
                   const outcome *o)
{
    double per_update = (double)o->evals / (double)o->updates;
    gess__bench_say(options, "  %-7s %6.3f  %s %-5g %9.2f %10.2f %8.0f %9.2f %11.3f  %s\n", c->name, ratio,
                    c->goal > 0.9 ? ">=" : "<=", c->goal, o->seconds, reference, (double)o->evals / (double)c->chains,
                    per_update, (double)o->unused / (double)o->evals, c->what);
    return json_array_append_new(rows, json_pack("{s:s, s:s, s:f, s:f, s:f, s:f, s:I, s:I, s:f, s:I}", "name", c->name,
                                                 "what", c->what, "ratio", ratio, "goal", c->goal, "seconds",
                                                 o->seconds, "reference", reference, "chains", (json_int_t)c->chains,
                                                 "evals", (json_int_t)o->evals, "evals_per_update", per_update,
                                                 "evals_speculative", (json_int_t)o->unused));
}

static int measure(json_t *rows, const gess__bench_options *options, const scene *c, gess_error *err)
{
    uint64_t iterations = 0;
    outcome plain = {0}, without = {0}, with = {0};
    int busy = strcmp(c->name, "frozen") == 0;
    GESS_TRY(run_scene(c, 1, 0.0, "off", &iterations, &plain, err));
    GESS_TRY(run_scene(c, 1, 0.0, "off", &iterations, &plain, err));
    GESS_TRY(run_scene(c, THREADS, SLEEP_SECONDS, "off", &iterations, &without, err));
    GESS_TRY(verify(c, &plain, &without, err));
    if (busy)
        return add_row(rows, options, c, without.inside / (THREADS * without.seconds), without.inside / THREADS,
                       &without);
    GESS_TRY(run_scene(c, THREADS, SLEEP_SECONDS, "auto", &iterations, &with, err));
    GESS_TRY(verify(c, &plain, &with, err));
    return add_row(rows, options, c, with.seconds / without.seconds, without.seconds, &with);
}

static int table(const gess__bench_options *options, json_t **json, gess_error *err)
{
    uint64_t frozen = options->quick ? 40 : 5000, others = options->quick ? 40 : 500;
    if (options->evals > 0) frozen = others = options->evals;
    const scene scenes[] = {
        {"frozen", "busy share: 64 chains, pooled", "pooled", 64, 1, 0.0, 30, frozen, 0.95},
        {"groups", "with speculation against without: 64 chains, two-group", "two-group", 64, 1, 0.08, 10, others, 0.6},
        {"few", "with speculation against without: 4 chains, constant times", "fixed", 4, 0, 0.05, 0, others, 0.3},
    };
    *json = json_array();
    gess__bench_say(options,
                    "utilisation: a density that sleeps 10 ms, 64 threads\n  %-7s %6s  %-8s %9s %10s %8s %9s %11s\n",
                    "", "ratio", "goal", "seconds", "reference", "evals", "per update", "unused");
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) GESS_TRY(measure(*json, options, &scenes[i], err));
    return GESS_OK;
}

const gess__bench gess__bench_utilisation = {
    .name = "utilisation",
    .help = "slow densities: busy share, and the gain from speculation",
    .table = table,
};
