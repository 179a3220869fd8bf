/* Adds findings to a verdict, and looks up the options and history that rules ask for: the helpers that rules_draws.c,
 * rules_modes.c and rules_history.c share. */
#include "report/rules.h"

#include "base/assert.h"
#include "base/format.h"
#include "base/mem.h"
#include "diagnose/groups.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

enum { MAX_FINDINGS = 64 };

void gess__add_finding(gess__judge *j, int level, const char *code, const char *advice, const char *format, ...)
{
    gess__verdict *v = j->verdict;
    char text[1000];
    va_list args;
    GESS_ASSERT(level >= GESS__NOTE && level <= GESS__FAILURE);
    if (j->status != GESS_OK || v->count == MAX_FINDINGS) return;
    if (v->findings == NULL)
        j->status = gess__alloc_bytes(&v->findings, MAX_FINDINGS, sizeof *v->findings, "findings", j->err);
    if (j->status != GESS_OK) return;
    va_start(args, format);
    gess__vformat(text, sizeof text, format, args);
    va_end(args);
    gess__finding *f = &v->findings[v->count++];
    f->level = level;
    f->code = code;
    j->status = gess__copy_text(&f->text, text, j->err);
    if (j->status == GESS_OK) j->status = gess__copy_text(&f->advice, advice, j->err);
}

double gess__number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const char *gess__option_of(const gess__judge *j, const char *name)
{
    const char *text = json_string_value(json_object_get(json_object_get(j->config, "options"), name));
    return text != NULL ? text : "";
}

int gess__is_two_group(const gess__judge *j)
{
    return strcmp(gess__option_of(j, "schedule"), "two-group") == 0;
}

int gess__is_nested(const gess__judge *j)
{
    return j->s->ensembles == 1 && gess__nested_groups(j->s->chains) > 0 && !gess__is_two_group(j);
}

int gess__has_approximation(const gess__judge *j)
{
    return !json_is_false(json_object_get(j->history, "approximation"));
}

int gess__is_constant(const gess__figures *f)
{
    return f->sd == 0.0;
}

double gess__widen(double z, size_t chains)
{
    return z * (1.0 + 4.0 / ((double)chains - 1.0));
}
