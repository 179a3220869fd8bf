/* The long-run behaviour of kernels that adapt, on fixed seeds.
 *
 *   - amh is not invariant while it adapts, but its averages converge;
 *   - mh reaches the acceptance that it is tuned for, and keeps it;
 *   - parallel tempering finds every mode in its proportion, with either ladder;
 *   - all pairs of a tuned ladder refuse exchanges equally often. */
#include "statistical/support.h"

#include "schedule/tempering.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_DIM = 64 };

static void adaptive_walk_converges(void **state)
{
    (void)state;
    static const char model[] = "wishart:dim=10,seed=1";
    gess_options o;
    kept k;
    double sd[MAX_DIM], worst, min_ess;
    gess__posterior_figures figures[MAX_DIM];
    gess__options_init(&o);
    o.kernel = "amh";
    o.chains = 8;
    o.warmup = 10000;
    o.draws = 60000;
    sample(&k, model, &o);
    wishart_truth(model, sd);
    judge(&k, figures, &worst, &min_ess);
    print_message("amh: worst R-hat %.4f, smallest bulk ESS %.0f; %s\n", worst, min_ess, k.stats.method);
    assert_true(worst < 1.005);
    assert_true(min_ess > 5000.0);
    for (size_t i = 0; i < k.dim; i++) {
        assert_true(fabs(figures[i].mean) < 4.5 * figures[i].mcse_mean);
        /* the bias of adaptation is below a hundredth here */
        assert_true(fabs(figures[i].sd / sd[i] - 1.0) < 0.01 + 4.5 * figures[i].mcse_sd / sd[i]);
    }
    kept_free(&k);
}

static void walk_is_tuned(void **state)
{
    (void)state;
    static const char *const models[] = {"german-credit", "breast-cancer", "gaussian:dim=5"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        gess_options o;
        kept k;
        double share = 0.0;
        gess__options_init(&o);
        o.kernel = "mh";
        o.chains = 20;
        o.warmup = 10000;
        o.draws = 2000;
        sample(&k, models[i], &o);
        assert_int_equal(sscanf(k.stats.method, "%lf %% of proposals accepted", &share), 1);
        print_message("mh on %s: %s\n", models[i], k.stats.method);
        assert_true(fabs(share - 23.4) < 1.5);
        kept_free(&k);
    }
}

static void tempering_finds_the_modes(void **state)
{
    (void)state;
    static const char *const ladders[] = {"geometric", "tuned"};
    gess_options o;
    kept truth, k;
    double worst, min_ess;
    gess__posterior_figures figures[MAX_DIM], wanted[MAX_DIM];
    gess__options_init(&o);
    o.draws = 2000;
    sample(&truth, "mixture", &o); /* test_modes.c shows that it is right */
    judge(&truth, wanted, &worst, &min_ess);
    for (size_t which = 0; which < 2; which++) {
        gess__options_init(&o);
        o.kernel = "mh";
        o.schedule = "tempering";
        o.ladder = ladders[which];
        o.hottest = 20.0;
        o.ensembles = 4;
        o.chains = 40;
        o.warmup = 4000;
        o.draws = 40000;
        sample(&k, "mixture", &o);
        judge(&k, figures, &worst, &min_ess);
        print_message("tempering, %s: worst R-hat %.4f, smallest bulk ESS %.0f; %s\n", ladders[which], worst, min_ess,
                      k.stats.method);
        assert_int_equal(k.chains, 4);
        assert_true(worst < 1.01);
        for (size_t i = 0; i < k.dim; i++) {
            double error = hypot(figures[i].mcse_mean, wanted[i].mcse_mean);
            assert_true(fabs(figures[i].mean - wanted[i].mean) < 4.5 * error);
        }
        kept_free(&k);
    }
    kept_free(&truth);
}

/* The largest share of refused exchanges of any pair minus the smallest, after warm-up. */
static double unevenness(const char *ladder, double *cold, double *hot)
{
    gess_error err = {0};
    gess_model *model = NULL;
    gess__sampler *s = NULL;
    gess__team *team = NULL;
    gess__record none = {0};
    gess_options o;
    if (gess_model_open(&model, "student-t:dim=5,nu=10", NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    gess__options_init(&o);
    o.kernel = "mh";
    o.schedule = "tempering";
    o.ladder = ladder;
    o.hottest = 2.0;
    o.chains = 6;
    o.warmup = 30000;
    assert_int_equal(gess__team_new(&team, 1, &err), GESS_OK);
    if (gess__sampler_new(&s, model, &o, 0, 6, team, &err) != GESS_OK) fail_msg("%s", err.text);
    while (!s->adaptation.warmup.over) assert_int_equal(gess__sampler_warm_up(s, &none, &err), GESS_OK);
    const gess__ensemble *e = &s->ensemble;
    const gess__ladder *l = s->state;
    /* refusals since the last tuning of the ladder */
    double smallest = 1.0, largest = 0.0, tries = (double)(e->done[0] - l->from) / 2.0;
    assert_true(tries > 2000.0);
    for (size_t k = 0; k + 1 < e->chains.count; k++) {
        smallest = fmin(smallest, l->refused[k] / tries);
        largest = fmax(largest, l->refused[k] / tries);
        assert_true(e->chains.powers[k + 1] < e->chains.powers[k]);
    }
    *cold = e->chains.powers[0];
    *hot = e->chains.powers[e->chains.count - 1];
    print_message("%s: between %.4f and %.4f of the exchanges refused\n", ladder, smallest, largest);
    gess__sampler_free(s);
    gess__team_free(team);
    gess_model_free(model);
    return largest - smallest;
}

static void tuned_ladder_is_even(void **state)
{
    (void)state;
    double cold, hot;
    double before = unevenness("geometric", &cold, &hot), after = unevenness("tuned", &cold, &hot);
    assert_true(cold == 1.0 && fabs(hot - 0.5) < 1e-12);
    assert_true(after < 0.5 * before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adaptive_walk_converges),
        cmocka_unit_test(walk_is_tuned),
        cmocka_unit_test(tempering_finds_the_modes),
        cmocka_unit_test(tuned_ladder_is_even),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
