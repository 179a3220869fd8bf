/* Maps parameters between x and y, and gives log |dx/dy|, the Jacobian of the bounds; target.c adds it to the log
 * density. Many points are mapped in vector code, one parameter after the other. */
#include "transform/bounds.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/special.h"
#include "base/vmath.h"

#include <stdlib.h>

/* Models write "no bound" as the largest number of their language: bounds beyond this count as none. */
#define NO_BOUND 1e300

static enum gess__coordinate_kind kind_of(double a, double b, int periodic, int transform)
{
    if (a == b) return GESS__FIXED;
    if (a == -INFINITY && b == INFINITY) return GESS__FREE;
    if (!transform) return GESS__HARD;
    if (periodic) return GESS__CIRCLE;
    return b == INFINITY ? GESS__ABOVE : a == -INFINITY ? GESS__BELOW : GESS__BETWEEN;
}

int gess__bounds_init(gess__bounds *bounds, const gess_model *model, int transform, gess_error *err)
{
    GESS_ASSERT(bounds != NULL && model != NULL && model->dim > 0);
    *bounds = (gess__bounds){.outer = model->dim, .trivial = 1, .aligned = 1};
    GESS_ALLOC(&bounds->coordinates, model->dim, err);
    for (size_t i = 0; i < model->dim; i++) {
        gess__coordinate *c = &bounds->coordinates[i];
        c->a = model->lower != NULL && model->lower[i] > -NO_BOUND ? model->lower[i] : -INFINITY;
        c->b = model->upper != NULL && model->upper[i] < NO_BOUND ? model->upper[i] : INFINITY;
        c->kind = kind_of(c->a, c->b, model->periodic != NULL && model->periodic[i], transform);
        c->at = bounds->inner;
        bounds->inner += c->kind == GESS__FIXED ? 0 : c->kind == GESS__CIRCLE ? 2 : 1;
        if (c->kind != GESS__FREE) bounds->trivial = 0;
        if (c->at != i || c->kind == GESS__FIXED || c->kind == GESS__CIRCLE) bounds->aligned = 0;
    }
    if (bounds->inner > 0) return GESS_OK;
    return gess__fail(err, GESS_ERR_MODEL, "every parameter of the model is fixed; there is nothing to sample");
}

void gess__bounds_free(gess__bounds *bounds)
{
    free(bounds->coordinates);
    *bounds = (gess__bounds){0};
}

GESS__VECTOR_VALUE(double, gess__bounds_out, (const gess__bounds *bounds, const double *y, double *x), (bounds, y, x))
{
    GESS_ASSERT(bounds->coordinates != NULL && y != NULL && x != NULL);
    double sum = 0.0, part;
    for (size_t i = 0; i < bounds->outer; i++) {
        x[i] = gess__coordinate_out(&bounds->coordinates[i], y, &part);
        sum += part;
    }
    return sum;
}

/* ---- many points, CHUNK at a time, one parameter after the other; log |dx/dy| is added to sums ---- */

enum { CHUNK = 64 };

/* x = from + sign e^t; sign is 1 or −1. */
static GESS__VECTOR(one_sided,
                    (size_t n, double from, double sign, const double *restrict t, double *restrict x,
                     double *restrict sums),
                    (n, from, sign, t, x, sums))
{
    for (size_t j = 0; j < n; j++) {
        x[j] = from + sign * gess__exp(t[j]);
        int inside = (sign * x[j] > sign * from) & (fabs(x[j]) < HUGE_VAL);
        sums[j] += gess__select(inside, t[j], -HUGE_VAL);
    }
}

static GESS__VECTOR(two_sided,
                    (size_t n, double a, double b, const double *restrict t, double *restrict x, double *restrict sums),
                    (n, a, b, t, x, sums))
{
    double width = gess__log(b - a);
    for (size_t j = 0; j < n; j++) {
        double e = gess__exp(-fabs(t[j])), share = e / (1.0 + e);
        x[j] = gess__select(t[j] < 0.0, a + (b - a) * share, b - (b - a) * share);
        int inside = (x[j] > a) & (x[j] < b);
        sums[j] += gess__select(inside, width - fabs(t[j]) - 2.0 * gess__log1p(e), -HUGE_VAL);
    }
}

/* Parameter i of up to CHUNK points. */
static void out_column(const gess__bounds *bounds, size_t i, size_t n, const double *y, double *x, double *sums)
{
    const gess__coordinate *c = &bounds->coordinates[i];
    double t[CHUNK] = {0}, column[CHUNK] = {0}, part;
    size_t inner = bounds->inner, outer = bounds->outer;
    if (c->kind == GESS__FREE) {
        for (size_t j = 0; j < n; j++) x[j * outer + i] = y[j * inner + c->at];
        return;
    }
    if (c->kind != GESS__ABOVE && c->kind != GESS__BELOW && c->kind != GESS__BETWEEN) {
        for (size_t j = 0; j < n; j++) {
            x[j * outer + i] = gess__coordinate_out(c, y + j * inner, &part);
            sums[j] += part;
        }
        return;
    }
    for (size_t j = 0; j < n; j++) t[j] = y[j * inner + c->at];
    size_t whole = (n + 7) / 8 * 8; /* whole vectors; the surplus is dropped */
    if (c->kind == GESS__BETWEEN)
        two_sided(whole, c->a, c->b, t, column, sums);
    else
        one_sided(whole, c->kind == GESS__ABOVE ? c->a : c->b, c->kind == GESS__ABOVE ? 1.0 : -1.0, t, column, sums);
    for (size_t j = 0; j < n; j++) x[j * outer + i] = column[j];
}

