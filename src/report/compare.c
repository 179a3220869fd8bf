/* Compares evidences: log Bayes factors against the best model, and warnings where models are not about the same data
 * or have other priors. */
#include "base/vmath.h"
#include "report/evidence.h"

#include <math.h>
#include <string.h>

/* The highest log evidence; `count` if all are refused. */
static size_t best_of(size_t count, const gess__evidence_report *const *e)
{
    size_t best = count;
    for (size_t i = 0; i < count; i++) {
        if (e[i]->refusal.count > 0) continue;
        if (best == count || e[i]->result.log_z > e[best]->result.log_z) best = i;
    }
    return best;
}

/* Whether two models have the same parameters. */
static int same_parameters(const gess__evidence_report *a, const gess__evidence_report *b)
{
    return json_equal(a->parameters, b->parameters);
}

static int same_probes(const gess__evidence_report *a, const gess__evidence_report *b)
{
    for (size_t k = 0; k < GESS__PRIOR_PROBES; k++) {
        double x = a->probes[k], y = b->probes[k];
        if (!(x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-9 * fabs(x))) return 0;
    }
    return 1;
}

/* Writes what makes the comparison of model i with the first one doubtful, "" if nothing does; returns whether there is
 * a warning. */
static int warning_of(const gess__evidence_report *a, const gess__evidence_report *b, char *text, size_t size)
{
    text[0] = '\0';
    if (a->data != b->data || (a->observations > 0 && b->observations > 0 && a->observations != b->observations))
        snprintf(text, size,
                 "%s and %s have different data: a Bayes factor compares models of the same observations only.",
                 a->directory, b->directory);
    else if (a->has_prior != b->has_prior)
        snprintf(text, size, "of %s and %s only one gives its prior apart: make sure that both priors integrate to 1.",
                 a->directory, b->directory);
    else if (a->has_prior && same_parameters(a, b) && !same_probes(a, b))
        snprintf(text, size,
                 "%s and %s have the same parameters and different priors: that is part of the Bayes factor.",
                 a->directory, b->directory);
    else if (!a->has_prior)
        snprintf(text, size,
                 "neither %s nor %s gives its prior apart: the Bayes factor is meaningful only if both priors "
                 "integrate "
                 "to 1 and both likelihoods are complete and of the same data.",
                 a->directory, b->directory);
    return text[0] != '\0';
}

void gess__compare_print(size_t count, const gess__evidence_report *const *e, FILE *out)
{
    size_t best = best_of(count, e);
    char text[10000];
    fprintf(out, "%14s %9s  %16s %9s  %s\n", "log evidence", "se", "log Bayes factor", "se", "run");
    for (size_t i = 0; i < count; i++) {
        const gess__evidence_result *r = &e[i]->result;
        if (e[i]->refusal.count > 0)
            fprintf(out, "%14s %9s  %16s %9s  %s (%s)\n", "refused", "", "", "", e[i]->directory,
                    e[i]->refusal.findings[0].code);
        else
            fprintf(out, "%14.4f %9.4f  %16.4f %9.4f  %s\n", r->log_z, r->se, r->log_z - e[best]->result.log_z,
                    i == best ? 0.0 : gess__hypot(r->se, e[best]->result.se), e[i]->directory);
    }
    if (best < count) fprintf(out, "\nlog Bayes factors are against the best, %s.\n", e[best]->directory);
    for (size_t i = 0; i < count && best < count; i++)
        if (i != best && e[i]->refusal.count == 0 && e[i]->has_prior && e[best]->has_prior)
            fprintf(out, "Of the log Bayes factor of %s, the mean fit makes %.4g and the priors make %.4g.\n",
                    e[i]->directory, e[i]->mean_log_likelihood - e[best]->mean_log_likelihood,
                    e[best]->information - e[i]->information);
    for (size_t i = 1; i < count; i++)
        if (warning_of(e[0], e[i], text, sizeof text)) fprintf(out, "Warning: %s\n", text);
}

json_t *gess__compare_json(size_t count, const gess__evidence_report *const *e)
{
    size_t best = best_of(count, e);
    char text[10000];
    json_t *models = json_array(), *warnings = json_array();
    for (size_t i = 0; i < count; i++) {
        const gess__evidence_result *r = &e[i]->result;
        json_t *row = gess__evidence_json(e[i]);
        int known = e[i]->refusal.count == 0 && best < count;
        double factor = known ? r->log_z - e[best]->result.log_z : NAN,
               se = known ? (i == best ? 0.0 : gess__hypot(r->se, e[best]->result.se)) : NAN;
        json_object_set_new(row, "directory", json_string_nocheck(e[i]->directory));
        json_object_set_new(row, "log_bayes_factor", isfinite(factor) ? json_real(factor) : json_null());
        json_object_set_new(row, "log_bayes_factor_se", isfinite(se) ? json_real(se) : json_null());
        json_array_append_new(models, row);
        if (i > 0 && warning_of(e[0], e[i], text, sizeof text))
            json_array_append_new(warnings, json_string_nocheck(text));
    }
    return json_pack("{s:o, s:o, s:o}", "best", best < count ? json_string_nocheck(e[best]->directory) : json_null(),
                     "models", models, "warnings", warnings);
}
