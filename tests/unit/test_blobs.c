/* Blobs: the further numbers that a density returns stay with their point, for every kernel and schedule, on threads
 * and ranks, through speculation, exchanges and checkpoints, and cost no evaluation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/vmath.h"
#include "draws/draws.h"
#include "model/model.h"
#include "parallel/comm.h"
#include "report/verdict.h"
#include "run/stop_rule.h"
#include "schedule/schedule.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { DIM = 3, BLOBS = 5, RANKS = 4, CHAINS = 16 };

static const double lower[DIM] = {0.0, -1.0, -INFINITY}, upper[DIM] = {INFINITY, 2.0, INFINITY};

/* ---- the density: x0 ~ Gamma(3), x1 ~ N(0, 1) on (-1, 2), x2 ~ N(0, e^2x0); zero beyond x0 = 8 ---- */

typedef struct counts {
    atomic_ullong points, gradients; /* that the density was asked for */
    atomic_ullong outside;           /* points beyond the bounds */
    double nap;                      /* seconds per point */
} counts;

static double log_prior(const double *x)
{
    return 2.0 * gess__log(x[0]) - x[0] - 0.5 * x[1] * x[1];
}

static double log_likelihood(const double *x)
{
    double scaled = x[2] * gess__exp(-x[0]);
    return -0.5 * scaled * scaled - x[0];
}

/* Every blob is a function of the point: two parts of the density, a product, one that is NaN here and there, and a
 * constant. */
static void blobs_at(const double *x, double *out)
{
    out[0] = log_prior(x);
    out[1] = log_likelihood(x);
    out[2] = x[0] * x[1] + x[2];
    out[3] = x[2] > 1.0 ? NAN : x[1];
    out[4] = 7.0;
}

static void evaluate(counts *c, size_t n, const double *x, double *logp, double *gradient, double *blobs)
{
    if (c->nap > 0.0) nanosleep(&(struct timespec){0, (long)(1e9 * c->nap * (double)n)}, NULL);
    for (size_t i = 0; i < n; i++, x += DIM) {
        double scaled = x[2] * gess__exp(-x[0]);
        if (!(x[0] >= lower[0] && x[1] >= lower[1] && x[1] <= upper[1])) atomic_fetch_add(&c->outside, 1);
        logp[i] = x[0] > 8.0 ? -INFINITY : log_prior(x) + log_likelihood(x);
        if (blobs != NULL) blobs_at(x, blobs + i * BLOBS);
        if (gradient == NULL) continue;
        gradient[i * DIM] = 2.0 / x[0] - 2.0 + scaled * scaled;
        gradient[i * DIM + 1] = -x[1];
        gradient[i * DIM + 2] = -scaled * gess__exp(-x[0]);
    }
    atomic_fetch_add(gradient != NULL ? &c->gradients : &c->points, n);
}

static int plain(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)worker, (void)dim;
    evaluate(user, n, x, logp, NULL, NULL);
    return 0;
}

static int with_blobs(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp, double *blobs)
{
    (void)worker, (void)dim;
    evaluate(user, n, x, logp, NULL, blobs);
    return 0;
}

static int with_gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                         double *gradient)
{
    (void)worker, (void)dim;
    evaluate(user, n, x, logp, gradient, NULL);
    return 0;
}

static int with_both(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp, double *gradient,
                     double *blobs)
{
    (void)worker, (void)dim;
    evaluate(user, n, x, logp, gradient, blobs);
    return 0;
}

static void start(void *user, size_t dim, const double *normals, double *x)
{
    (void)user, (void)dim;
    x[0] = 0.5 + fabs(normals[0]);
    x[1] = 0.4 + 0.5 * tanh(normals[1]);
    x[2] = normals[2];
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    out[0] = x[0] + x[1];
    return 0;
}

/* ---- runs ---- */

static const char *const derived_names[] = {"sum"};

typedef struct trial {
    const char *kernel, *schedule, *speculate, *transform;
    uint64_t chains, ensembles, threads, warmup, draws, seed;
    int no_warmup, blobs, no_logp, gradient_without_blobs;
    double nap;
    gess_comm *comm;
    const char *directory;
    uint64_t checkpoint_every, die_at; /* die_at: the process ends with this draw; 0: never */
    /* outcome */
    counts counts;
    int status;
    gess_error error;
    gess_stats stats;
    uint64_t sum;           /* of the bits of all draws without blobs, and their places */
    uint64_t rows, inexact; /* draws; those whose blobs belong to a point that differs by rounding */
    uint64_t wrong;         /* blobs of another point; counted, since worker threads must not fail a test */
} trial;

