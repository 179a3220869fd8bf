/* parallel/processes.h: calls, the ways in which a worker can end, limits, interruptions, replacement, and that nothing
 * is left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "parallel/processes.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum action { ADD, SEGFAULT, ABORT, EXIT, QUICK_EXIT, END_THREAD, FOR_EVER, LEAK };

typedef struct request {
    enum action action;
    int in, out;
    pid_t process, spawner;
} request;

/* Four MiB that nobody frees. */
static void leak(void)
{
    volatile char *lost = malloc(1 << 22);
    for (size_t i = 0; lost != NULL && i < 1 << 22; i += 1024) lost[i] = 1;
}

static void work(void *data, unsigned worker, void *memory)
{
    request *r = memory;
    r->process = getpid();
    r->spawner = getppid();
    r->out = r->in + *(int *)data + (int)worker;
    switch (r->action) {
    case ADD: return;
    case SEGFAULT: raise(SIGSEGV); return;
    case ABORT: abort();
    case EXIT: exit(0);
    case QUICK_EXIT: _exit(7);
    case END_THREAD: pthread_exit(NULL);
    case FOR_EVER:
        for (;;) pause();
    case LEAK: leak(); return;
    }
}

static gess__processes *new_processes(unsigned workers, size_t max_grow)
{
    static int hundred = 100;
    gess_error err = {0};
    gess__processes *p = NULL;
    const gess__processes_settings settings = {.workers = workers,
                                               .bytes = sizeof(request),
                                               .work = work,
                                               .data = &hundred,
                                               .max_grow = max_grow};
    if (gess__processes_new(&p, &settings, &err) != GESS_OK) fail_msg("%s", err.text);
    return p;
}

static enum gess__process_end call(gess__processes *p, unsigned worker, enum action action, double seconds,
                                   gess__process_death *death)
{
    request *r = gess__processes_memory(p, worker);
    r->action = action;
    r->in = (int)worker * 7;
    r->out = -1;
    return gess__processes_call(p, worker, seconds, NULL, NULL, death);
}

static void add(gess__processes *p, unsigned worker)
{
    gess__process_death death;
    assert_int_equal(call(p, worker, ADD, 0.0, &death), GESS__PROCESS_DONE);
    assert_int_equal(((request *)gess__processes_memory(p, worker))->out, 100 + 8 * (int)worker);
}

static pid_t process_of(gess__processes *p, unsigned worker)
{
    return ((request *)gess__processes_memory(p, worker))->process;
}

/* Waits for the end of a process that is nobody's child here. */
static void assert_gone(pid_t process)
{
    char path[64], state = 'Z';
    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
        FILE *file = fopen(path, "r");
        if (file == NULL) return;
        if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1) state = 'Z';
        fclose(file);
        if (state == 'Z') return;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    fail_msg("process %d is left, in state %c", (int)process, state);
}

static void every_worker_answers(void **state)
{
    (void)state;
    gess__processes *p = new_processes(3, 0);
    pid_t first[3];
    for (int round = 0; round < 200; round++)
        for (unsigned worker = 0; worker < 3; worker++) {
            add(p, worker);
            if (round == 0) first[worker] = process_of(p, worker);
            assert_int_equal(process_of(p, worker), first[worker]); /* it stays */
            assert_int_not_equal(process_of(p, worker), getpid());
        }
    assert_true(first[0] != first[1] && first[1] != first[2] && first[0] != first[2]);
    gess__processes_free(p);
    for (int i = 0; i < 3; i++) assert_gone(first[i]);
}

static void ends_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        enum action action;
        const char *words;
    } cases[] = {{SEGFAULT, "crashed with signal 11"},
                 {ABORT, "crashed with signal 6"},
                 {EXIT, "called exit()"},
                 {QUICK_EXIT, "ended its process with exit status 7"},
                 {END_THREAD, "ended its thread (pthread_exit)"}};
    gess__processes *p = new_processes(2, 0);
    for (size_t round = 0; round < 20; round++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            gess__process_death death;
            char words[128];
            add(p, 0);
            pid_t other = process_of(p, 0);
            assert_int_equal(call(p, 1, cases[i].action, 0.0, &death), GESS__PROCESS_DIED);
            gess__process_describe(&death, words, sizeof words);
            if (strncmp(words, cases[i].words, strlen(cases[i].words)) != 0)
                fail_msg("'%s', not '%s'", words, cases[i].words);
            assert_gone(process_of(p, 1));
            add(p, 1); /* a new one */
            add(p, 0);
            assert_int_equal(process_of(p, 0), other); /* the other one stays */
        }
    gess__processes_free(p);
}

static int when_asked(void *user)
{
    return ++*(int *)user > 3;
}

