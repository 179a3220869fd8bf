/* The public interface: a run from a density to draws. */
#include "base/options.h"
#include "model/model.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "draws/draws.h"

#include <gess/gess.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- models ---- */

typedef struct counter {
    atomic_ullong points, nans;
    atomic_uint worst_worker;
} counter;

static void count_points(counter *c, unsigned worker, size_t n)
{
    atomic_fetch_add(&c->points, n);
    unsigned worst = atomic_load(&c->worst_worker);
    while (worker > worst && !atomic_compare_exchange_weak(&c->worst_worker, &worst, worker)) {
    }
}

/* A curved and heavy-tailed density. */
static int bent(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    if (user != NULL) count_points(user, worker, n);
    for (size_t i = 0; i < n; i++) {
        const double *p = x + i * dim;
        double sum = 0.1 * p[0] * p[0];
        for (size_t j = 1; j < dim; j++) sum += (p[j] - 0.3 * p[j - 1] * p[j - 1]) * (p[j] - 0.3 * p[j - 1] * p[j - 1]);
        logp[i] = -0.5 * (4.0 + (double)dim) * log1p(sum / 4.0);
    }
    return 0;
}

/* A standard normal cut off at x1 > -1 by NaN. */
static int cut_by_nan(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    counter *c = user;
    count_points(c, worker, n);
    for (size_t i = 0; i < n; i++) {
        logp[i] = 0.0;
        for (size_t j = 0; j < dim; j++) logp[i] -= 0.5 * x[i * dim + j] * x[i * dim + j];
        if (x[i * dim] < -1.0) {
            logp[i] = NAN;
            atomic_fetch_add(&c->nans, 1);
        }
    }
    return 0;
}

static int infinite_beyond_2(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    bent(user, worker, n, dim, x, logp);
    for (size_t i = 0; i < n; i++)
        if (x[i * dim] > 2.0) logp[i] = INFINITY;
    return 0;
}

static int fails_beyond_2(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    bent(user, worker, n, dim, x, logp);
    for (size_t i = 0; i < n; i++)
        if (x[i * dim] > 2.0) return -5;
    return 0;
}

/* A density that is finite at the starts and nowhere else. */
static int lying(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)dim;
    (void)x;
    counter *c = user;
    for (size_t i = 0; i < n; i++)
        logp[i] = atomic_load(&c->points) < 18 ? 0.0 : -1e6; /* 6 starts, evaluated three times */
    count_points(c, worker, n);
    return 0;
}

/* A density whose support has only one value of the first coordinate per chain: its start. */
static int only_start(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    static double starts[6];
    static size_t known;
    counter *c = user;
    for (size_t i = 0; i < n; i++) {
        if (atomic_load(&c->points) == 0) known = 0;
        if (known < 6) starts[known++] = x[i * dim];
        logp[i] = -INFINITY;
        for (size_t j = 0; j < 6; j++)
            if (x[i * dim] == starts[j]) logp[i] = 0.0;
        count_points(c, worker, 1);
    }
    return 0;
}

static void at_one(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t i = 0; i < dim; i++) x[i] = 1.0 + 0.1 * normals[i];
}

static gess_model model_of(gess_logp_fn *logp, size_t dim, void *user)
{
    return (gess_model){.name = "test", .dim = dim, .logp = logp, .user = user};
}

/* ---- collecting draws ---- */

typedef struct collection {
    size_t chains, dim;
    uint64_t draws; /* capacity, per chain */
    double *rows;   /* chains × draws × (1 + dim) */
    uint64_t *have; /* draws so far, per chain */
    int disorder;   /* a draw came twice, out of order or too many */
} collection;

static int collect(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                   const double *rows)
{
    collection *c = user;
    size_t dim = columns - 1;
    if (dim != c->dim || first_chain + chains > c->chains || first_draw + draws > c->draws) {
        c->disorder++;
        return 0;
    }
    for (size_t k = 0; k < chains; k++) {
        size_t chain = first_chain + k;
        if (c->have[chain] != first_draw) c->disorder++;
        memcpy(c->rows + (chain * c->draws + first_draw) * (1 + dim), rows + k * draws * (1 + dim),
               draws * (1 + dim) * sizeof *rows);
        c->have[chain] += draws;
    }
    return 0;
}

