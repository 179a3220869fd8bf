/* Prints the evidence for people, and makes JSON of it for programs. */
#include "report/evidence.h"

#include <math.h>

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static const char bridge[] = "bridge sampling";

static const char *method(const gess__evidence_result *r)
{
    return r->importance ? "importance sampling" : bridge;
}

static const char *second_method(const gess__evidence_result *r)
{
    return r->importance ? bridge : "importance sampling, Pareto-smoothed";
}

/* What the number is an integral of, in words. */
static void print_integral(const gess__evidence_report *e, FILE *out)
{
    fprintf(out,
            "It is the log of the integral of exp(lp__) over %zu parameter%s, with the constants that the model "
            "writes and\nwithout those that it leaves out. ",
            e->free, e->free == 1 ? "" : "s");
    if (e->has_prior)
        fputs("The model gives its prior apart: this is its evidence if that prior integrates to\n1, which gess does "
              "not "
              "check. With an improper prior it is known up to the same constant as the prior.\n",
              out);
    else
        fputs("The model does not say what of it is the prior: this is its evidence only if\nlp__ is a complete log "
              "likelihood plus a prior that integrates to 1. With an improper or unnormalised prior it\nis known up to "
              "the same constant as the prior.\n",
              out);
}

static void print_refusal(const gess__verdict *v, FILE *out)
{
    fputs("REFUSED: the log evidence of this run could not be trusted, so none is given\n", out);
    for (size_t i = 0; i < v->count; i++) {
        fprintf(out, "\n(%s)\n", v->findings[i].code);
        gess__print_wrapped(v->findings[i].text, out);
        gess__print_wrapped(v->findings[i].advice, out);
    }
}

void gess__evidence_print(const gess__evidence_report *e, FILE *out)
{
    const gess__evidence_result *r = &e->result;
    if (e->refusal.count > 0) {
        print_refusal(&e->refusal, out);
        return;
    }
    fprintf(out, "log evidence   %.4f ± %.4f   %s; 95 %% interval %.4f to %.4f\n", r->log_z, r->se, method(r),
            r->log_z - 1.96 * r->se, r->log_z + 1.96 * r->se);
    fprintf(out, "second         %.4f ± %.4f   %s; k-hat of the weights %.2f\n", r->second, r->second_se,
            second_method(r), r->k);
    fprintf(out, "verdict        they agree: %.1f standard errors apart\n", gess__evidence_apart(r));
    if (isfinite(e->annealed))
        fprintf(out, "annealing      %.4g, by the particles of warm-up, which give no error\n", e->annealed);
    fprintf(out, "evaluations    %llu beyond the run; ", (unsigned long long)r->evals);
    if (r->importance)
        fputs("the error is from fresh draws of the approximation", out);
    else
        fprintf(out, "the error is %.2g from the draws and %.2g from fresh draws of the approximation", r->se_draws,
                r->se_fresh);
    fputs(r->refitted ? ", refitted to the draws\n" : "\n", out);
    if (e->has_prior)
        fprintf(out, "information    %.4g ± %.2g nats from the prior to the posterior; mean log likelihood %.6g\n",
                e->information, e->information_se, e->mean_log_likelihood);
    fputc('\n', out);
    print_integral(e, out);
}

static json_t *reasons_json(const gess__verdict *v)
{
    json_t *reasons = json_array();
    for (size_t i = 0; i < v->count; i++)
        json_array_append_new(reasons, json_pack("{s:s, s:s, s:s}", "code", v->findings[i].code, "text",
                                                 v->findings[i].text, "advice", v->findings[i].advice));
    return reasons;
}

static json_t *prior_json(const gess__evidence_report *e)
{
    json_t *probes = json_array();
    for (size_t k = 0; k < GESS__PRIOR_PROBES; k++) json_array_append_new(probes, number(e->probes[k]));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "mean_log_prior", number(e->mean_log_prior), "mean_log_likelihood",
                     number(e->mean_log_likelihood), "information", number(e->information), "information_se",
                     number(e->information_se), "probes", probes);
}

json_t *gess__evidence_json(const gess__evidence_report *e)
{
    const gess__evidence_result *r = &e->result;
    int refused = e->refusal.count > 0;
    json_t *second =
        json_pack("{s:s, s:o, s:o, s:o}", "method", second_method(r), "log_evidence", number(refused ? NAN : r->second),
                  "se", number(refused ? NAN : r->second_se), "k_hat", number(r->k));
    json_t *root = json_pack("{s:o, s:o, s:I, s:o, s:s, s:o}", "log_evidence", number(refused ? NAN : r->log_z), "se",
                             number(refused ? NAN : r->se), "evals", (json_int_t)r->evals, "second", second, "verdict",
                             refused ? "refused" : "agree", "reasons", reasons_json(&e->refusal));
    if (root == NULL) return NULL;
    json_object_set_new(root, "method", json_string(method(r)));
    json_object_set_new(root, "se_draws", number(r->se_draws));
    json_object_set_new(root, "se_fresh", number(r->se_fresh));
    json_object_set_new(root, "effective_draws", number(r->effective));
    json_object_set_new(root, "draws", json_integer((json_int_t)r->draws));
    json_object_set_new(root, "nans", json_integer((json_int_t)r->nans));
    json_object_set_new(root, "uncovered", number(r->uncovered));
    json_object_set_new(root, "components", json_integer((json_int_t)r->components));
    json_object_set_new(root, "layers", json_integer((json_int_t)r->layers));
    json_object_set_new(root, "refitted", json_boolean(r->refitted));
    json_object_set_new(root, "model", json_string_nocheck(e->model));
    json_object_set_new(root, "free_parameters", json_integer((json_int_t)e->free));
    if (isfinite(e->annealed))
        json_object_set_new(root, "annealing", json_pack("{s:o, s:n}", "log_evidence", number(e->annealed), "se"));
    if (e->has_prior) json_object_set_new(root, "prior", prior_json(e));
    return root;
}
