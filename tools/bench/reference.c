/* Long references for `gess bench cost`: posterior means, standard deviations and mean distances from the mean
 * of models whose truth is not known, from independent long runs of gess, as bench/reference/NAME.csv.
 *
 * The figures are of the chains of several seeds, pooled; every seed has a separate warm-up. A file is written only if
 * R-hat is at most 1.01 and every mean is known to 0.01 sd. */
#include "base/mem.h"
#include "bench/measure.h"
#include "diagnose/posterior.h"
#include "model/model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL                                                                           \
    "breast-cancer,german-credit,stochastic-volatility,ionosphere,snp,eight-schools," \
    "eight-schools:centred=0,rats,seeds"

enum { MAX_SEEDS = 16, HELD = 1000 };

typedef struct pool {
    size_t dim, chains; /* of all seeds */
    size_t held;
    double count;   /* draws, of all chains */
    double *values; /* (parameter · chains + chain) · held + draw */
    double *mean, *sd, *spread, *mcse;
    double rhat, worst; /* largest R-hat; largest mcse in sds */
} pool;

static void pool_moments(pool *p, size_t seeds, const gess__sampled *s)
{
    for (size_t k = 0; k < seeds; k++) p->count += (double)s[k].chains * (double)s[k].draws;
    for (size_t j = 0; j < p->dim; j++) {
        double square = 0.0;
        p->mean[j] = 0.0;
        for (size_t k = 0; k < seeds; k++)
            p->mean[j] += (double)s[k].chains * (double)s[k].draws / p->count * s[k].mean[j];
        for (size_t k = 0; k < seeds; k++) {
            double n = (double)s[k].chains * (double)s[k].draws, away = s[k].mean[j] - p->mean[j];
            square += (n - 1.0) * s[k].sd[j] * s[k].sd[j] + n * away * away;
        }
        p->sd[j] = sqrt(square / (p->count - 1.0));
    }
}

static int pool_chains(pool *p, size_t seeds, const gess__sampled *s, gess_error *err)
{
    p->dim = s[0].dim;
    p->held = (size_t)s[0].held;
    for (size_t k = 0; k < seeds; k++) {
        p->chains += s[k].chains;
        if (s[k].held < p->held) p->held = (size_t)s[k].held;
    }
    GESS_ALLOC(&p->values, p->dim * p->chains * p->held, err);
    GESS_ALLOC(&p->mean, p->dim, err);
    GESS_ALLOC(&p->sd, p->dim, err);
    GESS_ALLOC(&p->spread, p->dim, err);
    GESS_ALLOC(&p->mcse, p->dim, err);
    double *to = p->values;
    for (size_t j = 0; j < p->dim; j++)
        for (size_t k = 0; k < seeds; k++)
            for (size_t c = 0; c < s[k].chains; c++, to += p->held)
                memcpy(to, s[k].values + (j * s[k].chains + c) * s[k].held, p->held * sizeof *to);
    return GESS_OK;
}

static int pool_figures(pool *p, gess_error *err)
{
    gess__posterior_workspace *work = NULL;
    GESS_TRY(gess__posterior_workspace_new(&work, p->chains, p->held, err));
    for (size_t j = 0; j < p->dim; j++) {
        const double *x = p->values + j * p->chains * p->held;
        size_t n = p->chains * p->held;
        for (size_t i = 0; i < n; i++) p->spread[j] += fabs(x[i] - p->mean[j]) / (double)n;
        gess__posterior_load(work, x);
        double rhat = gess__posterior_rhat(work);
        p->mcse[j] = p->sd[j] / sqrt(gess__posterior_ess_mean(work));
        p->rhat = fmax(p->rhat, isnan(rhat) ? INFINITY : rhat);
        p->worst = fmax(p->worst, isnan(p->mcse[j]) ? INFINITY : p->mcse[j] / p->sd[j]);
    }
    gess__posterior_workspace_free(work);
    return GESS_OK;
}

