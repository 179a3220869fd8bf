/* gess_verdict of <gess/draws.h>: whether a run can be trusted, as findings and as text. */
#include "report/verdict.h"

#include "api/argument.h"
#include "api/finding.h"
#include "api/handles.h"
#include "api/text.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct gess_verdict {
    gess__verdict verdict;
    gess__summary summary; /* what the texts need of it: counts and figures, no names */
};

/* Keeps what the texts need of the summary. */
static int keep_figures(gess_verdict *v, const gess__summary *s, gess_error *err)
{
    GESS_ALLOC(&v->summary.figures, s->count, err);
    memcpy(v->summary.figures, s->figures, s->count * sizeof *s->figures);
    v->summary.count = s->count;
    v->summary.chains = s->chains;
    v->summary.ensembles = s->ensembles;
    v->summary.draws = s->draws;
    return GESS_OK;
}

static int judge(gess_verdict *v, const char *directory, const gess__summary *given, gess_error *err)
{
    gess__summary computed = {0};
    int status = GESS_OK;
    if (given == NULL) status = gess__summarise_run(&computed, directory, (gess__summary_settings){0}, err);
    const gess__summary *s = given != NULL ? given : &computed;
    if (status == GESS_OK) status = gess__judge_run(&v->verdict, s, directory, err);
    if (status == GESS_OK) status = keep_figures(v, s, err);
    gess__summary_free(&computed);
    return status;
}

int gess_verdict_new(gess_verdict **verdict, const char *directory, const gess_summary *summary, gess_error *err)
{
    GESS_REQUIRE(verdict, err);
    *verdict = NULL;
    GESS_REQUIRE(directory, err);
    if (summary != NULL && summary->selected)
        return gess__fail(err, GESS_ERR_USAGE,
                          "gess_verdict_new: `summary` has some of the parameters only; a verdict needs all of them");
    int status = gess__alloc_bytes(verdict, 1, sizeof **verdict, "verdict", err);
    if (status == GESS_OK) status = judge(*verdict, directory, summary != NULL ? &summary->figures : NULL, err);
    if (status == GESS_OK) return GESS_OK;
    gess_verdict_free(*verdict);
    *verdict = NULL;
    return status;
}

void gess_verdict_free(gess_verdict *verdict)
{
    if (verdict == NULL) return;
    gess__verdict_free(&verdict->verdict);
    free(verdict->summary.figures);
    free(verdict);
}

int gess_verdict_info(const gess_verdict *verdict, gess_verdict_result *result, size_t size, gess_error *err)
{
    double ess, rhat;
    GESS_REQUIRE(verdict, err);
    GESS_REQUIRE(result, err);
    gess__verdict_extremes(&verdict->summary, &ess, &rhat);
    const gess_verdict_result all = {.pass = verdict->verdict.pass,
                                     .findings = verdict->verdict.count,
                                     .chains = verdict->summary.chains,
                                     .draws = verdict->summary.draws,
                                     .least_ess = isfinite(ess) ? ess : NAN,
                                     .worst_rhat = isfinite(rhat) ? rhat : NAN};
    gess__fill_struct(result, size, &all, sizeof all);
    return GESS_OK;
}

void gess__fill_finding(const gess__finding *from, gess_finding *to, size_t size)
{
    gess_finding all = {.level = from->level};
    snprintf(all.code, sizeof all.code, "%s", from->code);
    snprintf(all.text, sizeof all.text, "%s", from->text);
    snprintf(all.advice, sizeof all.advice, "%s", from->advice);
    gess__fill_struct(to, size, &all, sizeof all);
}

int gess_verdict_finding(const gess_verdict *verdict, size_t index, gess_finding *finding, size_t size, gess_error *err)
{
    GESS_REQUIRE(verdict, err);
    GESS_REQUIRE(finding, err);
    GESS_TRY(gess__check_index(__func__, "findings", index, verdict->verdict.count, err));
    gess__fill_finding(&verdict->verdict.findings[index], finding, size);
    return GESS_OK;
}

int gess_verdict_text(const gess_verdict *verdict, int format, char **text, gess_error *err)
{
    gess__text out;
    GESS_REQUIRE(text, err);
    *text = NULL;
    GESS_REQUIRE(verdict, err);
    const gess__verdict *v = &verdict->verdict;
    if (format == GESS_FORMAT_JSON) return gess__text_of_json(gess__verdict_json(v, &verdict->summary), text, err);
    if (format != GESS_FORMAT_TEXT) return gess__no_format(__func__, format, err);
    GESS_TRY(gess__text_begin(&out, err));
    gess__verdict_print(v, &verdict->summary, out.out);
    return gess__text_end(&out, text, err);
}
