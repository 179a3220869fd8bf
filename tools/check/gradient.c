/* Checks of what a model gives beside its log density: gradients against differences, derived quantities, blobs. */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRADIENT_POINTS = 20, GRADIENT_COORDINATES = 2000, QUANTITY_POINTS = 20 };

/* Central difference of parameter i with step h. */
static bool difference(struct check *c, size_t i, double h, double *x, double *out)
{
    double at = x[i], up, down, high = at + h, low = at - h;
    x[i] = high;
    bool good = evaluate(c, 0, 1, x, &up);
    x[i] = low;
    good = good && evaluate(c, 0, 1, x, &down);
    x[i] = at;
    *out = good ? (up - down) / (high - low) : NAN;
    return good;
}

/* The derivative by Richardson extrapolation, with an error: how far three steps disagree, and rounding. */
static bool differentiate(struct check *c, size_t i, double value, double *x, double *slope, double *error)
{
    const gess_model *m = c->model;
    double h = 1e-3 * fmax(1e-2, fabs(x[i])), d[3];
    if (m->lower != NULL && isfinite(m->lower[i])) h = fmin(h, 0.25 * (x[i] - m->lower[i]));
    if (m->upper != NULL && isfinite(m->upper[i])) h = fmin(h, 0.25 * (m->upper[i] - x[i]));
    *slope = *error = NAN;
    if (!(h > 0.0)) return true;
    for (int k = 0; k < 3; k++)
        if (!difference(c, i, ldexp(h, -k), x, &d[k])) return false;
    double first = (4.0 * d[1] - d[0]) / 3.0, second = (4.0 * d[2] - d[1]) / 3.0;
    *slope = second;
    *error = fabs(second - first) + 1e-14 * fmax(1.0, fabs(value)) / h;
    return true;
}

static bool call_gradient(struct check *c, size_t n, const double *x, double *logp, double *gradient)
{
    char text[1024];
    note_call(c, n, x);
    int code = c->model->gradient(c->model->user, 0, n, c->model->dim, x, logp, gradient);
    note_return(c);
    if (code == 0) return true;
    report(c, FAULT, "The function `gradient` returned the error %d, which ends a run. The point: %s", code,
           point_text(c, x, text, sizeof text));
    return false;
}

/* One point: its log density, and its gradient against differences. */
static bool check_slopes(struct check *c, size_t k, double *x, double *gradient)
{
    size_t dim = c->model->dim, step = dim * GRADIENT_POINTS > GRADIENT_COORDINATES ? dim / 100 + 1 : 1;
    double value = check_values(c)[k], logp, slope, error;
    char name[32], text[1024];
    memcpy(x, check_x(c) + k * dim, dim * sizeof *x);
    if (!call_gradient(c, 1, x, &logp, gradient)) return false;
    if (compare_values(value, logp) == DIFFERENT) {
        report(c, FAULT,
               "The function `gradient` says that the log density is %.17g, and `logp` says %.17g. The point: %s", logp,
               value, point_text(c, x, text, sizeof text));
        return false;
    }
    for (size_t i = k % step; i < dim; i += step) {
        if (c->model->lower != NULL && c->model->upper != NULL && c->model->lower[i] == c->model->upper[i]) continue;
        if (!differentiate(c, i, value, x, &slope, &error)) return false;
        if (isnan(slope) || isnan(error)) continue;
        if (fabs(slope - gradient[i]) <= 1e-5 * fmax(fabs(slope), fabs(gradient[i])) + 20.0 * error + 1e-7) continue;
        report(c, FAULT,
               "The gradient with respect to %s is %.10g, but differences of the log density give %.10g (error about "
               "%.1g). The point: %s",
               gess__parameter_name(c->model, i, name), gradient[i], slope, error, point_text(c, x, text, sizeof text));
        return false;
    }
    return true;
}

/* The same in one call. */
static void check_gradient_batch(struct check *c, size_t n, const double *alone)
{
    size_t dim = c->model->dim;
    double *gradient = calloc(n * dim, sizeof *gradient), *logp = calloc(n, sizeof *logp);
    char text[1024];
    if (gradient == NULL || logp == NULL) abort();
    if (call_gradient(c, n, check_x(c), logp, gradient))
        for (size_t i = 0; i < n * dim; i++) {
            if (compare_values(alone[i], gradient[i]) != DIFFERENT) continue;
            report(c, FAULT,
                   "A point's gradient depends on the other points of the call: %.17g alone, %.17g as point %zu of "
                   "%zu. "
                   "The point: %s",
                   alone[i], gradient[i], i / dim + 1, n, point_text(c, check_x(c) + i / dim * dim, text, sizeof text));
            break;
        }
    free(gradient);
    free(logp);
}

