/* Computes the evidence of a run, and decides whether it is refused. */
#include "report/evidence.h"

#include "base/checksum.h"
#include "base/mem.h"
#include "base/shell.h"
#include "report/rules.h"
#include "run/directory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_EFFECTIVE 50.0 /* draws, as the bridge sees them */
#define MAX_UNCOVERED 0.2  /* share of the draws at weights above those of all fresh draws */
#define MAX_Z 4.0          /* between the two estimates */

/* ---- reasons ---- */

/* The reasons that the run's own verdict gives. */
static int judge_run(gess__judge *j, const gess__summary *s, gess_error *err)
{
    gess__verdict verdict = {0};
    int status = gess__judge_run(&verdict, s, j->directory, err);
    for (size_t i = 0; status == GESS_OK && i < verdict.count; i++) {
        const gess__finding *f = &verdict.findings[i];
        if (f->level == GESS__FAILURE)
            gess__add_finding(j, GESS__FAILURE, f->code, f->advice, "`gess diagnose` says of the draws: %s", f->text);
    }
    gess__verdict_free(&verdict);
    return status == GESS_OK ? j->status : status;
}

/* Tails without a mean that chains hardly saw: draws and T may both miss mass there. */
static void judge_tails(gess__judge *j, const gess__summary *s)
{
    for (size_t i = 0; i < s->count; i++) {
        const gess__tail_index *t = &s->figures[i].tail;
        if (!gess__tails_slow(t) || gess__moments_of(t) != GESS__NO_MEAN) continue;
        gess__add_finding(j, GESS__FAILURE, "slow-tails",
                          "A parametrisation with lighter tails, such as a logarithm, helps.",
                          "The tails of %s are so heavy that no mean exists (tail index %.2f), and %.0f draws in them "
                          "tell "
                          "no more than one independent draw would: what lies there is not known.",
                          s->names[i], t->index, t->inefficiency);
        return;
    }
}

static void judge_draws(gess__judge *j, const gess__evidence_result *r)
{
    char directory[4096], more[4400];
    snprintf(more, sizeof more, "Sample more: `gess resume %s --draws N`, or `gess sample` with a larger --target-ess.",
             gess__shell_quote(j->directory, directory, sizeof directory));
    if (r->parts == 0)
        gess__add_finding(j, GESS__FAILURE, "few-draws", more,
                          "There are %llu draws, too few for a bridge from them to the approximation.",
                          (unsigned long long)r->draws);
    else if (r->effective < MIN_EFFECTIVE)
        gess__add_finding(j, GESS__FAILURE, "few-draws", more,
                          "The draws are worth %.0f independent ones in the bridge; it takes %.0f.", r->effective,
                          MIN_EFFECTIVE);
}

static void judge_t(gess__judge *j, const gess__evidence_result *r)
{
    static const char advice[] =
        "Use the default schedule, or run longer, so that the approximation has the shape of the posterior.";
    if (r->parts == 0) return;
    if (r->outside || r->uncovered > MAX_UNCOVERED)
        gess__add_finding(j, GESS__FAILURE, "not-covered", advice,
                          "The approximation does not cover the draws: %.0f %% of them are where it puts less of its "
                          "mass than at any of its own draws, relative to the density.",
                          r->outside ? 100.0 : 100.0 * r->uncovered);
    if (!(r->k <= r->max_k))
        gess__add_finding(j, GESS__FAILURE, "k-hat", advice,
                          "The weights of draws of the approximation have k-hat %.2f, and only up to %.2f do so few of "
                          "them have a mean that can be believed: the density has heavier tails than it, or parts that "
                          "it hardly reaches.",
                          r->k, r->max_k);
    double apart = gess__evidence_apart(r);
    if (r->k <= r->max_k && !r->outside && !(apart <= MAX_Z))
        gess__add_finding(j, GESS__FAILURE, "disagree", advice,
                          "%s gives %.4g ± %.2g and %s %.4g ± %.2g: they disagree by %.1f standard errors, so that "
                          "one of the errors is wrong.",
                          r->importance ? "Importance sampling" : "Bridge sampling", r->log_z, r->se,
                          r->importance ? "bridge sampling" : "importance sampling", r->second, r->second_se, apart);
}

static int judge(gess__evidence_report *report, const char *directory, gess_error *err)
{
    gess__summary summary = {0};
    gess__judge j = {.verdict = &report->refusal, .directory = directory, .err = err};
    int status = gess__summarise_run(&summary, directory, (gess__summary_settings){0}, err);
    if (status == GESS_OK) status = judge_run(&j, &summary, err);
    if (status == GESS_OK) judge_tails(&j, &summary);
    gess__summary_free(&summary);
    GESS_TRY(status);
    judge_draws(&j, &report->result);
    judge_t(&j, &report->result);
    report->refusal.pass = report->refusal.count == 0;
    return j.status;
}

/* ---- what was integrated ---- */

/* log ∫π of the annealing in warm-up, from history.json. */
static double read_annealed(const char *directory)
{
    char path[4096];
    json_t *history = NULL;
    if (gess__directory_path(directory, "history.json", path, sizeof path, NULL) == GESS_OK)
        history = json_load_file(path, 0, NULL);
    json_t *annealing = json_object_get(json_object_get(history, "exploration"), "annealing");
    double log_z = annealing != NULL ? gess__number_of(annealing, "log_z") : NAN;
    json_decref(history);
    return log_z;
}

static uint32_t checksum_of(const char *path)
{
    char bytes[65536];
    uint32_t crc = 0;
    FILE *file = path != NULL ? fopen(path, "rb") : NULL;
    for (size_t got; file != NULL && (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        crc = gess__crc32(crc, bytes, got);
    if (file != NULL) fclose(file);
    return crc;
}

static int describe(gess__evidence_report *report, const gess_run *run, gess_error *err)
{
    const gess_model *model = run->model;
    const gess__bounds *bounds = &run->ensemble[0]->target.bounds;
    GESS_TRY(gess__copy_text(&report->model, model->name != NULL ? model->name : "", err));
    GESS_TRY(gess__copy_text(&report->directory, run->directory, err));
    report->parameters = json_array();
    for (size_t i = 0; i < model->dim; i++) {
        char buffer[32];
        json_array_append_new(report->parameters, json_string_nocheck(gess__parameter_name(model, i, buffer)));
        report->free += bounds->coordinates[i].kind != GESS__FIXED;
    }
    report->observations = model->observations;
    report->data = checksum_of(run->options.data);
    report->annealed = read_annealed(run->directory);
    return GESS_OK;
}

int gess__evidence_report_run(gess__evidence_report *report, gess_run *run, double error, uint64_t evals,
                              gess_error *err)
{
    *report = (gess__evidence_report){0};
    GESS_TRY(describe(report, run, err));
    GESS_TRY(gess__run_evidence(run, error, evals, &report->result, err));
    GESS_TRY(judge(report, run->directory, err));
    GESS_TRY(gess__evidence_prior(report, run, err));
    return gess__directory_write_json(run->folder, run->directory, "evidence.json", gess__evidence_json(report), err);
}

void gess__evidence_report_free(gess__evidence_report *report)
{
    gess__verdict_free(&report->refusal);
    free(report->model);
    free(report->directory);
    json_decref(report->parameters);
    *report = (gess__evidence_report){0};
}
