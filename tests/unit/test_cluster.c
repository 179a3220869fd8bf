/* Runs on several ranks that are threads of this process, with delayed messages: the draws are the same, the traffic
 * does not grow with the number of ranks, and a rank may fall silent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/vmath.h"
#include "cluster/coordinator.h"
#include "cluster/coordinator_state.h"
#include "cluster/helper_rank.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DIM = 3, MAX_RANKS = 5 };

static gess__loopback *net;
static double nap;

static int normal(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    if (nap > 0.0) {
        double all = nap * (double)n;
        nanosleep(&(struct timespec){0, (long)(1e9 * all)}, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        values[i] = 0.0;
        for (size_t k = 0; k < dim; k++) values[i] -= 0.5 * x[i * dim + k] * x[i * dim + k];
        if (x[i * dim] > 2.5) values[i] = NAN;
    }
    return 0;
}

typedef struct rank_run {
    gess_comm *comm;
    const char *schedule;
    uint64_t threads, draws;
    uint64_t chains;       /* 0: 24 */
    const char *speculate; /* NULL: auto */
    int status;
    gess_error error;
    gess_stats stats;
    uint64_t sum; /* of the bits of all draws and their places */
} rank_run;

static int take_draws(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws,
                      size_t columns, const double *rows)
{
    rank_run *r = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t j = 0; j < columns; j++) {
                uint64_t place = ((first_draw + i) * 1009 + first_chain + c) * 101 + j;
                r->sum += gess__bits(rows[(c * draws + i) * columns + j]) * (2 * place + 1);
            }
    return 0;
}

static void *run_rank(void *argument)
{
    rank_run *r = argument;
    gess_model model = {.name = "normal", .dim = DIM, .logp = normal};
    gess_options o;
    gess_run *run = NULL;
    gess__options_init(&o);
    o.schedule = r->schedule;
    o.chains = r->chains > 0 ? r->chains : 24;
    if (r->speculate != NULL) o.speculate = r->speculate;
    o.warmup = 30;
    o.draws = r->draws;
    o.reuse = 3;
    o.threads = r->threads;
    o.comm = r->comm;
    r->status = gess_run_new(&run, &model, &o, NULL, &r->error);
    if (r->status == GESS_OK) gess_run_on_draw(run, take_draws, r, NULL);
    if (r->status == GESS_OK) r->status = gess_run_go(run, &r->error);
    if (run != NULL) gess_run_stats(run, &r->stats, sizeof r->stats, NULL);
    gess_run_free(run);
    return NULL;
}

/* Runs all ranks and returns the outcome of rank 0. */
static rank_run run_few(int size, double latency, const rank_run *how)
{
    rank_run ranks[MAX_RANKS];
    pthread_t thread[MAX_RANKS];
    assert_int_equal(gess__loopback_new(&net, size, latency, 1e-9, NULL), GESS_OK);
    for (int i = 0; i < size; i++) {
        ranks[i] = *how;
        ranks[i].comm = size > 1 ? gess__loopback_rank(net, i) : NULL;
        assert_int_equal(pthread_create(&thread[i], NULL, run_rank, &ranks[i]), 0);
    }
    for (int i = 0; i < size; i++) pthread_join(thread[i], NULL);
    for (int i = 1; i < size; i++) {
        assert_int_equal(ranks[i].status, ranks[0].status);
        assert_true(ranks[i].stats.evals == ranks[0].stats.evals); /* every rank gets rank 0's statistics */
        assert_true(ranks[i].sum == 0);                            /* only rank 0 has draws */
    }
    return ranks[0];
}

static rank_run run_all(int size, double latency, const char *schedule, uint64_t threads, uint64_t draws)
{
    const rank_run how = {.schedule = schedule, .threads = threads, .draws = draws};
    return run_few(size, latency, &how);
}

static void same_draws(void **state)
{
    static const char *const schedules[] = {"pooled", "two-group", "auto"};
    (void)state;
    for (size_t s = 0; s < 3; s++) {
        nap = 0.0;
        rank_run one_rank = run_all(1, 0.0, schedules[s], 1, 60);
        gess__loopback_free(net);
        assert_int_equal(one_rank.status, GESS_OK);
        assert_true(one_rank.stats.nans > 0);
        nap = 20e-6;
        for (int size = 2; size <= MAX_RANKS; size++) {
            rank_run r = run_all(size, size % 2 == 0 ? 0.0 : 2e-3, schedules[s], 1 + (uint64_t)size % 2, 60);
            gess__loopback_free(net);
            assert_int_equal(r.status, GESS_OK);
            assert_true(r.sum == one_rank.sum);
            assert_true(r.stats.evals == one_rank.stats.evals);
            assert_true(r.stats.nans == one_rank.stats.nans);
        }
    }
}

