/* gess_evidence of <gess/draws.h>: the evidence of a run, as numbers and as text, and the comparison of several. */
#include "report/evidence.h"

#include "api/argument.h"
#include "api/finding.h"
#include "api/text.h"
#include "base/mem.h"
#include "base/shell.h"
#include "cluster/helper_rank.h"
#include "run/directory.h"

#include <gess/draws.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gess_evidence {
    gess__evidence_report report;
};

/* The error to reach and the evaluations that it may take: from the settings, the run's options, or the defaults. */
static int choose(const gess_run *run, const gess_evidence_settings *s, double *error, uint64_t *evals, gess_error *err)
{
    double wanted = s->target_error > 0.0 ? s->target_error : run->options.target_evidence_error;
    if (!(s->target_error >= 0.0 && s->target_error < INFINITY))
        return gess__fail(err, GESS_ERR_USAGE, "gess_evidence_new: a target of the error must be a positive number");
    *error = wanted > 0.0 ? wanted : GESS__EVIDENCE_ERROR;
    *evals = s->max_evals > 0 ? s->max_evals : wanted > 0.0 ? run->options.max_evals : GESS__EVIDENCE_EVALS;
    return GESS_OK;
}

static int check_run(const gess_run *run, gess_error *err)
{
    char quoted[4096];
    if (run->directory == NULL)
        return gess__fail(err, GESS_ERR_USAGE, "gess_evidence_new: the run has no directory, and so no stored draws");
    if (!run->sampling || run->stats.draws == 0)
        return gess__fail(err, GESS_ERR_USAGE, "the run in %s has no draws yet; continue it with `gess resume %s`",
                          run->directory, gess__shell_quote(run->directory, quoted, sizeof quoted));
    return GESS_OK;
}

/* What gess__evidence_report_run() is called with, by a thread beside that which carries messages. */
typedef struct computing {
    gess_run *run;
    const gess_evidence_settings *settings;
    gess__evidence_report *report;
} computing;

static void stop_run(void *run)
{
    gess_stop(run);
}

static int compute_on_ranks(computing *c, gess_error *err)
{
    gess_run *run = c->run;
    double error = GESS__EVIDENCE_ERROR;
    uint64_t evals = GESS__EVIDENCE_EVALS;
    GESS_TRY(check_run(run, err));
    GESS_TRY(choose(run, c->settings, &error, &evals, err));
    GESS_TRY(gess__coordinator_gather(run->ranks, run->ensembles, run->ensemble, &run->options, stop_run, run, err));
    return gess__evidence_report_run(c->report, run, error, evals, err);
}

/* Ranks above 0 are told how it ended, also if it did not begin. */
static int compute(void *data, gess_error *err)
{
    computing *c = data;
    gess_error none = {0};
    gess_error *error = err != NULL ? err : &none;
    int status = compute_on_ranks(c, error);
    gess__coordinator_dismiss(c->run->ranks, status, error, &c->run->stats, sizeof c->run->stats);
    return status;
}

/* A rank above 0 evaluates for rank 0 until that has its result. */
static int help(gess_run *run, gess_error *err)
{
    return gess__helper_rank_serve(run->options.comm, run->model, &run->options, &run->stop, &run->stats,
                                   sizeof run->stats, err);
}

int gess_evidence_new(gess_evidence **evidence, gess_run *run, const gess_evidence_settings *settings, size_t size,
                      gess_error *err)
{
    gess_evidence_settings s;
    GESS_REQUIRE(evidence, err);
    *evidence = NULL;
    GESS_REQUIRE(run, err);
    GESS_TRY(gess__take_struct(__func__, &s, sizeof s, settings, size, err));
    int status;
    if (gess__run_is_helper(run)) {
        status = help(run, err);
    } else {
        GESS_ALLOC(evidence, 1, err);
        computing c = {.run = run, .settings = &s, .report = &(*evidence)->report};
        status = gess__with_comm_thread(run->ranks, compute, &c, err);
    }
    atomic_store(&run->stop, 0); /* a stop is heeded once */
    if (status == GESS_OK) return GESS_OK;
    gess_evidence_free(*evidence);
    *evidence = NULL;
    return status;
}

/* Opens the run in a directory with the model of its config.json, and computes. */
static int open_and_compute(gess_evidence **evidence, const char *directory, const gess_evidence_settings *s,
                            gess_options *options, const char *specification, gess_error *err)
{
    char data[4096];
    gess_model *model = NULL;
    gess_run *run = NULL;
    GESS_TRY(gess_options_get(options, "data", data, sizeof data, err));
    GESS_TRY(gess_options_set(options, "max-time", "0", err));
    /* only a density that runs nowhere else needs the GPU of the run */
    if (strcmp(options->device, "cpu") != 0) GESS_TRY(gess_options_set(options, "device", "auto", err));
    if (s->threads > 0) options->threads = s->threads;
    GESS_TRY(gess_options_set_comm(options, s->comm, err));
    GESS_TRY(gess_model_open(&model, specification, data[0] != '\0' ? data : NULL, err));
    int status = gess_run_resume(&run, model, options, directory, err);
    if (status == GESS_OK) status = gess_evidence_new(evidence, run, s, sizeof *s, err);
    gess_run_free(run);
    gess_model_free(model);
    return status;
}

