/* Remote speculation: the assignment of helper ranks to owners, and helpers that answer, fail, refuse, are late or do
 * not answer at all. The update is always the same as without helpers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "cluster/remote_speculate.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- the assignment of helper ranks ---- */

enum { RANKS = 12, MAX_SHARE = 5 };

static uint64_t state = 1;

static unsigned draw(unsigned below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* Checks that the owners' assignments agree with the loads, and that no assignment is left to make. */
static void check_loads(const gess__rank_load *p, unsigned assignments[RANKS][RANKS])
{
    int unassigned = 0, wanting = 0;
    double smallest = INFINITY, largest = 0.0;
    for (int owner = 0; owner < RANKS; owner++) {
        unsigned has = 0;
        for (int helper = 0; helper < RANKS; helper++) {
            unsigned threads = assignments[owner][helper];
            assert_int_equal(threads, p[helper].owner == owner + 1 ? p[helper].given : 0);
            if (threads > 0) assert_true(p[owner].tasks > 0 && p[helper].idle == threads);
            has += threads;
        }
        assert_int_equal(has, p[owner].assigned);
        unassigned |= p[owner].idle > 0 && p[owner].owner == 0;
        if (p[owner].tasks == 0) continue;
        double share = (double)has / p[owner].tasks;
        wanting |= share < MAX_SHARE;
        if (share < smallest) smallest = share;
        if (share > largest) largest = share;
    }
    assert_false(unassigned && wanting);
    /* helpers have one thread or two, so loads may differ by no more than that */
    if (smallest < MAX_SHARE) assert_true(largest - smallest <= 4.0);
}

static void everyone_has_a_share(void **unused)
{
    gess__rank_load loads[RANKS] = {0};
    unsigned assignments[RANKS][RANKS] = {0};
    size_t changes = 0;
    (void)unused;
    for (int time = 0; time < 20000; time++) {
        gess__assignment assignment;
        int who = (int)draw(RANKS), steps = 0;
        loads[who].tasks = draw(3) == 0 ? 1 + draw(2) : 0;
        loads[who].idle = loads[who].tasks == 0 && who > 0 ? 1 + (unsigned)who % 2 : 0;
        size_t max = time % 100 == 99 ? 0 : MAX_SHARE;
        while (gess__assign_next(loads, RANKS, max, &assignment)) {
            assignments[assignment.owner][assignment.helper] = assignment.threads;
            assert_true(++steps < 10 * RANKS);
            changes++;
        }
        if (max > 0) check_loads(loads, assignments);
        for (int i = 0; i < RANKS && max == 0; i++) assert_int_equal(loads[i].owner, 0);
    }
    assert_true(changes > 5000);
}

static void nobody_idle(void **unused)
{
    gess__rank_load loads[RANKS] = {0};
    gess__assignment assignment;
    (void)unused;
    for (int i = 0; i < RANKS; i++) loads[i].tasks = 1;
    assert_false(gess__assign_next(loads, RANKS, MAX_SHARE, &assignment));
    for (int i = 0; i < RANKS; i++) loads[i] = (gess__rank_load){.idle = i > 0 ? 1 : 0};
    assert_false(gess__assign_next(loads, RANKS, MAX_SHARE, &assignment)); /* no rank needs help */
}

/* ---- an update with a helper ---- */

enum { DIM = 3, LANES = 2, ITERATIONS = 12, DEPTH = 6 };
#define EACH 1e-3

typedef struct update {
    gess__update u;
    gess_model model;
    gess__target target;
    gess__approx *approx;
    gess__chains chains;
    const gess__kernel *kernel;
    atomic_int done, asked;
} update;

static int shell(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    update *s = user;
    (void)worker;
    atomic_fetch_add(&s->asked, (int)n);
    for (size_t i = 0; i < n; i++) {
        double square = 0.0;
        for (size_t k = 0; k < dim; k++) square += x[i * dim + k] * x[i * dim + k];
        values[i] = -200.0 * (sqrt(square) - 1.5) * (sqrt(square) - 1.5);
    }
    nanosleep(&(struct timespec){0, (long)(1e9 * EACH * (double)n)}, NULL);
    return 0;
}

static void open_update(update *s)
{
    gess_error err = {0};
    *s = (update){.kernel = gess__kernel_find("gess")};
    s->model = (gess_model){0};
    s->model.dim = DIM;
    s->model.logp = shell;
    s->model.user = s;
    assert_int_equal(gess__target_init(&s->target, &s->model, 1, &err), GESS_OK);
    assert_int_equal(gess__approx_new(&s->approx, DIM, &err), GESS_OK);
    s->approx->nu = 5.0;
    for (size_t i = 0; i < DIM; i++) s->approx->chol[i + i * DIM] = 1.0;
    gess__approx_ready(s->approx);
    s->chains = (gess__chains){.count = LANES, .dim = DIM, .state_size = s->kernel->state_size(DIM)};
    s->chains.x = calloc(LANES * DIM, sizeof(double));
    s->chains.value = calloc(LANES, sizeof(double));
    s->chains.kernel_state = calloc(LANES * s->chains.state_size + 1, sizeof(double));
    for (size_t i = 0; i < LANES; i++) s->chains.x[i * DIM] = 1.5;
    assert_int_equal(gess__update_init(&s->u, s->kernel, &s->target, LANES, &err), GESS_OK);
    s->u.approx = s->approx;
    s->u.moves.period = 1;
    s->u.chains = &s->chains;
    s->u.count = LANES;
    s->u.seed = 3;
}

static void close_update(update *s)
{
    gess__update_free(&s->u);
    gess__approx_free(s->approx);
    gess__target_free(&s->target);
    free(s->chains.x);
    free(s->chains.value);
    free(s->chains.kernel_state);
}

static void *run_updates(void *argument)
{
    update *s = argument;
    gess_error err = {0};
    for (uint64_t i = 0; i < ITERATIONS; i++) {
        s->u.iteration = i;
        s->u.rebind = i == 0;
        assert_int_equal(gess__update_block(s->kernel, &s->u, &err), GESS_OK);
    }
    atomic_store(&s->done, 1);
    return NULL;
}

enum way { ANSWERS, FAILS, REFUSES, LATE, SILENT, OTHER_MAP, WAYS };

/* Runs the helper on the messages that have come. It has two threads; what it begins is done at the next call. */
static void be_helpful(gess_comm *comm, gess__requests *f, enum way way, const update *s, gess__update *scratch)
{
    gess__message m;
    gess_error err = {0};
    const uint64_t generation = way == OTHER_MAP ? 8 : 7;
    int got = 1, asked, sent;
    while (got) {
        assert_int_equal(comm->poll(comm, &m, &got, &err), GESS_OK);
        if (!got) break;
        assert_int_equal(m.tag, GESS__WIRE_PREDICTED);
        assert_int_equal(gess__requests_take(f, comm, &m, way != REFUSES, &generation, 1, &asked, &err), GESS_OK);
        assert_int_equal(asked == 0, way == REFUSES || way == OTHER_MAP);
    }
    for (gess__request *one; way != SILENT && (one = gess__requests_next(f)) != NULL;) {
        one->status =
            gess__target_evaluate(&s->target, 1, 1, one->point, &one->value, NULL, NULL, scratch->mapped, &err);
        if (way == FAILS) one->status = GESS_ERR_MODEL;
        if (way == LATE) nanosleep(&(struct timespec){0, 30000000}, NULL);
        one->state = GESS__REQUEST_DONE;
    }
    assert_int_equal(gess__requests_send(f, comm, 0, &sent, &err), GESS_OK);
}

/* Returns how many of the helper's values were used. */
static size_t with_helper(enum way way, const update *plain)
{
    update s;
    gess__update scratch = {0};
    gess__loopback *net = NULL;
    gess__speculation *speculation = NULL;
    gess__helpers helpers = {0};
    gess__requests requests = {0};
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t offered = PTHREAD_COND_INITIALIZER;
    gess_error err = {0};
    pthread_t thread;
    int sent = 0;
    open_update(&s);
    assert_int_equal(gess__loopback_new(&net, 2, 0.0, 0.0, NULL), GESS_OK);
    assert_int_equal(gess__update_init(&scratch, s.kernel, &s.target, LANES, &err), GESS_OK);
    assert_int_equal(gess__speculation_new(&speculation, 1, DEPTH, LANES, DIM, 0, &lock, &offered, &err), GESS_OK);
    assert_int_equal(gess__helpers_open(&helpers, gess__loopback_rank(net, 0), DIM, 0, &offered, &err), GESS_OK);
    assert_int_equal(gess__requests_open(&requests, 2, DIM, 0, &err), GESS_OK);
    gess__speculation_label(speculation, 0, (gess__frozen_label){0, 7});
    gess__helpers_attach(&helpers, speculation, &lock);
    helpers.sec_per_eval = EACH;
    gess__helpers_assign(&helpers, 1, 2);
    gess__speculation_begin(speculation, &s.u, 0, DEPTH);
    double start = gess__seconds();
    assert_int_equal(pthread_create(&thread, NULL, run_updates, &s), 0);
    while (!atomic_load(&s.done)) {
        gess_comm *comm = gess__loopback_rank(net, 0);
        gess__message m;
        int got = 0;
        assert_int_equal(gess__helpers_send(&helpers, &sent, &err), GESS_OK);
        be_helpful(gess__loopback_rank(net, 1), &requests, way, &s, &scratch);
        assert_int_equal(comm->poll(comm, &m, &got, &err), GESS_OK);
        if (got) assert_int_equal(gess__helpers_take(&helpers, &m, &err), GESS_OK);
        if (!got) nanosleep(&(struct timespec){0, 50000}, NULL);
    }
    pthread_join(thread, NULL);
    double seconds = gess__seconds() - start;
    assert_memory_equal(s.chains.x, plain->chains.x, LANES * DIM * sizeof(double));
    assert_int_equal(s.u.tally.evals, plain->u.tally.evals);
    assert_true(sent);
    /* a helper with an outstanding value is asked for nothing else: a silent one gets two points in total */
    if (way == SILENT) assert_int_equal(helpers.count, 2);
    if (way == SILENT) assert_int_equal(gess__speculation_unused(speculation), 2);
    if (way == REFUSES || way == OTHER_MAP) assert_int_equal(gess__speculation_unused(speculation), helpers.count);
    size_t used = (size_t)(helpers.ids - gess__speculation_unused(speculation));
    print_message("way %d: %.0f ms, %d points evaluated, %llu used, %llu in vain\n", (int)way, 1e3 * seconds,
                  atomic_load(&s.asked), (unsigned long long)s.u.tally.evals,
                  (unsigned long long)gess__speculation_unused(speculation));
    gess__helpers_detach(&helpers);
    gess__helpers_free(&helpers);
    gess__requests_free(&requests);
    gess__speculation_free(speculation);
    gess__update_free(&scratch);
    gess__loopback_free(net);
    close_update(&s);
    return used;
}

static void whatever_a_helper_does(void **unused)
{
    update plain;
    (void)unused;
    open_update(&plain);
    run_updates(&plain);
    assert_true(plain.u.tally.evals > 4 * ITERATIONS);
    size_t used = 0;
    for (int i = 0; i < 50 && used == 0; i++)
        used = with_helper(ANSWERS, &plain); /* a busy machine's may come too late */
    assert_true(used > 0);
    for (enum way way = ANSWERS; way < WAYS; way++) with_helper(way, &plain);
    close_update(&plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everyone_has_a_share), cmocka_unit_test(nobody_idle),
                                       cmocka_unit_test(whatever_a_helper_does)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