static void limits_and_interruptions(void **state)
{
    (void)state;
    gess__processes *p = new_processes(1, 0);
    gess__process_death death;
    for (int i = 0; i < 3; i++) {
        double before = gess__seconds();
        assert_int_equal(call(p, 0, FOR_EVER, 0.2, &death), GESS__PROCESS_LATE);
        double took = gess__seconds() - before;
        assert_true(took >= 0.2 && took < 2.0);
        assert_gone(process_of(p, 0));
        add(p, 0);
        int polls = 0;
        ((request *)gess__processes_memory(p, 0))->action = FOR_EVER;
        assert_int_equal(gess__processes_call(p, 0, 0.0, when_asked, &polls, &death), GESS__PROCESS_INTERRUPTED);
        assert_int_equal(polls, 4);
        assert_gone(process_of(p, 0));
        add(p, 0);
    }
    gess__processes_free(p);
}

static void killed_between_calls(void **state)
{
    (void)state;
    gess__processes *p = new_processes(1, 0);
    for (int i = 0; i < 50; i++) {
        add(p, 0);
        kill(process_of(p, 0), SIGKILL);
        add(p, 0); /* by this one or the next, whoever is there */
    }
    gess__processes_free(p);
}

static void grown_ones_are_replaced(void **state)
{
    (void)state;
    gess__processes *p = new_processes(1, 8 << 20);
    gess__process_death death;
    int replaced = 0;
    pid_t before = 0;
    double end = gess__seconds() + 20.0;
    while (replaced < 2 && gess__seconds() < end) {
        assert_int_equal(call(p, 0, LEAK, 0.0, &death), GESS__PROCESS_DONE);
        replaced += before != 0 && before != process_of(p, 0);
        before = process_of(p, 0);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    assert_int_equal(replaced, 2);
    gess__processes_free(p);
}

static void without_its_spawner(void **state)
{
    (void)state;
    gess__processes *p = new_processes(2, 0);
    gess__process_death death;
    add(p, 0);
    request *r = gess__processes_memory(p, 0);
    pid_t worker = r->process;
    kill(r->spawner, SIGKILL);
    assert_gone(worker);
    assert_int_equal(call(p, 0, ADD, 0.0, &death), GESS__PROCESS_FAILED);
    assert_int_equal(call(p, 1, ADD, 0.0, &death), GESS__PROCESS_FAILED);
    gess__processes_free(p);
}

/* A process with workers, one of which does not return, is killed. */
static void nobody_outlives_the_caller(void **state)
{
    (void)state;
    int numbers[2];
    pid_t pids[3] = {0};
    assert_int_equal(pipe(numbers), 0);
    pid_t caller = fork();
    if (caller == 0) {
        gess__process_death death;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        gess__processes *p = new_processes(2, 0);
        add(p, 0);
        add(p, 1);
        pids[0] = process_of(p, 0);
        pids[1] = process_of(p, 1);
        pids[2] = ((request *)gess__processes_memory(p, 0))->spawner;
        if (write(numbers[1], pids, sizeof pids) < 0) _exit(1);
        call(p, 1, FOR_EVER, 0.0, &death);
        _exit(0);
    }
    assert_int_equal(read(numbers[0], pids, sizeof pids), sizeof pids);
    kill(caller, SIGKILL);
    assert_int_equal(waitpid(caller, NULL, 0), caller);
    for (int i = 0; i < 3; i++) assert_gone(pids[i]);
    close(numbers[0]);
    close(numbers[1]);
}

/* Threads call their workers at once, and some of these die. */
static void *call_many(void *data)
{
    gess__processes *p = data;
    static atomic_uint next;
    unsigned worker = atomic_fetch_add(&next, 1);
    intptr_t wrong = 0;
    for (int i = 0; i < 400; i++) {
        gess__process_death death;
        int dies = (i + (int)worker) % 23 == 0;
        enum gess__process_end end = call(p, worker, dies ? ABORT : ADD, 0.0, &death);
        const request *r = gess__processes_memory(p, worker);
        wrong += dies ? end != GESS__PROCESS_DIED : end != GESS__PROCESS_DONE || r->out != 100 + 8 * (int)worker;
    }
    return (void *)wrong;
}

static void threads_at_once(void **state)
{
    (void)state;
    enum { THREADS = 6 };
    pthread_t threads[THREADS];
    gess__processes *p = new_processes(THREADS, 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, call_many, p), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    gess__processes_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_worker_answers),       cmocka_unit_test(ends_are_told_apart),
        cmocka_unit_test(limits_and_interruptions),   cmocka_unit_test(killed_between_calls),
        cmocka_unit_test(grown_ones_are_replaced),    cmocka_unit_test(without_its_spawner),
        cmocka_unit_test(nobody_outlives_the_caller), cmocka_unit_test(threads_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
