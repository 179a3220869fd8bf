/* Applies the rules of rules.def to a run, with history.json and config.json of its directory, and sorts the findings.
 * The rules are in rules_draws.c, rules_levels.c, rules_modes.c and rules_history.c; verdict_text.c prints the
 * verdict. */
#include "report/verdict.h"

#include "base/assert.h"
#include "base/mem.h"
#include "report/rules.h"
#include "run/directory.h"

#include <stdlib.h>

static const struct rule {
    void (*apply)(gess__judge *judge);
    int needs_history;
} rules[] = {
#define GESS_RULE(name, needs_history) {gess__rule_##name, needs_history},
#include "report/rules.def"
#undef GESS_RULE
};
enum { RULES = sizeof rules / sizeof *rules };

static json_t *load(const char *directory, const char *file)
{
    char path[4096];
    if (gess__directory_path(directory, file, path, sizeof path, NULL) != GESS_OK) return NULL;
    return json_load_file(path, 0, NULL);
}

/* Worst level first. The sort is stable: findings of a level stay in the order of the rules. */
static void sort_findings(gess__verdict *v)
{
    for (size_t i = 1; i < v->count; i++)
        for (size_t k = i; k > 0 && v->findings[k].level > v->findings[k - 1].level; k--) {
            gess__finding swap = v->findings[k];
            v->findings[k] = v->findings[k - 1];
            v->findings[k - 1] = swap;
        }
}

/* Applies the rules to the rows of a summary. */
static int judge(gess__verdict *v, const gess__summary *s, const char *directory, gess_error *err)
{
    gess__judge j = {.verdict = v, .s = s, .directory = directory, .err = err};
    j.history = load(directory, "history.json");
    j.config = load(directory, "config.json");
    for (size_t i = 0; i < RULES; i++)
        if (j.history != NULL || !rules[i].needs_history) rules[i].apply(&j);
    if (j.history == NULL || j.config == NULL)
        gess__add_finding(&j, GESS__NOTE, "files", "The file is written when a run ends or is stopped.",
                          "%s is missing or cannot be read: the rules that need it were skipped.",
                          j.history == NULL ? "history.json" : "config.json");
    json_decref(j.history);
    json_decref(j.config);
    if (j.status != GESS_OK) return j.status;
    sort_findings(v);
    v->pass = v->count == 0 || v->findings[0].level < GESS__FAILURE;
    return GESS_OK;
}

/* The rows of a summary that are judged: all but blobs. *out borrows from s but for its four arrays, which
 * free_judged() frees. */
static int choose_judged(const gess__summary *s, gess__summary *out, gess_error *err)
{
    *out = *s;
    out->count = 0;
    out->names = NULL;
    out->column = NULL;
    out->figures = NULL;
    out->circle = NULL;
    GESS_ALLOC(&out->names, s->count, err);
    GESS_ALLOC(&out->column, s->count, err);
    GESS_ALLOC(&out->figures, s->count, err);
    GESS_ALLOC(&out->circle, s->count, err);
    for (size_t i = 0; i < s->count; i++) {
        if (s->first_blob > 0 && s->column[i] >= s->first_blob) continue;
        out->names[out->count] = s->names[i];
        out->column[out->count] = s->column[i];
        out->circle[out->count] = s->circle[i];
        out->figures[out->count++] = s->figures[i];
    }
    return GESS_OK;
}

static void free_judged(gess__summary *judged)
{
    free(judged->names);
    free(judged->column);
    free(judged->figures);
    free(judged->circle);
}

int gess__judge_run(gess__verdict *v, const gess__summary *s, const char *directory, gess_error *err)
{
    GESS_ASSERT(s->count > 0 && s->figures != NULL && directory != NULL);
    *v = (gess__verdict){0};
    if (s->first_blob == 0) return judge(v, s, directory, err);
    gess__summary judged;
    int status = choose_judged(s, &judged, err);
    if (status == GESS_OK) status = judge(v, &judged, directory, err);
    free_judged(&judged);
    return status;
}

void gess__verdict_free(gess__verdict *v)
{
    for (size_t i = 0; i < v->count; i++) {
        free(v->findings[i].text);
        free(v->findings[i].advice);
    }
    free(v->findings);
    json_decref(v->modes);
    *v = (gess__verdict){0};
}
