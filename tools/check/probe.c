/* What the checks of `gess check` share: findings, calls of the density, points in messages. */
#include "base/shell.h"
#include "check/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void report(struct check *c, int severity, const char *format, ...)
{
    int i = atomic_fetch_add(&c->shared->findings, 1);
    if (i >= MAX_FINDINGS) return;
    struct finding *f = &c->shared->finding[i];
    va_list args;
    f->severity = severity;
    snprintf(f->check, sizeof f->check, "%s", c->stage);
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
}

const char *point_text(const struct check *c, const double *x, char *text, size_t size)
{
    char quoted[4096];
    size_t used = 0, dim = c->model != NULL ? c->model->dim : c->shared->dim, shown = dim <= 20 ? dim : 6;
    int full = shown == dim;
    if (full) used = (size_t)snprintf(text, size, "echo '");
    for (size_t i = 0; i < shown && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%.17g", i > 0 ? "," : "", x[i]);
    if (used >= size) return text;
    if (!full)
        snprintf(text + used, size - used, ",… (%zu numbers)", dim);
    else
        snprintf(text + used, size - used, "' | gess eval %s%s%s",
                 gess__shell_quote(c->specification, quoted, sizeof quoted), c->data != NULL ? " --data " : "",
                 c->data != NULL ? c->data : "");
    return text;
}

void note_call(struct check *c, size_t n, const double *x)
{
    struct shared_check *s = c->shared;
    size_t dim = c->model->dim;
    s->n = n;
    s->dim = dim;
    memcpy(s->point, x, (dim < NOTED ? dim : NOTED) * sizeof *x);
    atomic_fetch_add(&s->evals, n);
    atomic_store(&s->calling, 1);
}

void note_return(struct check *c)
{
    atomic_store(&c->shared->calling, 0);
}

bool evaluate(struct check *c, unsigned worker, size_t n, const double *x, double *logp)
{
    char message[256] = "", text[1024];
    note_call(c, n, x);
    int code = gess__model_logp(c->model, worker, n, x, logp);
    note_return(c);
    if (code == 0) return true;
    if (c->model->message != NULL) c->model->message(c->model->user, worker, message, sizeof message);
    message[sizeof message - 1] = '\0';
    report(c, FAULT, "The density returned the error %d%s%s, which ends a run. The call had %zu point%s, the first: %s",
           code, message[0] != '\0' ? ", saying: " : "", message, n, n == 1 ? "" : "s",
           point_text(c, x, text, sizeof text));
    return false;
}

enum likeness compare_values(double a, double b)
{
    if (memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b))) return SAME;
    double size = fabs(a) > 1.0 ? fabs(a) : 1.0;
    return fabs(a - b) <= 1e-8 * size ? OTHER_BITS : DIFFERENT;
}
