/* Runs gess or a peer on a density of the mixing figure, holds its draws, and reports its seconds and evaluations
 * with its ESS by the paper's metric (coda) and by the stricter one (posterior). */
#include "reproduce/sample.h"

#include "base/mem.h"
#include "bench/measure.h"
#include "diagnose/coda.h"
#include "diagnose/posterior.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers held of a run (twice 200 MB), and draws of one parameter that its figures are computed from. */
#define MAX_HELD 2.5e7
#define MAX_DRAWS_PER_PARAMETER 1e6

/* The first pass measures every parameter with at most this many draws; the second measures the worst parameters, by
 * each of two figures, with all draws. */
#define MAX_FIRST_PASS 1e5
enum { SECOND_PASS = 3 };

/* If the ESS of thinned draws is above this share of their number, the thinning lost some of it. */
#define MAX_THINNED_SHARE 0.25

/* Draws first, first + stride, … of every chain. */
typedef struct series {
    uint64_t first, stride;
    double *values; /* (parameter · chains + chain) · held + place */
} series;

/* If not all draws can be held, there are two series of the same length: one over the whole run, for R-hat and the ESS
 * of slow mixing, and the last draws without gaps, for the ESS of chains that mix in fewer draws than a stride. */
typedef struct holder {
    size_t dim, chains;
    uint64_t draws, held;
    series all, last; /* the same if the stride is 1 */
    double *sums;     /* per draw: the log densities of the chains, summed */
} holder;

static void keep(const holder *h, const series *s, size_t chain, uint64_t draw, const double *x)
{
    if (draw < s->first || (draw - s->first) % s->stride != 0) return;
    uint64_t place = (draw - s->first) / s->stride;
    if (place >= h->held) return;
    for (size_t j = 0; j < h->dim; j++) s->values[(j * h->chains + chain) * h->held + place] = x[j];
}

static int take(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                const double *rows)
{
    holder *h = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++) {
            const double *row = rows + (c * draws + i) * columns;
            uint64_t draw = first_draw + i;
            if (draw >= h->draws) continue;
            h->sums[draw] += row[0];
            keep(h, &h->all, first_chain + c, draw, row + 1);
            if (h->last.values != h->all.values) keep(h, &h->last, first_chain + c, draw, row + 1);
        }
    return 0;
}

static int make_holder(holder *h, size_t dim, size_t chains, uint64_t draws, gess_error *err)
{
    double all = (double)chains * (double)draws;
    *h = (holder){.dim = dim, .chains = chains, .draws = draws};
    h->all.stride = (uint64_t)ceil(fmax(1.0, fmax(all / MAX_DRAWS_PER_PARAMETER, all * (double)dim / MAX_HELD)));
    h->held = (draws + h->all.stride - 1) / h->all.stride;
    h->last = (series){.first = draws - h->held, .stride = 1};
    GESS_ALLOC(&h->all.values, dim * chains * (size_t)h->held, err);
    h->last.values = h->all.values;
    if (h->all.stride > 1) GESS_ALLOC(&h->last.values, dim * chains * (size_t)h->held, err);
    GESS_ALLOC(&h->sums, (size_t)draws, err);
    return GESS_OK;
}

static void free_holder(holder *h)
{
    if (h->last.values != h->all.values) free(h->last.values);
    free(h->all.values);
    free(h->sums);
    *h = (holder){0};
}

/* ---- the figures ---- */

typedef struct figures {
    double ess, rhat;
} figures;

/* The figures of n draws per chain: every skip-th of a series, from a place on. */
static int measure(const holder *h, const double *values, size_t from, size_t skip, size_t n, double *copy, figures *f,
                   gess_error *err)
{
    gess__posterior_workspace *work = NULL;
    for (size_t c = 0; c < h->chains; c++)
        for (size_t i = 0; i < n; i++) copy[c * n + i] = values[c * h->held + from + i * skip];
    GESS_TRY(gess__posterior_workspace_new(&work, h->chains, n, err));
    gess__posterior_load(work, copy);
    f->ess = gess__posterior_ess_bulk(work);
    f->rhat = gess__posterior_rhat(work);
    if (isnan(f->ess)) f->ess = 0.0;
    if (isnan(f->rhat)) f->rhat = INFINITY;
    gess__posterior_workspace_free(work);
    return GESS_OK;
}

/* The figures of one parameter, from every skip-th held draw: R-hat of the whole run, and the ESS if it is small.
 * Otherwise the ESS is that of as many draws without gaps, times the number of draws that stand behind one of them. */