static collection new_collection(const gess_options *o, size_t dim)
{
    collection c = {.chains = (size_t)o->chains, .dim = dim, .draws = o->draws};
    c.rows = calloc(c.chains * c.draws * (1 + dim) + 1, sizeof *c.rows);
    c.have = calloc(c.chains, sizeof *c.have);
    assert_non_null(c.rows);
    assert_non_null(c.have);
    return c;
}

static void free_collection(collection *c)
{
    free(c->rows);
    free(c->have);
}

static size_t bytes_of(const collection *c)
{
    return c->chains * (size_t)c->draws * (1 + c->dim) * sizeof *c->rows;
}

static gess_options options_of(uint64_t chains, uint64_t warmup, uint64_t draws)
{
    gess_options o;
    gess__options_init(&o);
    o.schedule = "two-group";
    o.chains = chains;
    o.warmup = warmup;
    o.draws = draws;
    o.threads = 1;
    return o;
}

/* A whole run into memory; every draw must come once and in order. */
static collection run_all(const gess_model *model, const gess_options *o, gess_stats *stats)
{
    gess_run *run;
    gess_error err = {0};
    collection c = new_collection(o, model->dim);
    if (gess_run_new(&run, model, o, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_run_on_draw(run, collect, &c, NULL);
    if (gess_run_go(run, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_stats ignored;
    gess_run_stats(run, stats == NULL ? &ignored : stats, sizeof ignored, NULL);
    gess_run_free(run);
    assert_int_equal(c.disorder, 0);
    for (size_t i = 0; i < c.chains; i++) assert_int_equal(c.have[i], o->draws);
    return c;
}

/* ---- draws ---- */

static const char *const kernels[] = {"gess", "ess"}, *const schedules[] = {"two-group", "fixed"};

/* Every chain moves at every iteration. (A chain that never moved would be invariant, too.) */
static void chains_move(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        gess_model model = model_of(bent, 3, NULL);
        gess_options o = options_of(70, 10, 30);
        gess_stats s;
        o.kernel = kernels[k / 2];
        o.schedule = schedules[k % 2];
        collection c = run_all(&model, &o, &s);
        assert_int_equal(s.failures, 0);
        for (size_t chain = 0; chain < c.chains; chain++)
            for (uint64_t i = 1; i < c.draws; i++)
                for (size_t j = 1; j < 4; j++)
                    assert_true(c.rows[(chain * c.draws + i) * 4 + j] != c.rows[(chain * c.draws + i - 1) * 4 + j]);
        free_collection(&c);
    }
}

/* Blocks of more than 64 chains, which kernels process in chunks of 64. */
static void large_blocks(void **state)
{
    (void)state;
    static const uint64_t blocks[] = {1, 64, 65, 100, 150, 0};
    collection first = {0};
    for (size_t k = 0; k < 6; k++) {
        gess_model model = model_of(bent, 3, NULL);
        gess_options o = options_of(300, 20, 10);
        o.block = blocks[k];
        collection c = run_all(&model, &o, NULL);
        if (k == 0) {
            first = c;
            continue;
        }
        assert_memory_equal(c.rows, first.rows, c.chains * c.draws * 4 * sizeof *c.rows);
        free_collection(&c);
    }
    free_collection(&first);
}

static void all_draws_once(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        counter count = {0};
        gess_model model = model_of(bent, 3, &count);
        gess_options o = options_of(11, 20, 50);
        gess_stats s;
        o.kernel = kernels[k / 2];
        o.schedule = schedules[k % 2];
        o.threads = 3;
        collection c = run_all(&model, &o, &s);
        for (size_t i = 0; i < c.chains * c.draws; i++) { /* log density and parameters belong together */
            double value;
            bent(NULL, 0, 1, 3, c.rows + i * 4 + 1, &value);
            assert_true(value == c.rows[i * 4]);
        }
        assert_int_equal(s.dim, 3);
        assert_int_equal(s.chains, 11);
        assert_int_equal(s.draws, 50);
        assert_int_equal(s.iterations, 70);
        assert_int_equal(s.updates, 11 * 70);
        assert_int_equal(s.evals + s.evals_speculative + s.evals_checked, atomic_load(&count.points));
        assert_true(s.evals_sampling >= 11 * 50 && s.evals_sampling < s.evals - 11 * 20);
        assert_int_equal(s.failures, 0);
        assert_int_equal(s.nans, 0);
        assert_true(s.seconds >= s.seconds_sampling && s.seconds_sampling > 0.0);
        assert_true(s.nu > 0.0);
        assert_true(atomic_load(&count.worst_worker) < 3);
        free_collection(&c);
    }
}

static void same_seed_same_draws(void **state)
{
    (void)state;
    static const uint64_t threads[] = {1, 2, 8}, blocks[] = {1, 3, 8, 0}, dims[] = {1, 2, 11};
    for (size_t d = 0; d < 3; d++)
        for (size_t k = 0; k < 4; k++) {
            gess_model model = model_of(bent, dims[d], NULL);
            gess_options o = options_of(23, 15, 40);
            o.kernel = kernels[k / 2];
            o.schedule = schedules[k % 2];
            o.reuse = 1 + 2 * d;
            o.thin = 1 + d % 2;
            o.seed = UINT64_C(0x900000001) + d;
            gess_stats first, s;
            collection reference = run_all(&model, &o, &first);
            for (size_t i = 0; i < 12; i++) {
                o.threads = threads[i / 4];
                o.block = blocks[i % 4];
                collection c = run_all(&model, &o, &s);
                if (memcmp(c.rows, reference.rows, bytes_of(&c)) != 0)
                    fail_msg("%s, %s, dimension %zu: other draws with %llu threads and blocks of %llu", o.kernel,
                             o.schedule, model.dim, (unsigned long long)o.threads, (unsigned long long)o.block);
                assert_int_equal(s.evals, first.evals);
                assert_int_equal(s.evals_sampling, first.evals_sampling);
                assert_true(s.nu == first.nu);
                free_collection(&c);
            }
            o.seed++;
            collection other = run_all(&model, &o, NULL);
            for (size_t i = 0; i < other.chains * other.draws; i++) /* not one draw in common */
                assert_true(other.rows[i * (1 + model.dim) + 1] != reference.rows[i * (1 + model.dim) + 1]);
            free_collection(&other);
            free_collection(&reference);
        }
}

/* The same for a warm-up that ends itself, in one ensemble and in two. */
static void same_seed_same_choices(void **state)
{
    (void)state;
    static const uint64_t threads[] = {1, 2, 8}, blocks[] = {1, 3, 8, 0};
    for (uint64_t ensembles = 1; ensembles <= 2; ensembles++) {
        gess_model model = model_of(bent, 2, NULL);
        gess_options o = options_of(22, GESS_AUTO, 40);
        o.schedule = "pooled";
        o.ensembles = ensembles;
        o.max_warmup_evals = 20000;
        gess_stats first, s;
        collection reference = run_all(&model, &o, &first);
        assert_true(first.warmup > 0 && first.iterations >= 40);
        if (ensembles == 1) assert_int_equal(first.iterations, first.warmup + 40);
        for (size_t i = 0; i < 12; i++) {
            o.threads = threads[i / 4];
            o.block = blocks[i % 4];
            collection c = run_all(&model, &o, &s);
            if (memcmp(c.rows, reference.rows, bytes_of(&c)) != 0)
                fail_msg("other draws with %llu threads and blocks of %llu", (unsigned long long)o.threads,
                         (unsigned long long)o.block);
            assert_int_equal(s.evals, first.evals);
            assert_int_equal(s.warmup, first.warmup);
            free_collection(&c);
        }
        free_collection(&reference);
    }
}

/* Chains differ from one another, and every chain moves at every iteration. */
static void chains_differ(void **state)
{
    (void)state;
    gess_model model = model_of(bent, 2, NULL);
    gess_options o = options_of(8, 5, 30);
    collection c = run_all(&model, &o, NULL);
    for (size_t i = 0; i < c.chains * c.draws; i++)
        for (size_t j = 0; j < i; j++) assert_true(c.rows[i * 3 + 1] != c.rows[j * 3 + 1]);
    free_collection(&c);
}

static void thinning(void **state)
{
    (void)state;
    gess_model model = model_of(bent, 2, NULL);
    for (size_t k = 0; k < 2; k++)
        for (uint64_t reuse = 1; reuse <= 4; reuse += 3) {
            gess_options o = options_of(10, 7, 60), thinned = o;
            o.schedule = thinned.schedule = schedules[k];
            o.reuse = thinned.reuse = reuse;
            thinned.thin = 3;
            thinned.draws = 20;
            gess_stats s;
            collection all = run_all(&model, &o, NULL), some = run_all(&model, &thinned, &s);
            for (size_t c = 0; c < 10; c++)
                for (size_t i = 0; i < 20; i++)
                    assert_memory_equal(some.rows + (c * 20 + i) * 3, all.rows + (c * 60 + 3 * i + 2) * 3,
                                        3 * sizeof(double));
            assert_int_equal(s.draws, 20);
            assert_int_equal(s.iterations, 67);
            free_collection(&all);
            free_collection(&some);
        }
}

/* Warm-up iterations are like the others, but their draws are not kept. */
static void warmup(void **state)
{
    (void)state;
    gess_model model = model_of(bent, 2, NULL);
    for (size_t k = 0; k < 2; k++) {
        gess_options o = options_of(9, 0, 30), late = options_of(9, 12, 18);
        o.schedule = late.schedule = schedules[k];
        gess_stats s;
        collection all = run_all(&model, &o, &s), some = run_all(&model, &late, NULL);
        assert_int_equal(s.evals_sampling, s.evals - 9); /* without those of the starts */
        for (size_t c = 0; c < 9; c++)
            assert_memory_equal(some.rows + c * 18 * 3, all.rows + (c * 30 + 12) * 3, 18 * 3 * sizeof(double));
        free_collection(&all);
        free_collection(&some);
    }
}

static void nothing_to_draw(void **state)
{
    (void)state;
    gess_model model = model_of(bent, 2, NULL);
    gess_options o = options_of(5, 4, 0);
    gess_stats s;
    collection c = run_all(&model, &o, &s);
    assert_int_equal(s.iterations, 4);
    free_collection(&c);
    o.warmup = 0;
    c = run_all(&model, &o, &s);
    assert_int_equal(s.iterations, 0);
    assert_int_equal(s.evals, 5);
    free_collection(&c);
}

/* Two groups of unequal size, down to the smallest number of chains, with more draws than a buffer holds. */
static void odd_numbers(void **state)
{
    (void)state;
    gess_model model = model_of(bent, 3, NULL);
    for (uint64_t chains = 4; chains <= 17; chains++) {
        gess_options o = options_of(chains, 3, 10);
        o.reuse = 4;
        collection c = run_all(&model, &o, NULL);
        free_collection(&c);
    }
    for (uint64_t chains = 1; chains < 4; chains++) {
        gess_options o = options_of(chains, 3, 10);
        o.schedule = "fixed";
        collection c = run_all(&model, &o, NULL);
        free_collection(&c);
    }
    gess_options o = options_of(64, 3, 4000);
    o.reuse = 3000;
    collection c = run_all(&model, &o, NULL);
    free_collection(&c);
    o.schedule = "fixed";
    c = run_all(&model, &o, NULL);
    free_collection(&c);
}

static void reuse_counts(void **state)
{
    (void)state;
    gess_model model = model_of(bent, 2, NULL);
    gess_options o = options_of(10, 0, 40);
    collection one = run_all(&model, &o, NULL);
    o.reuse = 5;
    collection five = run_all(&model, &o, NULL);
    o.reuse = 1000000; /* never refitted */
    collection all = run_all(&model, &o, NULL);
    /* the fit of the first group's first turn is to the same starts, so one iteration is the same as the first of five
     */
    assert_memory_equal(one.rows, five.rows, 3 * sizeof(double));
    assert_memory_not_equal(one.rows + 3, five.rows + 3, 3 * sizeof(double));
    assert_memory_equal(five.rows, all.rows, 15 * sizeof(double));
    assert_memory_not_equal(five.rows + 15, all.rows + 15, 3 * sizeof(double));
    /* the second group's fit is to the states at the end of the first group's turn */
    assert_memory_not_equal(one.rows + 5 * 40 * 3, five.rows + 5 * 40 * 3, 3 * sizeof(double));
    free_collection(&one);
    free_collection(&five);
    free_collection(&all);
}

/* ---- stopping ---- */

typedef struct stopper {
    gess_run *run;
    uint64_t at, calls, planned, last;
    int backwards;
} stopper;

static int stop_late(void *user, const gess_stats *stats, uint64_t planned)
{
    stopper *s = user;
    s->calls++;
    s->planned = planned;
    if (stats->iterations < s->last) s->backwards++;
    s->last = stats->iterations;
    if (stats->iterations >= s->at) gess_stop(s->run);
    return 0;
}

static void stops(void **state)
{
    (void)state;
    gess_model model = model_of(bent, 2, NULL);
    for (size_t k = 0; k < 2; k++)
        for (uint64_t at = 0; at <= 120; at += 40) {
            gess_options o = options_of(10, 50, 50000);
            o.schedule = schedules[k];
            gess_error err = {0};
            stopper s = {.at = at};
            collection c = new_collection(&o, 2);
            assert_int_equal(gess_run_new(&s.run, &model, &o, NULL, &err), GESS_OK);
            gess_run_on_draw(s.run, collect, &c, NULL);
            gess_run_on_progress(s.run, stop_late, &s, NULL);
            assert_int_equal(gess_run_go(s.run, &err), GESS_ERR_STOPPED);
            assert_int_equal(err.status, GESS_ERR_STOPPED);
            assert_int_equal(c.disorder, 0);
            gess_stats stats;
            gess_run_stats(s.run, &stats, sizeof stats, NULL);
            if (stats.iterations < at || stats.iterations >= 50050)
                fail_msg("%s: asked to stop at %llu, stopped at %llu", o.schedule, (unsigned long long)at,
                         (unsigned long long)stats.iterations);
            if (k == 0) assert_true(stats.iterations <= at + 1); /* a sweep is soon over */
            uint64_t min = UINT64_MAX;
            for (size_t i = 0; i < 10; i++) min = c.have[i] < min ? c.have[i] : min;
            assert_int_equal(stats.draws, min);
            assert_int_equal(stats.draws, stats.iterations > 50 ? stats.iterations - 50 : 0);
            assert_int_equal(s.planned, 50050);
            assert_int_equal(s.backwards, 0);
            gess_run_free(s.run);
            free_collection(&c);
        }
}

/* ---- densities that misbehave ---- */

static void end_with(gess_logp_fn *logp, const char *kernel, const char *schedule, const char *piece, const char *other)
{
    counter count = {0};
    gess_model model = model_of(logp, 2, &count);
    static const char *const names[] = {"alpha", "beta"};
    model.names = names;
    gess_options o = options_of(10, 10, 10000);
    o.kernel = kernel;
    o.schedule = schedule;
    gess_run *run;
    char first[1024] = "";
    for (o.threads = 1; o.threads <= 4; o.threads++) {
        gess_error err = {0};
        o.block = o.threads == 1 ? 1 : 3;
        /* starts beyond 2 are refused before the run; other seeds have none there */
        for (o.seed = 1; gess_run_new(&run, &model, &o, NULL, &err) != GESS_OK; o.seed++) {
            gess_run_free(run);
            assert_true(o.seed < 100);
        }
        assert_int_equal(gess_run_go(run, &err), GESS_ERR_MODEL);
        assert_int_equal(err.status, GESS_ERR_MODEL);
        if (strstr(err.text, piece) == NULL || strstr(err.text, other) == NULL)
            fail_msg("'%s' should hold '%s' and '%s'", err.text, piece, other);
        /* the message names the same chain and iteration for any number of threads */
        if (o.threads == 2) strcpy(first, err.text);
        if (o.threads > 2) assert_string_equal(err.text, first);
        gess_run_free(run);
    }
}

static void infinity_ends(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++)
        end_with(infinite_beyond_2, kernels[k / 2], schedules[k % 2], "+infinity at alpha = ", "iteration");
}

static void error_ends(void **state)
{
    (void)state;
    end_with(fails_beyond_2, "gess", "two-group", "error -5", "alpha = ");
}

static void nans_counted(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        counter count = {0};
        gess_model model = model_of(cut_by_nan, 2, &count);
        gess_options o = options_of(20, 50, 200);
        gess_stats s;
        o.kernel = kernels[k / 2];
        o.schedule = schedules[k % 2];
        o.threads = 2;
        collection c = run_all(&model, &o, &s);
        assert_true(s.nans > 20);
        assert_int_equal(s.nans, atomic_load(&count.nans));
        assert_int_equal(s.evals + s.evals_checked, atomic_load(&count.points));
        assert_int_equal(s.failures, 0);
        double min = 1.0;
        for (size_t i = 0; i < c.chains * c.draws; i++) {
            assert_true(isfinite(c.rows[3 * i]));
            min = fmin(min, c.rows[3 * i + 1]);
        }
        assert_true(min >= -1.0 && min < -0.9); /* up to the edge, never beyond */
        free_collection(&c);
    }
}

