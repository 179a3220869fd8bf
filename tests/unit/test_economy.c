/* The economy of a run: forecasts, trials on exact ensembles, and when a committed T disappoints. */
#include "adapt/chain_count.h"
#include "adapt/economy.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHAINS = 64, DIM = 5, ROWS = 24 };

static gess__economy economy_of(const char *draws)
{
    gess_options *o = NULL;
    gess_error err = {0};
    gess__economy e;
    assert_int_equal(gess_options_new(&o, &err), GESS_OK);
    assert_int_equal(gess_options_set(o, "draws", draws, &err), GESS_OK);
    gess__economy_open(&e, o);
    gess_options_free(o);
    return e;
}

static int forecast(gess__economy *e, double rate, double spent, double next)
{
    e->rate = rate;
    return gess__economy_forecast(e,
                                  &(gess__stage_cost){.spent = spent, .per_update = 1.0, .next = next, .error = 1.0});
}

/* T is tried once what a better one can save is small beside what was spent, and not while stages still pay. */
static void forecasts(void **unused)
{
    gess__economy e = economy_of("auto");
    (void)unused;
    assert_true(e.goal == 1000.0 && e.updates == 0.0);
    assert_false(forecast(&e, 0.0, 1e6, 100.0)); /* T is not ready */
    assert_false(forecast(&e, 0.1, 20000.0, 100.0));
    assert_true(e.forecast == 10000.0);
    assert_true(forecast(&e, 0.1, 40000.0, 100.0));
    e = economy_of("auto");
    assert_true(forecast(&e, 0.9, 1000.0, 100.0)); /* a perfect T would save a hundred evaluations */
    e = economy_of("auto");
    assert_false(forecast(&e, 0.2, 10000.0, 1000.0));
    assert_false(forecast(&e, 0.4, 14000.0, 1000.0)); /* the last stage saved 2,500 */
    assert_true(forecast(&e, 0.4, 15000.0, 1000.0));
    e = economy_of("1000"); /* draws per chain: they cost the same with any T */
    assert_true(e.goal == 0.0 && e.updates == 64000.0);
    assert_false(forecast(&e, 0.5, 100000.0, 100.0));
    assert_true(e.forecast == 64000.0);
    assert_true(forecast(&e, 0.5, 200000.0, 100.0));
}

/* Where neither the rate nor the log density has changed for long, learning more is not worth as much. */
static void stagnation(void **unused)
{
    gess__economy e = economy_of("auto");
    (void)unused;
    assert_false(forecast(&e, 0.02, 30000.0, 100.0));
    assert_false(forecast(&e, 0.02, 44000.0, 100.0));
    assert_true(forecast(&e, 0.02, 50000.0, 100.0));
    e = economy_of("auto");
    assert_false(forecast(&e, 0.01, 30000.0, 1e5));
    assert_false(forecast(&e, 0.02, 50000.0, 1e5)); /* it rose */
    assert_false(e.stagnant);
}

/* Where the run cannot learn again, what a trial costs beyond the shortest one counts. */
static void dear_trials(void **unused)
{
    gess__economy e = economy_of("auto");
    gess__stage_cost stage = {.spent = 48000.0, .per_update = 2.0, .next = 50.0, .trial = 1600.0, .error = 1.0};
    (void)unused;
    e.rate = 0.1;
    assert_true(gess__economy_forecast(&e, &stage)); /* a perfect T would save 9,000 */
    e.final = 1;
    assert_false(gess__economy_forecast(&e, &stage)); /* and the trial takes 3,200 */
    assert_true(gess__economy_left(&e, 48000.0) == 800.0);
    e.stagnant = 1; /* but learning would bring nothing: the trial is as short as others */
    assert_true(gess__economy_forecast(&e, &stage));
    e.stagnant = 0;
    stage.spent = 49000.0;
    assert_true(gess__economy_forecast(&e, &stage));
}

/* A long run does not end its warm-up while stages still raise the rate: up to a twentieth of what it is to take, which
 * counts as a million at most, and not if its goal is open. */
static void long_runs(void **unused)
{
    gess__economy e = economy_of("10000"); /* 640,000 updates */
    (void)unused;
    forecast(&e, 0.5, 10000.0, 1000.0);
    assert_false(e.pays); /* nothing to compare with */
    forecast(&e, 0.51, 11000.0, 1000.0);
    assert_true(e.pays); /* 2 % of 220,000 */
    forecast(&e, 0.50, 12000.0, 1000.0);
    assert_false(e.pays);
    forecast(&e, 0.51, 13000.0, 1000.0);
    assert_false(e.pays); /* no record */
    forecast(&e, 0.55, 33000.0, 1000.0);
    assert_false(e.pays);      /* more than a twentieth is spent */
    e = economy_of("1000000"); /* 64 million */
    forecast(&e, 0.5, 48000.0, 1000.0);
    forecast(&e, 0.6, 49000.0, 1000.0);
    assert_true(e.pays);
    forecast(&e, 0.7, 51000.0, 1000.0);
    assert_false(e.pays);
    e = economy_of("1000000000000"); /* without end */
    forecast(&e, 0.5, 10000.0, 1000.0);
    forecast(&e, 0.6, 11000.0, 1000.0);
    assert_false(e.pays);
    e = economy_of("auto"); /* short runs never */
    forecast(&e, 0.5, 1000.0, 100.0);
    forecast(&e, 0.9, 1100.0, 100.0);
    assert_false(e.pays);
}

