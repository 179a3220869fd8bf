/* Cost to accuracy: the evaluations, warm-up included, until every posterior mean is known to 0.05 posterior standard
 * deviations, the accuracy of 400 independent draws.
 *
 * For a ladder of budgets, the root mean square error over the seeds of every parameter's mean is measured, in
 * posterior sds, against the truth or a long reference (truth.c); the worst parameter counts. The cost is the budget at
 * which the error falls below 0.05 for good, interpolated between two budgets on log scales.
 *
 * The means favour chains that start around the posterior mean, as on the funnel or any centred Gaussian: chains that
 * never move pass. So there is a second cost, of the means and of the mean distances from the true mean, E|x - E x|, by
 * the same rule. Compare by the second.
 *
 * gess makes a run per budget: its warm-up decides when it ends, at the latest after three quarters of the budget, as
 * with --max-evals, or the default --max-warmup-evals, and the rest is for sampling. Warm-up works for as many
 * effective draws as the accuracy takes. If it leaves nothing, the error counts as infinite. The peers make one run of
 * the largest budget, whose beginnings serve as the smaller ones; the first half of a budget is discarded. */
#include "base/mem.h"
#include "base/options.h"
#include "bench/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ERROR 0.05 /* in posterior sds */

enum { MAX_BUDGETS = 24, FIRST_BUDGET = 2000 };

/* What must be accurate: the means; the means and the distances. */
enum { MEANS, BOTH, KINDS };

/* One total budget. */
typedef struct step {
    double budget;
    double worst[KINDS];     /* RMSE of the worst parameter */
    size_t parameter[KINDS]; /* the worst parameter */
    double warmup;           /* evaluations, mean over the seeds */
    double *square;          /* squared errors of the means, then of the distances, summed over the seeds */
} step;

typedef struct ladder {
    const gess__bench_options *options;
    const char *model;
    size_t dim, count, measured; /* steps, and how many of them are measured */
    uint64_t seeds;
    gess__truth truth;
    step steps[MAX_BUDGETS];
} ladder;

/* mean NULL: the sampler has no draws, so the errors are infinite. */
static void add_errors(const ladder *l, step *s, const double *mean, const double *spread)
{
    for (size_t j = 0; j < l->dim; j++) {
        double first = mean != NULL ? (mean[j] - l->truth.mean[j]) / l->truth.sd[j] : INFINITY;
        double second = mean != NULL ? (spread[j] - l->truth.spread[j]) / l->truth.sd[j] : INFINITY;
        s->square[j] += isnan(first) ? INFINITY : first * first;
        s->square[l->dim + j] += isnan(second) ? INFINITY : second * second;
    }
}

static void find_worst(const ladder *l, step *s)
{
    s->worst[MEANS] = s->worst[BOTH] = -1.0;
    for (size_t j = 0; j < 2 * l->dim; j++) {
        double rmse = sqrt(s->square[j] / (double)l->seeds);
        for (size_t kind = j < l->dim ? MEANS : BOTH; kind < KINDS; kind++)
            if (rmse > s->worst[kind]) {
                s->worst[kind] = rmse;
                s->parameter[kind] = j % l->dim;
            }
    }
}

static int run_gess(const ladder *l, step *s, uint64_t seed, gess_error *err)
{
    gess_options defaults;
    gess__sampled sampled;
    gess__options_init(&defaults);
    uint64_t total = (uint64_t)s->budget, max_warmup = total / 4 * 3;
    if (max_warmup > defaults.max_warmup_evals) max_warmup = defaults.max_warmup_evals;
    gess__plan plan = {.model = l->model,
                       .settings = l->options->settings,
                       .seed = seed,
                       .max_warmup = max_warmup,
                       .target_ess = (uint64_t)(1.0 / (MAX_ERROR * MAX_ERROR) + 0.5),
                       .centre = l->truth.mean,
                       .total = total};
    int status = gess__sample_gess(&plan, &sampled, err);
    if (status == GESS_OK) {
        /* if warm-up left nothing, the first few draws exceed the budget */
        int within = (double)(sampled.evals_warmup + sampled.evals_sampling) <= 1.05 * s->budget;
        add_errors(l, s, within ? sampled.mean : NULL, sampled.spread);
        s->warmup += (double)sampled.evals_warmup / (double)l->seeds;
    }
    gess__sampled_free(&sampled);
    return status;
}