/* The bytes that a rank sends per update of a chain do not depend on the number of ranks. */
static void traffic(void **state)
{
    double bytes[2];
    (void)state;
    nap = 100e-6;
    for (int i = 0; i < 2; i++) {
        int size = i == 0 ? 2 : 4;
        rank_run r = run_all(size, 0.0, "pooled", 1, 400);
        assert_int_equal(r.status, GESS_OK);
        char text[512];
        double from = 0.0;
        assert_true(gess__coordinator_describe(gess__loopback_rank(net, 0)->ranks, 0, text, sizeof text));
        const char *at = strstr(text, "to it, ");
        assert_non_null(at);
        from = strtod(at + 7, NULL);
        bytes[i] = from;
        gess__loopback_free(net);
    }
    print_message("bytes per update: %.0f of 2 ranks, %.0f of 4\n", bytes[0], bytes[1]);
    assert_true(bytes[1] < 2.0 * bytes[0]);
    assert_true(bytes[0] > 8.0 * (DIM + 1)); /* the draw itself, at least */
}

/* Fewer chains than ranks: the ranks without a task speculate for the others, and only the time depends on it. */
static void few_chains(void **state)
{
    static const struct {
        const char *schedule, *speculate;
        uint64_t chains, threads;
        int size;
        double latency, nap;
    } runs[] = {{"pooled", "6", 3, 1, 5, 0.0, 200e-6},  {"pooled", "auto", 2, 1, 5, 0.0, 1500e-6},
                {"pooled", "4", 4, 2, 4, 1e-3, 200e-6}, {"two-group", "5", 8, 1, 5, 0.0, 200e-6},
                {"auto", "3", 4, 1, 4, 5e-3, 200e-6},   {"pooled", "off", 2, 1, 4, 0.0, 1500e-6}};
    (void)state;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        rank_run how = {.schedule = runs[i].schedule,
                        .speculate = "off",
                        .threads = 1,
                        .draws = 30,
                        .chains = runs[i].chains};
        nap = 0.0;
        rank_run one_rank = run_few(1, 0.0, &how);
        gess__loopback_free(net);
        how.speculate = runs[i].speculate;
        how.threads = runs[i].threads;
        nap = runs[i].nap;
        rank_run r = run_few(runs[i].size, runs[i].latency, &how);
        char text[512];
        uint64_t assignments = 0;
        for (size_t k = 0; gess__coordinator_describe(gess__loopback_rank(net, 0)->ranks, k, text, sizeof text); k++)
            assignments += strtoull(strstr(text, "assigned to speculate ") + 22, NULL, 10);
        gess__loopback_free(net);
        assert_int_equal(one_rank.status, GESS_OK);
        assert_int_equal(r.status, GESS_OK);
        assert_true(r.sum == one_rank.sum);
        assert_true(r.stats.evals == one_rank.stats.evals);
        assert_true(r.stats.nans == one_rank.stats.nans);
        int off = strcmp(runs[i].speculate, "off") == 0;
        print_message("%s, %d ranks, --speculate %s: %llu assignments, %llu evaluations not used\n", runs[i].schedule,
                      runs[i].size, runs[i].speculate, (unsigned long long)assignments,
                      (unsigned long long)r.stats.evals_speculative);
        assert_true(off ? assignments == 0 : assignments > 0);
        if (off) assert_int_equal(r.stats.evals_speculative, 0);
        /* if messages take longer than a value is waited for, hardly anything is sent */
        if (!off && runs[i].latency < 5e-3) assert_true(r.stats.evals_speculative > 0);
        assert_true(r.stats.evals_speculative < 1000000); /* no rank's count wrapped around */
    }
}

/* If a rank cannot take part, all others end with its message. */
static void absent_rank(void **state)
{
    rank_run ranks[3];
    pthread_t thread[3];
    gess_error error = {.text = "no such model here"};
    (void)state;
    nap = 0.0;
    assert_int_equal(gess__loopback_new(&net, 3, 1e-3, 0.0, NULL), GESS_OK);
    gess__loopback_rank(net, 1)->runs = 1;
    gess__helper_rank_failed(gess__loopback_rank(net, 1), GESS_ERR_MODEL, &error);
    double start = gess__seconds();
    for (int i = 0; i < 3; i += 2) {
        ranks[i] = (rank_run){.comm = gess__loopback_rank(net, i), .schedule = "pooled", .threads = 1, .draws = 300};
        assert_int_equal(pthread_create(&thread[i], NULL, run_rank, &ranks[i]), 0);
    }
    for (int i = 0; i < 3; i += 2) {
        pthread_join(thread[i], NULL);
        assert_int_equal(ranks[i].status, GESS_ERR_MODEL);
        assert_non_null(strstr(ranks[i].error.text, "rank 1: no such model here"));
    }
    assert_true(gess__seconds() - start < 10.0);
    gess__loopback_free(net);
}

