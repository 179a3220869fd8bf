#include "map/layers.h"

#include "base/lanes.h"
#include "base/mem.h"
#include "base/vmath.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

enum { W = GESS__LANES };

size_t gess__most_directions(size_t dim)
{
    return dim < GESS__MOST_DIRECTIONS ? dim : GESS__MOST_DIRECTIONS;
}

/* ---- memory ---- */

static int layer_new(gess__layer *layer, size_t dim, gess_error *err)
{
    size_t most = gess__most_directions(dim);
    GESS_ALLOC(&layer->centre, dim, err);
    GESS_ALLOC(&layer->steps, dim, err);
    GESS_ALLOC(&layer->rows, most * dim, err);
    GESS_ALLOC(&layer->columns, most * dim, err);
    GESS_ALLOC(&layer->warps, dim, err);
    GESS_ALLOC(&layer->at, dim, err);
    return GESS_OK;
}

int gess__learned_new(gess__learned **map, size_t dim, gess_error *err)
{
    GESS_ALLOC(map, 1, err);
    (*map)->dim = dim;
    for (size_t i = 0; i < GESS__MOST_LAYERS; i++) {
        int status = layer_new(&(*map)->layers[i], dim, err);
        if (status != GESS_OK) {
            gess__learned_free(*map);
            *map = NULL;
            return status;
        }
    }
    return GESS_OK;
}

void gess__learned_free(gess__learned *map)
{
    if (map == NULL) return;
    for (size_t i = 0; i < GESS__MOST_LAYERS; i++) {
        gess__layer *layer = &map->layers[i];
        free(layer->centre);
        free(layer->steps);
        free(layer->rows);
        free(layer->columns);
        free(layer->warps);
        free(layer->at);
    }
    free(map);
}

static void copy_layer(gess__layer *to, const gess__layer *from, size_t dim)
{
    to->kind = from->kind;
    to->count = from->count;
    to->constant = from->constant;
    memcpy(to->centre, from->centre, dim * sizeof *to->centre);
    if (from->kind == GESS__SCALE_LAYER) {
        memcpy(to->steps, from->steps, from->count * sizeof *to->steps);
        return;
    }
    memcpy(to->warps, from->warps, from->count * sizeof *to->warps);
    if (from->kind == GESS__WARP_LAYER) {
        memcpy(to->at, from->at, from->count * sizeof *to->at);
        return;
    }
    memcpy(to->rows, from->rows, from->count * dim * sizeof *to->rows);
    memcpy(to->columns, from->columns, from->count * dim * sizeof *to->columns);
}

void gess__learned_copy(gess__learned *to, const gess__learned *from)
{
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++) copy_layer(&to->layers[i], &from->layers[i], from->dim);
}

size_t gess__learned_layers(const gess__learned *map)
{
    return map->count;
}

void gess__learned_describe(const gess__learned *map, char *text, size_t size)
{
    static const char *const names[] =
        {[GESS__SCALE_LAYER] = "scale", [GESS__SKEW_LAYER] = "skew", [GESS__WARP_LAYER] = "warp"};
    size_t at = 0;
    (void)snprintf(text, size, "none");
    for (size_t i = 0; i < map->count && at < size; i++) {
        const gess__layer *layer = &map->layers[i];
        const char *of = layer->kind == GESS__SKEW_LAYER ? "direction" : "coordinate";
        int wrote = snprintf(text + at, size - at, "%s%s (%u %s%s)", i == 0 ? "" : ", ", names[layer->kind],
                             layer->count, of, layer->count == 1 ? "" : "s");
        if (wrote < 0) return;
        at += (size_t)wrote;
    }
}

/* ---- what can be ---- */

static bool all_finite(size_t n, const double *x)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

/* Whether coordinate k is mapped by step p or a later one. */
static bool mapped_from(const gess__layer *layer, size_t p, uint32_t k)
{
    for (; p < layer->count; p++)
        if (layer->steps[p].at == k) return true;
    return false;
}

static bool drivers_possible(const gess__layer *layer, size_t p, size_t dim, uint32_t count, const uint32_t *from,
                             const double *factors)
{
    for (uint32_t j = 0; j < count; j++)
        if (from[j] >= dim || mapped_from(layer, p, from[j]) || !isfinite(factors[j])) return false;
    return true;
}

