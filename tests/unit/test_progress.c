/* Progress: phases and their shares, and how many draws and seconds it expects. On models whose runs take a moment, it
 * prints how often the time left was right within a factor of two; draws are asserted, times depend on the machine. */
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
        assert_true(records[i].phase >= records[i - 1].phase);
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

/* The share of the records, with a second to go and more than a tenth, whose time left was within a factor of two. */
static double right_times(double end, size_t *judged)
{
    size_t right = 0;
    *judged = 0;
    for (size_t i = 0; i < count; i++) {
        double left = end - records[i].seconds;
        if (records[i].phase != GESS_PHASE_SAMPLING || isnan(records[i].left) || left < 0.1) continue;
        ++*judged;
        right += records[i].left > 0.5 * left && records[i].left < 2.0 * left;
    }
    return *judged > 0 ? (double)right / (double)*judged : NAN;
}

static void expected_draws(void **state)
{
    (void)state;
    static const char *const models[] = {"gaussian", "banana", "student-t", "german-credit"};
    static const char *const options[][2] = {{"target-ess", "20000"}, {"target-rhat", "1.005"}, {NULL, NULL}};
    const char *more = getenv("GESS_PROGRESS_MODELS"); /* further models, to measure */
    char list[512] = "";
    size_t wrong = 0, all = 0;
    if (more != NULL) snprintf(list, sizeof list, "%s", more);
    char *next = list, *own;
    for (size_t k = 0;; k++) {
        const char *model = k < sizeof models / sizeof *models ? models[k] : (own = strsep(&next, " "));
        if (model == NULL || model[0] == '\0') break;
        gess_stats s = sample(model, options);
        check_order();
        size_t predicted = 0, judged;
        double worst = 1.0;
        for (size_t i = 0; i < count; i++) {
            if (records[i].phase != GESS_PHASE_SAMPLING || records[i].total == 0) continue;
            double ratio = (double)records[i].total / (double)s.draws;
            worst = fmax(worst, fmax(ratio, 1.0 / ratio));
            predicted++;
            wrong += !(ratio > 0.49 && ratio < 2.01);
        }
        all += predicted;
        double right = right_times(s.seconds, &judged);
        print_message("%-24s %6llu draws, expected within a factor of %.2f; time left right in %.0f %% of %zu\n", model,
                      (unsigned long long)s.draws, worst, 100.0 * right, judged);
    }
    assert_true(all > 0);
    print_message("%zu of %zu expectations beyond a factor of two\n", wrong, all);
    assert_true((double)wrong <= 0.2 * (double)all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_numbers), cmocka_unit_test(limits_of_learning),
                                       cmocka_unit_test(expected_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
