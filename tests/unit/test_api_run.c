/* Runs of <gess/gess.h> as a program uses them: callbacks, runs that are stopped, continued, extended and refused,
 * errors of densities, statistics. */
#include "unit/api.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A hash of all draws and their places, and what the callbacks are to do. */
typedef struct witness {
    uint64_t hash, rows;
    uint64_t stop_draws_at, stop_progress_at; /* calls after which a callback returns 1; 0: never */
    uint64_t draw_calls, progress_calls, lines;
    int planned_known;
} witness;

static int on_draw(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                   const double *rows)
{
    witness *w = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t k = 0; k < columns; k++) {
                uint64_t bits, place = ((first_draw + i) * 1009 + first_chain + c) * 101 + k;
                memcpy(&bits, &rows[(c * draws + i) * columns + k], sizeof bits);
                w->hash += bits * (2 * place + 1);
            }
    w->rows += chains * draws;
    return ++w->draw_calls == w->stop_draws_at;
}

static int on_progress(void *user, const gess_stats *stats, uint64_t planned)
{
    witness *w = user;
    if (planned > 0 && stats->dim == 3) w->planned_known = 1;
    return ++w->progress_calls == w->stop_progress_at;
}

static void on_log(void *user, const char *line)
{
    witness *w = user;
    if (strlen(line) > 0) w->lines++;
}

static gess_run *new_run(const gess_model *model, const char *draws, witness *w)
{
    gess_error err = {0};
    gess_options *options = new_options();
    gess_run *run = NULL;
    set(options, "draws", draws), set(options, "warmup", "60"), set(options, "chains", "16");
    set(options, "threads", "2");
    succeed(gess_run_new(&run, model, options, NULL, &err), &err);
    gess_options_free(options); /* the run has a copy */
    succeed(gess_run_on_draw(run, on_draw, w, &err), &err);
    succeed(gess_run_on_progress(run, on_progress, w, &err), &err);
    succeed(gess_run_on_log(run, on_log, w, &err), &err);
    return run;
}

static gess_stats stats_of(const gess_run *run)
{
    gess_error err = {0};
    gess_stats stats;
    succeed(gess_run_stats(run, &stats, sizeof stats, &err), &err);
    return stats;
}

static const gess_density normal = {.size = sizeof normal, .dim = 3, .logp = half_square};

/* What a run that nobody stops gives. */
static witness uninterrupted(const gess_model *model, const char *draws)
{
    gess_error err = {0};
    witness w = {0};
    gess_run *run = new_run(model, draws, &w);
    succeed(gess_run_go(run, &err), &err);
    gess_run_free(run);
    return w;
}

static void go_twice(void **state)
{
    (void)state;
    gess_error err = {0};
    witness w = {0};
    gess_model *model = new_model(&normal);
    gess_run *run = new_run(model, "300", &w);
    assert_int_equal(stats_of(run).finished, 0);
    succeed(gess_run_go(run, &err), &err);
    gess_stats before = stats_of(run);
    assert_int_equal(before.finished, 1);
    assert_int_equal(before.draws, 300);
    assert_int_equal(w.rows, 16 * 300);
    assert_true(w.lines > 0 && w.planned_known);
    witness kept = w;
    succeed(gess_run_go(run, &err), &err);
    gess_stats after = stats_of(run);
    assert_memory_equal(&before, &after, sizeof before);
    assert_memory_equal(&kept, &w, sizeof w);
    gess_run_free(run);
    gess_run_free(NULL);
    gess_model_free(model);
}