static int write_file(const gess__bench_options *o, const char *specification, const pool *p, uint64_t seeds,
                      uint64_t evals, gess_error *err)
{
    char name[GESS__BENCH_ITEM + 8], path[1200];
    gess__reference_name(specification, name);
    snprintf(path, sizeof path, "%s/%s", o->output != NULL ? o->output : GESS_SOURCE_DATA "/../bench/reference", name);
    FILE *out = fopen(path, "we");
    if (out == NULL) return gess__fail(err, GESS_ERR_FILE, "%s: %s", path, strerror(errno));
    fprintf(out, "# gess bench reference --models %s --seeds %llu --evals %llu%s%s\n", specification,
            (unsigned long long)seeds, (unsigned long long)evals, o->settings != NULL ? " --set " : "",
            o->settings != NULL ? o->settings : "");
    fprintf(out, "# gess %s, %.3g draws, R-hat %.4f; a row per parameter\nmean,sd,spread,mcse_mean\n", gess_version(),
            p->count, p->rhat);
    for (size_t j = 0; j < p->dim; j++)
        fprintf(out, "%.10g,%.10g,%.10g,%.3g\n", p->mean[j], p->sd[j], p->spread[j], p->mcse[j]);
    int bad = ferror(out);
    if (fclose(out) != 0 || bad) return gess__fail(err, GESS_ERR_FILE, "%s: cannot be written", path);
    gess__bench_say(o, "  %-24s wrote %s\n", "", path);
    return GESS_OK;
}

static int make(const gess__bench_options *o, const char *specification, uint64_t seeds, uint64_t evals, json_t *rows,
                gess_error *err)
{
    gess__sampled s[MAX_SEEDS] = {0};
    pool p = {0};
    int status = GESS_OK;
    for (uint64_t k = 0; status == GESS_OK && k < seeds; k++) {
        gess__plan plan = {.model = specification,
                           .settings = o->settings,
                           .seed = 1000 + k, /* other seeds than those of the benchmarks */
                           .sampling = evals,
                           .max_held = HELD};
        status = gess__sample_gess(&plan, &s[k], err);
    }
    if (status == GESS_OK) status = pool_chains(&p, (size_t)seeds, s, err);
    if (status == GESS_OK) {
        pool_moments(&p, (size_t)seeds, s);
        status = pool_figures(&p, err);
    }
    if (status == GESS_OK) {
        int good = p.rhat <= 1.01 && p.worst <= 0.01;
        gess__bench_say(o, "  %-24s R-hat %.4f, every mean to %.4f sd%s\n", specification, p.rhat, p.worst,
                        good ? "" : ": not good enough, nothing is written");
        json_array_append_new(rows, json_pack("{s:s, s:o, s:o, s:b}", "model", specification, "r_hat",
                                              gess__bench_number(p.rhat), "worst_mcse", gess__bench_number(p.worst),
                                              "written", good));
        if (good) status = write_file(o, specification, &p, seeds, evals, err);
    }
    for (size_t k = 0; k < MAX_SEEDS; k++) gess__sampled_free(&s[k]);
    free(p.values);
    free(p.mean);
    free(p.sd);
    free(p.spread);
    free(p.mcse);
    return status;
}

static int table(const gess__bench_options *o, json_t **json, gess_error *err)
{
    gess__bench_list models;
    uint64_t seeds = o->seeds > 0 ? o->seeds : o->quick ? 2 : 4;
    uint64_t evals = o->evals > 0 ? o->evals : o->quick ? 1000000 : 20000000;
    if (seeds > MAX_SEEDS) return gess__fail(err, GESS_ERR_USAGE, "bench reference: at most %d seeds", MAX_SEEDS);
    GESS_TRY(gess__bench_split(o->models != NULL ? o->models : o->quick ? "gaussian" : ALL, &models, err));
    gess__bench_say(o, "Means and sds from %llu runs of %.3g evaluations after warm-up\n", (unsigned long long)seeds,
                    (double)evals);
    json_t *rows = json_array();
    int status = GESS_OK;
    for (size_t i = 0; status == GESS_OK && i < models.count; i++)
        status = make(o, models.item[i], seeds, evals, rows, err);
    *json = json_pack("{s:I, s:I, s:o}", "evals", (json_int_t)evals, "seeds", (json_int_t)seeds, "rows", rows);
    return status;
}

const gess__bench gess__bench_reference = {
    .name = "reference",
    .help = "makes the long references that cost needs (by name only)",
    .table = table,
};