static int measure_parameter(const holder *h, size_t parameter, size_t skip, double *copy, figures *f, gess_error *err)
{
    size_t n = ((size_t)h->held + skip - 1) / skip, line = parameter * h->chains * (size_t)h->held;
    figures dense;
    GESS_TRY(measure(h, h->all.values + line, 0, skip, n, copy, f, err));
    if (h->all.stride * skip == 1 || f->ess <= MAX_THINNED_SHARE * (double)h->chains * (double)n) return GESS_OK;
    GESS_TRY(measure(h, h->last.values + line, (size_t)h->held - n, 1, n, copy, &dense, err));
    f->ess = dense.ess * (double)h->draws / (double)n;
    return GESS_OK;
}

/* The worst parameter, by ESS or by R-hat, of those not done; dim if there is none. */
static size_t worst_of(const holder *h, const figures *f, const unsigned char *done, int by_rhat)
{
    size_t worst = h->dim;
    for (size_t j = 0; j < h->dim; j++) {
        if (done[j]) continue;
        if (worst == h->dim || (by_rhat ? f[j].rhat > f[worst].rhat : f[j].ess < f[worst].ess)) worst = j;
    }
    return worst;
}

/* Measures all parameters with some of the draws, then the worst of them with all draws. */
static int measure_parameters(const holder *h, figures *f, unsigned char *done, double *copy, figures *worst,
                              gess_error *err)
{
    size_t skip = (size_t)ceil(fmax(1.0, (double)h->chains * (double)h->held / MAX_FIRST_PASS));
    *worst = (figures){.ess = INFINITY, .rhat = 0.0};
    for (size_t j = 0; j < h->dim; j++) GESS_TRY(measure_parameter(h, j, skip, copy, &f[j], err));
    for (size_t i = 0; i < 2 * SECOND_PASS; i++) {
        size_t j = worst_of(h, f, done, i % 2 != 0);
        if (j == h->dim) break;
        done[j] = 1;
        if (skip > 1) GESS_TRY(measure_parameter(h, j, 1, copy, &f[j], err));
        worst->ess = fmin(worst->ess, f[j].ess);
        worst->rhat = fmax(worst->rhat, f[j].rhat);
    }
    return GESS_OK;
}

static int strict_figures(const holder *h, figures *worst, gess_error *err)
{
    figures *f = NULL;
    unsigned char *done = NULL;
    double *copy = NULL;
    *worst = (figures){.ess = 0.0, .rhat = INFINITY};
    if (h->held < 4) return GESS_OK;
    int status = gess__alloc_bytes(&f, h->dim, sizeof *f, "figures", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&done, h->dim, sizeof *done, "figures", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&copy, h->chains * (size_t)h->held, sizeof *copy, "draws", err);
    if (status == GESS_OK) status = measure_parameters(h, f, done, copy, worst, err);
    free(f);
    free(done);
    free(copy);
    return status;
}

/* Adds both metrics to a result. */
static int add_figures(const holder *h, json_t *result, gess_error *err)
{
    double *scratch = NULL;
    figures strict;
    GESS_TRY(strict_figures(h, &strict, err));
    GESS_ALLOC(&scratch, (size_t)h->draws + 1, err);
    double size = gess__coda_effective_size(1, (size_t)h->draws, h->sums, scratch);
    json_object_set_new(result, "ess_log", gess__bench_number((double)h->chains * size));
    json_object_set_new(result, "geweke", gess__bench_number(gess__coda_geweke((size_t)h->draws, h->sums, scratch)));
    json_object_set_new(result, "ess_bulk", gess__bench_number(strict.ess));
    json_object_set_new(result, "r_hat", gess__bench_number(strict.rhat));
    json_object_set_new(result, "stride", json_integer((json_int_t)h->all.stride));
    json_object_set_new(result, "chains", json_integer((json_int_t)h->chains));
    json_object_set_new(result, "draws", json_integer((json_int_t)h->draws));
    json_object_set_new(result, "dim", json_integer((json_int_t)h->dim));
    free(scratch);
    return GESS_OK;
}

/* ---- gess ---- */

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* `list` owns the texts of the settings. */
static int make_options(const gess__trial *trial, gess_options *o, gess__bench_list *list, gess_error *err)
{
    gess__options_init(o);
    o->seed = trial->seed;
    o->threads = 1;
    o->chains = trial->chains;
    o->warmup = trial->warmup;
    o->draws = trial->draws;
    o->reuse = trial->reuse;
    GESS_TRY(gess__bench_split(trial->settings, list, err));
    for (size_t i = 0; i < list->count; i++) {
        char *equals = strchr(list->item[i], '=');
        if (equals == NULL) return gess__fail(err, GESS_ERR_USAGE, "`%s` is not NAME=VALUE", list->item[i]);
        *equals = '\0';
        GESS_TRY(gess_options_set(o, list->item[i], equals + 1, err));
    }
    return GESS_OK;
}

/* Sampling's share of the time is its share of the evaluations, as for the peers. Warm-up knows how many draws follow
 * it, so the run is one. */
