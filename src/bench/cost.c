/* Cost to accuracy: the evaluations, warm-up included, after which every posterior mean is known to 0.05
 * posterior standard deviations, which is what 400 independent draws give.
 *
 * At each of a ladder of total budgets, the root mean square error over the seeds of each parameter's mean,
 * in posterior sds, against the truth or a long reference (truth.c); what counts is the worst parameter. The
 * cost is where it falls below 0.05 for good, by interpolation between two budgets on log scales.
 *
 * gess makes a run for every budget: its warm-up ends itself, at half of the budget at the latest (and after
 * the default --max-warmup-evals), and it samples with what is left. A run whose warm-up leaves nothing counts
 * as an infinite error. The peers make one run of the largest budget, whose beginnings are those of smaller
 * ones, and the first half of each is discarded. */
#include "base/mem.h"
#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL                                                                                                  \
    "funnel,mixture,breast-cancer,german-credit,stochastic-volatility,ionosphere,snp,wishart,eight-schools," \
    "eight-schools:centred=0,rats,seeds"
#define ENOUGH 0.05

enum { MOST_BUDGETS = 24, FIRST_BUDGET = 25000 };

typedef struct ladder {
    const gess__bench_options *options;
    const char *model;
    size_t dim, budgets;
    uint64_t seeds;
    const double *mean, *sd; /* the truth */
    double budget[MOST_BUDGETS];
    double worst[MOST_BUDGETS];     /* RMSE of the worst parameter; NaN: not measured */
    size_t parameter[MOST_BUDGETS]; /* which */
    double *square;                 /* budgets × dim: squared errors, summed over the seeds */
    double warmup[MOST_BUDGETS];    /* evaluations of warm-up, mean over the seeds */
} ladder;

static void add_errors(ladder *l, size_t b, const double *mean)
{
    for (size_t j = 0; j < l->dim; j++) {
        double error = mean != NULL ? (mean[j] - l->mean[j]) / l->sd[j] : INFINITY;
        l->square[b * l->dim + j] += isfinite(error) ? error * error : INFINITY;
    }
}

static void find_worst(ladder *l, size_t b)
{
    l->worst[b] = -1.0;
    for (size_t j = 0; j < l->dim; j++) {
        double rmse = sqrt(l->square[b * l->dim + j] / (double)l->seeds);
        if (rmse > l->worst[b]) {
            l->worst[b] = rmse;
            l->parameter[b] = j;
        }
    }
}

/* Up the ladder until the error has been small twice. */
static int climb_own(ladder *l, gess_error *err)
{
    gess_options defaults;
    gess_options_init(&defaults);
    for (size_t b = 0, good = 0; b < l->budgets && good < 2; b++) {
        for (uint64_t seed = 1; seed <= l->seeds; seed++) {
            gess__sampled s;
            uint64_t total = (uint64_t)l->budget[b], most = total / 2;
            if (most > defaults.max_warmup_evals) most = defaults.max_warmup_evals;
            gess__plan plan = {.model = l->model,
                               .settings = l->options->settings,
                               .seed = seed,
                               .max_warmup = most,
                               .total = total};
            int status = gess__sample_own(&plan, &s, err);
            /* where warm-up left nothing, the first few draws were taken on credit */
            double spent = (double)s.evals_warmup + (double)s.evals_sampling;
            if (status == GESS_OK) add_errors(l, b, spent <= 1.05 * (double)total ? s.mean : NULL);
            l->warmup[b] += (double)s.evals_warmup / (double)l->seeds;
            gess__sampled_free(&s);
            GESS_TRY(status);
        }
        find_worst(l, b);
        good = l->worst[b] < ENOUGH ? good + 1 : 0;
    }
    return GESS_OK;
}

/* The mean of the iterations that ended in the second half of a budget; 0 where there are none. */
static int mean_of(const gess__sampled *s, double budget, double *mean)
{
    size_t columns = 1 + s->dim, count = 0;
    memset(mean, 0, s->dim * sizeof *mean);
    for (uint64_t i = 0; i < s->draws; i++) {
        const double *row = s->values + i * columns;
        if (row[0] > budget || row[0] <= 0.5 * budget) continue;
        for (size_t j = 0; j < s->dim; j++) mean[j] += row[1 + j];
        count++;
    }
    for (size_t j = 0; j < s->dim && count > 0; j++) mean[j] /= (double)count;
    return count > 0;
}

static int climb_peer(ladder *l, const char *sampler, gess_error *err)
{
    double *mean = NULL;
    int status = gess__alloc_bytes(&mean, l->dim, sizeof *mean, "means", err);
    for (uint64_t seed = 1; status == GESS_OK && seed <= l->seeds; seed++) {
        gess__sampled s;
        status = gess__peer_means(sampler, l->model, seed, (uint64_t)l->budget[l->budgets - 1], &s, err);
        for (size_t b = 0; status == GESS_OK && b < l->budgets; b++) {
            /* of a run that gave up, what it has is not what the budget buys */
            int there = mean_of(&s, l->budget[b], mean) &&
                        (s.fault[0] == '\0' || s.values[(s.draws - 1) * (1 + s.dim)] >= 0.9 * l->budget[b]);
            add_errors(l, b, there ? mean : NULL);
            l->warmup[b] = 0.5 * l->budget[b];
        }
        gess__sampled_free(&s);
    }
    for (size_t b = 0; status == GESS_OK && b < l->budgets; b++) find_worst(l, b);
    free(mean);
    return status;
}