static bool saturation_possible(const gess__scale_step *s)
{
    if (s->saturated > 1 || !isfinite(s->cap) || !isfinite(s->floor) || !isfinite(s->pull)) return false;
    return s->cap >= 0.0 && s->floor >= 0.0 && all_finite(GESS__MOST_DRIVERS, s->pull_slope);
}

static bool step_possible(const gess__layer *layer, size_t p, size_t dim)
{
    const gess__scale_step *s = &layer->steps[p];
    return s->at < dim && !mapped_from(layer, p + 1, s->at) && s->means <= GESS__MOST_DRIVERS &&
           s->scales <= GESS__MOST_DRIVERS && s->bends <= 1 && saturation_possible(s) && isfinite(s->shift) &&
           isfinite(s->spread) && s->spread >= DBL_MIN &&
           drivers_possible(layer, p, dim, s->means, s->mean_from, s->mean) &&
           drivers_possible(layer, p, dim, s->scales, s->scale_from, s->scale) &&
           drivers_possible(layer, p, dim, s->bends, &s->bend_from, &s->bend);
}

static bool warp_possible(const gess__warp *w)
{
    return isfinite(w->shift) && isfinite(w->spread) && w->spread >= DBL_MIN && fabs(w->tilt) <= 100.0 &&
           w->power >= 0.01 && w->power <= 100.0 && fabs(w->lean) <= GESS__MOST_LEAN * w->power;
}

static bool directions_possible(const gess__layer *layer, size_t dim)
{
    if (!all_finite(layer->count * dim, layer->rows) || !all_finite(layer->count * dim, layer->columns)) return false;
    for (size_t j = 0; j < layer->count; j++) {
        if (!warp_possible(&layer->warps[j])) return false;
        for (size_t k = 0; k < layer->count; k++) {
            double product = gess__dot(dim, layer->rows + j * dim, layer->columns + k * dim);
            if (!(fabs(product - (j == k ? 1.0 : 0.0)) < 1e-6)) return false;
        }
    }
    return true;
}

static bool coordinates_possible(const gess__layer *layer, size_t dim)
{
    for (size_t j = 0; j < layer->count; j++) {
        if (layer->at[j] >= dim || !warp_possible(&layer->warps[j])) return false;
        if (j > 0 && layer->at[j] <= layer->at[j - 1]) return false;
    }
    return true;
}

bool gess__layer_possible(const gess__layer *layer, size_t dim)
{
    if (layer->count == 0 || !all_finite(dim, layer->centre)) return false;
    if (layer->kind == GESS__SKEW_LAYER)
        return layer->count <= gess__most_directions(dim) && directions_possible(layer, dim);
    if (layer->count > dim) return false;
    if (layer->kind == GESS__WARP_LAYER) return coordinates_possible(layer, dim);
    if (layer->kind != GESS__SCALE_LAYER) return false;
    for (size_t p = 0; p < layer->count; p++)
        if (!step_possible(layer, p, dim)) return false;
    return true;
}

void gess__layer_finish(gess__layer *layer)
{
    double sum = 0.0;
    for (size_t p = 0; p < layer->count; p++)
        sum += layer->kind == GESS__SCALE_LAYER ? gess__log(layer->steps[p].spread)
                                                : gess__log(layer->warps[p].spread / layer->warps[p].power);
    layer->constant = sum;
}

/* ---- saved and restored ---- */

static void archive_layer(gess__layer *layer, size_t dim, gess__archive *archive)
{
    GESS_ARCHIVE(archive, &layer->kind);
    GESS_ARCHIVE(archive, &layer->count);
    gess__archive_bytes(archive, layer->centre, dim * sizeof *layer->centre);
    if (archive->bad) return;
    size_t room = layer->kind == GESS__SKEW_LAYER ? gess__most_directions(dim) : dim;
    if (layer->count > room) {
        archive->bad = 1;
        return;
    }
    if (layer->kind == GESS__SCALE_LAYER) {
        gess__archive_bytes(archive, layer->steps, layer->count * sizeof *layer->steps);
    } else if (layer->kind == GESS__WARP_LAYER) {
        gess__archive_bytes(archive, layer->at, layer->count * sizeof *layer->at);
        gess__archive_bytes(archive, layer->warps, layer->count * sizeof *layer->warps);
    } else {
        gess__archive_bytes(archive, layer->rows, layer->count * dim * sizeof *layer->rows);
        gess__archive_bytes(archive, layer->columns, layer->count * dim * sizeof *layer->columns);
        gess__archive_bytes(archive, layer->warps, layer->count * sizeof *layer->warps);
    }
    if (!archive->reading || archive->bad) return;
    if (gess__layer_possible(layer, dim))
        gess__layer_finish(layer);
    else
        archive->bad = 1;
}

