#include "transform/layers.h"

#include "base/tiles.h"
#include "base/mem.h"
#include "base/tile_matmul.h"
#include "base/vmath.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

enum { W = GESS__LANES };

size_t gess__max_directions(size_t dim)
{
    return dim < GESS__MAX_DIRECTIONS ? dim : GESS__MAX_DIRECTIONS;
}

/* ---- memory ---- */

static int layer_new(gess__layer *layer, size_t dim, gess_error *err)
{
    size_t most = gess__max_directions(dim);
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
    for (size_t i = 0; i < GESS__MAX_LAYERS; i++) {
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
    for (size_t i = 0; i < GESS__MAX_LAYERS; i++) {
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
    return s->cap >= 0.0 && s->floor >= 0.0 && all_finite(GESS__MAX_DRIVERS, s->pull_slope);
}

static bool step_possible(const gess__layer *layer, size_t p, size_t dim)
{
    const gess__scale_step *s = &layer->steps[p];
    return s->at < dim && !mapped_from(layer, p + 1, s->at) && s->means <= GESS__MAX_DRIVERS &&
           s->scales <= GESS__MAX_DRIVERS && s->bends <= 1 && saturation_possible(s) && isfinite(s->shift) &&
           isfinite(s->spread) && s->spread >= DBL_MIN &&
           drivers_possible(layer, p, dim, s->means, s->mean_from, s->mean) &&
           drivers_possible(layer, p, dim, s->scales, s->scale_from, s->scale) &&
           drivers_possible(layer, p, dim, s->bends, &s->bend_from, &s->bend);
}

static bool warp_possible(const gess__warp *w)
{
    return isfinite(w->shift) && isfinite(w->spread) && w->spread >= DBL_MIN && fabs(w->tilt) <= 100.0 &&
           w->power >= 0.01 && w->power <= 100.0 && fabs(w->lean) <= GESS__MAX_LEAN * w->power;
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
        return layer->count <= gess__max_directions(dim) && directions_possible(layer, dim);
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
    size_t room = layer->kind == GESS__SKEW_LAYER ? gess__max_directions(dim) : dim;
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
    if (!archive->bad && count > GESS__MAX_LAYERS) archive->bad = 1;
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
        double variance = gess__exp(h[l]), over = s->cap * variance, inverse = 1.0 / (1.0 + over);
        pull[l] = s->pull;
        share[l] = over * inverse;
        h[l] = gess__log((variance + s->floor) * inverse);
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
        h[l] = gess__select(h[l] > GESS__MAX_LOG_SCALE, GESS__MAX_LOG_SCALE, h[l]);
        h[l] = gess__select(h[l] < -GESS__MAX_LOG_SCALE, -GESS__MAX_LOG_SCALE, h[l]);
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

/* out = rows x for a tile. */
static void tile_product(gess__matrix_rows rows, size_t count, size_t terms, const double *x, double *out)
{
    memset(out, 0, count * W * sizeof *out);
    gess__tile_matmul(rows, count, terms, x, out);
}

/* u_j = row_j · (x − centre) for a tile; `centred` is scratch. */
GESS__INLINE void directions(const gess__layer *layer, size_t dim, const double *restrict tile,
                             double *restrict centred, double *restrict u)
{
    for (size_t i = 0; i < dim; i++)
        for (size_t l = 0; l < W; l++) centred[i * W + l] = tile[i * W + l] - layer->centre[i];
    tile_product((gess__matrix_rows){layer->rows, dim, 1}, layer->count, dim, centred, u);
}

/* x += Σ column_j change_j; `by` is scratch. */
GESS__INLINE void move(const gess__layer *layer, size_t dim, const double *restrict change, double *restrict by,
                       double *restrict tile)
{
    tile_product((gess__matrix_rows){layer->columns, 1, dim}, dim, layer->count, change, by);
    for (size_t i = 0; i < dim * W; i++) tile[i] += by[i];
}

/* sums += log slope, for several slopes at a time: their product. */
GESS__INLINE void add_logs(size_t j, size_t count, const double *restrict slope, double *restrict product,
                           double *restrict sums)
{
    const size_t together = 4;
    int first = j % together == 0, last = j % together == together - 1 || j + 1 == count;
    for (size_t l = 0; l < W; l++) product[l] = first ? slope[l] : product[l] * slope[l];
    for (size_t l = 0; l < W && last; l++) sums[l] += gess__log(product[l]);
}

GESS__VECTOR
static void skew_out(const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                     double *restrict v)
{
    double product[W];
    directions(layer, dim, tile, v + layer->count * W, v);
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        double slope[W];
        for (size_t l = 0; l < W; l++) {
            double t = gess__warp_out(v[j * W + l], w.power, w.lean, w.tilt, &slope[l]);
            v[j * W + l] = gess__fma(w.spread, t, w.shift) - v[j * W + l];
        }
        add_logs(j, layer->count, slope, product, sums);
    }
    move(layer, dim, v, v + layer->count * W, tile);
}

GESS__VECTOR
static void skew_in(const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                    double *restrict u)
{
    double product[W];
    directions(layer, dim, tile, u + layer->count * W, u);
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        double slope[W], inverse = 1.0 / w.spread;
        for (size_t l = 0; l < W; l++) {
            double v = gess__warp_in((u[j * W + l] - w.shift) * inverse, w.power, w.lean, w.tilt, &slope[l]);
            u[j * W + l] = v - u[j * W + l];
        }
        add_logs(j, layer->count, slope, product, sums);
    }
    move(layer, dim, u, u + layer->count * W, tile);
}

/* ---- warp ---- */

GESS__VECTOR
static void warp_out(const gess__layer *layer, double *restrict tile, double *restrict sums)
{
    double product[W];
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        double slope[W], *restrict x = tile + (size_t)layer->at[j] * W;
        for (size_t l = 0; l < W; l++) {
            double t = gess__warp_out(x[l], w.power, w.lean, w.tilt, &slope[l]);
            x[l] = gess__fma(w.spread, t, w.shift);
        }
        add_logs(j, layer->count, slope, product, sums);
    }
}

GESS__VECTOR
static void warp_in(const gess__layer *layer, double *restrict tile, double *restrict sums)
{
    double product[W];
    for (size_t j = 0; j < layer->count; j++) {
        gess__warp w = layer->warps[j];
        double slope[W], inverse = 1.0 / w.spread, *restrict x = tile + (size_t)layer->at[j] * W;
        for (size_t l = 0; l < W; l++)
            x[l] = gess__warp_in((x[l] - w.shift) * inverse, w.power, w.lean, w.tilt, &slope[l]);
        add_logs(j, layer->count, slope, product, sums);
    }
}

/* ---- the whole map ---- */

size_t gess__learned_scratch(const gess__learned *map, size_t n)
{
    (void)n; /* a tile at a time */
    return W * (2 * map->dim + gess__max_directions(map->dim));
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