/* Runs gess for every budget, until the error was small for two budgets in a row. */
static int measure_gess(ladder *l, gess_error *err)
{
    for (size_t good = 0; l->measured < l->count && good < 2; l->measured++) {
        step *s = &l->steps[l->measured];
        for (uint64_t seed = 1; seed <= l->seeds; seed++) GESS_TRY(run_gess(l, s, seed, err));
        find_worst(l, s);
        good = s->worst[BOTH] < MAX_ERROR ? good + 1 : 0;
    }
    return GESS_OK;
}

/* The means (2 dim) over the iterations that ended in the second half of a budget. Returns 0 if there are none, or if
 * the peer gave up before the end of the budget. */
static int mean_of(const gess__sampled *s, double budget, double *mean)
{
    size_t columns = 1 + 2 * s->dim, count = 0;
    memset(mean, 0, 2 * s->dim * sizeof *mean);
    for (uint64_t i = 0; i < s->draws; i++) {
        const double *row = s->values + i * columns;
        if (row[0] > budget || row[0] <= 0.5 * budget) continue;
        for (size_t j = 1; j < columns; j++) mean[j - 1] += row[j];
        count++;
    }
    for (size_t j = 0; j < 2 * s->dim && count > 0; j++) mean[j] /= (double)count;
    return count > 0 && (s->fault[0] == '\0' || s->values[(s->draws - 1) * columns] >= budget);
}

/* One run of a peer gives all budgets. */
static int measure_peer(ladder *l, const char *sampler, gess_error *err)
{
    double *mean = NULL, max_budget = l->steps[l->count - 1].budget;
    int status = gess__alloc_bytes(&mean, 2 * l->dim, sizeof *mean, "means", err);
    for (uint64_t seed = 1; status == GESS_OK && seed <= l->seeds; seed++) {
        gess__sampled s;
        status = gess__peer_means(sampler, l->model, seed, (uint64_t)max_budget, l->dim, l->truth.mean, &s, err);
        for (size_t b = 0; status == GESS_OK && b < l->count; b++) {
            int there = mean_of(&s, l->steps[b].budget, mean);
            add_errors(l, &l->steps[b], there ? mean : NULL, mean + l->dim);
            l->steps[b].warmup = 0.5 * l->steps[b].budget;
        }
        gess__sampled_free(&s);
    }
    for (; status == GESS_OK && l->measured < l->count; l->measured++) find_worst(l, &l->steps[l->measured]);
    free(mean);
    return status;
}

/* The budget at which the error falls below MAX_ERROR for good; INFINITY: not on this ladder. *at_most: it is already
 * below at the first budget. */
static double find_cost(const ladder *l, size_t kind, int *at_most)
{
    size_t first = l->measured;
    while (first > 0 && l->steps[first - 1].worst[kind] < MAX_ERROR) first--;
    *at_most = first == 0;
    if (first == l->measured) return INFINITY;
    const step *here = &l->steps[first], *before = here - 1;
    if (first == 0 || !isfinite(before->worst[kind])) return here->budget;
    double above = log(before->worst[kind] / MAX_ERROR), below = log(MAX_ERROR / here->worst[kind]);
    return before->budget * pow(here->budget / before->budget, above / (above + below));
}

/* Prints a cost, and returns it as JSON. */
static json_t *say_cost(const ladder *l, size_t kind)
{
    int at_most;
    double cost = find_cost(l, kind, &at_most);
    gess__bench_say(l->options, " %s%9.4g",
                    !isfinite(cost) ? ">"
                    : at_most       ? "<"
                                    : " ",
                    isfinite(cost) ? cost : l->steps[l->measured - 1].budget);
    return json_pack("{s:o, s:b}", "evals", gess__bench_number(cost), "at_most", at_most);
}

