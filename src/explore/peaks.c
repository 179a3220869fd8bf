/* Keeps the evaluated points that stand out most, and climbs from them. */
#include "explore/peaks.h"

#include "base/assert.h"
#include "base/mem.h"
#include "explore/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lengths of steps of a climb, each half of the one before; steps of one length; the least that a step gains. */
enum { LENGTHS = 9, STEPS = 3 };
#define MIN_GAIN 0.1

int gess__peaks_new(gess__peaks **peaks, size_t dim, size_t chains, gess_error *err)
{
    size_t room = GESS__PEAKS + GESS__OUTLIERS + 2 * chains;
    GESS_ALLOC(peaks, 1, err);
    gess__peaks *p = *peaks;
    p->dim = dim;
    GESS_ALLOC(&p->points, room * dim, err);
    GESS_ALLOC(&p->values, room, err);
    GESS_ALLOC(&p->inside, room * dim, err);
    GESS_ALLOC(&p->inside_values, room, err);
    GESS_ALLOC(&p->levels, room, err);
    return gess__trail_new(&p->trail, dim, err);
}

void gess__peaks_free(gess__peaks *p)
{
    if (p == NULL) return;
    free(p->points);
    free(p->values);
    free(p->inside);
    free(p->inside_values);
    free(p->levels);
    free(p->scratch);
    gess__trail_free(&p->trail);
    free(p);
}

/* Adds a point of the sampling space, in y. */
static void add(gess__peaks *p, const gess__learning *l, const double *w, double value)
{
    double *y = l->ensemble->updates[0].mapped;
    double jacobian = gess__target_out(&l->ensemble->target, w, y, y + p->dim);
    memcpy(p->points + p->count * p->dim, y, p->dim * sizeof *y);
    p->values[p->count++] = value - jacobian;
}

/* Sets points, log densities and levels in the sampling space. */
static int set_levels(gess__peaks *p, const gess__learning *l, size_t n, gess_error *err)
{
    const gess__frozen *f = &l->ensemble->frozen;
    size_t map = f->map != NULL ? gess__learned_scratch(f->map, n) : 0, scratch = gess__levels_scratch(p->dim);
    free(p->scratch);
    p->scratch = NULL;
    GESS_TRY(gess__alloc_bytes(&p->scratch, map > scratch ? map : scratch, sizeof *p->scratch, "scratch", err));
    memset(p->inside_values, 0, n * sizeof *p->inside_values);
    if (f->map != NULL && gess__learned_layers(f->map) > 0)
        gess__learned_in(f->map, n, p->points, p->inside, p->inside_values, p->scratch);
    else
        memcpy(p->inside, p->points, n * p->dim * sizeof *p->inside);
    for (size_t i = 0; i < n; i++) p->inside_values[i] = p->values[i] - p->inside_values[i];
    gess__set_levels(f->mixture, n, p->inside, p->inside_values, p->levels, p->scratch);
    for (size_t i = 0; i < n; i++)
        if (!isfinite(p->levels[i])) p->levels[i] = -INFINITY; /* the map has no place for the point */
    return GESS_OK;
}

static void swap(double *x, double *y, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double kept = x[i];
        x[i] = y[i];
        y[i] = kept;
    }
}

/* Brings the GESS__PEAKS highest levels to the front, in falling order. */
static void sort_levels(gess__peaks *p)
{
    size_t n = (size_t)p->count, dim = p->dim;
    for (size_t i = 0; i < n && i < GESS__PEAKS; i++) {
        size_t best = i;
        for (size_t j = i + 1; j < n; j++)
            if (p->levels[j] > p->levels[best]) best = j;
        swap(p->levels + i, p->levels + best, 1);
        swap(p->values + i, p->values + best, 1);
        swap(p->inside_values + i, p->inside_values + best, 1);
        swap(p->points + i * dim, p->points + best * dim, dim);
        swap(p->inside + i * dim, p->inside + best * dim, dim);
    }
    if (p->count > GESS__PEAKS) p->count = GESS__PEAKS;
}

