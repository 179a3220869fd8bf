/* Exact invariance of every kernel without an approximation, with what it adapts frozen, and of parallel tempering with
 * each of them.
 *
 * A kernel is tested fresh and after a short warm-up. After the warm-up the states are replaced by exact draws that are
 * independent of what the kernel has learned. Each chain is a replicate: updated three times, it must be an exact draw
 * again. A replicate of tempering is a whole ladder, with every chain started from an exact draw at its temperature.
 * Runs over the table of kernels. `test_no_approx SEED` uses other draws. */
#include "base/mem.h"
#include "invariance/judge.h"
#include "invariance/targets.h"
#include "schedule/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { UPDATES = 3, WARMUP = 60, BASELINE = 4, TEMPERATURES = 4, SWEEPS = 4, MAX_DIM = 16 };
#define HOTTEST 3.0

struct setting {
    const gess__kernel *kernel;
    const exact_target *target;
    gess__team *team, *single;
    uint64_t seed;
    double order; /* tempering: at temperature t the target is t^order times as wide */
};

static const char *const names[] = {"x1",       "x2",       "log density",       "delta",
                                    "x1, mean", "x2, mean", "log density, mean", "delta, mean"};

static double *doubles(size_t count)
{
    gess_error err = {0};
    double *x = NULL;
    judge_must(gess__alloc_bytes(&x, count, sizeof *x, "a test", &err), &err);
    return x;
}

static double *baseline_of(const struct setting *s, size_t count, unsigned stage)
{
    double *before = doubles(EXACT_STATISTICS * count), x[MAX_DIM], scratch[MAX_DIM + 1];
    for (size_t i = 0; i < count; i++) {
        exact_draw(s->target, s->seed + 1000 + stage, i, x, scratch);
        exact_statistics(s->target, x, count, before + i);
    }
    return before;
}

static size_t compare(size_t n, double *after, size_t m, double *before, size_t count, double *p, const char **p_names)
{
    for (size_t k = 0; k < EXACT_STATISTICS; k++, count++) {
        p[count] = judge_means(n, after + k * n, m, before + k * m);
        p_names[count] = names[EXACT_STATISTICS + k];
    }
    for (size_t k = 0; k < EXACT_STATISTICS; k++, count++) {
        p[count] = judge_ks(n, after + k * n, m, before + k * m);
        p_names[count] = names[k];
    }
    return count;
}

/* ---- kernels ---- */

static void put_states(gess__ensemble *e, const exact_target *t, uint64_t seed)
{
    gess_error err = {0};
    double *mapped = doubles(gess__target_scratch(&e->target, e->chains.count));
    for (size_t i = 0; i < e->chains.count; i++)
        exact_state(t, &e->target.bounds, seed, i, e->chains.x + i * e->target.dim);
    judge_must(gess__target_evaluate(&e->target, 0, e->chains.count, e->chains.x, e->chains.value, NULL, NULL, mapped,
                                     &err),
               &err);
    free(mapped);
}

/* Returns the number of failed updates. */
static uint64_t run_kernel(const struct setting *s, size_t replicates, unsigned stage, int adapted, double *after)
{
    gess_error err = {0};
    gess_model model = exact_model(s->target);
    gess_options options;
    gess__sampler *sampler = NULL;
    gess__record none = {0};
    double x[MAX_DIM];
    gess__options_init(&options);
    options.chains = replicates;
    options.kernel = s->kernel->name;
    options.warmup = adapted ? WARMUP : 0;
    options.seed = s->seed + 31 * (stage + 1) + (uint64_t)adapted;
    options.block = 16;
    judge_must(gess__sampler_new(&sampler, &model, &options, 0, replicates, s->team, &err), &err);
    gess__ensemble *e = &sampler->ensemble;
    while (!sampler->adaptation.warmup.over) judge_must(gess__sampler_warm_up(sampler, &none, &err), &err);
    put_states(e, s->target, s->seed + 2000 + 2 * stage + (uint64_t)adapted);
    sampler->never_adapt = e->rebind = 1;
    judge_must(gess__sampler_advance(sampler, e->done[0] + UPDATES, &none, &err), &err);
    for (size_t i = 0; i < replicates; i++) {
        gess__bounds_out(&e->target.bounds, e->chains.x + i * e->target.dim, x);
        exact_statistics(s->target, x, replicates, after + i);
    }
    uint64_t failures = e->tally.failures;
    gess__sampler_free(sampler);
    return failures;
}

static size_t kernels(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **p_names)
{
    const struct setting *s = data;
    size_t baseline = BASELINE * replicates, count = 0;
    double *before = baseline_of(s, baseline, stage), *after = doubles(EXACT_STATISTICS * replicates);
    (void)max;
    for (int adapted = 0; adapted < (s->kernel->warmup != NULL ? 2 : 1); adapted++) {
        /* a slice contains the present point, so no update may fail */
        p[count] = run_kernel(s, replicates, stage, adapted, after) > 0 ? 0.0 : 1.0;
        p_names[count++] = "slices lost";
        count = compare(replicates, after, baseline, before, count, p, p_names);
    }
    free(before);
    free(after);
    return count;
}

/* ---- tempering ---- */