static void stop_and_continue(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_model *model = new_model(&normal);
    witness whole = uninterrupted(model, "40000");

    /* by the result of a callback */
    witness w = {.stop_draws_at = 2};
    gess_run *run = new_run(model, "40000", &w);
    assert_failed(gess_run_go(run, &err), GESS_ERR_STOPPED, &err, "");
    assert_true(w.rows > 0 && w.rows < whole.rows);
    assert_int_equal(stats_of(run).finished, 0);
    assert_true(stats_of(run).draws < 40000);
    succeed(gess_run_go(run, &err), &err);
    assert_true(w.hash == whole.hash && w.rows == whole.rows);
    gess_run_free(run);

    w = (witness){.stop_progress_at = 1};
    run = new_run(model, "40000", &w);
    assert_failed(gess_run_go(run, &err), GESS_ERR_STOPPED, &err, "");
    succeed(gess_run_go(run, &err), &err);
    assert_true(w.hash == whole.hash && w.rows == whole.rows);
    gess_run_free(run);

    /* before the run: the next call heeds it, once */
    w = (witness){0};
    run = new_run(model, "40000", &w);
    gess_stop(run);
    assert_failed(gess_run_go(run, &err), GESS_ERR_STOPPED, &err, "");
    assert_int_equal(w.rows, 0);
    succeed(gess_run_go(run, &err), &err);
    assert_true(w.hash == whole.hash && w.rows == whole.rows);
    gess_run_free(run);
    gess_stop(NULL);
    gess_model_free(model);
}

static void extend_run(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_model *model = new_model(&normal);
    witness whole = uninterrupted(model, "500"), w = {0};
    gess_run *run = new_run(model, "200", &w);
    succeed(gess_run_go(run, &err), &err);
    succeed(gess_run_extend(run, 500, &err), &err);
    assert_int_equal(stats_of(run).finished, 0);
    succeed(gess_run_go(run, &err), &err);
    assert_int_equal(stats_of(run).draws, 500);
    assert_true(w.hash == whole.hash && w.rows == whole.rows);
    assert_failed(gess_run_extend(run, 100, &err), GESS_ERR_USAGE, &err, "500");
    gess_run_free(run);

    w = (witness){0};
    run = new_run(model, "auto", &w);
    assert_failed(gess_run_extend(run, 100, &err), GESS_ERR_USAGE, &err, "draws");
    gess_run_free(run);
    gess_model_free(model);
}

/* A density that fails after some calls, with a message. */
static int failing(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    atomic_int *calls = user;
    if (atomic_fetch_sub(calls, 1) <= 0) return 42;
    return half_square(user, worker, n, dim, x, logp);
}

static void say_why(void *user, unsigned worker, char *text, size_t size)
{
    (void)user, (void)worker;
    snprintf(text, size, "the lamp is out");
}

static void density_errors(void **state)
{
    (void)state;
    gess_error err = {0};
    atomic_int calls = 200;
    gess_density density = {.size = sizeof density, .dim = 3, .user = &calls, .logp = failing, .message = say_why};
    gess_model *model = new_model(&density);
    witness w = {0};
    gess_run *run = new_run(model, "1000", &w);
    assert_failed(gess_run_go(run, &err), GESS_ERR_MODEL, &err, "42");
    assert_string_equal(err.density_text, "the lamp is out");
    assert_int_equal(err.dim, 3);
    for (size_t i = 0; i < 3; i++) assert_true(isfinite(err.point[i]));
    assert_true(err.chain >= 1 && err.chain <= 16);
    uint64_t rows = w.rows;
    atomic_store(&calls, 1 << 30);
    assert_failed(gess_run_go(run, &err), GESS_ERR_MODEL, &err, "failed");
    assert_int_equal(w.rows, rows);
    gess_run_free(run);
    gess_model_free(model);
}

/* A normal density with an infinite peak far out, on (−1, ∞). */
static int infinite(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    half_square(user, worker, n, dim, x, logp);
    for (size_t i = 0; i < n; i++)
        if (x[i * dim] > 2.0) logp[i] = INFINITY;
    return 0;
}

