/* The paper's claims in small, on fixed seeds.
 *
 *   - figure 2: elliptical slice sampling with a Gaussian much narrower than the target gets stuck
 *     in the tails, and generalized elliptical slice sampling with the same scale does not;
 *   - section 6.1: two groups converge on the Gaussian mixture;
 *   - section 6.2: two groups of 100 converge on a 50-dimensional Wishart Gaussian. */
#include "base/mem.h"
#include "diagnose/posterior.h"

#include <gess/gess.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a run whose draws are kept in memory ---- */

typedef struct kept {
    size_t chains, dim;
    uint64_t draws;
    double *values; /* parameter by parameter, chain by chain */
    gess_stats stats;
} kept;

static void keep(void *user, size_t first_chain, size_t chains, uint64_t first, uint64_t draws, size_t dim,
                 const double *rows)
{
    kept *k = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t j = 0; j < dim; j++)
                k->values[(j * k->chains + first_chain + c) * k->draws + first + i] = rows[(c * draws + i) * (dim + 1) + 1 + j];
}

static void sample(kept *k, const char *model_name, const gess_options *options)
{
    gess_error err = {0};
    const gess_model *model = NULL;
    gess_run *run = NULL;
    assert_int_equal(gess_model_open(&model, model_name, &err), GESS_OK);
    *k = (kept){.chains = (size_t)options->chains, .dim = model->dim, .draws = options->draws};
    k->values = malloc(k->chains * k->dim * k->draws * sizeof *k->values);
    assert_int_equal(gess_run_new(&run, model, options, NULL, &err), GESS_OK);
    gess_run_on_draw(run, keep, k);
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    gess_run_stats(run, &k->stats);
    gess_run_free(run);
    gess_model_close(model);
}

/* Figures of every parameter; the worst R-hat and smallest bulk ESS are returned. */
static void judge(const kept *k, gess__posterior_figures *figures, double *worst_rhat, double *least_ess)
{
    gess_error err = {0};
    gess__posterior_workspace *work = NULL;
    assert_int_equal(gess__posterior_workspace_new(&work, k->chains, (size_t)k->draws, &err), GESS_OK);
    *worst_rhat = 0.0;
    *least_ess = INFINITY;
    for (size_t j = 0; j < k->dim; j++) {
        gess__posterior_all(work, k->values + j * k->chains * k->draws, &figures[j]);
        *worst_rhat = fmax(*worst_rhat, figures[j].rhat);
        *least_ess = fmin(*least_ess, figures[j].ess_bulk);
    }
    gess__posterior_workspace_free(work);
}

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
    gess_options_init(&o);
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
    free(k.values);
    return stay;
}

static void narrow_gaussian_gets_stuck(void **state)
{
    (void)state;
    uint64_t narrow = stay_with("ess", "{\"nu\": null, \"mu\": [0], \"sigma\": [[0.01]]}");
    uint64_t fair = stay_with("ess", "{\"nu\": null, \"mu\": [0], \"sigma\": [[1]]}");
    uint64_t wide = stay_with("ess", "{\"nu\": null, \"mu\": [0], \"sigma\": [[10]]}");
    uint64_t heavy = stay_with("gess", "{\"nu\": 2, \"mu\": [0], \"sigma\": [[0.01]]}");
    printf("longest stay of a chain: ess with variance 0.01 %llu, 1 %llu, 10 %llu; gess with t2, 0.01 %llu iterations\n",
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
    gess_options_init(&o);
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
    free(k.values);
}

static void two_group_converges_on_wishart(void **state)
{
    (void)state;
    enum { DIM = 50 };
    gess_options o;
    kept k;
    gess__posterior_figures f[DIM];
    double rhat, ess, worst = 0.0;
    gess_options_init(&o);
    o.schedule = "two-group";
    o.chains = 200;
    o.warmup = 3000;
    o.draws = 4000;
    o.reuse = 10;
    char name[4200];
    snprintf(name, sizeof name, "wishart:file=%s/../data/wishart50.csv", GESS_TESTS);
    sample(&k, name, &o);
    judge(&k, f, &rhat, &ess);
    /* the truth: sqrt of the diagonal of the inverse, by the model's own gradient at unit vectors */
    double precision[DIM * DIM], inverse[DIM * DIM] = {0}, x[DIM * DIM] = {0}, logp[DIM], gradient[DIM * DIM];
    gess_error err = {0};
    const gess_model *model = NULL;
    assert_int_equal(gess_model_open(&model, name, &err), GESS_OK);
    for (size_t i = 0; i < DIM; i++) x[i * DIM + i] = 1.0;
    model->gradient(model->user, 0, DIM, DIM, x, logp, gradient);
    for (size_t i = 0; i < DIM * DIM; i++) precision[i] = -gradient[i];
    gess_model_close(model);
    for (size_t i = 0; i < DIM; i++) inverse[i * DIM + i] = 1.0;
    for (size_t p = 0; p < DIM; p++) { /* Gauss and Jordan; the matrix is positive definite */
        double pivot = precision[p * DIM + p];
        for (size_t j = 0; j < DIM; j++) {
            precision[p * DIM + j] /= pivot;
            inverse[p * DIM + j] /= pivot;
        }
        for (size_t i = 0; i < DIM; i++) {
            double factor = precision[i * DIM + p];
            if (i == p) continue;
            for (size_t j = 0; j < DIM; j++) {
                precision[i * DIM + j] -= factor * precision[p * DIM + j];
                inverse[i * DIM + j] -= factor * inverse[p * DIM + j];
            }
        }
    }
    for (size_t j = 0; j < DIM; j++) {
        double truth = sqrt(inverse[j * DIM + j]);
        worst = fmax(worst, fabs(f[j].sd / truth - 1.0));
    }
    printf("wishart: worst R-hat %.4f, smallest bulk ESS %.0f of %llu evaluations, largest relative error of an sd %.4f\n",
           rhat, ess, (unsigned long long)k.stats.evals_sampling, worst);
    assert_true(rhat < 1.05);
    assert_true(worst < 0.05);
    free(k.values);
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