/* Every bracket shrinks to nothing: work is bounded, failures are counted, and states are kept. */
static void lies_counted(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        counter count = {0};
        gess_model model = model_of(lying, 2, &count);
        gess_options o = options_of(6, 3, 20);
        gess_stats s;
        o.kernel = kernels[k / 2];
        o.schedule = schedules[k % 2];
        o.block = 4;
        collection c = run_all(&model, &o, &s);
        assert_int_equal(s.failures, 6 * 23);
        assert_int_equal(s.updates, 6 * 23);
        assert_true(s.evals <= 6 + 6 * 23 * 1000);
        for (size_t chain = 0; chain < 6; chain++)
            for (size_t i = 0; i < 20; i++) {
                assert_true(c.rows[(chain * 20 + i) * 3] == 0.0);
                assert_memory_equal(c.rows + (chain * 20 + i) * 3, c.rows + chain * 20 * 3, 3 * sizeof(double));
            }
        free_collection(&c);
    }
}

static void single_points(void **state)
{
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        counter count = {0};
        gess_model model = model_of(only_start, 1, &count);
        model.start = at_one;
        gess_options o = options_of(6, 3, 20);
        gess_stats s;
        o.kernel = kernels[k / 2];
        o.schedule = schedules[k % 2];
        collection c = run_all(&model, &o, &s);
        assert_true(s.evals <= 6 + 6 * 23 * 1000);
        /* a chain can reach no point but its start, so it stays there, by rounding or by failure */
        for (size_t chain = 0; chain < 6; chain++)
            for (size_t i = 0; i < 20; i++)
                assert_true(c.rows[(chain * 20 + i) * 2] == 0.0 &&
                            c.rows[(chain * 20 + i) * 2 + 1] == c.rows[chain * 40 + 1]);
        free_collection(&c);
    }
}