static void infinite_densities(void **state)
{
    (void)state;
    gess_error err = {0};
    const double lower[] = {-1.0, -INFINITY};
    gess_density density = {.size = sizeof density, .dim = 2, .logp = infinite, .lower = lower};
    gess_model *model = new_model(&density);
    gess_options *options = new_options();
    gess_run *run = NULL;
    set(options, "draws", "1000");
    int status = gess_run_new(&run, model, options, NULL, &err);
    if (status == GESS_OK) status = gess_run_go(run, &err);
    assert_failed(status, GESS_ERR_MODEL, &err, "+infinity");
    assert_int_equal(err.dim, 2);
    assert_true(err.point[0] > 2.0); /* in the user's scale */
    assert_true(err.chain >= 1 && err.chain <= 64);
    gess_run_free(run);
    gess_options_free(options);
    gess_model_free(model);
}

static void shorter_stats(void **state)
{
    (void)state;
    gess_error err = {0};
    witness w = {0};
    gess_model *model = new_model(&normal);
    gess_run *run = new_run(model, "50", &w);
    succeed(gess_run_go(run, &err), &err);
    gess_stats all = stats_of(run), some;
    size_t size = offsetof(gess_stats, evals);
    memset(&some, 0x5a, sizeof some);
    succeed(gess_run_stats(run, &some, size, &err), &err);
    assert_memory_equal(&some, &all, size);
    for (size_t i = size; i < sizeof some; i++) assert_int_equal(((unsigned char *)&some)[i], 0x5a);

    /* a caller that knows more fields gets zeros for them */
    struct {
        gess_stats stats;
        unsigned char more[16];
    } longer;
    memset(&longer, 0x5a, sizeof longer);
    succeed(gess_run_stats(run, &longer.stats, sizeof longer, &err), &err);
    for (size_t i = 0; i < sizeof longer.more; i++) assert_int_equal(longer.more[i], 0);
    gess_run_free(run);
    gess_model_free(model);
}

/* Runs an unlimited warm-up of two sessions, which on_warmup stops, ends it, and samples. */
static void end_warmup(void **state)
{
    gess_error err = {0};
    gess_options *options = new_options();
    gess_model *model = NULL;
    gess_run *run = NULL;
    witness warmup = {.stop_draws_at = 3}, draws = {0};
    (void)state;
    set(options, "draws", "50"), set(options, "chains", "16"), set(options, "threads", "2");
    succeed(gess_model_new(&model, &normal, &err), &err);
    succeed(gess_run_new(&run, model, options, NULL, &err), &err);
    succeed(gess_run_on_warmup(run, on_draw, &warmup, &err), &err);
    succeed(gess_run_on_draw(run, on_draw, &draws, &err), &err);
    assert_int_equal(gess_run_go(run, &err), GESS_ERR_STOPPED);
    uint64_t rows = warmup.rows;
    assert_true(rows > 0 && rows % 16 == 0);
    warmup.stop_draws_at = warmup.draw_calls + 4;
    assert_int_equal(gess_run_go(run, &err), GESS_ERR_STOPPED);
    assert_true(warmup.rows > rows);
    assert_int_equal(draws.rows, 0);
    uint64_t had = stats_of(run).iterations;
    succeed(gess_run_end_warmup(run, &err), &err);
    warmup.stop_draws_at = 0;
    succeed(gess_run_go(run, &err), &err);
    /* at most one stride of the window beyond the iterations that the chains had had */
    assert_in_range(stats_of(run).warmup, had, had + 4);
    assert_int_equal(warmup.rows, 16 * stats_of(run).warmup);
    assert_int_equal(draws.rows, 16 * 50);
    assert_false(stats_of(run).warmup_settled);
    gess_run_free(run);
    gess_model_free(model);
    gess_options_free(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(end_warmup),         cmocka_unit_test(go_twice),       cmocka_unit_test(stop_and_continue),
        cmocka_unit_test(extend_run),         cmocka_unit_test(density_errors), cmocka_unit_test(shorter_stats),
        cmocka_unit_test(infinite_densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
