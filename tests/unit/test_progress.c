/* Progress: phases and their shares, and how many draws and seconds it expects. A second is one of the processor here,
 * and runs have one thread, so that what else the machine does makes no difference. With GESS_PROGRESS_ALL=1 ten models
 * are measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <gess/gess.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* The C library's is not called: gess takes the time of the processor for the time that has passed. */
int clock_gettime(clockid_t id, struct timespec *now)
{
    return (int)syscall(SYS_clock_gettime, id == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : id, now);
}

enum { MAX_RECORDS = 1 << 16 };

static struct record {
    int phase;
    uint64_t done, total, draws;
    double seconds, left;
} records[MAX_RECORDS];
static size_t count;

static int take(void *user, const gess_stats *s, uint64_t planned)
{
    (void)user, (void)planned;
    if (count == MAX_RECORDS) return 0;
    records[count++] = (struct record){s->phase, s->phase_done, s->phase_total, s->draws, s->seconds, s->seconds_left};
    return 0;
}

static gess_stats sample(const char *model_name, const char *const options[][2])
{
    gess_error err = {0};
    gess_model *model = NULL;
    gess_options *o = NULL;
    gess_run *run = NULL;
    gess_stats stats;
    count = 0;
    assert_int_equal(gess_model_open(&model, model_name, NULL, &err), GESS_OK);
    assert_int_equal(gess_options_new(&o, &err), GESS_OK);
    for (size_t i = 0; options[i][0] != NULL; i++)
        assert_int_equal(gess_options_set(o, options[i][0], options[i][1], &err), GESS_OK);
    assert_int_equal(gess_run_new(&run, model, o, NULL, &err), GESS_OK);
    assert_int_equal(gess_run_on_progress(run, take, NULL, &err), GESS_OK);
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    assert_int_equal(gess_run_stats(run, &stats, sizeof stats, &err), GESS_OK);
    gess_run_free(run);
    gess_options_free(o);
    gess_model_free(model);
    assert_true(count > 0);
    return stats;
}

/* Phases come in order, and what is done only grows, up to the total. */
static void check_order(void)
{
    for (size_t i = 0; i < count; i++) {
        assert_true(records[i].total == 0 || records[i].done <= records[i].total);
        assert_true(isnan(records[i].left) || records[i].left >= 0.0);
        if (i == 0) continue;
        /* a run that learns again forgets its draws */
        assert_true(records[i].phase >= records[i - 1].phase || records[i].draws < records[i - 1].draws);
        if (records[i].phase == records[i - 1].phase) assert_true(records[i].done >= records[i - 1].done);
    }
}

static void given_numbers(void **state)
{
    (void)state;
    static const char *const options[][2] = {{"warmup", "300"}, {"draws", "200"}, {"threads", "1"}, {NULL, NULL}};
    sample("gaussian", options);
    check_order();
    size_t sampling = 0;
    for (size_t i = 0; i < count; i++) {
        if (records[i].phase != GESS_PHASE_SAMPLING) continue;
        sampling++;
        assert_int_equal(records[i].total, 200); /* draws of sampling alone: no share of warm-up in it */
        assert_int_equal(records[i].done, records[i].draws);
    }
    assert_true(sampling > 0 && sampling < count);
    assert_int_equal(records[count - 1].done, 200);
}

static void limits_of_learning(void **state)
{
    (void)state;
    static const char *const options[][2] = {{"max-warmup-evals", "50000"}, {"draws", "100"}, {NULL, NULL}};
    sample("funnel", options);
    check_order();
    assert_int_equal(records[0].phase, GESS_PHASE_LEARNING);
    assert_true(records[0].total == 50000 && isfinite(records[0].left));
}

/* The share of the time of sampling, while at least a tenth of a second was left, in which the time that was said to be
 * left was right within a factor of two; NaN: there was none. */
static double right_times(double end)
{
    double right = 0.0, all = 0.0;
    for (size_t i = 0; i + 1 < count; i++) {
        double left = end - records[i].seconds, shown = records[i + 1].seconds - records[i].seconds;
        if (records[i].phase != GESS_PHASE_SAMPLING || left < 0.1) continue;
        all += shown;
        if (records[i].left > 0.5 * left && records[i].left < 2.0 * left) right += shown;
    }
    return all > 0.0 ? right / all : NAN;
}

static const struct measured {
    const char *model, *target_ess;
    int quick; /* part of every test */
} models[] = {{"gaussian", "200000", 1},           {"banana", "200000", 1},  {"student-t", "400000", 1},
              {"german-credit", "60000", 1},       {"mixture", "100000", 0}, {"seeds", "60000", 0},
              {"breast-cancer", "25000", 0},       {"funnel", "100000", 0},  {"wishart:dim=20", "200000", 0},
              {"stochastic-volatility", "5000", 0}};

static void expected_draws(void **state)
{
    (void)state;
    const char *everything = getenv("GESS_PROGRESS_ALL");
    size_t wrong = 0, all = 0;
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        const char *const options[][2] = {{"target-ess", models[k].target_ess},
                                          {"max-evals", "1000000000"},
                                          {"threads", "1"},
                                          {NULL, NULL}};
        if (!models[k].quick && everything == NULL) continue;
        gess_stats s = sample(models[k].model, options);
        check_order();
        double worst = 1.0, right = right_times(s.seconds);
        for (size_t i = 0; i < count; i++) {
            if (records[i].phase != GESS_PHASE_SAMPLING || records[i].total == 0) continue;
            double ratio = (double)records[i].total / (double)s.draws;
            worst = fmax(worst, fmax(ratio, 1.0 / ratio));
            all++;
            wrong += !(ratio > 0.49 && ratio < 2.01);
        }
        print_message("%-22s %6llu draws in %.1f s, expected within a factor of %.2f; time left right for %.0f %%\n",
                      models[k].model, (unsigned long long)s.draws, s.seconds, worst, 100.0 * right);
        assert_true(worst < 5.0 && (isnan(right) || right > 0.6));
    }
    print_message("%zu of %zu expectations beyond a factor of two\n", wrong, all);
    assert_true(all > 0 && (double)wrong <= 0.1 * (double)all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_numbers), cmocka_unit_test(limits_of_learning),
                                       cmocka_unit_test(expected_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
