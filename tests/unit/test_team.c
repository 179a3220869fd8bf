/* parallel/team.h: every item once, failures, and workers that leave and rejoin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "parallel/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ITEMS = 1000 };

typedef struct job {
    unsigned size;
    atomic_int done[MAX_ITEMS];
    atomic_int busy[8]; /* a worker runs one item at a time */
    atomic_int bad;     /* worker number out of range, or taken twice at once */
    atomic_int workers_seen;
    size_t first_bad; /* items from here on fail if (item − first_bad) is a multiple of `every` */
    size_t every;
    pthread_t owner;
} job;

static int work(void *data, unsigned worker, size_t item, gess_error *err)
{
    job *j = data;
    if (worker >= j->size || atomic_fetch_add(&j->busy[worker], 1) != 0) {
        atomic_fetch_add(&j->bad, 1);
        return GESS_OK;
    }
    if (worker == 0 && !pthread_equal(pthread_self(), j->owner)) atomic_fetch_add(&j->bad, 1);
    atomic_fetch_or(&j->workers_seen, 1 << worker);
    atomic_fetch_add(&j->done[item], 1);
    for (size_t spin = 0; spin < (item * 7919) % 200; spin++) atomic_signal_fence(memory_order_seq_cst);
    if (item % 97 == 0) sched_yield();
    atomic_fetch_sub(&j->busy[worker], 1);
    if (j->every > 0 && item >= j->first_bad && (item - j->first_bad) % j->every == 0)
        return gess__fail(err, item % 2 == 0 ? GESS_ERR_MODEL : GESS_ERR_FILE, "item %zu", item);
    return GESS_OK;
}

static gess__team *new_team(unsigned size)
{
    gess__team *team;
    gess_error err = {0};
    if (gess__team_new(&team, size, &err) != GESS_OK) fail_msg("%s", err.text);
    return team;
}

static void every_item_once(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 8};
    static const size_t items[] = {0, 1, 2, 3, 7, 8, 9, 100, MAX_ITEMS};
    static job j;
    for (size_t s = 0; s < 3; s++) {
        gess__team *team = new_team(sizes[s]);
        assert_int_equal(gess__team_size(team), sizes[s]);
        for (int round = 0; round < 100; round++) {
            size_t n = items[(size_t)round % (sizeof items / sizeof *items)];
            gess_error err = {.status = 77};
            memset(&j, 0, sizeof j);
            j.size = sizes[s];
            j.owner = pthread_self();
            assert_int_equal(gess__team_run(team, n, work, &j, &err), GESS_OK);
            assert_int_equal(err.status, 77); /* untouched */
            assert_int_equal(j.bad, 0);
            for (size_t i = 0; i < MAX_ITEMS; i++) assert_int_equal(j.done[i], i < n);
        }
        gess__team_free(team);
    }
    gess__team_free(NULL);
}

static void smallest_error(void **state)
{
    (void)state;
    static const unsigned sizes[] = {1, 2, 8};
    static job j;
    for (size_t s = 0; s < 3; s++) {
        gess__team *team = new_team(sizes[s]);
        for (size_t round = 0; round < 300; round++) {
            gess_error err = {0};
            char expected[32];
            memset(&j, 0, sizeof j);
            j.size = sizes[s];
            j.owner = pthread_self();
            j.first_bad = (round * 37) % MAX_ITEMS;
            j.every = 1 + round % 5;
            int status = gess__team_run(team, MAX_ITEMS, work, &j, &err);
            snprintf(expected, sizeof expected, "item %zu", j.first_bad);
            assert_string_equal(err.text, expected);
            assert_int_equal(status, j.first_bad % 2 == 0 ? GESS_ERR_MODEL : GESS_ERR_FILE);
            assert_int_equal(err.status, status);
            for (size_t i = 0; i <= j.first_bad; i++) assert_int_equal(j.done[i], 1);
            for (size_t i = 0; i < MAX_ITEMS; i++) assert_true(j.done[i] <= 1);
            /* no further items were taken: at most those in progress ran after it */
            size_t after = 0;
            for (size_t i = j.first_bad + 1; i < MAX_ITEMS; i++) after += (size_t)j.done[i];
            if (sizes[s] == 1) assert_int_equal(after, 0);
            /* the team can run another round */
            memset(&j, 0, sizeof j);
            j.size = sizes[s];
            j.owner = pthread_self();
            assert_int_equal(gess__team_run(team, 10, work, &j, NULL), GESS_OK);
            for (size_t i = 0; i < MAX_ITEMS; i++) assert_int_equal(j.done[i], i < 10);
        }
        memset(&j, 0, sizeof j);
        j.size = sizes[s];
        j.owner = pthread_self();
        j.first_bad = 3;
        j.every = 1;
        assert_int_equal(gess__team_run(team, 10, work, &j, NULL), GESS_ERR_FILE); /* without a gess_error */
        gess__team_free(team);
    }
}

typedef struct meeting {
    atomic_int arrived;
    atomic_int overlapped;
} meeting;