/* A T that is too new is not tried, whatever it promises; and how much learning is left, if nothing gets better. */
static void unsure_and_left(void **unused)
{
    gess__economy e = economy_of("auto");
    (void)unused;
    assert_true(gess__economy_left(&e, 1000.0) == 0.0); /* before a forecast */
    e.unsure = 1;
    assert_false(forecast(&e, 0.9, 40000.0, 100.0));
    e.unsure = 0;
    assert_true(forecast(&e, 0.9, 40000.0, 100.0));
    assert_false(forecast(&e, 0.5, 2000.0, 100.0)); /* a better T can save 1000 of 2000 evaluations */
    assert_true(gess__economy_left(&e, 2000.0) == 2000.0);
    assert_true(gess__economy_left(&e, 5000.0) == 0.0);
}

/* Normal draws: `shared` of the variance is a constant of each chain, and each coordinate drifts by `drift` over the
 * trial. */
static void fill(gess__window *w, unsigned seed, double shared, double drift)
{
    for (size_t c = 0; c < CHAINS; c++)
        for (size_t j = 0; j < DIM; j++) {
            double normals[ROWS + 1];
            gess__key key = {.seed = seed, .chain = (uint32_t)c, .iteration = j, .purpose = GESS__FOR_TEST};
            gess__normals(key, ROWS + 1, normals);
            for (size_t i = 0; i < ROWS; i++) {
                double x = sqrt(shared) * normals[ROWS] + sqrt(1.0 - shared) * normals[i] + drift * (double)i / ROWS;
                w->points[(i * CHAINS + c) * DIM + j] = x;
                if (j == 0) w->values[i * CHAINS + c] = 1e6 - x * x;
            }
        }
}

static gess__economy judge(gess__window *w, unsigned seed, double shared, double drift, int last)
{
    gess__economy e = economy_of("auto");
    fill(w, seed, shared, drift);
    e.trial = 1;
    gess__trial_judge(&e, w, 0, last, 20000.0, 1.5);
    return e;
}

static void trials(void **unused)
{
    gess__window w = {.chains = CHAINS, .dim = DIM, .stride = 1, .draws = ROWS, .length = ROWS};
    (void)unused;
    w.points = calloc((size_t)ROWS * CHAINS * DIM, sizeof *w.points);
    w.values = calloc((size_t)ROWS * CHAINS, sizeof *w.values);
    unsigned alarms = 0;
    for (unsigned seed = 1; seed <= 500; seed++) {
        gess__economy e = judge(&w, seed, 0.0, 0.0, 0);
        alarms += e.result != GESS__TRIAL_PASSED;
        assert_true(e.slowest < 3.0 && e.measured_rate > 0.3);
    }
    assert_true(alarms <= 10); /* five are expected at most */
    for (unsigned seed = 1; seed <= 20; seed++) {
        assert_int_equal(judge(&w, seed, 0.0, 1.0, 0).result, GESS__TRIAL_DRIFT);
        assert_int_equal(judge(&w, seed, 0.0, 1.0, 1).result, GESS__TRIAL_DRIFT);
        gess__economy slow = judge(&w, seed, 0.6, 0.0, 0);
        assert_int_equal(slow.result, GESS__TRIAL_SLOW);
        assert_true(slow.measured_rate < 0.1);
        assert_int_equal(judge(&w, seed, 0.6, 0.0, 1).result, GESS__TRIAL_PASSED); /* nothing is left to learn */
    }
    for (unsigned seed = 1; seed <= 20; seed++) { /* a time of a quarter of the trial passes unless it has to be sure */
        gess__economy e = judge(&w, seed, 0.25, 0.0, 0);
        assert_int_equal(e.result, GESS__TRIAL_PASSED);
        e.final = 1;
        gess__trial_judge(&e, &w, 0, 0, 1e6, 1.5);
        assert_int_equal(e.result, GESS__TRIAL_SLOW);
    }
    gess__economy moved = economy_of("auto");
    gess__trial_judge(&moved, &w, 1, 1, 20000.0, 1.5);
    assert_int_equal(moved.result, GESS__TRIAL_DRIFT);
    free(w.points);
    free(w.values);
}