void gess__learned_archive(gess__learned *map, gess__archive *archive)
{
    uint64_t count = map->count;
    gess__archive_expect(archive, map->dim);
    GESS_ARCHIVE(archive, &count);
    if (archive->reading) map->count = 0;
    if (!archive->bad && count > GESS__MOST_LAYERS) archive->bad = 1;
    for (size_t i = 0; i < count && !archive->bad; i++) archive_layer(&map->layers[i], map->dim, archive);
    if (!archive->bad) map->count = (size_t)count;
}

/* ---- scale: a tile of LANES points, in place; sums += log |d out / d in|, but for the layer's constant ---- */

GESS__INLINE void add_driver(double factor, double centre, const double *restrict y, double *restrict sum)
{
    for (size_t l = 0; l < W; l++) sum[l] = gess__fma(factor, y[l] - centre, sum[l]);
}

GESS__INLINE void saturate(const gess__layer *layer, const gess__scale_step *s, const double *tile, double a[W],
                           double h[W])
{
    double pull[W], share[W];
    for (size_t l = 0; l < W; l++) {
        double variance = gess__exp(h[l]), over = s->cap * variance;
        pull[l] = s->pull;
        share[l] = over / (1.0 + over);
        h[l] += gess__log1p(s->floor / variance) - gess__log1p(over);
    }
    for (size_t j = 0; j < s->means; j++)
        add_driver(s->pull_slope[j], layer->centre[s->mean_from[j]], tile + (size_t)s->mean_from[j] * W, pull);
    for (size_t l = 0; l < W; l++) a[l] = gess__fma(share[l], pull[l], a[l]);
}

/* a and h of a step from y. */
GESS__INLINE void mean_and_scale(const gess__layer *layer, const gess__scale_step *s, const double *tile, double a[W],
                                 double h[W])
{
    for (size_t l = 0; l < W; l++) {
        a[l] = s->shift;
        h[l] = 0.0;
    }
    for (size_t j = 0; j < s->means; j++)
        add_driver(s->mean[j], layer->centre[s->mean_from[j]], tile + (size_t)s->mean_from[j] * W, a);
    for (size_t j = 0; j < s->scales; j++)
        add_driver(s->scale[j], layer->centre[s->scale_from[j]], tile + (size_t)s->scale_from[j] * W, h);
    if (s->bends) {
        const double *y = tile + (size_t)s->bend_from * W;
        double centre = layer->centre[s->bend_from];
        for (size_t l = 0; l < W; l++) a[l] = gess__fma(s->bend, (y[l] - centre) * (y[l] - centre), a[l]);
    }
    for (size_t l = 0; l < W; l++) {
        h[l] = gess__select(h[l] > GESS__MOST_LOG_SCALE, GESS__MOST_LOG_SCALE, h[l]);
        h[l] = gess__select(h[l] < -GESS__MOST_LOG_SCALE, -GESS__MOST_LOG_SCALE, h[l]);
    }
    if (s->saturated) saturate(layer, s, tile, a, h);
}

GESS__VECTOR
static void scale_out(const gess__layer *layer, double *restrict tile, double *restrict sums)
{
    for (size_t p = 0; p < layer->count; p++) {
        const gess__scale_step *s = &layer->steps[p];
        double a[W], h[W], *x = tile + (size_t)s->at * W;
        mean_and_scale(layer, s, tile, a, h);
        for (size_t l = 0; l < W; l++) {
            x[l] = gess__fma(s->spread * gess__exp(0.5 * h[l]), x[l], a[l]);
            sums[l] = gess__fma(0.5, h[l], sums[l]);
        }
    }
}

/* From the last step to the first: what a step looks at is still y. */
GESS__VECTOR
static void scale_in(const gess__layer *layer, double *restrict tile, double *restrict sums)
{
    for (size_t p = layer->count; p-- > 0;) {
        const gess__scale_step *s = &layer->steps[p];
        double a[W], h[W], *x = tile + (size_t)s->at * W;
        mean_and_scale(layer, s, tile, a, h);
        for (size_t l = 0; l < W; l++) {
            x[l] = (x[l] - a[l]) / (s->spread * gess__exp(0.5 * h[l]));
            sums[l] = gess__fma(-0.5, h[l], sums[l]);
        }
    }
}

