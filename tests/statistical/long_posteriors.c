/* Posteriors with known answers that take minutes: the free ground truth of `ionosphere`, whose second
 * length scale has an exponential posterior of mean and sd 10 exactly, and the means of `snp`, roughly
 * known from another sampler. */
#include "base/options.h"
#include "statistical/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static void ionosphere(void **state)
{
    (void)state;
    enum { DIM = 34 };
    gess_options o;
    kept k;
    gess__posterior_figures f[DIM];
    double rhat, ess;
    gess__options_init(&o);
    o.max_evals = 4000000;
    sample(&k, "ionosphere", &o);
    judge(&k, f, &rhat, &ess);
    printf("ionosphere: l2 mean %.3f (MCSE %.3f), sd %.3f (MCSE %.3f); worst R-hat %.3f, ESS %.0f, %llu evaluations\n",
           f[1].mean, f[1].mcse_mean, f[1].sd, f[1].mcse_sd, rhat, ess, (unsigned long long)k.stats.evals);
    assert_true(fabs(f[1].mean - 10.0) < 4.0 * f[1].mcse_mean);
    assert_true(fabs(f[1].sd - 10.0) < 4.0 * f[1].mcse_sd);
    assert_true(f[1].mcse_mean < 0.3); /* small enough that the test can fail */
    kept_free(&k);
}

static void snp(void **state)
{
    (void)state;
    enum { DIM = 38 };
    gess_options o;
    kept k;
    gess__posterior_figures f[DIM];
    double rhat, ess, in = 0.0;
    gess__options_init(&o);
    o.max_evals = 6000000;
    sample(&k, "snp", &o);
    judge(&k, f, &rhat, &ess);
    size_t draws = k.chains * (size_t)k.draws;
    for (size_t j = 3; j < DIM; j++)
        for (size_t i = 0; i < draws; i++) in += k.values[j * draws + i] > k.values[2 * draws + i];
    in /= (double)draws;
    printf("snp: nu %.3f, lambda %.2f, gamma0 %.3f, %.2f SNPs in; worst R-hat %.3f, %llu evaluations\n", f[0].mean,
           f[1].mean, f[2].mean, in, rhat, (unsigned long long)k.stats.evals);
    assert_true(fabs(f[0].mean - 1.31) < 0.05);
    assert_true(fabs(f[1].mean - 9.5) < 0.7);
    assert_true(fabs(f[2].mean - 0.64) < 0.1);
    assert_true(fabs(in - 12.7) < 1.0);
    kept_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ionosphere), cmocka_unit_test(snp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
