/* What is kept of an exact ensemble with a T that is too light: all of it.
 *
 * Chains start from independent exact draws; T is a Gaussian, 0.7 times as wide as the target, fixed, and all moves are
 * independence moves. Chains that are far out then wait there for long, and a controller is tempted to drop the
 * segments in which they do. The kept draws of a replicate give one number per statistic, the mean over chains and
 * iterations, whose expectation is that of an exact draw if, and only if, no segment is dropped for what it shows. */
#include "base/mem.h"
#include "invariance/judge.h"
#include "invariance/targets.h"
#include "schedule/schedule.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CHAINS = 4, STRETCHES = 4, ITERATIONS = 8, LEARN_POINTS = 2000, BASELINE = 4, MAX_DIM = 16 };

struct setting {
    const exact_target *target;
    gess__team *team;
};

/* Sums over the draws that have arrived. */
struct kept {
    const exact_target *target;
    double sums[EXACT_STATISTICS];
    double count;
};

static const char *const names[EXACT_STATISTICS] = {"x1, mean", "x2, mean", "log density, mean", "delta, mean"};

/* δ has no mean for heavy tails, so its root of fourth order stands for it. */
static void bounded_statistics(const exact_target *t, const double *x, size_t stride, double *out)
{
    exact_statistics(t, x, stride, out);
    out[3 * stride] = sqrt(sqrt(out[3 * stride]));
}

static int keep(void *user, const gess__segment *segment, gess_error *err)
{
    struct kept *k = user;
    size_t columns = k->target->dim + 1;
    (void)err;
    for (size_t i = 0; i < segment->count * segment->draws; i++) {
        double s[EXACT_STATISTICS];
        bounded_statistics(k->target, segment->rows + i * columns + 1, 1, s);
        for (size_t j = 0; j < EXACT_STATISTICS; j++) k->sums[j] += s[j];
        k->count += 1.0;
    }
    return GESS_OK;
}

/* A T that is fitted to exact draws drawn together. */
static void make_light(gess__ensemble *e, const exact_target *t)
{
    gess_error err = {0};
    gess__fitter *fitter = NULL;
    gess__fit_report report;
    double *y = NULL, scratch[MAX_DIM + 1];
    judge_must(gess__alloc_bytes(&y, LEARN_POINTS * t->dim, sizeof *y, "a test", &err), &err);
    for (size_t i = 0; i < LEARN_POINTS; i++) {
        exact_draw(t, 77, i, y + i * t->dim, scratch);
        for (size_t j = 0; j < t->dim; j++) y[i * t->dim + j] *= 0.7;
    }
    judge_must(gess__fitter_new(&fitter, t->dim, LEARN_POINTS, &err), &err);
    gess__fit(fitter, LEARN_POINTS, y, GESS__FIT_QUICK, e->frozen.approx, &report);
    gess__fitter_free(fitter);
    e->frozen.approx->nu = INFINITY;
    gess__approx_copy(e->frozen.mixture->component[0], e->frozen.approx);
    free(y);
}

/* One replicate: the means over what is kept go to out[k · stride]. */
static void run_replicate(gess__sampler *sampler, const exact_target *t, uint64_t seed, size_t number, size_t stride,
                          double *out)
{
    gess__ensemble *e = &sampler->ensemble;
    gess_error err = {0};
    struct kept kept = {.target = t};
    double scratch[MAX_DIM + 1];
    for (size_t c = 0; c < CHAINS; c++) {
        exact_draw(t, seed, number * CHAINS + c, e->chains.x + c * t->dim, scratch);
        t->logp(NULL, 0, 1, t->dim, e->chains.x + c * t->dim, &e->chains.value[c]);
    }
    e->seed = (seed << 32) + number;
    e->rebind = 1;
    e->done[0] = e->done[1] = 0;
    gess__record record = {.thin = 1, .sink = keep, .user = &kept};
    for (uint64_t until = ITERATIONS; until <= STRETCHES * ITERATIONS; until += ITERATIONS)
        judge_must(gess__sampler_advance(sampler, until, &record, &err), &err);
    for (size_t k = 0; k < EXACT_STATISTICS; k++) out[k * stride] = kept.sums[k] / kept.count;
}

static size_t family(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **p_names)
{
    const struct setting *s = data;
    const exact_target *t = s->target;
    gess_error err = {0};
    gess_model model = exact_model(t);
    gess_options options;
    gess__sampler *sampler = NULL;
    size_t baseline = BASELINE * CHAINS * replicates;
    double *before = NULL, *after = NULL, x[MAX_DIM], scratch[MAX_DIM + 1];
    (void)max;
    judge_must(gess__alloc_bytes(&before, EXACT_STATISTICS * baseline, sizeof *before, "a test", &err), &err);
    judge_must(gess__alloc_bytes(&after, EXACT_STATISTICS * replicates, sizeof *after, "a test", &err), &err);
    for (size_t i = 0; i < baseline; i++) {
        exact_draw(t, 1000 + stage, i, x, scratch);
        bounded_statistics(t, x, baseline, before + i);
    }
    gess__options_init(&options);
    options.chains = CHAINS;
    options.warmup = 0;
    judge_must(gess__sampler_new(&sampler, &model, &options, 0, CHAINS, s->team, &err), &err);
    make_light(&sampler->ensemble, t);
    sampler->ensemble.frozen.moves = (gess__move_mix){.independence = 1, .period = 1};
    size_t count = 0;
    for (size_t i = 0; i < replicates; i++) {
        double row[EXACT_STATISTICS];
        run_replicate(sampler, t, 2000 + stage, i, 1, row);
        if (isnan(row[0])) continue; /* nothing was kept: only a mutant does that */
        for (size_t k = 0; k < EXACT_STATISTICS; k++) after[k * replicates + count] = row[k];
        count++;
    }
    gess__sampler_free(sampler);
    for (size_t k = 0; k < EXACT_STATISTICS; k++) {
        p[k] = judge_means(count, after + k * replicates, baseline, before + k * baseline);
        p_names[k] = names[k];
    }
    free(before);
    free(after);
    return EXACT_STATISTICS;
}

int main(void)
{
    gess_error err = {0};
    struct setting s = {0};
    int good = 1;
    judge_must(gess__team_new(&s.team, 1, &err), &err);
    for (size_t i = 0; i < exact_target_count; i++) {
        char title[100];
        s.target = &exact_targets[i];
        if (s.target->lower != NULL || s.target->upper != NULL) continue; /* states are in the user's space */
        snprintf(title, sizeof title, "kept draws of %s with a T that is too light", s.target->name);
        good &= judge_sequentially(title, family, &s, 4000, 1e-5 / (double)exact_target_count);
    }
    gess__team_free(s.team);
    return !good;
}