static gess_model model_of(trial *t)
{
    gess_model m = {0};
    m.name = "blobs";
    m.dim = DIM;
    m.logp = t->blobs && t->no_logp ? NULL : plain;
    m.gradient = with_gradient;
    m.start = start;
    m.user = &t->counts;
    m.lower = lower;
    m.upper = upper;
    m.derived = 1;
    m.derived_names = derived_names;
    m.derive = derive;
    if (!t->blobs) return m;
    m.blobs = BLOBS;
    m.logp_blobs = with_blobs;
    m.gradient_blobs = t->gradient_without_blobs ? NULL : with_both;
    return m;
}

static int is_near(double a, double b)
{
    return gess__bits(a) == gess__bits(b) || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * (1.0 + fabs(b));
}

/* The blobs of a draw are those of its point, bit for bit; but a new learned map may move a point by rounding, until
 * its chain moves. */
static void check_row(trial *t, const double *row)
{
    double expected[BLOBS];
    const double *blobs = row + 1 + DIM + 1;
    blobs_at(row + 1, expected);
    t->rows++;
    if (memcmp(blobs, expected, sizeof expected) == 0) return;
    t->inexact++;
    for (size_t k = 0; k < BLOBS; k++) t->wrong += !is_near(blobs[k], expected[k]);
}

static int take_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      size_t columns, const double *rows)
{
    trial *t = user;
    size_t own = 1 + DIM + 1;
    if (columns != own + (t->blobs ? BLOBS : 0)) abort();
    if (t->die_at > 0 && first_draw + draws >= t->die_at) _exit(0);
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++) {
            const double *row = rows + (c * draws + i) * columns;
            if (t->blobs) check_row(t, row);
            for (size_t j = 0; j < own; j++) {
                uint64_t place = ((first_draw + i) * 1009 + first_chain + c) * 101 + j;
                t->sum += gess__bits(row[j]) * (2 * place + 1);
            }
        }
    return 0;
}

static void set_options(const trial *t, gess_options *o)
{
    gess__options_init(o);
    o->kernel = t->kernel;
    o->schedule = t->schedule;
    if (t->speculate != NULL) o->speculate = t->speculate;
    if (t->transform != NULL) o->transform = t->transform;
    o->chains = t->chains > 0 ? t->chains : CHAINS;
    o->ensembles = t->ensembles > 0 ? t->ensembles : 1;
    o->threads = t->threads > 0 ? t->threads : 1;
    o->warmup = t->no_warmup ? 0 : t->warmup > 0 ? t->warmup : 60;
    o->draws = t->draws > 0 ? t->draws : 60;
    o->checkpoint_every = t->checkpoint_every;
    o->comm = t->comm;
}

static void *run_trial(void *argument)
{
    trial *t = argument;
    gess_model model = model_of(t);
    gess_options o;
    gess_run *run = NULL;
    set_options(t, &o);
    t->counts.nap = t->nap;
    t->status = gess_run_new(&run, &model, &o, t->directory, &t->error);
    if (t->status == GESS_OK) gess_run_on_draw(run, take_draws, t, NULL);
    if (t->status == GESS_OK) t->status = gess_run_go(run, &t->error);
    if (run != NULL) gess_run_stats(run, &t->stats, sizeof t->stats, NULL);
    gess_run_free(run);
    return NULL;
}

static trial run_one(trial t)
{
    run_trial(&t);
    return t;
}

static uint64_t asked(const trial *t)
{
    return atomic_load(&t->counts.points) + atomic_load(&t->counts.gradients);
}

static void check_blobs(const trial *t)
{
    assert_int_equal(t->status, GESS_OK);
    assert_int_equal(t->wrong, 0);
    assert_int_equal(atomic_load(&t->counts.outside), 0);
    assert_true(t->rows > 0 && t->inexact <= t->rows / 100);
}

/* Runs a trial with and without blobs: the same draws from the same number of evaluations; after annealing every chain
 * is evaluated once more for its blobs, since particles have none. Returns the one with blobs, or one whose status says
 * that there is no such combination. */
static trial compare(trial t)
{
    t.blobs = 0;
    trial without = run_one(t);
    if (without.status == GESS_ERR_USAGE) return without;
    assert_int_equal(without.status, GESS_OK);
    t.blobs = 1;
    trial with = run_one(t);
    if (with.status != GESS_OK) print_message("%s, %s: %s\n", t.kernel, t.schedule, with.error.text);
    assert_int_equal(with.status, GESS_OK);
    assert_true(with.sum == without.sum);
    uint64_t more = strcmp(t.schedule, "annealed") != 0 ? 0 : t.chains > 0 ? t.chains : CHAINS;
    assert_int_equal(with.stats.evals, without.stats.evals + more);
    check_blobs(&with);
    if (t.threads <= 1 && !t.gradient_without_blobs) assert_true(asked(&with) == asked(&without) + more);
    return with;
}