static void report(const ladder *l, const char *sampler, json_t *rows)
{
    json_t *steps = json_array();
    gess__bench_say(l->options, "  %-24s %-6s", l->model, sampler);
    json_t *means = say_cost(l, MEANS), *both = say_cost(l, BOTH);
    gess__bench_say(l->options, "  ");
    for (size_t b = 0; b < l->measured; b++) {
        const step *s = &l->steps[b];
        gess__bench_say(l->options, " %.2g|%.2g", s->worst[MEANS], s->worst[BOTH]);
        json_array_append_new(steps, json_pack("{s:f, s:o, s:I, s:o, s:I, s:f}", "budget", s->budget, "means",
                                               gess__bench_number(s->worst[MEANS]), "means_parameter",
                                               (json_int_t)s->parameter[MEANS] + 1, "both",
                                               gess__bench_number(s->worst[BOTH]), "both_parameter",
                                               (json_int_t)s->parameter[BOTH] + 1, "evals_warmup", s->warmup));
    }
    gess__bench_say(l->options, "\n");
    json_array_append_new(rows, json_pack("{s:s, s:s, s:o, s:o, s:s, s:o}", "model", l->model, "sampler", sampler,
                                          "means", means, "both", both, "against",
                                          l->truth.known ? "truth" : "reference", "ladder", steps));
}

static int make_ladder(ladder *l, uint64_t max_evals, gess_error *err)
{
    gess_model *model = NULL;
    GESS_TRY(gess_model_open(&model, l->model, NULL, err));
    l->dim = model->dim;
    int status = gess__truth_find(&l->truth, model, l->model, err);
    gess_model_free(model);
    double budget = FIRST_BUDGET;
    do {
        step *s = &l->steps[l->count++];
        s->budget = budget;
        if (status == GESS_OK) status = gess__alloc_bytes(&s->square, 2 * l->dim, sizeof *s->square, "errors", err);
        budget *= 2.0;
    } while (l->count < MAX_BUDGETS && budget <= (double)max_evals);
    return status;
}

int gess__bench_cost_row(const gess__bench_options *o, const char *sampler, const char *model, uint64_t seeds,
                         uint64_t max_evals, json_t *rows, gess_error *err)
{
    ladder l = {.options = o, .model = model, .seeds = seeds};
    int status = make_ladder(&l, max_evals, err), absent = status == GESS_ERR_FILE && o->models == NULL;
    if (status == GESS_OK)
        status = strcmp(sampler, "gess") == 0 ? measure_gess(&l, err) : measure_peer(&l, sampler, err);
    if (status == GESS_OK) report(&l, sampler, rows);
    if (absent) { /* a default list goes on with the other models */
        gess__bench_say(o, "  %-24s %-6s no reference\n", model, sampler);
        json_array_append_new(rows, json_pack("{s:s, s:s, s:n}", "model", model, "sampler", sampler, "against"));
        status = GESS_OK;
    }
    for (size_t b = 0; b < l.count; b++) free(l.steps[b].square);
    gess__truth_free(&l.truth);
    return status;
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    gess__bench_list models, samplers;
    uint64_t seeds = o->seeds > 0 ? o->seeds : o->quick ? 2 : 10;
    uint64_t max_evals = o->evals > 0 ? o->evals : o->quick ? 50000 : 3200000;
    GESS_TRY(gess__bench_lists(o, &models, &samplers, err));
    gess__bench_say(o,
                    "Evaluations, warm-up included, until every posterior mean is known to %g sd, by the RMSE over "
                    "%llu seeds; the "
                    "same with every mean distance from the mean;\nthen the worst RMSE, means|both, at %d evaluations "
                    "and at each doubling.\n  %-24s %-6s %10s %10s\n",
                    MAX_ERROR, (unsigned long long)seeds, FIRST_BUDGET, "model", "", "means", "both");
    json_t *rows = json_array();
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && i < models.count; i++)
        for (size_t k = 0; status == GESS_OK && k < samplers.count; k++)
            status = gess__bench_cost_row(o, samplers.item[k], models.item[i], seeds, max_evals, rows, err);
    *json = json_pack("{s:f, s:I, s:o}", "rmse", MAX_ERROR, "seeds", (json_int_t)seeds, "rows", rows);
    return status;
}

const gess__bench gess__bench_cost = {
    .name = "cost",
    .help = "evaluations until every mean is known to 0.05 sd, gess, emcee and zeus (by name only)",
    .table = table,
};