static int run_gess(const gess__trial *trial, gess_run *run, json_t *result, gess_error *err)
{
    gess_stats s;
    double begun = cpu_seconds();
    GESS_TRY(gess_run_go(run, err));
    gess_run_stats(run, &s, sizeof s, NULL);
    double seconds = (cpu_seconds() - begun) * (double)s.evals_sampling / (double)s.evals;
    json_object_set_new(result, "evals_warmup", json_integer((json_int_t)(s.evals - s.evals_sampling)));
    json_object_set_new(result, "evals_sampling", json_integer((json_int_t)s.evals_sampling));
    json_object_set_new(result, "seconds", json_real(seconds));
    json_object_set_new(result, "warmup", json_integer((json_int_t)s.warmup));
    json_object_set_new(result, "failures", json_integer((json_int_t)s.failures));
    return GESS_OK;
}

static int sample_gess(const gess__trial *trial, const gess_model *model, holder *h, json_t *result, gess_error *err)
{
    gess__bench_list list;
    gess_options o;
    gess_run *run = NULL;
    GESS_TRY(make_options(trial, &o, &list, err));
    int status = gess_run_new(&run, model, &o, NULL, err);
    if (status == GESS_OK) {
        gess_stats s; /* parallel tempering reports only its cold chain */
        gess_run_stats(run, &s, sizeof s, NULL);
        status = make_holder(h, model->dim, s.chains, trial->draws, err);
    }
    if (status == GESS_OK) {
        gess_run_on_draw(run, take, h, NULL);
        status = run_gess(trial, run, result, err);
    }
    gess_run_free(run);
    return status;
}

/* ---- peers ---- */

/* Computes the sums of log densities, which peers do not hand over. These evaluations are not counted. */
static int sum_densities(const gess__sampled *s, const gess_model *model, holder *h, gess_error *err)
{
    double *points = NULL, *values = NULL;
    int status = gess__alloc_bytes(&points, s->chains * s->dim, sizeof *points, "points", err);
    if (status == GESS_OK) status = gess__alloc_bytes(&values, s->chains, sizeof *values, "points", err);
    for (uint64_t i = 0; status == GESS_OK && i < s->draws; i++) {
        for (size_t j = 0; j < s->dim; j++)
            for (size_t c = 0; c < s->chains; c++)
                points[c * s->dim + j] = s->values[(j * s->chains + c) * s->draws + i];
        if (model->logp(model->user, 0, s->chains, s->dim, points, values) != 0)
            status = gess__fail(err, GESS_ERR_MODEL, "the density of %s fails", model->name);
        for (size_t c = 0; c < s->chains; c++) h->sums[i] += values[c];
    }
    free(points);
    free(values);
    return status;
}

static int sample_peer(const gess__trial *trial, const gess_model *model, holder *h, json_t *result, gess_error *err)
{
    gess__sampled s;
    int status = gess__sample_peer(trial->peer, trial->model, trial->seed, trial->warmup, trial->draws, &s, err);
    if (status == GESS_OK && s.fault[0] != '\0') status = gess__fail(err, GESS_ERR_MODEL, "%s", s.fault);
    if (status == GESS_OK) status = make_holder(h, s.dim, s.chains, s.draws, err);
    for (size_t line = 0; status == GESS_OK && line < s.dim * s.chains; line++)
        for (uint64_t i = 0; i < h->held; i++) {
            h->all.values[line * h->held + i] = s.values[line * s.draws + i * h->all.stride];
            h->last.values[line * h->held + i] = s.values[line * s.draws + h->last.first + i];
        }
    if (status == GESS_OK) status = sum_densities(&s, model, h, err);
    if (status == GESS_OK) {
        double sampling = (double)s.evals_sampling;
        json_object_set_new(result, "evals_warmup", json_integer((json_int_t)s.evals_warmup));
        json_object_set_new(result, "evals_sampling", json_integer((json_int_t)s.evals_sampling));
        json_object_set_new(result, "seconds",
                            json_real(s.seconds_cpu * sampling / (sampling + (double)s.evals_warmup)));
        json_object_set_new(result, "peer", json_string(s.version));
    }
    gess__sampled_free(&s);
    return status;
}

int gess__trial_run(const gess__trial *trial, json_t **result, gess_error *err)
{
    gess_model *model = NULL;
    holder h = {0};
    *result = json_object();
    GESS_TRY(gess_model_open(&model, trial->model, NULL, err));
    int status = (trial->peer != NULL ? sample_peer : sample_gess)(trial, model, &h, *result, err);
    if (status == GESS_OK) status = add_figures(&h, *result, err);
    if (status == GESS_ERR_MODEL) {
        /* the figure shows samplers that gave up */
        json_object_set_new(*result, "error", json_string(err->text));
        status = GESS_OK;
    }
    free_holder(&h);
    gess_model_free(model);
    return status;
}