static void every_kernel_and_schedule(void **state)
{
    (void)state;
    size_t combinations = 0;
    for (size_t k = 0; gess__kernel_row(k) != NULL; k++)
        for (size_t s = 0;; s++) {
            const gess__schedule *schedule = gess__schedule_row(s);
            if (schedule == NULL) break;
            trial t = {.kernel = gess__kernel_row(k)->name, .schedule = schedule->name};
            int annealed = strcmp(schedule->name, "annealed") == 0; /* costs most, and the same for every kernel */
            if (annealed && strcmp(t.kernel, "gess") != 0) continue;
#ifdef GESS_SANITIZED
            if (annealed) { /* without the run that it is compared with, which takes as long */
                t.blobs = 1;
                trial alone = run_one(t);
                check_blobs(&alone);
                combinations++;
                continue;
            }
#endif
            if (compare(t).status != GESS_OK) continue;
            combinations++;
            t.threads = 3;
            t.no_logp = 1;
            t.ensembles = 2;
            compare(t);
#ifndef GESS_SANITIZED
            t.transform = "none";
            t.ensembles = 1;
            t.speculate = "4";
            compare(t);
#endif
        }
    print_message("%zu combinations of kernel and schedule\n", combinations);
    assert_true(combinations >= 12);
}

/* The first draws of chains that stay where they start have the blobs of their starts. */
static void starts(void **state)
{
    (void)state;
    compare((trial){.kernel = "mh", .schedule = "auto", .no_warmup = 1, .draws = 3, .chains = 100});
    compare(
        (trial){.kernel = "mh", .schedule = "auto", .no_warmup = 1, .draws = 3, .chains = 100, .transform = "none"});
}

/* A warm-up that learns a map, searches for the Laplace approximation and mixes moves; with sanitizers, which make it
 * many times slower, a shorter one that ends with a mixture and no map, and only on threads. */
static void learned_map(void **state)
{
    (void)state;
#ifdef GESS_SANITIZED
    enum { WARMUP = 150, FIRST = 1 };
#else
    enum { WARMUP = 1000, FIRST = 0 };
#endif
    for (int no_logp = FIRST; no_logp < 2; no_logp++) {
        trial t = compare((trial){.kernel = "gess",
                                  .schedule = "auto",
                                  .chains = 32,
                                  .threads = no_logp ? 3 : 1,
                                  .warmup = WARMUP,
                                  .draws = 100,
                                  .no_logp = no_logp});
        print_message("%s; %llu of %llu draws by rounding\n", t.stats.method, (unsigned long long)t.inexact,
                      (unsigned long long)t.rows);
        assert_true(strlen(t.stats.method) > 0);
    }
}

/* A gradient that cannot bring blobs: logp_blobs is called beside it, and the draws are the same. */
static void gradient_without_blobs(void **state)
{
    (void)state;
    trial t = compare((trial){.kernel = "nuts", .schedule = "auto", .gradient_without_blobs = 1});
    assert_true(atomic_load(&t.counts.points) >= atomic_load(&t.counts.gradients));
    assert_true(atomic_load(&t.counts.gradients) > 0);
}

/* Slow evaluations and few chains, so that most values come from other workers. */
static void speculation(void **state)
{
    (void)state;
    trial t = {.kernel = "gess", .schedule = "pooled", .chains = 2, .draws = 200};
    trial one = compare(t);
    t.threads = 3;
    t.speculate = "6";
    t.nap = 100e-6;
    t.blobs = 1;
    trial three = run_one(t);
    check_blobs(&three);
    assert_true(three.sum == one.sum && three.inexact == 0);
    assert_true(three.stats.evals_speculative > 0);
}

static trial run_ranks(trial t, int size, double latency)
{
    gess__loopback *net;
    trial ranks[RANKS];
    pthread_t thread[RANKS];
    assert_int_equal(gess__loopback_new(&net, size, latency, 1e-9, NULL), GESS_OK);
    for (int i = 0; i < size; i++) {
        ranks[i] = t;
        ranks[i].comm = gess__loopback_rank(net, i);
        assert_int_equal(pthread_create(&thread[i], NULL, run_trial, &ranks[i]), 0);
    }
    for (int i = 0; i < size; i++) pthread_join(thread[i], NULL);
    gess__loopback_free(net);
    return ranks[0];
}

