/* Efficiency: the smallest rank-normalised bulk effective sample size over the parameters, per evaluation of
 * sampling, with the worst R-hat beside it.
 *
 * gess runs with default settings, one thread and the models' starts: its warm-up, which works for that many draws,
 * then as many as take about `evals` evaluations. The peers discard as many evaluations as they sample with. All draws
 * are used, none are thinned. A figure with an R-hat above 1.05 is marked, because it is worthless: a run that has not
 * converged still shows about chains / evaluations. */
#include "bench/measure.h"

#include <math.h>
#include <string.h>

/* Of one seed; or means over several seeds, and the worst `rhat`. */
typedef struct figures {
    double ess_per_eval;
    double ess, rhat, warmup, sampling, seconds, in_sampling, outside, learning;
    size_t chains;
    char version[32], fault[256];
} figures;

static int measure(const gess__bench_options *o, const char *sampler, const char *model, uint64_t seed, uint64_t evals,
                   figures *f, gess_error *err)
{
    gess__sampled s;
    gess__plan plan = {.model = model,
                       .settings = o->settings,
                       .seed = seed,
                       .sampling = evals,
                       .max_held = UINT64_MAX / 2};
    int status = strcmp(sampler, "gess") == 0 ? gess__sample_gess(&plan, &s, err)
                                              : gess__sample_peer(sampler, model, seed, evals, evals, &s, err);
    if (status == GESS_OK) status = gess__sampled_figures(&s, &f->ess, &f->rhat, err);
    f->warmup = (double)s.evals_warmup;
    f->sampling = (double)s.evals_sampling;
    f->ess_per_eval = s.evals_sampling > 0 ? f->ess / f->sampling : 0.0;
    f->seconds = s.seconds;
    f->in_sampling = s.seconds_sampling;
    f->outside = s.seconds_outside;
    f->learning = s.seconds_learning;
    f->chains = s.chains;
    memcpy(f->version, s.version, sizeof f->version);
    memcpy(f->fault, s.fault, sizeof f->fault);
    gess__sampled_free(&s);
    return status;
}

static json_t *figures_json(const figures *f)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:I, s:s}", "ess_per_eval",
                     gess__bench_number(f->ess_per_eval), "ess", gess__bench_number(f->ess), "r_hat",
                     gess__bench_number(f->rhat), "evals_warmup", gess__bench_number(f->warmup), "evals_sampling",
                     gess__bench_number(f->sampling), "seconds", gess__bench_number(f->seconds), "seconds_sampling",
                     gess__bench_number(f->in_sampling), "seconds_outside", gess__bench_number(f->outside),
                     "seconds_learning", gess__bench_number(f->learning), "chains", (json_int_t)f->chains, "fault",
                     f->fault);
}

static void add(figures *sum, const figures *one, double share)
{
    sum->ess_per_eval += share * one->ess_per_eval;
    sum->ess += share * one->ess;
    sum->warmup += share * one->warmup;
    sum->sampling += share * one->sampling;
    sum->seconds += share * one->seconds;
    sum->in_sampling += share * one->in_sampling;
    sum->outside += share * one->outside;
    sum->learning += share * one->learning;
    sum->rhat = fmax(sum->rhat, one->rhat);
    sum->chains = one->chains;
    memcpy(sum->version, one->version, sizeof sum->version);
    if (one->fault[0] != '\0') memcpy(sum->fault, one->fault, sizeof sum->fault);
}

int gess__bench_efficiency_row(const gess__bench_options *o, const char *sampler, const char *model, uint64_t seeds,
                               uint64_t evals, json_t *rows, gess_error *err)
{
    figures mean = {0};
    json_t *per_seed = json_array();
    int status = GESS_OK;
    for (uint64_t seed = 1; status == GESS_OK && seed <= seeds; seed++) {
        figures one = {0};
        status = measure(o, sampler, model, seed, evals, &one, err);
        add(&mean, &one, 1.0 / (double)seeds);
        json_array_append_new(per_seed, figures_json(&one));
    }
    if (status != GESS_OK) {
        json_decref(per_seed);
        return status;
    }
    gess__bench_say(o, "  %-24s %-6s %10.5f %s %8.4f %10.0f %10.3g %10.3g %8.2f %8.2f %8.2f %5zu%s%s\n", model, sampler,
                    mean.ess_per_eval, mean.rhat > 1.05 ? "x" : " ", mean.rhat, mean.ess, mean.warmup, mean.sampling,
                    mean.seconds, mean.outside, mean.learning, mean.chains, mean.fault[0] != '\0' ? "  " : "",
                    mean.fault);
    json_t *row = figures_json(&mean);
    json_object_set_new(row, "model", json_string(model));
    json_object_set_new(row, "sampler", json_string(sampler));
    if (mean.version[0] != '\0') json_object_set_new(row, "version", json_string(mean.version));
    json_object_set_new(row, "converged", json_boolean(mean.rhat <= 1.05));
    json_object_set_new(row, "seeds", per_seed);
    json_array_append_new(rows, row);
    return GESS_OK;
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    gess__bench_list models, samplers;
    uint64_t seeds = o->seeds > 0 ? o->seeds : o->quick ? 1 : 3;
    uint64_t evals = o->evals > 0 ? o->evals : o->quick ? 50000 : 1000000;
    GESS_TRY(gess__bench_lists(o, &models, &samplers, err));
    gess__bench_say(o,
                    "Smallest bulk ESS over parameters per evaluation of sampling (about %.3g), mean of %llu seeds; x: "
                    "R-hat above 1.05.\nDefault settings%s%s, one thread; the peers discard %.3g evaluations.\n"
                    "  %-24s %-6s %10s   %8s %10s %10s %10s %8s %8s %8s %5s\n",
                    (double)evals, (unsigned long long)seeds, o->settings != NULL ? " except " : "",
                    o->settings != NULL ? o->settings : "", (double)evals, "model", "", "ESS/eval", "R-hat", "ESS",
                    "warm-up", "sampling", "seconds", "outside", "learning", "chains");
    json_t *rows = json_array();
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && i < models.count; i++)
        for (size_t k = 0; status == GESS_OK && k < samplers.count; k++)
            status = gess__bench_efficiency_row(o, samplers.item[k], models.item[i], seeds, evals, rows, err);
    *json = json_pack("{s:I, s:I, s:o}", "evals", (json_int_t)evals, "seeds", (json_int_t)seeds, "rows", rows);
    return status;
}

const gess__bench gess__bench_efficiency = {
    .name = "efficiency",
    .help = "bulk ESS per evaluation of gess, emcee and zeus (by name only)",
    .table = table,
};
