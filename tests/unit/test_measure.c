/* The basis of the benchmarks of the method (tools/bench/measure.h): runs that are extended in memory, sums and draws
 * of a plan, and the truth that errors are measured against. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/csv.h"
#include "bench/measure.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void good(int status, const gess_error *err)
{
    if (status != GESS_OK) fail_msg("%s", err->text);
}

static void near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance * (1.0 + fabs(expected))))
        fail_msg("%.17g, expected %.17g", value, expected);
}

static void lists(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__bench_list list;
    good(gess__bench_split("funnel,wishart:dim=5,seed=2,mixture,eight-schools:centred=0", &list, &err), &err);
    assert_int_equal(list.count, 4);
    assert_string_equal(list.item[1], "wishart:dim=5,seed=2");
    assert_string_equal(list.item[3], "eight-schools:centred=0");
    assert_true(gess__bench_has(&list, "mixture") && !gess__bench_has(&list, "mix"));
    good(gess__bench_split("schedule=two-group,chains=40", &list, &err), &err);
    assert_int_equal(list.count, 2);
    good(gess__bench_split("", &list, &err), &err);
    assert_int_equal(list.count, 0);
    char longest[400];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(gess__bench_split(longest, &list, &err), GESS_ERR_USAGE);
    for (size_t i = 1; i < sizeof longest - 1; i += 2) longest[i] = ',';
    assert_int_equal(gess__bench_split(longest, &list, &err), GESS_ERR_USAGE);
}

enum { CHAINS = 12, DRAWS = 60, COLUMNS = 3 };

static int keep(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                const double *rows)
{
    double(*kept)[DRAWS][COLUMNS] = user;
    assert_int_equal(columns, COLUMNS);
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            memcpy(kept[first_chain + c][first_draw + i], rows + (c * draws + i) * columns, columns * sizeof *rows);
    return 0;
}

/* A run that is extended in memory has the draws of a run that was as long from the start. */
static void extended(void **state)
{
    (void)state;
    gess_error err = {0};
    gess_model *model;
    static double kept[2][CHAINS][DRAWS][COLUMNS];
    gess_stats stats[2];
    good(gess_model_open(&model, "banana", NULL, &err), &err);
    for (int way = 0; way < 2; way++) {
        gess_options o;
        gess_run *run = NULL;
        gess__options_init(&o);
        o.chains = CHAINS;
        o.warmup = 40;
        o.threads = 2;
        o.draws = way == 0 ? DRAWS : 7;
        good(gess_run_new(&run, model, &o, NULL, &err), &err);
        gess_run_on_draw(run, keep, kept[way], NULL);
        assert_int_equal(gess_run_extend(run, o.draws - 1, &err), GESS_ERR_USAGE); /* fewer than it has */
        good(gess_run_go(run, &err), &err);
        for (uint64_t draws = 20; way == 1 && draws <= DRAWS; draws += 20) {
            good(gess_run_extend(run, draws, &err), &err);
            good(gess_run_go(run, &err), &err);
        }
        gess_run_stats(run, &stats[way], sizeof stats[way], NULL);
        gess_run_free(run);
    }
    assert_int_equal(stats[0].evals, stats[1].evals);
    assert_int_equal(stats[0].evals_sampling, stats[1].evals_sampling);
    assert_int_equal(stats[1].draws, DRAWS);
    assert_memory_equal(kept[0], kept[1], sizeof kept[0]);
    gess_model_free(model);
}

static void plan_runs(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__sampled all, some;
    static const double centre[2] = {0.5, -1.0};
    gess__plan plan = {.model = "banana",
                       .settings = "chains=20",
                       .seed = 3,
                       .sampling = 20000,
                       .max_held = 1 << 20,
                       .centre = centre};
    good(gess__sample_gess(&plan, &all, &err), &err);
    assert_int_equal(all.dim, 2);
    assert_int_equal(all.chains, 20);
    assert_int_equal(all.held, all.draws);
    assert_true(all.evals_sampling > 19000 && all.evals_sampling < 21000);
    double n = (double)(all.chains * all.draws), ess, rhat;
    for (size_t j = 0; j < 2; j++) {
        double mean = 0.0, square = 0.0, spread = 0.0;
        const double *x = all.values + j * all.chains * all.held;
        for (size_t i = 0; i < all.chains * all.held; i++) mean += x[i] / n;
        for (size_t i = 0; i < all.chains * all.held; i++) {
            square += (x[i] - mean) * (x[i] - mean);
            spread += fabs(x[i] - centre[j]) / n;
        }
        near(all.mean[j], mean, 1e-10);
        near(all.sd[j], sqrt(square / (n - 1.0)), 1e-10);
        near(all.spread[j], spread, 1e-10);
    }
    good(gess__sampled_figures(&all, &ess, &rhat, &err), &err);
    assert_true(ess > 100.0 && ess < n && rhat > 0.99 && rhat < 1.2);

    /* the same run, thinned to 50 held draws */
    plan.max_held = 50;
    good(gess__sample_gess(&plan, &some, &err), &err);
    assert_int_equal(some.draws, all.draws);
    assert_true(some.held <= 50 && some.held > 25);
    size_t stride = 1;
    while ((all.draws + stride - 1) / stride > 50) stride *= 2;
    for (size_t line = 0; line < 2 * all.chains; line++)
        for (size_t i = 0; i < some.held; i++)
            assert_true(some.values[line * some.held + i] == all.values[line * all.held + i * stride]);
    near(some.mean[1], all.mean[1], 1e-12);
    gess__sampled_free(&all);
    gess__sampled_free(&some);

    plan.settings = "chains";
    assert_int_equal(gess__sample_gess(&plan, &some, &err), GESS_ERR_USAGE);
}