/* Tasks travel to other ranks, and so do predicted points where chains are few. */
static void ranks(void **state)
{
    static const trial trials[] = {{.kernel = "gess", .schedule = "pooled", .chains = 24},
                                   {.kernel = "gess", .schedule = "two-group", .chains = 24, .threads = 2},
                                   {.kernel = "nuts", .schedule = "auto", .chains = 24},
                                   {.kernel = "mh", .schedule = "tempering", .chains = 8},
                                   {.kernel = "gess", .schedule = "pooled", .chains = 2, .speculate = "5"},
                                   {.kernel = "gess", .schedule = "auto", .chains = 4, .speculate = "3"}};
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        trial t = trials[i];
        trial alone = compare(t);
        assert_int_equal(alone.status, GESS_OK);
        t.blobs = 1;
        t.nap = t.speculate != NULL ? 200e-6 : 10e-6;
        trial r = run_ranks(t, RANKS, i % 2 == 0 ? 0.0 : 1e-4);
        if (r.status != GESS_OK) print_message("%s\n", r.error.text);
        check_blobs(&r);
        assert_true(r.sum == alone.sum && r.rows == alone.rows && r.inexact == alone.inexact);
        print_message("%s, %s: %llu speculative evaluations not used\n", t.kernel, t.schedule,
                      (unsigned long long)r.stats.evals_speculative);
        if (t.speculate != NULL && t.chains == 2) assert_true(r.stats.evals_speculative > 0);
    }
}

/* ---- files ---- */

static char folder[] = "/tmp/gess_blobs_XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void check_file(const char *directory, uint64_t chains, uint64_t draws)
{
    char path[300];
    gess__draws d;
    gess_error err;
    trial t = {0};
    snprintf(path, sizeof path, "%s/draws.gess", directory);
    assert_int_equal(gess__draws_read(&d, path, &err), GESS_OK);
    assert_int_equal(d.columns, 1 + DIM + 1 + BLOBS);
    assert_int_equal(d.chains, chains);
    assert_int_equal(d.draws, draws);
    assert_string_equal(d.names[DIM + 1], "sum");
    assert_string_equal(d.names[DIM + 2], "blob1");
    assert_string_equal(d.names[DIM + 6], "blob5");
    for (size_t c = 0; c < d.chains; c++)
        for (size_t i = 0; i < d.draws; i++) {
            double row[1 + DIM + 1 + BLOBS];
            for (size_t j = 0; j < d.columns; j++) row[j] = d.values[(j * d.chains + c) * d.draws + i];
            check_row(&t, row);
        }
    assert_true(t.wrong == 0 && t.inexact == 0);
    gess__draws_free(&d);
}

/* A run that is killed and resumed from its last checkpoint; a chain may keep its point, and so its blobs, across it.
 */
static void killed_and_resumed(void **state)
{
    static const trial trials[] = {{.kernel = "gess", .schedule = "pooled"},
                                   {.kernel = "mh", .schedule = "tempering"},
                                   {.kernel = "amh", .schedule = "auto"},
                                   {.kernel = "nuts", .schedule = "auto"}};
    (void)state;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        char whole[200], cut[200], command[500];
        trial t = trials[i];
        snprintf(whole, sizeof whole, "%s/whole%zu", folder, i);
        snprintf(cut, sizeof cut, "%s/cut%zu", folder, i);
        t.blobs = 1;
        t.draws = 200;
        t.checkpoint_every = 7;
        t.directory = whole;
        assert_int_equal(run_one(t).status, GESS_OK);
        t.directory = cut;
        t.die_at = 150;
        pid_t child = fork();
        if (child == 0) {
            run_one(t);
            _exit(1); /* it did not die */
        }
        int ended;
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFEXITED(ended) && WEXITSTATUS(ended) == 0);

        gess_run *run = NULL;
        gess_options o;
        gess_error err;
        gess_model model = model_of(&t);
        set_options(&t, &o);
        model.blobs--; /* another model */
        assert_int_equal(gess_run_resume(&run, &model, &o, cut, &err), GESS_ERR_FILE);
        gess_run_free(run);
        model.blobs++;
        assert_int_equal(gess_run_resume(&run, &model, &o, cut, &err), GESS_OK);
        assert_int_equal(gess_run_go(run, &err), GESS_OK);
        gess_run_free(run);
        check_file(cut, strcmp(t.schedule, "tempering") == 0 ? 1 : 16, 200);
        snprintf(command, sizeof command, "cmp %s/draws.gess %s/draws.gess", whole, cut);
        assert_int_equal(system(command), 0);
    }
}

