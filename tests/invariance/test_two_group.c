/* Exact invariance of whole two-group sweeps, fits included.
 *
 * All chains start from independent exact draws; after three full sweeps the ensemble must again
 * be a set of independent exact draws. The chains of a replicate share fits, so a replicate gives
 * ONE number per statistic: pooled over the chains, or of chain 0. */
#include "base/mem.h"
#include "invariance/judge.h"
#include "invariance/targets.h"
#include "schedule/two_group.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 3, STATISTICS = 6, BASELINE = 4, MAX_CHAINS = 64 };

struct setting {
    const exact_target *target;
    size_t chains;
    uint64_t reuse;
    gess__team *team;         /* shares the replicates */
    gess__team **single;      /* a team of one thread per worker, for the run of a replicate */
    gess__sampler **samplers; /* one per worker */
    gess_model *model;
    unsigned stage;
    size_t replicates;
    double *after;
};

static const char *const names[] = {"pooled x1",          "pooled x1 squared",       "pooled log density",
                                    "pooled delta",       "x1 of chain 0",           "x2 of chain 0",
                                    "pooled x1, mean",    "pooled x1 squared, mean", "pooled log density, mean",
                                    "pooled delta, mean", "x1 of chain 0, mean",     "x2 of chain 0, mean"};

/* The statistics of one ensemble; statistic k goes to out[k · stride]. */
static void statistics(const exact_target *t, size_t chains, const double *x, size_t stride, double *out)
{
    double sums[4] = {0};
    for (size_t c = 0; c < chains; c++) {
        double logp;
        t->logp(NULL, 0, 1, t->dim, x + c * t->dim, &logp);
        sums[0] += x[c * t->dim];
        sums[1] += x[c * t->dim] * x[c * t->dim];
        sums[2] += logp;
        sums[3] += t->delta(x + c * t->dim);
    }
    for (size_t k = 0; k < 4; k++) out[k * stride] = sums[k] / (double)chains;
    out[4 * stride] = x[0];
    out[5 * stride] = x[1];
}

static void draw_ensemble(const struct setting *s, uint64_t seed, size_t replicate, double *x)
{
    double scratch[17];
    for (size_t c = 0; c < s->chains; c++)
        exact_draw(s->target, seed, replicate * s->chains + c, x + c * s->target->dim, scratch);
}

static int run_replicate(void *data, unsigned worker, size_t replicate, gess_error *err)
{
    const struct setting *s = data;
    gess__sampler *sampler = s->samplers[worker];
    gess__ensemble *e = &sampler->ensemble;
    gess__two_group *groups = sampler->state;
    draw_ensemble(s, 500 + s->stage, replicate, e->chains.x);
    s->model->logp(NULL, 0, s->chains, s->target->dim, e->chains.x, e->chains.value);
    e->seed = ((uint64_t)(s->stage + 1) << 40) + replicate;
    groups->turn = groups->fitted = 0;
    e->done[0] = e->done[1] = 0;
    gess__record none = {0};
    for (;;) {
        gess__stretch stretch;
        gess__sampler_next(sampler, SWEEPS * s->reuse, &stretch);
        if (stretch.count == 0) break;
        GESS_TRY(gess__sampler_run(sampler, &stretch, &none, err));
    }
    statistics(s->target, s->chains, e->chains.x, s->replicates, s->after + replicate);
    return GESS_OK;
}

static size_t family(size_t replicates, unsigned stage, void *data, size_t max, double *p, const char **p_names)
{
    struct setting *s = data;
    gess_error err = {0};
    double *before = NULL, x[MAX_CHAINS * 16];
    size_t baseline = BASELINE * replicates, count = 0;
    (void)max;
    s->stage = stage;
    s->replicates = replicates;
    judge_must(gess__alloc_bytes(&before, STATISTICS * baseline, sizeof *before, "before", &err), &err);
    judge_must(gess__alloc_bytes(&s->after, STATISTICS * replicates, sizeof *s->after, "after", &err), &err);
    for (size_t i = 0; i < baseline; i++) {
        draw_ensemble(s, 900 + stage, i, x);
        statistics(s->target, s->chains, x, baseline, before + i);
    }
    judge_must(gess__team_run(s->team, replicates, run_replicate, s, &err), &err);
    for (size_t k = 0; k < STATISTICS; k++, count++) {
        p[count] = judge_means(replicates, s->after + k * replicates, baseline, before + k * baseline);
        p_names[count] = names[STATISTICS + k];
    }
    for (size_t k = 0; k < STATISTICS; k++, count++) {
        p[count] = judge_ks(replicates, s->after + k * replicates, baseline, before + k * baseline);
        p_names[count] = names[k];
    }
    free(before);
    free(s->after);
    return count;
}

static int judge_target(struct setting *s, double false_alarms)
{
    gess_error err = {0};
    gess_model model = exact_model(s->target);
    gess_options options;
    char title[100];
    unsigned workers = gess__team_size(s->team);
    s->model = &model;
    gess__options_init(&options);
    options.chains = s->chains;
    options.schedule = "two-group";
    options.warmup = 0;
    options.reuse = s->reuse;
    judge_must(gess__alloc_bytes(&s->samplers, workers, sizeof *s->samplers, "samplers", &err), &err);
    for (unsigned w = 0; w < workers; w++)
        judge_must(gess__sampler_new(&s->samplers[w], &model, &options, 0, s->chains, s->single[w], &err), &err);
    snprintf(title, sizeof title, "two-group on %s, %zu chains, reuse %d", s->target->name, s->chains, (int)s->reuse);
    int good = judge_sequentially(title, family, s, 10000, false_alarms);
    for (unsigned w = 0; w < workers; w++) gess__sampler_free(s->samplers[w]);
    free(s->samplers);
    return good;
}

int main(void)
{
    /* few chains, so that the influence of a chain on its fit would show; both fits (ECME and projected)
     * and reuse occur */
    static const struct {
        size_t target, chains;
        uint64_t reuse;
    } cases[] = {{0, 12, 1}, {1, 14, 1}, {2, 44, 1}, {2, 16, 1}, {3, 24, 1}, {4, 12, 1}, {0, 9, 2}};
    enum { CASES = sizeof cases / sizeof *cases };
    gess_error err = {0};
    struct setting s = {0};
    int good = 1;
    judge_must(gess__team_new(&s.team, 0, &err), &err);
    unsigned workers = gess__team_size(s.team);
    judge_must(gess__alloc_bytes(&s.single, workers, sizeof *s.single, "teams", &err), &err);
    for (unsigned w = 0; w < workers; w++) judge_must(gess__team_new(&s.single[w], 1, &err), &err);
    for (size_t i = 0; i < CASES; i++) {
        s.target = &exact_targets[cases[i].target];
        s.chains = cases[i].chains;
        s.reuse = cases[i].reuse;
        good &= judge_target(&s, 1e-5 / CASES);
    }
    gess__team_free(s.team);
    for (unsigned w = 0; w < workers; w++) gess__team_free(s.single[w]);
    free(s.single);
    return !good;
}
