/* The figures of src/diagnose/posterior.h against R's posterior 1.4.0: relative 1e-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diagnose/distributions.h"
#include "diagnose/posterior.h"
#include "known/diagnose_input.h"

enum { INPUTS = 5, FIGURES = 18 };

static void all_figures(gess__posterior_workspace *work, const double *x, double out[FIGURES])
{
    gess__posterior_figures all;
    gess__posterior_all(work, x, &all);
    double figures[FIGURES] = {all.mean,
                               all.sd,
                               all.q5,
                               all.median,
                               all.q95,
                               all.rhat,
                               all.ess_bulk,
                               all.ess_tail,
                               all.ess_mean,
                               all.mcse_mean,
                               all.mcse_sd,
                               all.mcse_q5,
                               all.mcse_median,
                               all.mcse_q95,
                               gess__posterior_quantile(work, 0.37),
                               gess__posterior_ess_quantile(work, 0.37),
                               gess__posterior_mcse_quantile(work, 0.0),
                               gess__posterior_mcse_quantile(work, 1.0)};
    memcpy(out, figures, sizeof figures);
}

/* gess__posterior_all() must give the results of the single functions. */
static void check_singles(gess__posterior_workspace *work, const double figures[FIGURES])
{
    double singles[] = {gess__posterior_mean(work),
                        gess__posterior_sd(work),
                        gess__posterior_quantile(work, 0.05),
                        gess__posterior_quantile(work, 0.5),
                        gess__posterior_quantile(work, 0.95),
                        gess__posterior_rhat(work),
                        gess__posterior_ess_bulk(work),
                        gess__posterior_ess_tail(work),
                        gess__posterior_ess_mean(work),
                        gess__posterior_mcse_mean(work),
                        gess__posterior_mcse_sd(work),
                        gess__posterior_mcse_quantile(work, 0.05),
                        gess__posterior_mcse_quantile(work, 0.5),
                        gess__posterior_mcse_quantile(work, 0.95)};
    for (size_t i = 0; i < sizeof singles / sizeof *singles; i++)
        assert_true(singles[i] == figures[i] || (isnan(singles[i]) && isnan(figures[i])));
}

static void agrees_with_r(void **state)
{
    (void)state;
    FILE *file = fopen(GESS_TESTS "/known/diagnose_posterior.csv", "r");
    assert_non_null(file);
    char names[2048], line[2048], *name[INPUTS + FIGURES], *field[INPUTS + FIGURES];
    double worst = 0.0;
    size_t cases = 0, wrong = 0;
    assert_non_null(fgets(names, sizeof names, file));
    assert_int_equal(split_line(names, name, INPUTS + FIGURES), INPUTS + FIGURES);
    while (fgets(line, sizeof line, file) != NULL) {
        assert_int_equal(split_line(line, field, INPUTS + FIGURES), INPUTS + FIGURES);
        input_case in;
        read_case(field, &in);
        double *x = calloc(in.chains * in.n, sizeof *x), figures[FIGURES];
        assert_non_null(x);
        input_fill(&in, x);
        gess__posterior_workspace *work;
        assert_int_equal(gess__posterior_workspace_new(&work, in.chains, in.n, NULL), GESS_OK);
        all_figures(work, x, figures);
        for (size_t i = 0; i < FIGURES; i++)
            if (!answer_agrees(field[INPUTS + i], figures[i], &worst)) {
                print_error("%s, %zu chains of %zu, strength %g: %s is %.17g, R says %s\n", in.kind, in.chains, in.n,
                            in.strength, name[INPUTS + i], figures[i], field[INPUTS + i]);
                wrong++;
            }
        check_singles(work, figures);
        gess__posterior_workspace_free(work);
        free(x);
        cases++;
    }
    fclose(file);
    print_message("%zu cases, worst relative deviation %.2g\n", cases, worst);
    assert_true(cases >= 200);
    assert_int_equal(wrong, 0);
}

/* Answers of R 4.2.2's qnorm and qbeta. */
static void quantile_functions(void **state)
{
    (void)state;
    static const double normal[][2] = {{1e-12, -7.03448382530113214},
                                       {1e-5, -4.26489079392282555},
                                       {0.06, -1.55477359459685305},
                                       {0.4, -0.25334710313579978},
                                       {0.5, 0.0},
                                       {0.975, 1.95996398454005361}};
    static const double beta[][4] = {{0.1586553, 1.0, 401.0, 0.00043071478127967665},
                                     {0.8413447, 3.5, 60.25, 0.08234462216155358227},
                                     {0.1586553, 5e6, 9.5e7, 0.04997820551005004164},
                                     {0.8413447, 801.0, 1.0, 0.99978435055433767520}};
    for (size_t i = 0; i < sizeof normal / sizeof *normal; i++)
        assert_true(fabs(gess__normal_quantile(normal[i][0]) - normal[i][1]) <= 1e-15 * fabs(normal[i][1]));
    for (size_t i = 0; i < sizeof beta / sizeof *beta; i++)
        assert_true(fabs(gess__beta_quantile(beta[i][0], beta[i][1], beta[i][2]) / beta[i][3] - 1.0) < 1e-12);
    assert_true(isnan(gess__beta_quantile(0.5, NAN, 1.0)));
}

static void refuses_no_draws(void **state)
{
    (void)state;
    gess__posterior_workspace *work;
    gess_error err;
    assert_int_equal(gess__posterior_workspace_new(&work, 0, 10, &err), GESS_ERR_USAGE);
    assert_int_equal(gess__posterior_workspace_new(&work, 3, 0, &err), GESS_ERR_USAGE);
    assert_int_equal(gess__posterior_workspace_new(&work, 100000, 100000, &err), GESS_ERR_USAGE);
    assert_null(work);
    gess__posterior_workspace_free(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_r), cmocka_unit_test(quantile_functions),
                                       cmocka_unit_test(refuses_no_draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
