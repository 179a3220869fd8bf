/* Exact invariance of every kernel that has an approximation, with the approximation frozen (test_no_approx.c
 * has the others).
 *
 * T is fitted to draws that are independent of the tested states. Given T the chains are then
 * independent of each other, so that each is a replicate: started from an exact draw and updated
 * three times, it must be an exact draw again. Runs over the table of kernels, so a new kernel is
 * tested without anyone remembering to. */
#include "base/mem.h"
#include "invariance/judge.h"
#include "invariance/targets.h"
#include "schedule/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UPDATES = 3, BASELINE = 4, FIT_POINTS = 200 };

struct setting {
    const gess__kernel *kernel;
    const exact_target *target;
    gess__team *team;
};

static const char *const names[] = {"x1",       "x2",       "log density",       "delta",
                                    "x1, mean", "x2, mean", "log density, mean", "delta, mean"};

/* T from independent draws, by ECME. Every second test gets a T that is poor on purpose, since
 * invariance must not depend on its quality. */
static void fit_approximation(const exact_target *t, const gess__bounds *bounds, gess__approx *approx, int poor)
{
    gess_error err = {0};
    gess__fitter *fitter = NULL;
    gess__fit_report report;
    size_t dim = approx->dim;
    double points[FIT_POINTS * 16];
    for (size_t k = 0; k < FIT_POINTS; k++) exact_state(t, bounds, 77, k, points + k * dim);
    judge_must(gess__fitter_new(&fitter, dim, FIT_POINTS, &err), &err);
    gess__fit(fitter, FIT_POINTS, points, GESS__FIT_QUICK, approx, &report);
    gess__fitter_free(fitter);
    approx->nu = isinf(approx->nu) ? 8.0 : approx->nu;
    if (!poor) return;
    approx->nu = 2.5;
    for (size_t i = 0; i < dim; i++) {
        approx->mu[i] += 0.4;
        for (size_t k = 0; k <= i; k++) approx->chol[i + k * dim] *= 0.8;
    }
    gess__approx_ready(approx);
}

static size_t family(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **p_names)
{
    const struct setting *s = data;
    const exact_target *t = s->target;
    gess_error err = {0};
    gess_model model = exact_model(t);
    gess_options options;
    gess__sampler *sampler = NULL;
    double *before = NULL, *after = NULL, scratch[17], x[16];
    size_t baseline = BASELINE * replicates, count = 0;
    (void)max;
    judge_must(gess__alloc_bytes(&before, EXACT_STATISTICS * baseline, sizeof *before, "before", &err), &err);
    judge_must(gess__alloc_bytes(&after, EXACT_STATISTICS * replicates, sizeof *after, "after", &err), &err);
    for (size_t i = 0; i < baseline; i++) {
        exact_draw(t, 1000 + stage, i, x, scratch);
        exact_statistics(t, x, baseline, before + i);
    }
    for (int poor = 0; poor < 2; poor++) {
        gess__options_init(&options);
        options.chains = replicates;
        options.kernel = s->kernel->name;
        options.schedule = "fixed";
        options.warmup = 0;
        options.seed = 31 * (stage + 1) + (uint64_t)poor;
        options.block = 16;
        judge_must(gess__sampler_new(&sampler, &model, &options, 0, replicates, s->team, &err), &err);
        gess__ensemble *e = &sampler->ensemble;
        const gess__bounds *bounds = &e->target.bounds;
        size_t inner = e->target.dim;
        double *mapped = NULL;
        judge_must(gess__alloc_bytes(&mapped, gess__target_scratch(&e->target, replicates), sizeof *mapped, "mapped",
                                     &err),
                   &err);
        fit_approximation(t, bounds, e->frozen.approx, poor);
        for (size_t i = 0; i < replicates; i++)
            exact_state(t, bounds, 2000 + 2 * stage + (uint64_t)poor, i, e->chains.x + i * inner);
        judge_must(gess__target_evaluate(&e->target, 0, replicates, e->chains.x, e->chains.value, NULL, NULL, mapped,
                                         &err),
                   &err);
        free(mapped);
        gess__stretch stretch;
        gess__record none = {0};
        gess__sampler_next(sampler, UPDATES, &stretch);
        judge_must(gess__sampler_run(sampler, &stretch, &none, &err), &err);
        for (size_t i = 0; i < replicates; i++) {
            gess__bounds_out(bounds, e->chains.x + i * inner, x);
            exact_statistics(t, x, replicates, after + i);
        }
        for (size_t k = 0; k < EXACT_STATISTICS; k++, count++) {
            p[count] = judge_means(replicates, after + k * replicates, baseline, before + k * baseline);
            p_names[count] = names[EXACT_STATISTICS + k];
        }
        for (size_t k = 0; k < EXACT_STATISTICS; k++, count++) {
            p[count] = judge_ks(replicates, after + k * replicates, baseline, before + k * baseline);
            p_names[count] = names[k];
        }
        gess__sampler_free(sampler);
        sampler = NULL;
    }
    free(before);
    free(after);
    return count;
}

int main(void)
{
    gess_error err = {0};
    struct setting s = {0};
    int good = 1, tests = 0;
    for (size_t k = 0; gess__kernel_row(k) != NULL; k++)
        if (gess__kernel_row(k)->needs & GESS__NEEDS_APPROX) tests += (int)exact_target_count;
    judge_must(gess__team_new(&s.team, 0, &err), &err);
    for (size_t k = 0; (s.kernel = gess__kernel_row(k)) != NULL; k++)
        for (size_t i = 0; (s.kernel->needs & GESS__NEEDS_APPROX) && i < exact_target_count; i++) {
            char title[100];
            s.target = &exact_targets[i];
            snprintf(title, sizeof title, "kernel %s on %s", s.kernel->name, s.target->name);
            good &= judge_sequentially(title, family, &s, 40000, 1e-5 / tests);
        }
    gess__team_free(s.team);
    return !good;
}