/* A rank falls silent while it holds tasks, or points of other ranks: other ranks do that work. */
static void *listen_no_more(void *argument)
{
    (void)argument;
    nanosleep(&(struct timespec){0, 150000000}, NULL);
    gess__loopback_cut(net, 1);
    return NULL;
}

/* A rank that does not hear from rank 0 ends its process: here that would be this one. */
static void stay(gess_comm *comm, int status, const char *text)
{
    (void)comm, (void)status, (void)text;
    for (;;) pause();
}

static void fall_silent(const rank_run *how, double seconds)
{
    rank_run ranks[3];
    pthread_t thread[3], other;
    nap = 0.0;
    rank_run one_rank = run_few(1, 0.0, how);
    gess__loopback_free(net);
    nap = seconds;
    assert_int_equal(gess__loopback_new(&net, 3, 0.0, 0.0, NULL), GESS_OK);
    assert_int_equal(pthread_create(&other, NULL, listen_no_more, NULL), 0);
    for (int i = 0; i < 3; i++) {
        ranks[i] = *how;
        ranks[i].comm = gess__loopback_rank(net, i);
        if (i == 1) ranks[i].comm->abort = stay;
        assert_int_equal(pthread_create(&thread[i], NULL, run_rank, &ranks[i]), 0);
    }
    pthread_join(other, NULL);
    pthread_join(thread[0], NULL);
    pthread_join(thread[2], NULL);
    /* the run ended before the time limit for silence */
    assert_int_equal(ranks[0].status, GESS_OK);
    assert_true(ranks[0].sum == one_rank.sum);
    assert_true(gess__coordinator_broken(gess__loopback_rank(net, 0)->ranks));
    /* the communicator would end rank 1 a little later, so its thread is not joined */
    pthread_detach(thread[1]);
}

static void silent_rank(void **state)
{
    const rank_run how = {.schedule = "pooled", .threads = 1, .draws = 400};
    (void)state;
    fall_silent(&how, 100e-6);
}

/* `body` of gess__with_comm_thread() gets there again, maybe before the comm thread does anything. */
typedef struct nested {
    gess__coordinator *ranks;
    pthread_t outer, inner;
    atomic_int done;
} nested;

static int inner_body(void *data, gess_error *err)
{
    (void)err;
    ((nested *)data)->inner = pthread_self();
    return GESS_OK;
}

static int outer_body(void *data, gess_error *err)
{
    nested *n = data;
    n->outer = pthread_self();
    int status = gess__fail(err, GESS_ERR_USAGE, "what the outer body says");
    gess__with_comm_thread(n->ranks, inner_body, n, NULL); /* as a run that fails tells the helper ranks */
    atomic_store(&n->done, 1);
    return status;
}

static void *call_outer(void *data)
{
    static gess_error error;
    assert_int_equal(gess__with_comm_thread(((nested *)data)->ranks, outer_body, data, &error), GESS_ERR_USAGE);
    return &error;
}

static void nested_bodies(void **state)
{
    pthread_t thread;
    nested n = {0};
    void *error;
    (void)state;
    assert_int_equal(gess__loopback_new(&net, 2, 0.0, 0.0, NULL), GESS_OK);
    assert_int_equal(gess__coordinator_of(gess__loopback_rank(net, 0), &n.ranks, NULL), GESS_OK);
    pthread_mutex_lock(&n.ranks->lock); /* keeps the comm thread at its beginning */
    assert_int_equal(pthread_create(&thread, NULL, call_outer, &n), 0);
    for (int i = 0; i < 200 && !atomic_load(&n.done); i++) usleep(10000);
    pthread_mutex_unlock(&n.ranks->lock);
    pthread_join(thread, &error);
    assert_true(pthread_equal(n.outer, n.inner));
    assert_string_equal(((gess_error *)error)->text, "what the outer body says");
    gess__loopback_free(net);
}

static void silent_helper(void **state)
{
    const rank_run how = {.schedule = "pooled", .threads = 1, .draws = 150, .chains = 2, .speculate = "4"};
    (void)state;
    fall_silent(&how, 1e-3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_draws),   cmocka_unit_test(traffic),
                                       cmocka_unit_test(few_chains),   cmocka_unit_test(absent_rank),
                                       cmocka_unit_test(silent_rank),  cmocka_unit_test(nested_bodies),
                                       cmocka_unit_test(silent_helper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