/* ---- skew ---- */

/* out_b = Σ_k matrix_b[k step] x_k for four rows at a time, so that no sum waits for itself; k ascending. */
GESS__INLINE void four_sums(size_t count, size_t step, const double *restrict m0, const double *restrict m1,
                            const double *restrict m2, const double *restrict m3, const double *restrict x,
                            double *restrict out)
{
    for (size_t l = 0; l < 4 * W; l++) out[l] = 0.0;
    for (size_t k = 0; k < count; k++) {
        const double *restrict at = x + k * W;
        double f0 = m0[k * step], f1 = m1[k * step], f2 = m2[k * step], f3 = m3[k * step];
        for (size_t l = 0; l < W; l++) {
            out[l] = gess__fma(f0, at[l], out[l]);
            out[W + l] = gess__fma(f1, at[l], out[W + l]);
            out[2 * W + l] = gess__fma(f2, at[l], out[2 * W + l]);
            out[3 * W + l] = gess__fma(f3, at[l], out[3 * W + l]);
        }
    }
}

/* u_j = row_j · (x − centre) for a tile; `centred` is scratch. The last rows are repeated to make four. */
GESS__INLINE void directions(const gess__layer *layer, size_t dim, const double *restrict tile,
                             double *restrict centred, double *restrict u)
{
    size_t count = layer->count;
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) centred[i * W + l] = tile[i * W + l] - layer->centre[i];
    for (size_t j = 0; j < count; j += 4) {
        double sums[4 * W];
        size_t last = count - 1, j1 = j + 1 < count ? j + 1 : last, j2 = j + 2 < count ? j + 2 : last;
        size_t j3 = j + 3 < count ? j + 3 : last;
        four_sums(dim, 1, layer->rows + j * dim, layer->rows + j1 * dim, layer->rows + j2 * dim, layer->rows + j3 * dim,
                  centred, sums);
        for (size_t b = 0; b < 4 && j + b < count; b++)
            for (size_t l = 0; l < W; l++) u[(j + b) * W + l] = sums[b * W + l];
    }
}

/* x += Σ column_j change_j. */
GESS__INLINE void move(const gess__layer *layer, size_t dim, const double *restrict change, double *restrict tile)
{
    for (size_t i = 0; i < dim; i += 4) {
        double sums[4 * W];
        size_t last = dim - 1, i1 = i + 1 < dim ? i + 1 : last, i2 = i + 2 < dim ? i + 2 : last;
        size_t i3 = i + 3 < dim ? i + 3 : last;
        four_sums(layer->count, dim, layer->columns + i, layer->columns + i1, layer->columns + i2, layer->columns + i3,
                  change, sums);
        for (size_t b = 0; b < 4 && i + b < dim; b++)
            for (size_t l = 0; l < W; l++) tile[(i + b) * W + l] += sums[b * W + l];
    }
}

GESS__VECTOR
static void skew_out(const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict v)
{
    directions(layer, dim, tile, v + layer->count * W, v);
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        for (size_t l = 0; l < W; l++) {
            double slope, t = gess__warp_out(v[j * W + l], w.power, w.lean, w.tilt, &slope);
            v[j * W + l] = gess__fma(w.spread, t, w.shift) - v[j * W + l];
            sums[l] += gess__log(slope);
        }
    }
    move(layer, dim, v, tile);
}

GESS__VECTOR
static void skew_in(const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                    double *restrict u)
{
    directions(layer, dim, tile, u + layer->count * W, u);
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        for (size_t l = 0; l < W; l++) {
            double slope, v = gess__warp_in((u[j * W + l] - w.shift) / w.spread, w.power, w.lean, w.tilt, &slope);
            u[j * W + l] = v - u[j * W + l];
            sums[l] += gess__log(slope);
        }
    }
    move(layer, dim, u, tile);
}

/* ---- warp ---- */