/* ---- what is refused ---- */

static void refuse(const gess_model *model, const gess_options *o, int status, const char *piece)
{
    gess_run *run;
    gess_error err = {0};
    assert_int_equal(gess_run_new(&run, model, o, NULL, &err), status);
    if (strstr(err.text, piece) == NULL) fail_msg("'%s' should hold '%s'", err.text, piece);
    gess_run_free(run);
}

static void refusals(void **state)
{
    (void)state;
    gess_model good = model_of(bent, 2, NULL), model = good;
    gess_options o = options_of(10, 1, 1), bad = o;
    model.dim = 0;
    refuse(&model, &o, GESS_ERR_MODEL, "no parameters");
    model = good;
    model.logp = NULL;
    refuse(&model, &o, GESS_ERR_MODEL, "no log density");
    bad.kernel = "nuts-and-bolts";
    refuse(&good, &bad, GESS_ERR_USAGE, "nuts-and-bolts");
    bad = o;
    bad.schedule = "tomorrow";
    refuse(&good, &bad, GESS_ERR_USAGE, "tomorrow");
    bad = o;
    bad.chains = 3;
    refuse(&good, &bad, GESS_ERR_USAGE, "at least 4 chains");
    bad = o;
    bad.schedule = "fixed";
    bad.approx = "no/such/file.json";
    refuse(&good, &bad, GESS_ERR_USAGE, "no/such/file.json");
    gess_run_free(NULL);
    assert_true(strlen(gess_version()) > 0);

    gess_error err = {0};
    gess_run *run;
    bad = o;
    bad.draws = 1000000000000;
    bad.thin = 1000000000;
    assert_int_equal(gess_run_new(&run, &good, &bad, NULL, &err), GESS_ERR_USAGE);
    gess_run_free(run);
    assert_int_equal(gess_run_resume(&run, &good, &o, NULL, &err), GESS_ERR_USAGE);
    assert_non_null(strstr(err.text, "`directory` is NULL"));
    gess_run_free(run);
}