int gess__peaks_collect(gess__peaks *p, const gess__learning *l, gess_error *err)
{
    gess__chains *c = &l->ensemble->chains;
    GESS_ASSERT(p->count <= GESS__PEAKS);
    for (size_t i = 0; i < c->count; i++) {
        if (c->level[i] > -INFINITY) add(p, l, c->level_at + i * c->dim, c->level_value[i]);
        if (c->peak[i] > -INFINITY) add(p, l, c->peak_at + i * c->dim, c->peak[i]);
    }
    gess__trail_take(&p->trail, l);
    gess__chains_forget_peaks(c);
    p->outliers = 0;
    if (p->count == 0) return GESS_OK;
    int status = set_levels(p, l, (size_t)p->count, err);
    if (status == GESS_OK) sort_levels(p);
    if (p->count > GESS__PEAKS) p->count = GESS__PEAKS;
    return status;
}

int gess__peaks_add_outliers(gess__peaks *p, const gess__learning *l, gess_error *err)
{
    gess__outliers found;
    size_t n = (size_t)p->count;
    GESS_TRY(gess__trail_outliers(&p->trail, &found, err));
    for (size_t i = 0; i < found.count; i++) {
        memcpy(p->points + (n + i) * p->dim, p->trail.points + found.row[i] * p->dim, p->dim * sizeof *p->points);
        p->values[n + i] = p->trail.values[found.row[i]];
    }
    p->outliers = found.count;
    return n + found.count > 0 ? set_levels(p, l, n + found.count, err) : GESS_OK;
}

/* ---- a climb ---- */

typedef struct climb {
    gess__ensemble *ensemble;
    const gess__record *record;
    const double *scale;
    double *points, *values, *levels, *scratch; /* 2 dim points: both ways along every coordinate */
} climb;

/* Tries a step of this length both ways along every coordinate; returns the highest in *best. */
static int try_steps(const climb *c, const double *point, double length, size_t *best, gess_error *err)
{
    size_t dim = c->ensemble->target.dim;
    for (size_t k = 0; k < 2 * dim; k++) {
        memcpy(c->points + k * dim, point, dim * sizeof *point);
        c->points[k * dim + k / 2] += (k % 2 == 0 ? length : -length) * c->scale[k / 2];
    }
    GESS_TRY(gess__evaluate_points(c->ensemble, c->record, 2 * dim, c->points, c->values, err));
    gess__set_levels(c->ensemble->frozen.mixture, 2 * dim, c->points, c->values, c->levels, c->scratch);
    *best = 0;
    for (size_t k = 1; k < 2 * dim; k++)
        if (c->levels[k] > c->levels[*best]) *best = k;
    return GESS_OK;
}

int gess__climb(gess__ensemble *e, const gess__record *record, const double *scale, uint64_t max_evals, double *point,
                double *value, double *level, gess_error *err)
{
    size_t dim = e->target.dim, best;
    uint64_t before = e->tally.evals;
    climb c = {.ensemble = e, .record = record, .scale = scale};
    GESS_TRY(
        gess__alloc_bytes(&c.points, 2 * dim * (dim + 2) + gess__levels_scratch(dim), sizeof *c.points, "points", err));
    c.values = c.points + 2 * dim * dim;
    c.levels = c.values + 2 * dim;
    c.scratch = c.levels + 2 * dim;
    int status = GESS_OK;
    double length = 0.5;
    for (int i = 0; i < LENGTHS && status == GESS_OK; i++, length *= 0.5)
        for (int step = 0; step < STEPS && e->tally.evals - before + 2 * dim <= max_evals; step++) {
            status = try_steps(&c, point, length, &best, err);
            if (status != GESS_OK || !(c.levels[best] > *level + MIN_GAIN)) break;
            memcpy(point, c.points + best * dim, dim * sizeof *point);
            *value = c.values[best];
            *level = c.levels[best];
        }
    if (status != GESS_OK) e->tally.evals = before;
    free(c.points);
    return status;
}

void gess__peaks_archive(gess__peaks *p, gess__archive *a)
{
    GESS_ARCHIVE(a, &p->count);
    if (p->count > GESS__PEAKS) a->bad = 1;
    if (a->bad) return;
    gess__archive_bytes(a, p->points, p->count * p->dim * sizeof *p->points);
    gess__archive_bytes(a, p->values, p->count * sizeof *p->values);
    gess__trail_archive(&p->trail, a);
}
