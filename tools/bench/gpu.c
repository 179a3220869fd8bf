/* Sampling on a GPU: evaluations per second of sampling from many chains, copies included, beside the bare density,
 * whose points are in the GPU's memory and whose kernel does nothing else; and effective draws per second.
 *
 * Draws of a hundred thousand chains cannot all be held, so the two factors of the last figure come from two runs:
 * evaluations per second from a run of `chains` chains that keeps every `thin`-th draw, bulk ESS per evaluation from
 * one of at most 4,096 chains that keeps all. Values on the GPU are compared with those of the processor before
 * anything is timed. */
#include "bench/bench.h"

#include "base/mem.h"
#include "base/options.h"
#include "bench/measure.h"
#include "lane/open.h"
#include "model/model.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BARE_SECONDS 0.5
#define MAX_DIFFERENCE 1e-9 /* relative, or absolute below 1: densities of users may call CUDA's functions */

enum { HELD_CHAINS = 4096, HELD_DRAWS = 100 };

/* What is measured of one model. */
typedef struct figures {
    double evals_per_second, bare_per_second, ess_per_eval, rhat, seconds_warmup, seconds_sampling, evals_sampling;
    size_t chains, dim;
} figures;

/* Holds the parameters of all draws as gess__sampled has them. */
typedef struct holder {
    size_t dim, chains, draws;
    double *values;
} holder;

static int hold(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                const double *rows)
{
    holder *h = user;
    for (size_t c = 0; c < chains; c++)
        for (size_t i = 0; i < (size_t)draws; i++)
            for (size_t k = 0; k < h->dim; k++)
                h->values[(k * h->chains + first_chain + c) * h->draws + (size_t)first_draw + i] =
                    rows[(c * (size_t)draws + i) * columns + 1 + k];
    return 0;
}

static int set_number(gess_options *o, const char *name, uint64_t number, gess_error *err)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    return gess_options_set(o, name, text, err);
}

/* The options of a benchmark's run, over which those of --set go. */
static int make_options(const gess__bench_options *b, gess_options *o, gess_error *err)
{
    gess__bench_list list;
    GESS_TRY(set_number(o, "chains", b->quick ? 256 : 65536, err));
    GESS_TRY(set_number(o, "thin", b->quick ? 4 : 200, err));
    GESS_TRY(set_number(o, "draws", 4, err));
    GESS_TRY(set_number(o, "max-warmup-evals", b->quick ? 20000 : 60000000, err));
    GESS_TRY(gess_options_set(o, "device", "cuda", err));
    GESS_TRY(gess__bench_split(b->settings != NULL ? b->settings : "", &list, err));
    for (size_t i = 0; i < list.count; i++) {
        char *equals = strchr(list.item[i], '=');
        if (equals == NULL) return gess__fail(err, GESS_ERR_USAGE, "bench: `%s` is not NAME=VALUE", list.item[i]);
        *equals = '\0';
        GESS_TRY(gess_options_set(o, list.item[i], equals + 1, err));
    }
    return GESS_OK;
}

static int sample(const gess_model *model, const gess_options *o, holder *h, gess_stats *s, gess_error *err)
{
    gess_run *run = NULL;
    int status = gess_run_new(&run, model, o, NULL, err);
    if (status == GESS_OK && h != NULL) status = gess_run_on_draw(run, hold, h, err);
    if (status == GESS_OK) status = gess_run_go(run, err);
    if (status == GESS_OK) gess_run_stats(run, s, sizeof *s, NULL);
    gess_run_free(run);
    return status;
}

/* Bulk ESS per evaluation, from draws that are all held. */
static int measure_ess(const gess_model *model, const gess_options *given, holder *h, figures *f, gess_error *err)
{
    gess_options *o = NULL;
    gess_stats s;
    double ess = 0.0;
    GESS_TRY(gess_options_copy(&o, given, err));
    o->chains = o->chains < HELD_CHAINS ? o->chains : HELD_CHAINS;
    o->thin = 1;
    o->draws = HELD_DRAWS;
    *h = (holder){.dim = model->dim, .chains = (size_t)o->chains, .draws = HELD_DRAWS};
    int status = gess__alloc_bytes(&h->values, h->dim * h->chains * h->draws, sizeof *h->values, "draws", err);
    if (status == GESS_OK) status = sample(model, o, h, &s, err);
    const gess__sampled sampled = {.dim = h->dim,
                                   .chains = h->chains,
                                   .draws = h->draws,
                                   .held = h->draws,
                                   .values = h->values};
    if (status == GESS_OK) status = gess__sampled_figures(&sampled, &ess, &f->rhat, err);
    if (status == GESS_OK) f->ess_per_eval = ess / (double)s.evals_sampling;
    gess_options_free(o);
    return status;
}

static int verify(const gess_model *model, size_t n, const double *x, const double *there, double *here,
                  gess_error *err)
{
    if (model->logp == NULL) return GESS_OK;
    if (gess__model_logp(model, 0, n, x, here) != 0) return gess__fail(err, GESS_ERR_MODEL, "the density failed");
    for (size_t i = 0; i < n; i++) {
        double scale = fabs(here[i]) > 1.0 ? fabs(here[i]) : 1.0;
        if (here[i] == there[i] || (isnan(here[i]) && isnan(there[i]))) continue;
        if (!(fabs(here[i] - there[i]) <= MAX_DIFFERENCE * scale))
            return gess__fail(err, GESS_ERR_INTERNAL,
                              "the GPU has another log density than the processor: %.17g and %.17g", there[i], here[i]);
    }
    return GESS_OK;
}