GESS__VECTOR
static void warp_out(const gess__layer *layer, double *restrict tile, double *restrict sums)
{
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        double *restrict x = tile + (size_t)layer->at[j] * W;
        for (size_t l = 0; l < W; l++) {
            double slope, t = gess__warp_out(x[l], w.power, w.lean, w.tilt, &slope);
            x[l] = gess__fma(w.spread, t, w.shift);
            sums[l] += gess__log(slope);
        }
    }
}

GESS__VECTOR
static void warp_in(const gess__layer *layer, double *restrict tile, double *restrict sums)
{
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        double *restrict x = tile + (size_t)layer->at[j] * W;
        for (size_t l = 0; l < W; l++) {
            double slope;
            x[l] = gess__warp_in((x[l] - w.shift) / w.spread, w.power, w.lean, w.tilt, &slope);
            sums[l] += gess__log(slope);
        }
    }
}

/* ---- the whole map ---- */

size_t gess__learned_scratch(const gess__learned *map, size_t n)
{
    (void)n; /* a tile at a time */
    return W * (2 * map->dim + gess__most_directions(map->dim));
}

/* A point that is not finite everywhere has no density: its jacobian is −inf, what is not finite in it is 0. */
GESS__VECTOR
static void keep_finite(size_t dim, double *restrict tile, double *restrict sums)
{
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) {
            double x = tile[i * W + l];
            int finite = fabs(x) <= DBL_MAX;
            sums[l] = gess__select(finite, sums[l], -HUGE_VAL);
            tile[i * W + l] = gess__select(finite, x, 0.0);
        }
    for (size_t l = 0; l < W; l++) sums[l] = gess__select(fabs(sums[l]) <= DBL_MAX, sums[l], -HUGE_VAL);
}

/* No layers: the points as they are. */
static void identity(size_t dim, size_t n, const double *from, double *to, double *jacobians)
{
    for (size_t j = 0; j < n; j++) {
        double sum = 0.0;
        for (size_t i = 0; i < dim; i++) {
            double x = from[j * dim + i];
            int finite = fabs(x) <= DBL_MAX;
            sum = gess__select(finite, sum, -HUGE_VAL);
            to[j * dim + i] = gess__select(finite, x, 0.0);
        }
        jacobians[j] = sum;
    }
}

void gess__learned_out(const gess__learned *map, size_t n, const double *w, double *y, double *jacobians,
                       double *scratch)
{
    size_t dim = map->dim;
    if (map->count == 0) identity(dim, n, w, y, jacobians);
    for (size_t j = 0; j < n && map->count > 0; j += W) {
        double sums[W] = {0};
        size_t points = n - j < W ? n - j : W;
        gess__to_tile(dim, points, w + j * dim, scratch);
        for (size_t i = map->count; i-- > 0;) {
            const gess__layer *layer = &map->layers[i];
            if (layer->kind == GESS__SCALE_LAYER)
                scale_out(layer, scratch, sums);
            else if (layer->kind == GESS__WARP_LAYER)
                warp_out(layer, scratch, sums);
            else
                skew_out(layer, dim, scratch, sums, scratch + W * dim);
            for (size_t l = 0; l < W; l++) sums[l] += layer->constant;
        }
        keep_finite(dim, scratch, sums);
        gess__from_tile(dim, points, scratch, y + j * dim);
        memcpy(jacobians + j, sums, points * sizeof *sums);
    }
}

void gess__learned_in(const gess__learned *map, size_t n, const double *y, double *w, double *jacobians,
                      double *scratch)
{
    size_t dim = map->dim;
    if (map->count == 0) identity(dim, n, y, w, jacobians);
    for (size_t j = 0; j < n && map->count > 0; j += W) {
        double sums[W] = {0};
        size_t points = n - j < W ? n - j : W;
        gess__to_tile(dim, points, y + j * dim, scratch);
        for (size_t i = 0; i < map->count; i++) {
            const gess__layer *layer = &map->layers[i];
            if (layer->kind == GESS__SCALE_LAYER)
                scale_in(layer, scratch, sums);
            else if (layer->kind == GESS__WARP_LAYER)
                warp_in(layer, scratch, sums);
            else
                skew_in(layer, dim, scratch, sums, scratch + W * dim);
            for (size_t l = 0; l < W; l++) sums[l] -= layer->constant;
        }
        keep_finite(dim, scratch, sums);
        gess__from_tile(dim, points, scratch, w + j * dim);
        memcpy(jacobians + j, sums, points * sizeof *sums);
    }
}
