/* What adaptation must achieve with the default schedule and settings, on fixed seeds. */
#include "base/options.h"
#include "statistical/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* Every marginal sd of the 50-dimensional Wishart Gaussian within 4 MCSE of the truth, and the stop
 * rules satisfied, within two million evaluations. */
static void wishart_50(void **state)
{
    (void)state;
    enum { DIM = 50 };
    gess_options o;
    kept k;
    gess__posterior_figures f[DIM];
    double truth[DIM], rhat, ess, worst = 0.0;
    gess__options_init(&o);
    sample(&k, "wishart:dim=50", &o);
    judge(&k, f, &rhat, &ess);
    wishart_truth("wishart:dim=50", truth);
    for (size_t j = 0; j < DIM; j++) worst = fmax(worst, fabs(f[j].sd - truth[j]) / f[j].mcse_sd);
    printf("wishart:dim=50: %llu evaluations (%llu sampling), R-hat %.4f, ESS %.0f, worst sd off by %.2f MCSE\n",
           (unsigned long long)k.stats.evals, (unsigned long long)k.stats.evals_sampling, rhat, ess, worst);
    assert_true(k.stats.warmup_settled && k.stats.targets_met);
    assert_true(k.stats.evals <= 2000000);
    assert_true(worst < 4.0);
    kept_free(&k);
}

/* Smallest bulk ESS per evaluation of a whole run to 20,000 effective draws, warm-up included; returns it. */
static double efficiency_of(const char *model, uint64_t seed)
{
    enum { MAX_FIGURES = 64 };
    gess_options o;
    kept k;
    gess__posterior_figures f[MAX_FIGURES];
    double rhat, ess;
    gess__options_init(&o);
    o.target_ess = 20000;
    o.seed = seed;
    sample(&k, model, &o);
    judge(&k, f, &rhat, &ess);
    double per_eval = ess / (double)k.stats.evals;
    printf("%s: %.4f effective draws per evaluation, R-hat %.4f, evaluations %llu, sampling %llu\n", model, per_eval,
           rhat, (unsigned long long)k.stats.evals, (unsigned long long)k.stats.evals_sampling);
    assert_true(k.stats.warmup_settled);
    assert_true(rhat < 1.01);
    kept_free(&k);
    return per_eval;
}

/* The geometric mean over seeds 1 to `seeds`. The schedule before learning was weighed against sampling reached 0.14,
 * 0.016, 0.16, 0.17 and 0.012 on the models in the order below. Seeds differ by a factor of three on the models that
 * are hard to learn: over twelve seeds `breast-cancer` has 0.027 (0.015 to 0.047), `stochastic-volatility` 0.026 (0.018
 * to 0.036), so these two need several. */
static void efficiency(const char *model, uint64_t seeds, double min_efficiency)
{
    double logs = 0.0;
    for (uint64_t seed = 1; seed <= seeds; seed++) logs += log(efficiency_of(model, seed));
    double mean = exp(logs / (double)seeds);
    printf("%s: %.4f effective draws per evaluation, geometric mean of %llu\n", model, mean, (unsigned long long)seeds);
    assert_true(mean >= min_efficiency);
}

static void german_credit(void **state)
{
    (void)state;
    efficiency("german-credit", 1, 0.25);
}

static void breast_cancer(void **state)
{
    (void)state;
    efficiency("breast-cancer", 3, 0.018);
}

static void funnel(void **state)
{
    (void)state;
    efficiency("funnel", 1, 0.25);
}

static void mixture(void **state)
{
    (void)state;
    efficiency("mixture", 1, 0.15);
}

static void stochastic_volatility(void **state)
{
    (void)state;
    efficiency("stochastic-volatility", 3, 0.02);
}

/* Forty chains in a hundred dimensions: converged within two million evaluations, where two groups
 * of twenty are not. */
static void wishart_100(void **state)
{
    (void)state;
    enum { DIM = 100 };
    gess_options o;
    kept k;
    gess__posterior_figures f[DIM];
    double truth[DIM], rhat, ess, worst = 0.0;
    wishart_truth("wishart:dim=100", truth);
    gess__options_init(&o);
    o.chains = 40;
    o.max_evals = 2000000;
    sample(&k, "wishart:dim=100", &o);
    judge(&k, f, &rhat, &ess);
    for (size_t j = 0; j < DIM; j++) worst = fmax(worst, fabs(f[j].sd - truth[j]) / f[j].mcse_sd);
    printf("wishart:dim=100, pooled: %llu evaluations, R-hat %.4f, ESS %.0f, worst sd off by %.2f MCSE\n",
           (unsigned long long)k.stats.evals, rhat, ess, worst);
    assert_true(k.stats.targets_met);
    assert_true(k.stats.evals <= 2000000);
    assert_true(worst < 4.5);
    kept_free(&k);

    o.schedule = "two-group";
    o.reuse = 10;
    o.max_warmup_evals = 1000000;
    sample(&k, "wishart:dim=100", &o);
    judge(&k, f, &rhat, &ess);
    printf("wishart:dim=100, two-group: %llu evaluations, R-hat %.4f\n", (unsigned long long)k.stats.evals, rhat);
    assert_false(k.stats.targets_met);
    assert_true(rhat > 1.1);
    kept_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wishart_50),  cmocka_unit_test(german_credit), cmocka_unit_test(breast_cancer),
        cmocka_unit_test(funnel),      cmocka_unit_test(mixture),       cmocka_unit_test(stochastic_volatility),
        cmocka_unit_test(wishart_100),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