void gess__bounds_out_rows(const gess__bounds *bounds, size_t n, const double *y, double *x, double *jacobians)
{
    GESS_ASSERT(bounds->coordinates != NULL && (n == 0 || (y != NULL && x != NULL && jacobians != NULL)));
    for (size_t done = 0; done < n; done += CHUNK) {
        size_t count = n - done < CHUNK ? n - done : CHUNK;
        const double *from = y + done * bounds->inner;
        double sums[CHUNK] = {0}, *to = x + done * bounds->outer;
        if (bounds->aligned) memcpy(to, from, count * bounds->outer * sizeof *to);
        for (size_t i = 0; i < bounds->outer; i++)
            if (!bounds->aligned || bounds->coordinates[i].kind != GESS__FREE)
                out_column(bounds, i, count, from, to, sums);
        memcpy(jacobians + done, sums, count * sizeof *sums);
    }
}

double gess__bounds_one(const gess__bounds *bounds, size_t i, const double *y)
{
    GESS_ASSERT(i < bounds->outer);
    double unused;
    return gess__coordinate_out(&bounds->coordinates[i], y, &unused);
}

bool gess__bounds_in(const gess__bounds *bounds, const double *x, double *y)
{
    GESS_ASSERT(bounds->coordinates != NULL && x != NULL && y != NULL);
    for (size_t i = 0; i < bounds->outer; i++) {
        const gess__coordinate *c = &bounds->coordinates[i];
        double a = c->a, b = c->b, t = x[i];
        switch (c->kind) {
        case GESS__FREE: y[c->at] = t; break;
        case GESS__FIXED: break; /* its value is known, whatever x says */
        case GESS__HARD:
            if (!(t >= a && t <= b)) return false;
            y[c->at] = t;
            break;
        case GESS__ABOVE:
            if (!(t > a && t < INFINITY)) return false;
            y[c->at] = gess__log(t - a);
            break;
        case GESS__BELOW:
            if (!(t < b && t > -INFINITY)) return false;
            y[c->at] = gess__log(b - t);
            break;
        case GESS__BETWEEN:
            if (!(t > a && t < b)) return false;
            y[c->at] = gess__log(t - a) - gess__log(b - t);
            break;
        case GESS__CIRCLE:
            if (!(t >= a && t <= b)) return false;
            gess__sincos_turns((t - a) / (b - a), &y[c->at + 1], &y[c->at]);
            break;
        }
    }
    return true;
}

void gess__bounds_gradient(const gess__bounds *bounds, const double *y, const double *by_x, double *by_y)
{
    GESS_ASSERT(bounds->coordinates != NULL && y != NULL && by_x != NULL && by_y != NULL);
    const double two_pi = 6.28318530717958623200;
    for (size_t i = 0; i < bounds->outer; i++) {
        const gess__coordinate *c = &bounds->coordinates[i];
        double t = y[c->kind == GESS__FIXED ? 0 : c->at], g = by_x[i];
        switch (c->kind) {
        case GESS__FREE:
        case GESS__HARD: by_y[c->at] = g; break;
        case GESS__FIXED: break;
        case GESS__ABOVE: by_y[c->at] = g * gess__exp(t) + 1.0; break;
        case GESS__BELOW: by_y[c->at] = -g * gess__exp(t) + 1.0; break;
        case GESS__BETWEEN: {
            double s = 1.0 / (1.0 + gess__exp(-t));
            by_y[c->at] = g * (c->b - c->a) * s * (1.0 - s) + 1.0 - 2.0 * s;
            break;
        }
        case GESS__CIRCLE: {
            double u = t, v = y[c->at + 1], factor = g * (c->b - c->a) / two_pi / (u * u + v * v);
            by_y[c->at] = -v * factor - u;
            by_y[c->at + 1] = u * factor - v;
            break;
        }
        }
    }
}

double gess__bounds_start(const gess__bounds *bounds, size_t i, double normal, double scale)
{
    GESS_ASSERT(i < bounds->outer && isfinite(normal) && scale > 0.0);
    const gess__coordinate *c = &bounds->coordinates[i];
    if (c->kind == GESS__FIXED) return c->a;
    if (c->a == -INFINITY && c->b == INFINITY) return scale * normal;
    if (c->b == INFINITY) return c->a + fabs(scale * normal);
    if (c->a == -INFINITY) return c->b - fabs(scale * normal);
    return c->a + (c->b - c->a) * 0.5 * gess__erfc(-normal / sqrt(2.0));
}
