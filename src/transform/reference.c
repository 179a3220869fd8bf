/* Draws from the reference of annealing, and computes its density. target.c joins that density to the model's. */
#include "transform/reference.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/mutant.h"
#include "base/special.h"
#include "base/vmath.h"

#include <math.h>
#include <stdlib.h>

/* Degrees of freedom of the t, and its scale in standard deviations of the starts: broader than the starts, so that a
 * mode just outside of them is not cut off. */
#define NU 5.0
#define BREADTH 1.2

static enum gess__reference_kind kind_of(const gess__coordinate *c)
{
    if (c->kind == GESS__BETWEEN) return GESS__REFERENCE_LOGISTIC;
    if (c->kind == GESS__CIRCLE) return GESS__REFERENCE_NORMAL;
    if (c->kind == GESS__HARD && isfinite(c->a) && isfinite(c->b)) return GESS__REFERENCE_UNIFORM;
    return GESS__REFERENCE_T;
}

/* Sets log_norm from the scales. */
static void set_norm(gess__reference *r)
{
    double norm = 0.0, count = 0.0;
    for (size_t i = 0; i < r->dim; i++) {
        if (r->kind[i] == GESS__REFERENCE_NORMAL) norm -= 0.5 * gess__log(2.0 * M_PI);
        if (r->kind[i] == GESS__REFERENCE_UNIFORM || r->kind[i] == GESS__REFERENCE_T) norm -= gess__log(r->scale[i]);
        count += r->kind[i] == GESS__REFERENCE_T;
    }
    if (count > 0.0)
        norm += gess__log_gamma(0.5 * (NU + count)) - gess__log_gamma(0.5 * NU) - 0.5 * count * gess__log(NU * M_PI);
    r->log_norm = norm;
}

int gess__reference_new(gess__reference **reference, const gess__bounds *bounds, gess_error *err)
{
    GESS_ASSERT(bounds->inner > 0);
    GESS_ALLOC(reference, 1, err);
    gess__reference *r = *reference;
    r->dim = bounds->inner;
    r->power = 1.0;
    GESS_ALLOC(&r->kind, r->dim, err);
    GESS_ALLOC(&r->centre, r->dim, err);
    GESS_ALLOC(&r->scale, r->dim, err);
    for (size_t i = 0; i < r->dim; i++) r->scale[i] = 1.0;
    for (size_t i = 0; i < bounds->outer; i++) {
        const gess__coordinate *c = &bounds->coordinates[i];
        if (c->kind == GESS__FIXED) continue;
        r->kind[c->at] = kind_of(c);
        if (c->kind == GESS__CIRCLE) r->kind[c->at + 1] = GESS__REFERENCE_NORMAL;
        if (r->kind[c->at] != GESS__REFERENCE_UNIFORM) continue;
        r->centre[c->at] = 0.5 * (c->a + c->b);
        r->scale[c->at] = c->b - c->a;
    }
    set_norm(r);
    return GESS_OK;
}

void gess__reference_free(gess__reference *r)
{
    if (r == NULL) return;
    free(r->kind);
    free(r->centre);
    free(r->scale);
    free(r);
}

bool gess__reference_is_box(const gess__reference *r)
{
    for (size_t i = 0; i < r->dim; i++)
        if (r->kind[i] == GESS__REFERENCE_T) return false;
    return true;
}

void gess__reference_fit(gess__reference *r, size_t n, const double *points)
{
    GESS_ASSERT(n > 0);
    for (size_t i = 0; i < r->dim; i++) {
        if (r->kind[i] != GESS__REFERENCE_T) continue;
        double mean = 0.0, square = 0.0;
        for (size_t k = 0; k < n; k++) mean += points[k * r->dim + i] / (double)n;
        for (size_t k = 0; k < n; k++)
            square += (points[k * r->dim + i] - mean) * (points[k * r->dim + i] - mean) / (double)n;
        r->centre[i] = mean;
        r->scale[i] = square > 0.0 ? BREADTH * sqrt(square) : gess__max(1.0, fabs(mean));
    }
    set_norm(r);
}

double gess__reference_log(const gess__reference *r, const double *y)
{
    double log = r->log_norm, square = 0.0, count = 0.0;
    for (size_t i = 0; i < r->dim; i++) {
        double z = (y[i] - r->centre[i]) / r->scale[i], size = fabs(y[i]);
        switch (r->kind[i]) {
        case GESS__REFERENCE_LOGISTIC:
            if (!GESS__MUTANT(NO_REFERENCE_JACOBIAN)) log -= size + 2.0 * gess__log1p(gess__exp(-size));
            break;
        case GESS__REFERENCE_NORMAL: log -= 0.5 * y[i] * y[i]; break;
        case GESS__REFERENCE_UNIFORM:
            if (!(fabs(z) <= 0.5)) return -INFINITY;
            break;
        default: square += z * z; count += 1.0;
        }
    }
    return count > 0.0 ? log - 0.5 * (NU + count) * gess__log1p(square / NU) : log;
}

void gess__reference_draw(const gess__reference *r, gess__key key, double *y)
{
    GESS_ASSERT(key.purpose == GESS__FOR_REFERENCE);
    gess__normals(key, r->dim, y);
    key.purpose = GESS__FOR_REFERENCE_SCALE;
    double root = sqrt(0.5 * NU / gess__gamma(key, 0.5 * NU));
    key.purpose = GESS__FOR_REFERENCE_UNIFORM;
    for (size_t i = 0; i < r->dim; i++) {
        if (r->kind[i] == GESS__REFERENCE_NORMAL) continue;
        if (r->kind[i] == GESS__REFERENCE_T) {
            y[i] = r->centre[i] + r->scale[i] * root * y[i];
            continue;
        }
        double u = gess__uniform(key, (uint32_t)i);
        y[i] = r->kind[i] == GESS__REFERENCE_UNIFORM ? r->centre[i] + (u - 0.5) * r->scale[i]
                                                     : gess__log(u) - gess__log1p(-u);
    }
}

void gess__reference_archive(gess__reference *r, gess__archive *a)
{
    GESS_ARCHIVE(a, &r->power);
    gess__archive_bytes(a, r->centre, r->dim * sizeof *r->centre);
    gess__archive_bytes(a, r->scale, r->dim * sizeof *r->scale);
    if (!a->reading || a->bad) return;
    if (!(r->power > 0.0 && r->power <= 1.0)) a->bad = 1;
    for (size_t i = 0; i < r->dim; i++)
        if (!isfinite(r->centre[i]) || !(r->scale[i] > 0.0 && isfinite(r->scale[i]))) a->bad = 1;
    if (!a->bad) set_norm(r);
}