/* Draws that never move have an ESS of 0 and an infinite R-hat. */
static void stuck(void **state)
{
    (void)state;
    gess_error err = {0};
    double values[2 * 10] = {0}, ess, rhat;
    gess__sampled s = {.dim = 1, .chains = 2, .draws = 10, .held = 10, .values = values};
    good(gess__sampled_figures(&s, &ess, &rhat, &err), &err);
    assert_true(ess == 0.0 && rhat == INFINITY);
}

/* E f(x) of N(m, s²), by the trapezium rule. */
static double expect(double m, double s, double centre, int power)
{
    double sum = 0.0, h = 1e-3;
    for (double z = -12.0; z < 12.0; z += h)
        sum += h * exp(-0.5 * z * z) / sqrt(2.0 * acos(-1.0)) * pow(fabs(m + s * z - centre), power);
    return sum;
}

static void find(const char *specification, gess__truth *truth)
{
    gess_error err = {0};
    gess_model *model;
    *truth = (gess__truth){0};
    good(gess_model_open(&model, specification, NULL, &err), &err);
    good(gess__truth_find(truth, model, specification, &err), &err);
    assert_true(truth->known);
    gess_model_free(model);
}

static void truths(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__truth t;
    find("funnel", &t);
    near(t.sd[0], 3.0, 1e-15);
    near(t.spread[0], expect(0.0, 3.0, 0.0, 1), 1e-6);
    double second = 0.0, first = 0.0, h = 1e-2; /* of x | v, over v ~ N(0, 9) */
    for (double v = -60.0; v < 60.0; v += h) {
        double weight = h * exp(-v * v / 18.0) / sqrt(18.0 * acos(-1.0));
        second += weight * exp(v);
        first += weight * exp(0.5 * v) * sqrt(2.0 / acos(-1.0));
    }
    near(t.sd[4], sqrt(second), 1e-9);
    near(t.spread[4], first, 1e-9);
    gess__truth_free(&t);

    gess__table centres;
    good(gess__table_read(&centres, GESS_SOURCE_DATA "/mixture_means.csv", &err), &err);
    find("mixture", &t);
    double mean = 0.0, variance = 0.0, spread = 0.0;
    for (size_t k = 0; k < 8; k++) mean += centres.values[k * 8 + 2] / 8.0;
    for (size_t k = 0; k < 8; k++) {
        variance += expect(centres.values[k * 8 + 2], 1.0, mean, 2) / 8.0;
        spread += expect(centres.values[k * 8 + 2], 1.0, mean, 1) / 8.0;
    }
    near(t.mean[2], mean, 1e-14);
    near(t.sd[2], sqrt(variance), 1e-9);
    near(t.spread[2], spread, 1e-6);
    gess__truth_free(&t);
    gess__table_free(&centres);

    /* 2-D: the variances are the diagonal of A over its determinant, crosswise; curvatures of logp give A */
    gess_model *model;
    good(gess_model_open(&model, "wishart:dim=2,seed=5", NULL, &err), &err);
    double x[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}}, logp[4];
    assert_int_equal(model->logp(model->user, 0, 4, 2, x[0], logp), 0);
    double a = 2.0 * (logp[0] - logp[1]), d = 2.0 * (logp[0] - logp[2]), b = logp[0] - logp[3] - 0.5 * (a + d);
    find("wishart:dim=2,seed=5", &t);
    near(t.sd[0], sqrt(d / (a * d - b * b)), 1e-9);
    near(t.sd[1], sqrt(a / (a * d - b * b)), 1e-9);
    near(t.mean[0], 0.0, 0.0);
    near(t.spread[1], t.sd[1] * sqrt(2.0 / acos(-1.0)), 1e-12);
    gess__truth_free(&t);

    /* a model without a closed form has its truth in a file */
    char name[GESS__BENCH_ITEM + 8];
    gess__reference_name("mixture:spread=10", name);
    assert_string_equal(name, "mixture-spread-10.csv");
    t = (gess__truth){0};
    assert_int_equal(gess__truth_find(&t, model, "no-such:model=1", &err), GESS_ERR_FILE);
    assert_non_null(strstr(err.text, "bench reference"));
    gess__truth_free(&t);
    gess_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists), cmocka_unit_test(extended), cmocka_unit_test(plan_runs),
        cmocka_unit_test(stuck), cmocka_unit_test(truths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
