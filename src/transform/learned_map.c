/* Maps points through all layers, a tile at a time, with their Jacobians; adds a layer, copies, describes and archives
 * a map. adapt/layer_search.c decides which layers it has. */
#include "transform/learned_map.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/tiles.h"
#include "transform/layer_body.h"
#include "transform/layer_learner.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

enum { W = GESS__LANES };

int gess__learned_new(gess__learned **map, size_t dim, gess_error *err)
{
    GESS_ASSERT(dim > 0);
    GESS_ALLOC(map, 1, err);
    (*map)->dim = dim;
    for (size_t i = 0; i < GESS__MAX_LAYERS; i++) {
        int status = gess__layer_init(&(*map)->layers[i], dim, err);
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
    for (size_t i = 0; i < GESS__MAX_LAYERS; i++) gess__layer_free(&map->layers[i]);
    free(map);
}

void gess__learned_copy(gess__learned *to, const gess__learned *from)
{
    GESS_ASSERT(to->dim == from->dim);
    to->count = from->count;
    for (size_t i = 0; i < from->count; i++) gess__layer_copy(&to->layers[i], &from->layers[i], from->dim);
}

size_t gess__learned_layers(const gess__learned *map)
{
    GESS_ASSERT(map != NULL);
    return map->count;
}

void gess__learned_describe(const gess__learned *map, char *text, size_t size)
{
    GESS_ASSERT(map != NULL && size > 0);
    size_t at = 0;
    (void)snprintf(text, size, "none");
    for (size_t i = 0; i < map->count && at < size; i++) {
        const gess__layer *layer = &map->layers[i];
        int wrote = snprintf(text + at, size - at, "%s%s (%u %s%s)", i == 0 ? "" : ", ", layer->type->name,
                             layer->count, layer->type->unit, layer->count == 1 ? "" : "s");
        if (wrote < 0) return;
        at += (size_t)wrote;
    }
}

void gess__learned_archive(gess__learned *map, gess__archive *archive)
{
    GESS_ASSERT(map != NULL && map->count <= GESS__MAX_LAYERS);
    uint64_t count = map->count;
    gess__archive_expect(archive, map->dim);
    GESS_ARCHIVE(archive, &count);
    if (archive->reading) map->count = 0;
    if (!archive->bad && count > GESS__MAX_LAYERS) archive->bad = 1;
    for (size_t i = 0; i < count && !archive->bad; i++) gess__layer_archive(&map->layers[i], map->dim, archive);
    if (!archive->bad) map->count = (size_t)count;
}

int gess__learned_add(gess__learned *map, const gess__layer_type *type, gess__learner *learner, size_t n,
                      const double *points)
{
    GESS_ASSERT(type != NULL && learner->dim == map->dim && (n == 0 || points != NULL));
    if (map->count == GESS__MAX_LAYERS) return 0;
    gess__layer *layer = &map->layers[map->count];
    gess__layer_begin(layer, type, map->dim);
    type->learn(learner, n, points, layer);
    if (layer->count == 0) return 0;
    memcpy(layer->centre, learner->mean, map->dim * sizeof *layer->centre);
    if (!gess__layer_finish(layer, map->dim)) return 0;
    map->count++;
    return 1;
}

/* ---- mapping points, a tile at a time ---- */

size_t gess__learned_scratch(const gess__learned *map, size_t n)
{
    size_t largest = 0;
    (void)n; /* tiles are mapped one after another */
    for (size_t i = 0; i < GESS__LAYER_ROWS; i++) {
        const gess__layer_type *type = gess__layer_type_row(i);
        size_t needed = type->scratch == NULL ? 0 : type->scratch(map->dim);
        if (needed > largest) largest = needed;
    }
    return W * (map->dim + largest);
}

static GESS__VECTOR(keep_finite, (size_t dim, double *restrict tile, double *restrict sums), (dim, tile, sums))
{
    gess__keep_finite(dim, tile, sums);
}

/* A map without layers. */
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
    GESS_ASSERT(map != NULL && (n == 0 || (w != NULL && y != NULL && jacobians != NULL && scratch != NULL)));
    size_t dim = map->dim;
    if (map->count == 0) identity(dim, n, w, y, jacobians);
    for (size_t j = 0; j < n && map->count > 0; j += W) {
        double sums[W] = {0};
        size_t points = n - j < W ? n - j : W;
        gess__to_tile(dim, points, w + j * dim, scratch);
        for (size_t i = map->count; i-- > 0;) {
            const gess__layer *layer = &map->layers[i];
            layer->type->out(layer, dim, scratch, sums, scratch + W * dim);
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
    GESS_ASSERT(map != NULL && (n == 0 || (w != NULL && y != NULL && jacobians != NULL && scratch != NULL)));
    size_t dim = map->dim;
    if (map->count == 0) identity(dim, n, y, w, jacobians);
    for (size_t j = 0; j < n && map->count > 0; j += W) {
        double sums[W] = {0};
        size_t points = n - j < W ? n - j : W;
        gess__to_tile(dim, points, y + j * dim, scratch);
        for (size_t i = 0; i < map->count; i++) {
            const gess__layer *layer = &map->layers[i];
            layer->type->in(layer, dim, scratch, sums, scratch + W * dim);
            for (size_t l = 0; l < W; l++) sums[l] -= layer->constant;
        }
        keep_finite(dim, scratch, sums);
        gess__from_tile(dim, points, scratch, w + j * dim);
        memcpy(jacobians + j, sums, points * sizeof *sums);
    }
}

static bool contains(size_t n, const uint32_t *list, size_t value)
{
    for (size_t i = 0; i < n; i++)
        if (list[i] == value) return true;
    return false;
}

size_t gess__learned_extrapolated(const gess__learned *map, size_t max, uint32_t *coordinates)
{
    size_t count = 0;
    for (size_t k = 0; k < map->count; k++) {
        const gess__layer *layer = &map->layers[k];
        for (size_t i = 0; layer->type->extrapolates != NULL && i < layer->count; i++) {
            size_t at = layer->type->extrapolates(layer, i);
            if (at == SIZE_MAX || count == max || contains(count, coordinates, at)) continue;
            coordinates[count++] = (uint32_t)at;
        }
    }
    return count;
}