/* ---- files ---- */

static void remove_run(const char *directory)
{
    static const char *const files[] = {"progress.json", "config.json",    "draws.gess", "summary.json", "log.txt",
                                        "checkpoint",    "checkpoint.old", "lock",       "history.json"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        unlink(path);
    }
    rmdir(directory);
}

static void directory(void **state)
{
    (void)state;
    char parent[] = "test_run-XXXXXX", place[64], path[128];
    assert_non_null(mkdtemp(parent));
    snprintf(place, sizeof place, "%s/inner/run", parent);
    snprintf(path, sizeof path, "%s/draws.gess", place);
    gess_model model = model_of(bent, 2, NULL);
    gess_options o = options_of(9, 5, 25);
    gess_run *run;
    gess_error err = {0};
    collection c = new_collection(&o, 2);
    if (gess_run_new(&run, &model, &o, place, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_run_on_draw(run, collect, &c, NULL);
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    gess_run_free(run);
    gess__draws d;
    if (gess__draws_read(&d, path, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(d.chains, 9);
    assert_int_equal(d.draws, 25);
    assert_string_equal(d.names[0], "lp__");
    assert_string_equal(d.names[2], "x2");
    for (size_t j = 0; j < 3; j++)
        for (size_t chain = 0; chain < 9; chain++)
            for (size_t i = 0; i < 25; i++)
                assert_true(d.values[(j * 9 + chain) * 25 + i] == c.rows[(chain * 25 + i) * 3 + j]);
    gess__draws_free(&d);

    /* a run is overwritten only if asked */
    assert_int_equal(gess_run_new(&run, &model, &o, place, &err), GESS_ERR_USAGE);
    assert_non_null(strstr(err.text, "--overwrite"));
    gess_run_free(run);
    o.overwrite = 1;
    assert_int_equal(gess_run_new(&run, &model, &o, place, &err), GESS_OK);
    snprintf(path, sizeof path, "%s/previous/draws.gess", place); /* until the new run samples */
    assert_int_equal(access(path, F_OK), 0);
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    assert_int_equal(access(path, F_OK), -1);
    gess_run_free(run);
    /* a directory that is not a run is never overwritten */
    snprintf(path, sizeof path, "%s/inner", parent);
    assert_int_equal(gess_run_new(&run, &model, &o, path, &err), GESS_ERR_USAGE);
    assert_non_null(strstr(err.text, "not a run directory"));
    gess_run_free(run);

    remove_run(place);
    rmdir(path);
    assert_int_equal(rmdir(parent), 0);
    free_collection(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_move),
        cmocka_unit_test(large_blocks),
        cmocka_unit_test(all_draws_once),
        cmocka_unit_test(same_seed_same_draws),
        cmocka_unit_test(same_seed_same_choices),
        cmocka_unit_test(chains_differ),
        cmocka_unit_test(thinning),
        cmocka_unit_test(warmup),
        cmocka_unit_test(nothing_to_draw),
        cmocka_unit_test(odd_numbers),
        cmocka_unit_test(reuse_counts),
        cmocka_unit_test(stops),
        cmocka_unit_test(infinity_ends),
        cmocka_unit_test(error_ends),
        cmocka_unit_test(nans_counted),
        cmocka_unit_test(lies_counted),
        cmocka_unit_test(single_points),
        cmocka_unit_test(refusals),
        cmocka_unit_test(directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
