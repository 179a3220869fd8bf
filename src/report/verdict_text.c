/* Prints the verdict as text for people, and makes JSON of it for programs. verdict.c reaches the verdict. */
#include "report/verdict.h"

#include "base/vmath.h"

#include <math.h>
#include <string.h>

static const char *const level_names[] = {"note", "warning", "failure"};

void gess__verdict_extremes(const gess__summary *s, double *ess, double *rhat)
{
    *ess = INFINITY;
    *rhat = -INFINITY;
    for (size_t i = 0; i < s->count; i++) {
        *ess = gess__min(*ess, s->figures[i].ess_bulk);
        *rhat = gess__max(*rhat, s->figures[i].r_hat);
    }
}

/* The length of the word at the beginning of text; a command in backquotes is one word, so that it can be copied. */
static size_t word_length(const char *text)
{
    const char *quote = *text == '`' ? strchr(text + 1, '`') : NULL;
    return quote != NULL ? (size_t)(quote - text) + strcspn(quote, " ") : strcspn(text, " ");
}

void gess__print_wrapped(const char *text, FILE *out)
{
    enum { WIDTH = 100 };
    size_t used = 0;
    while (*text != '\0') {
        size_t length = word_length(text);
        if (used > 0 && used + 1 + length > WIDTH) {
            fputs("\n    ", out);
            used = 0;
        } else {
            fputs(used > 0 ? " " : "    ", out);
            used += used > 0;
        }
        for (size_t i = 0; i < length; i++) fputc((unsigned char)text[i] < ' ' ? '?' : text[i], out);
        used += length;
        text += length + (text[length] == ' ');
    }
    fputc('\n', out);
}

void gess__verdict_print(const gess__verdict *v, const gess__summary *s, FILE *out)
{
    double ess, rhat;
    gess__verdict_extremes(s, &ess, &rhat);
    fprintf(out, "%s: %zu chain%s of %llu draw%s", v->pass ? "PASS" : "FAIL", s->chains, s->chains == 1 ? "" : "s",
            (unsigned long long)s->draws, s->draws == 1 ? "" : "s");
    double nested = gess__summary_worst_nested(s);
    if (isfinite(ess) && isfinite(rhat) && isfinite(nested))
        fprintf(out, ", smallest bulk ESS %.0f, worst nested R-hat %.4f (of single chains %.4f)\n", ess, nested, rhat);
    else if (isfinite(ess) && isfinite(rhat))
        fprintf(out, ", smallest bulk ESS %.0f, worst R-hat %.4f\n", ess, rhat);
    else
        fputs(", too few for ESS and R-hat\n", out);
    for (size_t i = 0; i < v->count; i++) {
        fprintf(out, "\n%s (%s)\n", level_names[v->findings[i].level], v->findings[i].code);
        gess__print_wrapped(v->findings[i].text, out);
        gess__print_wrapped(v->findings[i].advice, out);
    }
}

json_t *gess__verdict_json(const gess__verdict *v, const gess__summary *s)
{
    double ess, rhat;
    json_t *findings = json_array();
    gess__verdict_extremes(s, &ess, &rhat);
    for (size_t i = 0; i < v->count; i++)
        json_array_append_new(findings, json_pack("{s:s, s:s, s:s, s:s}", "level", level_names[v->findings[i].level],
                                                  "code", v->findings[i].code, "text", v->findings[i].text, "advice",
                                                  v->findings[i].advice));
    double nested = gess__summary_worst_nested(s);
    return json_pack("{s:b, s:I, s:I, s:o, s:o, s:o, s:O*, s:o}", "pass", v->pass, "chains", (json_int_t)s->chains,
                     "draws", (json_int_t)s->draws, "least_ess", isfinite(ess) ? json_real(ess) : json_null(),
                     "worst_nested_rhat", isfinite(nested) ? json_real(nested) : json_null(), "worst_rhat",
                     isfinite(rhat) ? json_real(rhat) : json_null(), "modes", v->modes, "findings", findings);
}
