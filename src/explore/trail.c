/* Keeps the points that chains have evaluated last, and looks for outliers among them. */
#include "explore/trail.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)GESS__TRAIL_MAX_DIM == (int)GESS__OUTLIERS_MAX_DIM, "a trail is kept for outliers only");

int gess__trail_new(gess__trail *t, size_t dim, gess_error *err)
{
    if (dim > GESS__TRAIL_MAX_DIM) return GESS_OK;
    t->dim = dim;
    GESS_ALLOC(&t->points, GESS__TRAIL * dim, err);
    GESS_ALLOC(&t->values, GESS__TRAIL, err);
    return GESS_OK;
}

void gess__trail_free(gess__trail *t)
{
    free(t->points);
    free(t->values);
}

static void add(gess__trail *t, const gess__learning *l, const double *row)
{
    double *y = l->ensemble->updates[0].mapped;
    double value = row[t->dim] - gess__target_out(&l->ensemble->target, row, y, y + t->dim);
    size_t at = (size_t)(t->noted % GESS__TRAIL);
    for (size_t k = 0; k < t->dim; k++)
        if (!isfinite(y[k])) return;
    if (!isfinite(value)) return;
    memcpy(t->points + at * t->dim, y, t->dim * sizeof *y);
    t->values[at] = value;
    t->noted++;
}

void gess__trail_take(gess__trail *t, const gess__learning *l)
{
    gess__chains *c = &l->ensemble->chains;
    if (t->dim == 0) return;
    for (size_t i = 0; i < c->count; i++) {
        const double *rows = c->trail + i * c->trail_points * (c->dim + 1);
        uint64_t n = c->trail_count[i], first = n > c->trail_points ? n - c->trail_points : 0;
        for (uint64_t k = first; k < n; k++) add(t, l, rows + (size_t)(k % c->trail_points) * (c->dim + 1));
        c->trail_count[i] = 0;
    }
}

static size_t used_of(const gess__trail *t)
{
    return t->noted < GESS__TRAIL ? (size_t)t->noted : GESS__TRAIL;
}

int gess__trail_outliers(const gess__trail *t, gess__outliers *found, gess_error *err)
{
    found->count = 0;
    return t->dim == 0 ? GESS_OK : gess__outliers_find(used_of(t), t->dim, t->points, t->values, found, err);
}

void gess__trail_archive(gess__trail *t, gess__archive *a)
{
    GESS_ARCHIVE(a, &t->noted);
    if (a->bad || t->dim == 0) return;
    gess__archive_bytes(a, t->points, used_of(t) * t->dim * sizeof *t->points);
    gess__archive_bytes(a, t->values, used_of(t) * sizeof *t->values);
}