/* Times the density alone at `chains` of the held draws. */
static int measure_bare(const gess_model *model, const char *device, size_t chains, const holder *h, figures *f,
                        gess_error *err)
{
    gess__accelerator *a = NULL;
    double *x = NULL, *values = NULL, seconds = 0.0;
    char why[256];
    int status = gess__alloc_bytes(&x, chains * h->dim, sizeof *x, "points", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&values, 2 * chains, sizeof *values, "values", err);
    for (size_t i = 0; status == GESS_OK && i < chains; i++)
        for (size_t k = 0; k < h->dim; k++)
            x[i * h->dim + k] = h->values[(k * h->chains + i % h->chains) * h->draws + (i / h->chains) % h->draws];
    if (status == GESS_OK) status = gess__device_open(&a, device, why, sizeof why, err);
    if (status == GESS_OK && a == NULL)
        status = gess__fail(err, GESS_ERR_USAGE, "bench gpu needs a GPU: --set device=cuda");
    /* once for the code */
    if (status == GESS_OK) status = a->evaluate(a, model, chains, x, values, 1, NULL, err);
    if (status == GESS_OK) status = verify(model, chains, x, values, values + chains, err);
    if (status == GESS_OK) status = a->evaluate(a, model, chains, x, values, 1, &seconds, err);
    size_t repeats = seconds > 0.0 ? 1 + (size_t)(BARE_SECONDS / seconds) : 1;
    if (repeats > 1000000) repeats = 1000000;
    if (status == GESS_OK) status = a->evaluate(a, model, chains, x, values, repeats, &seconds, err);
    if (status == GESS_OK) f->bare_per_second = (double)chains * (double)repeats / seconds;
    if (a != NULL) a->free(a);
    free(x);
    free(values);
    return status;
}

static int measure(const gess__bench_options *b, const char *name, figures *f, gess_error *err)
{
    gess_model *model = NULL;
    gess_options *o = NULL;
    gess_stats s;
    holder h = {0};
    int status = gess_model_open(&model, name, NULL, err);
    if (status == GESS_OK) status = gess_options_new(&o, err);
    if (status == GESS_OK) status = make_options(b, o, err);
    if (status == GESS_OK) status = measure_ess(model, o, &h, f, err);
    if (status == GESS_OK) status = measure_bare(model, o->device, (size_t)o->chains, &h, f, err);
    if (status == GESS_OK) status = sample(model, o, NULL, &s, err);
    if (status == GESS_OK) {
        f->chains = (size_t)o->chains;
        f->dim = model->dim;
        f->evals_sampling = (double)s.evals_sampling;
        f->seconds_sampling = s.seconds_sampling;
        f->seconds_warmup = s.seconds - s.seconds_sampling;
        f->evals_per_second = f->evals_sampling / s.seconds_sampling;
    }
    free(h.values);
    gess_options_free(o);
    gess_model_free(model);
    return status;
}

static json_t *row_of(const char *name, const figures *f)
{
    return json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "model", name, "dim",
                     (json_int_t)f->dim, "chains", (json_int_t)f->chains, "evals_per_second",
                     gess__bench_number(f->evals_per_second), "bare_per_second", gess__bench_number(f->bare_per_second),
                     "share", gess__bench_number(f->evals_per_second / f->bare_per_second), "ess_per_eval",
                     gess__bench_number(f->ess_per_eval), "ess_per_second",
                     gess__bench_number(f->ess_per_eval * f->evals_per_second), "r_hat", gess__bench_number(f->rhat),
                     "evals_sampling", gess__bench_number(f->evals_sampling), "seconds_sampling",
                     gess__bench_number(f->seconds_sampling), "seconds_warmup", gess__bench_number(f->seconds_warmup));
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    gess__bench_list models;
    int status =
        gess__bench_split(o->models != NULL ? o->models
                                            : "german-credit,mixture,funnel,breast-cancer,stochastic-volatility,"
                                              "snp,eight-schools:centred=0",
                          &models, err);
    gess__bench_say(o,
                    "Sampling on a GPU. bare: the density alone; share: of it; ESS/s: evaluations per second times ESS "
                    "per "
                    "evaluation; warm-up: seconds, compilation included.\n  %-24s %10s %10s %7s %9s %10s %8s %9s\n",
                    "model", "evals/s", "bare", "share", "ESS/eval", "ESS/s", "R-hat", "warm-up");
    json_t *rows = json_array();
    for (size_t i = 0; status == GESS_OK && i < models.count; i++) {
        figures f = {0};
        status = measure(o, models.item[i], &f, err);
        if (status != GESS_OK) break;
        gess__bench_say(o, "  %-24s %10.3g %10.3g %7.3f %9.4f %10.3g %8.4f %9.2f\n", models.item[i], f.evals_per_second,
                        f.bare_per_second, f.evals_per_second / f.bare_per_second, f.ess_per_eval,
                        f.ess_per_eval * f.evals_per_second, f.rhat, f.seconds_warmup);
        json_array_append_new(rows, row_of(models.item[i], &f));
    }
    *json = json_pack("{s:o}", "rows", rows);
    return status;
}

const gess__bench gess__bench_gpu = {
    .name = "gpu",
    .help = "sampling on a GPU beside the bare density there (by name only)",
    .table = table,
};
