/* The paper's claims on a small scale, on fixed seeds.
 *
 *   - figure 2: elliptical slice sampling with a Gaussian much narrower than the target gets stuck
 *     in the tails, and generalized elliptical slice sampling with the same scale does not;
 *   - section 6.1: two groups converge on the Gaussian mixture;
 *   - section 6.2: two groups of 100 converge on a 50-dimensional Wishart Gaussian. */
#include "base/options.h"
#include "statistical/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- figure 2 ---- */

/* Longest stretch of iterations in which a chain's |x| stays within 0.25 of where it was. (Half a turn
 * of the ellipse takes x to -x, stuck or not.) */
static uint64_t longest_stay(const kept *k)
{
    uint64_t longest = 0;
    for (size_t c = 0; c < k->chains; c++) {
        const double *x = k->values + c * k->draws;
        uint64_t since = 0;
        for (uint64_t i = 1; i < k->draws; i++) {
            if (fabs(fabs(x[i]) - fabs(x[since])) > 0.25) since = i;
            if (i - since > longest) longest = i - since;
        }
    }
    return longest;
}

static uint64_t stay_with(const char *kernel, const char *approx)
{
    gess_options o;
    kept k;
    gess__options_init(&o);
    char path[] = "/tmp/gess-approx-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    fputs(approx, file);
    fclose(file);
    o.kernel = kernel;
    o.schedule = "fixed";
    o.approx = path;
    o.chains = 20;
    o.warmup = 0;
    o.draws = 10000;
    sample(&k, "gaussian:dim=1", &o);
    remove(path);
    uint64_t stay = longest_stay(&k);
    kept_free(&k);
    return stay;
}

static void narrow_gaussian_gets_stuck(void **state)
{
    (void)state;
    uint64_t narrow = stay_with("ess", "{\"nu\": null, \"mu\": [0], \"sigma\": [[0.01]]}");
    uint64_t fair = stay_with("ess", "{\"nu\": null, \"mu\": [0], \"sigma\": [[1]]}");
    uint64_t wide = stay_with("ess", "{\"nu\": null, \"mu\": [0], \"sigma\": [[10]]}");
    uint64_t heavy = stay_with("gess", "{\"nu\": 2, \"mu\": [0], \"sigma\": [[0.01]]}");
    printf("longest stay of a chain: ess with variance 0.01 %llu, 1 %llu, 10 %llu; gess with t2, 0.01 %llu "
           "iterations\n",
           (unsigned long long)narrow, (unsigned long long)fair, (unsigned long long)wide, (unsigned long long)heavy);
    assert_true(narrow > 1000);
    assert_true(fair < 30);
    assert_true(wide < 30);
    assert_true(heavy < 300);
}

/* ---- section 6 ---- */

static void two_group_converges_on_mixture(void **state)
{
    (void)state;
    gess_options o;
    kept k;
    gess__posterior_figures f[8];
    double rhat, ess;
    gess__options_init(&o);
    o.schedule = "two-group";
    o.chains = 200;
    o.warmup = 500;
    o.draws = 1000;
    sample(&k, "mixture", &o);
    judge(&k, f, &rhat, &ess);
    printf("mixture: worst R-hat %.4f, smallest bulk ESS %.0f of %llu evaluations\n", rhat, ess,
           (unsigned long long)k.stats.evals_sampling);
    assert_true(rhat < 1.02);
    assert_true(ess > 10000.0);
    kept_free(&k);
}

static void two_group_converges_on_wishart(void **state)
{
    (void)state;
    enum { DIM = 50 };
    gess_options o;
    kept k;
    gess__posterior_figures f[DIM];
    double rhat, ess, worst = 0.0;
    gess__options_init(&o);
    o.schedule = "two-group";
    o.chains = 200;
    o.warmup = 3000;
    o.draws = 4000;
    o.reuse = 10;
    char name[4200];
    snprintf(name, sizeof name, "wishart:file=%s/../data/wishart50.csv", GESS_TESTS);
    sample(&k, name, &o);
    judge(&k, f, &rhat, &ess);
    double truth[DIM];
    wishart_truth(name, truth);
    for (size_t j = 0; j < DIM; j++) worst = fmax(worst, fabs(f[j].sd / truth[j] - 1.0));
    printf("wishart: worst R-hat %.4f, smallest bulk ESS %.0f of %llu evaluations, largest relative error of an sd "
           "%.4f\n",
           rhat, ess, (unsigned long long)k.stats.evals_sampling, worst);
    assert_true(rhat < 1.05);
    assert_true(worst < 0.05);
    kept_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_gaussian_gets_stuck),
        cmocka_unit_test(two_group_converges_on_mixture),
        cmocka_unit_test(two_group_converges_on_wishart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