/* Where the error falls below ENOUGH for good; INFINITY: not on this ladder. *at_most: it was there at the
 * first budget already. */
static double find_cost(const ladder *l, int *at_most)
{
    size_t first = l->budgets, last = l->budgets;
    while (last > 0 && isnan(l->worst[last - 1])) last--;
    for (size_t b = last; b-- > 0 && l->worst[b] < ENOUGH;) first = b;
    *at_most = first == 0;
    if (first >= last) return INFINITY;
    if (first == 0 || !isfinite(l->worst[first - 1])) return l->budget[first];
    double above = log(l->worst[first - 1] / ENOUGH), below = log(ENOUGH / l->worst[first]);
    double share = above / (above + below);
    return l->budget[first - 1] * pow(l->budget[first] / l->budget[first - 1], share);
}

static void report(const ladder *l, const char *sampler, int known, json_t *rows)
{
    int at_most;
    double cost = find_cost(l, &at_most);
    json_t *steps = json_array();
    gess__bench_say(l->options, "  %-24s %-6s ", l->model, sampler);
    if (isfinite(cost))
        gess__bench_say(l->options, "%s%10.4g  ", at_most ? "<" : " ", cost);
    else
        gess__bench_say(l->options, ">%10.4g  ", l->budget[l->budgets - 1]);
    for (size_t b = 0; b < l->budgets && !isnan(l->worst[b]); b++) {
        gess__bench_say(l->options, " %.3g", l->worst[b]);
        json_array_append_new(steps,
                              json_pack("{s:f, s:o, s:I, s:o}", "budget", l->budget[b], "worst_rmse",
                                        gess__bench_number(l->worst[b]), "parameter", (json_int_t)l->parameter[b] + 1,
                                        "evals_warmup", gess__bench_number(l->warmup[b])));
    }
    gess__bench_say(l->options, "\n");
    json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:b, s:s, s:o}", "model", l->model, "sampler", sampler,
                                          "cost", gess__bench_number(cost), "at_most", at_most, "against",
                                          known ? "truth" : "reference", "ladder", steps));
}

static int measure(const gess__bench_options *o, const char *sampler, const char *specification, uint64_t seeds,
                   uint64_t most, json_t *rows, gess_error *err)
{
    ladder l = {.options = o, .model = specification, .seeds = seeds};
    const gess_model *model = NULL;
    double *mean = NULL, *sd = NULL;
    int known = 0, status = gess_model_open(&model, specification, NULL, err);
    if (status == GESS_OK) status = gess__bench_truth(model, specification, &mean, &sd, &known, err);
    for (double b = FIRST_BUDGET; l.budgets < MOST_BUDGETS && (b <= (double)most || l.budgets == 0); b *= 2.0) {
        l.worst[l.budgets] = NAN;
        l.budget[l.budgets++] = b;
    }
    l.mean = mean;
    l.sd = sd;
    if (status == GESS_OK) {
        l.dim = model->dim;
        status = gess__alloc_bytes(&l.square, l.budgets * l.dim, sizeof *l.square, "errors", err);
    }
    if (status == GESS_OK) status = strcmp(sampler, "gess") == 0 ? climb_own(&l, err) : climb_peer(&l, sampler, err);
    if (status == GESS_OK) report(&l, sampler, known, rows);
    gess_model_close(model);
    free(mean);
    free(sd);
    free(l.square);
    return status;
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    gess__bench_list models, samplers;
    uint64_t seeds = o->seeds > 0 ? o->seeds : o->quick ? 2 : 10;
    uint64_t most = o->evals > 0 ? o->evals : o->quick ? 50000 : 3200000;
    GESS_TRY(gess__bench_split(o->models != NULL ? o->models : o->quick ? "gaussian,mixture" : ALL, &models, err));
    GESS_TRY(gess__bench_samplers(o, &samplers, err));
    gess__bench_say(o,
                    "Evaluations in all until every posterior mean is known to %g sd: the worst parameter's RMSE over "
                    "%llu seeds.\nThen that RMSE at %d evaluations and at each doubling.\n",
                    ENOUGH, (unsigned long long)seeds, FIRST_BUDGET);
    json_t *rows = json_array();
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && i < models.count; i++)
        for (size_t k = 0; status == GESS_OK && k < samplers.count; k++)
            status = measure(o, samplers.item[k], models.item[i], seeds, most, rows, err);
    *json = json_pack("{s:f, s:I, s:o}", "rmse", ENOUGH, "seeds", (json_int_t)seeds, "rows", rows);
    return status;
}

const gess__bench gess__bench_cost = {
    .name = "cost",
    .help = "evaluations until every mean is known to 0.05 sd, gess, emcee and zeus (by name only)",
    .table = table,
};