/* Makes an exact draw per temperature; tempering changes only the scale of these targets. */
static void put_ladder(gess__ensemble *e, const struct setting *s, uint64_t seed, size_t replicate)
{
    double scratch[MAX_DIM + 1];
    size_t dim = e->target.dim;
    for (size_t k = 0; k < TEMPERATURES; k++) {
        double *x = e->chains.x + k * dim;
        exact_draw(s->target, seed, replicate * TEMPERATURES + k, x, scratch);
        for (size_t i = 0; i < dim; i++) x[i] *= pow(e->chains.powers[k], -s->order);
    }
    s->target->logp(NULL, 0, TEMPERATURES, dim, e->chains.x, e->chains.value);
}

/* The statistics of the coldest chain, and of the hottest chain scaled back. */
static size_t ladders(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **p_names)
{
    const struct setting *s = data;
    gess_error err = {0};
    gess_model model = exact_model(s->target);
    gess_options options;
    gess__sampler *sampler = NULL;
    gess__record none = {0};
    size_t baseline = BASELINE * replicates, dim = s->target->dim;
    double *before = baseline_of(s, baseline, stage), *cold = doubles(EXACT_STATISTICS * replicates);
    double *hot = doubles(EXACT_STATISTICS * replicates), x[MAX_DIM];
    (void)max;
    gess__options_init(&options);
    options.chains = TEMPERATURES;
    options.kernel = s->kernel->name;
    options.schedule = "tempering";
    options.hottest = HOTTEST;
    options.warmup = 0;
    judge_must(gess__sampler_new(&sampler, &model, &options, 0, TEMPERATURES, s->single, &err), &err);
    gess__ensemble *e = &sampler->ensemble;
    sampler->never_adapt = 1;
    for (size_t r = 0; r < replicates; r++) {
        put_ladder(e, s, s->seed + 500 + stage, r);
        e->seed = s->seed + ((uint64_t)(stage + 1) << 40) + r;
        e->done[0] = e->done[1] = 0;
        judge_must(gess__sampler_advance(sampler, SWEEPS, &none, &err), &err);
        exact_statistics(s->target, e->chains.x, replicates, cold + r);
        for (size_t i = 0; i < dim; i++)
            x[i] = e->chains.x[(TEMPERATURES - 1) * dim + i] * pow(e->chains.powers[TEMPERATURES - 1], s->order);
        exact_statistics(s->target, x, replicates, hot + r);
    }
    if (e->tally.swapped == 0 || e->tally.swapped == e->tally.swaps) exit(2);
    gess__sampler_free(sampler);
    size_t count = compare(replicates, cold, baseline, before, 0, p, p_names);
    count = compare(replicates, hot, baseline, before, count, p, p_names);
    free(before);
    free(cold);
    free(hot);
    return count;
}

/* ---- the table ---- */

static const exact_target *target_named(const char *name)
{
    for (size_t i = 0; i < exact_target_count; i++)
        if (strcmp(exact_targets[i].name, name) == 0) return &exact_targets[i];
    exit(2);
}

static int test_kernel(struct setting *s, double false_alarms)
{
    int good = 1, gradient = s->kernel->needs & GESS__NEEDS_GRADIENT;
    char title[100];
    const exact_target *const of_slices[] = {&exact_pieces, &exact_wide};
    /* with steps of about one, a trajectory needs thousands of them to cross the wide target */
    for (size_t i = gradient ? 2 : 0; i < exact_target_count + 2; i++) {
        s->target = i < 2 ? of_slices[i] : &exact_targets[i - 2];
        snprintf(title, sizeof title, "kernel %s on %s", s->kernel->name, s->target->name);
        good &= judge_sequentially(title, kernels, s, gradient ? 5000 : 20000, false_alarms);
    }
    static const struct {
        const char *target;
        double order;
    } scaled[] = {{"gaussian", 0.5}, {"half-line", 1.0}};
    for (size_t i = 0; i < 2; i++) {
        s->target = target_named(scaled[i].target);
        s->order = scaled[i].order;
        snprintf(title, sizeof title, "tempering, kernel %s on %s", s->kernel->name, s->target->name);
        good &= judge_sequentially(title, ladders, s, gradient ? 5000 : 10000, false_alarms);
    }
    return good;
}

int main(int count, char **words)
{
    gess_error err = {0};
    struct setting s = {0};
    const char *only = getenv("GESS_KERNEL"); /* the mutation gate asks for the kernel that has the bug */
    int good = 1, no_approx = 0;
    s.seed = count > 1 ? 10000 * strtoull(words[1], NULL, 10) : 0;
    for (size_t k = 0; gess__kernel_row(k) != NULL; k++)
        no_approx += !(gess__kernel_row(k)->needs & GESS__NEEDS_APPROX);
    judge_must(gess__team_new(&s.team, 0, &err), &err);
    judge_must(gess__team_new(&s.single, 1, &err), &err);
    for (size_t k = 0; (s.kernel = gess__kernel_row(k)) != NULL; k++)
        if (!(s.kernel->needs & GESS__NEEDS_APPROX) &&
            (only == NULL || *only == '\0' || strcmp(only, s.kernel->name) == 0))
            good &= test_kernel(&s, 1e-5 / (double)(no_approx * ((int)exact_target_count + 4)));
    gess__team_free(s.team);
    gess__team_free(s.single);
    return !good;
}