static void lengths(void **unused)
{
    gess__economy e = economy_of("auto");
    gess__window w = {.stride = 1};
    (void)unused;
    e.rate = 0.9;
    assert_int_equal(gess__trial_length(&e, &w, 1.0), GESS__MIN_TRIAL);
    e.rate = 0.05;
    assert_int_equal(gess__trial_length(&e, &w, 2.0), 40);
    e = economy_of("1000"); /* a thorough one */
    e.rate = 0.4;
    assert_int_equal(gess__trial_length(&e, &w, 1.0), GESS__MIN_TRIAL);
    e.rate = 0.05;
    assert_int_equal(gess__trial_length(&e, &w, 2.0), 70);
    e.stagnant = 1;
    assert_int_equal(gess__trial_length(&e, &w, 2.0), 40);
    e.rate = 1e-4;
    assert_int_equal(gess__trial_length(&e, &w, 2.0), 400);
    e.rate = 0.05;
    w.stride = 16;
    assert_int_equal(gess__trial_length(&e, &w, 2.0), 128);
}

static void disappointments(void **unused)
{
    gess__economy e = economy_of("auto");
    (void)unused;
    e.rate = 0.1;
    e.forecast = 10000.0;
    e.result = GESS__TRIAL_PASSED;
    assert_false(gess__economy_disappoints(&e, 30000.0, 9000.0, 0.1));   /* not yet as many as forecast */
    assert_false(gess__economy_disappoints(&e, 30000.0, 11000.0, 0.8));  /* nearly as good as forecast */
    assert_false(gess__economy_disappoints(&e, 60000.0, 11000.0, 0.45)); /* the rest is cheaper than learning */
    assert_false(gess__economy_disappoints(&e, 30000.0, 50000.0, 0.6));  /* most of the goal is reached */
    assert_true(gess__economy_disappoints(&e, 30000.0, 12000.0, 0.3));
    assert_true(gess__economy_disappoints(&e, 30000.0, 81000.0, 0.9));  /* overdue, however close it seems */
    assert_false(gess__economy_disappoints(&e, 90000.0, 81000.0, 0.9)); /* but learning was dearer still */
    e.result = GESS__TRIAL_NONE;                                        /* warm-up was cut off */
    assert_false(gess__economy_disappoints(&e, 30000.0, 12000.0, 0.3));
    assert_true(gess__economy_disappoints(&e, 30000.0, 31000.0, 0.3));
    /* each commitment makes the next one stricter */
    e = economy_of("auto");
    e.commitments = 1;
    assert_false(forecast(&e, 0.1, 40000.0, 100.0));
    assert_true(forecast(&e, 0.1, 80000.0, 100.0));
}

static uint64_t chains_of(size_t dim, const char *option, const char *value, const char *ensembles)
{
    gess_options *o = NULL;
    gess_error err = {0};
    assert_int_equal(gess_options_new(&o, &err), GESS_OK);
    assert_int_equal(gess_options_set(o, "chains", "auto", &err), GESS_OK);
    assert_int_equal(gess_options_set(o, "ensembles", ensembles, &err), GESS_OK);
    assert_int_equal(gess_options_set(o, option, value, &err), GESS_OK);
    uint64_t chains = gess__auto_chains(dim, o);
    assert_int_equal(gess_options_set(o, "threads", "7", &err), GESS_OK);
    assert_int_equal(gess__auto_chains(dim, o), chains);
    gess_options_free(o);
    return chains;
}

/* --chains auto: by the dimension and the goal. */
static void chain_counts(void **unused)
{
    (void)unused;
    assert_int_equal(chains_of(1, "target-ess", "0", "1"), 32);
    assert_int_equal(chains_of(10, "target-ess", "1000", "1"), 32);
    assert_int_equal(chains_of(17, "target-ess", "1000", "1"), 40);
    assert_int_equal(chains_of(1000, "target-ess", "1000", "1"), 64);
    assert_int_equal(chains_of(10, "target-ess", "1500", "1"), 48);
    assert_int_equal(chains_of(10, "target-ess", "1000000000000", "1"), 64);
    assert_int_equal(chains_of(10, "target-ess", "1500", "4"), 128);
    assert_int_equal(chains_of(10, "draws", "100", "1"), 64);
    assert_int_equal(chains_of(10, "schedule", "two-group", "2"), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forecasts), cmocka_unit_test(stagnation),      cmocka_unit_test(dear_trials),
        cmocka_unit_test(long_runs), cmocka_unit_test(unsure_and_left), cmocka_unit_test(trials),
        cmocka_unit_test(lengths),   cmocka_unit_test(disappointments), cmocka_unit_test(chain_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