/* Waits, for a bounded time, until another worker is inside as well. */
static int meet(void *data, unsigned worker, size_t item, gess_error *err)
{
    (void)worker;
    (void)item;
    (void)err;
    meeting *m = data;
    atomic_fetch_add(&m->arrived, 1);
    for (long i = 0; i < 20000000 && atomic_load(&m->arrived) < 2; i++)
        if (i % 64 == 0) sched_yield();
    if (atomic_load(&m->arrived) >= 2) atomic_store(&m->overlapped, 1);
    return GESS_OK;
}

static void really_parallel(void **state)
{
    (void)state;
    gess__team *team = new_team(2);
    meeting m = {0};
    assert_int_equal(gess__team_run(team, 2, meet, &m, NULL), GESS_OK);
    assert_int_equal(m.overlapped, 1);
    gess__team_free(team);
}

static void many_rounds(void **state)
{
    (void)state;
    static job j;
    gess__team *team = new_team(8);
    memset(&j, 0, sizeof j);
    j.size = 8;
    j.owner = pthread_self();
    enum { ROUNDS = 5000 };
    for (int round = 0; round < ROUNDS; round++) assert_int_equal(gess__team_run(team, 5, work, &j, NULL), GESS_OK);
    assert_int_equal(j.bad, 0);
    for (size_t i = 0; i < MAX_ITEMS; i++) assert_int_equal(j.done[i], i < 5 ? ROUNDS : 0);
    gess__team_free(team);
}

static void own_choice(void **state)
{
    (void)state;
    gess__team *team = new_team(0);
    assert_true(gess__team_size(team) >= 1);
    gess__team_free(team);
    for (int i = 0; i < 50; i++) gess__team_free(new_team(4)); /* freed before any work */
}

/* Worker 1 leaves, and rejoins when `back` is set; the others end after it has left. */
typedef struct outing {
    gess__team *team;
    atomic_int left, back, came, same;
} outing;

static int go_out(void *data, unsigned worker, size_t item, gess_error *err)
{
    outing *o = data;
    (void)item;
    (void)err;
    while (!atomic_load(&o->left)) {
        if (worker == 1) {
            gess__team_leave(o->team, worker);
            atomic_store(&o->left, 1);
            while (!atomic_load(&o->back)) sched_yield();
            atomic_store(&o->same, gess__team_rejoin(o->team, worker));
            atomic_store(&o->came, 1);
            return GESS_OK;
        }
        sched_yield();
    }
    return GESS_OK;
}

static void nobody_waits_for_the_absent(void **state)
{
    (void)state;
    static job j;
    for (int round = 0; round < 50; round++) {
        gess__team *team = new_team(3);
        outing o = {.team = team};
        assert_int_equal(gess__team_run(team, 3, go_out, &o, NULL), GESS_OK);
        assert_int_equal(o.left, 1);
        assert_int_equal(o.came, 0); /* the round ended without it */
        /* later rounds end too, whether it rejoins too late or in time */
        for (int i = 0; i < 3; i++) {
            memset(&j, 0, sizeof j);
            j.size = 3;
            j.owner = pthread_self();
            if (i == 1) atomic_store(&o.back, 1);
            if (i == 2) {
                gess__team_settle(team);
                assert_int_equal(o.came, 1);
                assert_int_equal(o.same, 0);
            }
            assert_int_equal(gess__team_run(team, 100, work, &j, NULL), GESS_OK);
            for (size_t k = 0; k < MAX_ITEMS; k++) assert_int_equal(j.done[k], k < 100);
            assert_int_equal(j.bad, 0);
            if (i == 0) assert_int_equal(j.workers_seen & 2, 0);
        }
        gess__team_free(team);
    }
}

/* A worker that rejoins before the round is over goes on with it. */
static int come_back(void *data, unsigned worker, size_t item, gess_error *err)
{
    outing *o = data;
    (void)item;
    (void)err;
    if (worker == 1 && !atomic_load(&o->left)) {
        gess__team_leave(o->team, worker);
        atomic_store(&o->left, 1);
        atomic_store(&o->same, gess__team_rejoin(o->team, worker));
        atomic_store(&o->came, 1);
    }
    while (!atomic_load(&o->came)) sched_yield();
    return GESS_OK;
}

static void back_in_time(void **state)
{
    (void)state;
    gess__team *team = new_team(2);
    for (int round = 0; round < 200; round++) {
        outing o = {.team = team};
        assert_int_equal(gess__team_run(team, 2, come_back, &o, NULL), GESS_OK);
        assert_int_equal(o.came, 1);
        assert_int_equal(o.same, 1);
        gess__team_settle(team);
    }
    gess__team_free(team);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_once), cmocka_unit_test(smallest_error),
        cmocka_unit_test(really_parallel), cmocka_unit_test(many_rounds),
        cmocka_unit_test(own_choice),      cmocka_unit_test(nobody_waits_for_the_absent),
        cmocka_unit_test(back_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