void check_gradient(struct check *c)
{
    size_t dim = c->model->dim, n = c->shared->starts < GRADIENT_POINTS ? c->shared->starts : GRADIENT_POINTS;
    double *x = calloc(dim, sizeof *x), *gradients = calloc(n * dim + 1, sizeof *gradients);
    if (x == NULL || gradients == NULL) abort();
    bool good = c->model->gradient != NULL;
    for (size_t k = 0; good && k < n; k++) good = check_slopes(c, k, x, gradients + k * dim);
    if (good && n > 1) check_gradient_batch(c, n, gradients);
    free(x);
    free(gradients);
}

/* ---- derived quantities and blobs ---- */

/* `what`[i] of a point, called twice: it must be finite and the same. */
static bool check_quantity(struct check *c, const char *what, size_t column, const double *x, double first,
                           double second)
{
    char buffer[32], text[1024];
    const char *name = gess__column_name(c->model, column, buffer);
    if (compare_values(first, second) == DIFFERENT) {
        report(c, FAULT, "The %s %s is not a function of its point: %.17g, then %.17g. The point: %s", what, name,
               first, second, point_text(c, x, text, sizeof text));
        return false;
    }
    if (isfinite(first)) return true;
    report(c, WARNING, "The %s %s is %g, so its mean will be, too. The point: %s", what, name, first,
           point_text(c, x, text, sizeof text));
    return false;
}

void check_derived(struct check *c)
{
    const gess_model *m = c->model;
    size_t n = m->derived;
    double *out = calloc(2 * n + 1, sizeof *out);
    if (out == NULL) abort();
    bool good = n > 0;
    for (size_t k = 0; good && k < c->shared->starts && k < QUANTITY_POINTS; k++) {
        const double *x = check_x(c) + k * m->dim;
        note_call(c, 1, x);
        for (size_t i = 0; i < 2 * n; i++) out[i] = NAN;
        int code = gess__model_derive(m, 0, x, out) | gess__model_derive(m, 0, x, out + n);
        note_return(c);
        if (code != 0)
            report(c, FAULT, "The function `derive` or `pointwise` returned an error at a start, which ends a run.");
        good = code == 0;
        for (size_t i = 0; good && i < n; i++)
            good = check_quantity(c, "derived quantity", 1 + m->dim + i, x, out[i], out[n + i]);
    }
    free(out);
}

void check_blobs(struct check *c)
{
    const gess_model *m = c->model;
    size_t n = m->blobs;
    double *out = calloc(2 * n + 1, sizeof *out), logp[2];
    char text[1024];
    if (out == NULL) abort();
    bool good = n > 0 && m->logp_blobs != NULL;
    for (size_t k = 0; good && k < c->shared->starts && k < QUANTITY_POINTS; k++) {
        const double *x = check_x(c) + k * m->dim;
        note_call(c, 1, x);
        for (size_t i = 0; i < 2 * n; i++) out[i] = NAN;
        int code = m->logp_blobs(m->user, 0, 1, m->dim, x, logp, out) |
                   m->logp_blobs(m->user, 0, 1, m->dim, x, logp + 1, out + n);
        if (code == 0 && m->logp != NULL) code = m->logp(m->user, 0, 1, m->dim, x, logp + 1);
        note_return(c);
        if (code != 0) report(c, FAULT, "The function `logp_blobs` returned an error at a start, which ends a run.");
        good = code == 0;
        if (good && compare_values(logp[0], logp[1]) == DIFFERENT) {
            report(c, FAULT, "`logp_blobs` gives the log density %.17g, and `logp` %.17g. The point: %s", logp[0],
                   logp[1], point_text(c, x, text, sizeof text));
            good = false;
        }
        for (size_t i = 0; good && i < n; i++)
            good = check_quantity(c, "blob", 1 + m->dim + m->derived + i, x, out[i], out[n + i]);
    }
    free(out);
}