int gess_evidence_open(gess_evidence **evidence, const char *directory, const gess_evidence_settings *settings,
                       size_t size, gess_error *err)
{
    gess_evidence_settings s;
    char path[4096], specification[4096], differences[1024];
    gess_options *options = NULL;
    GESS_REQUIRE(evidence, err);
    *evidence = NULL;
    GESS_REQUIRE(directory, err);
    GESS_TRY(gess__take_struct(__func__, &s, sizeof s, settings, size, err));
    GESS_TRY(gess__directory_path(directory, "config.json", path, sizeof path, err));
    GESS_TRY(gess_options_read(&options, path, specification, sizeof specification, err));
    int status = gess_config_check(path, differences, sizeof differences, err);
    if (status == GESS_OK) status = open_and_compute(evidence, directory, &s, options, specification, err);
    gess_options_free(options);
    return status;
}

void gess_evidence_free(gess_evidence *evidence)
{
    if (evidence == NULL) return;
    gess__evidence_report_free(&evidence->report);
    free(evidence);
}

int gess_evidence_info(const gess_evidence *evidence, gess_evidence_result *result, size_t size, gess_error *err)
{
    GESS_REQUIRE(evidence, err);
    GESS_REQUIRE(result, err);
    const gess__evidence_report *e = &evidence->report;
    const gess__evidence_result *r = &e->result;
    int refused = e->refusal.count > 0;
    const gess_evidence_result all = {.log_evidence = refused ? NAN : r->log_z,
                                      .se = refused ? NAN : r->se,
                                      .evals = r->evals,
                                      .second_log_evidence = refused ? NAN : r->second,
                                      .second_se = refused ? NAN : r->second_se,
                                      .k_hat = r->k,
                                      .refused = refused,
                                      .reasons = e->refusal.count,
                                      .se_draws = r->se_draws,
                                      .se_fresh = r->se_fresh,
                                      .effective_draws = r->effective,
                                      .annealed_log_evidence = e->annealed,
                                      .mean_log_prior = e->mean_log_prior,
                                      .mean_log_likelihood = e->mean_log_likelihood,
                                      .information = refused ? NAN : e->information,
                                      .information_se = refused ? NAN : e->information_se,
                                      .importance = r->importance};
    gess__fill_struct(result, size, &all, sizeof all);
    return GESS_OK;
}

int gess_evidence_reason(const gess_evidence *evidence, size_t index, gess_finding *finding, size_t size,
                         gess_error *err)
{
    GESS_REQUIRE(evidence, err);
    GESS_REQUIRE(finding, err);
    GESS_TRY(gess__check_index(__func__, "reasons", index, evidence->report.refusal.count, err));
    gess__fill_finding(&evidence->report.refusal.findings[index], finding, size);
    return GESS_OK;
}

int gess_evidence_text(const gess_evidence *evidence, int format, char **text, gess_error *err)
{
    gess__text out;
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(evidence, err);
    if (format == GESS_FORMAT_JSON) return gess__text_of_json(gess__evidence_json(&evidence->report), text, err);
    if (format != GESS_FORMAT_TEXT) return gess__no_format(__func__, format, err);
    GESS_TRY(gess__text_begin(&out, err));
    gess__evidence_print(&evidence->report, out.out);
    return gess__text_end(&out, text, err);
}

int gess_compare_text(size_t count, const gess_evidence *const *evidence, int format, char **text, gess_error *err)
{
    const gess__evidence_report **reports = NULL;
    gess__text out;
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(evidence, err);
    if (count < 2) return gess__fail(err, GESS_ERR_USAGE, "gess_compare_text: it takes two runs or more");
    for (size_t i = 0; i < count; i++) GESS_REQUIRE(evidence[i], err);
    if (format != GESS_FORMAT_JSON && format != GESS_FORMAT_TEXT) return gess__no_format(__func__, format, err);
    GESS_ALLOC(&reports, count, err);
    for (size_t i = 0; i < count; i++) reports[i] = &evidence[i]->report;
    int status;
    if (format == GESS_FORMAT_JSON) {
        status = gess__text_of_json(gess__compare_json(count, reports), text, err);
    } else if ((status = gess__text_begin(&out, err)) == GESS_OK) {
        gess__compare_print(count, reports, out.out);
        status = gess__text_end(&out, text, err);
    }
    free(reports);
    return status;
}