/* Blobs that are constant or NaN neither hold up a run nor spoil its verdict, and are summarised like all columns. */
static void not_judged(void **state)
{
    char directory[200];
    gess_options o;
    gess_run *run = NULL;
    gess_error err;
    gess_stats stats;
    gess__summary s;
    gess__verdict v;
    trial t = {.kernel = "gess", .schedule = "auto", .blobs = 1};
    (void)state;
    snprintf(directory, sizeof directory, "%s/judged", folder);
    gess_model model = model_of(&t);
    set_options(&t, &o);
    o.chains = 64;
    o.warmup = o.draws = GESS_AUTO;
    o.target_ess = 1000; /* with less, too few effective draws in the tails may be left for the verdict */
    assert_int_equal(gess_run_new(&run, &model, &o, directory, &err), GESS_OK);
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    gess_run_stats(run, &stats, sizeof stats, NULL);
    gess_run_free(run);
    assert_true(stats.targets_met && stats.least_ess >= 1000.0 && stats.worst_rhat <= 1.05);
    assert_true(isnan(stats.worst_nested_rhat) ? stats.worst_rhat <= 1.01 : stats.worst_nested_rhat <= 1.01);

    assert_int_equal(gess__summarise_run(&s, directory, (gess__summary_settings){.threads = 1}, &err), GESS_OK);
    assert_int_equal(s.count, 1 + DIM + 1 + BLOBS);
    assert_string_equal(s.names[DIM + 1], "blob1");
    assert_string_equal(s.names[s.count - 1], "lp__");
    assert_true(s.figures[DIM + 1].ess_bulk > 100.0);
    assert_true(isnan(s.figures[DIM + 4].mean));
    assert_true(s.figures[DIM + 5].mean == 7.0);
    gess__summary_sort(&s);
    assert_int_equal(gess__judge_run(&v, &s, directory, &err), GESS_OK);
    for (size_t i = 0; i < v.count; i++) assert_null(strstr(v.findings[i].text, "blob"));
    assert_true(v.pass);
    gess__verdict_free(&v);
    gess__summary_free(&s);
}

/* ---- what a model must say ---- */

static void refuse(const gess_model *model, const char *part)
{
    gess_error err = {0};
    assert_int_equal(gess__model_check(model, &err), GESS_ERR_MODEL);
    assert_non_null(strstr(err.text, part));
}

static void descriptions(void **state)
{
    static const char *const names[BLOBS] = {"prior", "likelihood", "a", "b", "c"}, *const same[BLOBS] = {"1", "2",
                                                                                                          "sum", "3",
                                                                                                          "4"};
    static const char *const none[BLOBS] = {"1", "2", NULL, "3", "4"};
    static const char *const parameters[DIM] = {"x", "y", "blob3"};
    gess_error err;
    char buffer[32];
    (void)state;
    trial t = {.blobs = 1, .no_logp = 1};
    gess_model good = model_of(&t), m = good;
    assert_int_equal(gess__model_check(&m, &err), GESS_OK);
    assert_string_equal(gess__column_name(&m, 0, buffer), "lp__");
    assert_string_equal(gess__column_name(&m, DIM, buffer), "x3");
    assert_string_equal(gess__column_name(&m, DIM + 2, buffer), "blob1");
    m.blob_names = names;
    assert_int_equal(gess__model_check(&m, &err), GESS_OK);
    assert_string_equal(gess__column_name(&m, DIM + 3, buffer), "likelihood");
    m.blob_names = same;
    refuse(&m, "two quantities with the name 'sum'");
    m.blob_names = none;
    refuse(&m, "blob 3 of the model has no name");
    m = good;
    m.names = parameters;
    refuse(&m, "two quantities with the name 'blob3'");
    m = good;
    m.logp_blobs = NULL;
    refuse(&m, "logp is NULL");
    m.logp = plain;
    refuse(&m, "5 blobs but no function `logp_blobs`");
    m = good;
    m.blobs = 0;
    refuse(&m, "`logp_blobs` but no blobs");
    m = good;
    m.gradient = NULL;
    refuse(&m, "`gradient_blobs` but no `gradient`");
    m = good;
    m.blobs = SIZE_MAX;
    refuse(&m, "at most");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(descriptions), cmocka_unit_test(every_kernel_and_schedule), cmocka_unit_test(starts),
        cmocka_unit_test(learned_map),  cmocka_unit_test(gradient_without_blobs),    cmocka_unit_test(speculation),
        cmocka_unit_test(ranks),        cmocka_unit_test(killed_and_resumed),        cmocka_unit_test(not_judged),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
