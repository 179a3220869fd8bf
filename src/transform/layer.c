/* Finds kinds of layer in the table of layers.def, and allocates, copies, checks and archives layers of any kind. The
 * mapping and the learning of a kind are in its file (scale.c, skew.c, warp.c). */
#include "transform/layer.h"

#include "base/assert.h"
#include "base/mem.h"
#include "base/vmath.h"

#include <stdlib.h>

/* ---- the table ---- */

#define GESS_LAYER(name) extern const gess__layer_type gess__layer_##name;
#include "transform/layers.def"
#undef GESS_LAYER

static const gess__layer_type *const table[GESS__LAYER_ROWS] = {
#define GESS_LAYER(name) &gess__layer_##name,
#include "transform/layers.def"
#undef GESS_LAYER
};

const gess__layer_type *gess__layer_type_row(size_t i)
{
    return i < GESS__LAYER_ROWS ? table[i] : NULL;
}

const gess__layer_type *gess__layer_type_find(uint32_t archived)
{
    for (size_t i = 0; i < GESS__LAYER_ROWS; i++)
        if (table[i]->archived == archived) return table[i];
    return NULL;
}

/* ---- memory ---- */

static size_t item_bytes(const gess__layer_type *type, size_t part, size_t dim)
{
    return type->parts[part].bytes + type->parts[part].bytes_per_dim * dim;
}

/* Bytes of a whole part, rounded up so that the next one is aligned for any number. */
static size_t part_bytes(const gess__layer_type *type, size_t part, size_t dim)
{
    const size_t align = sizeof(double);
    return (item_bytes(type, part, dim) * type->max_items(dim) + align - 1) / align * align;
}

int gess__layer_init(gess__layer *layer, size_t dim, gess_error *err)
{
    size_t largest = 0;
    *layer = (gess__layer){0};
    for (size_t i = 0; i < GESS__LAYER_ROWS; i++) {
        size_t all = 0;
        for (size_t p = 0; p < GESS__MAX_PARTS; p++) all += part_bytes(table[i], p, dim);
        if (all > largest) largest = all;
    }
    GESS_ALLOC(&layer->centre, dim, err);
    return gess__alloc_bytes(&layer->memory, largest, 1, "a layer of a map", err);
}

void gess__layer_free(gess__layer *layer)
{
    free(layer->centre);
    free(layer->memory);
    *layer = (gess__layer){0};
}

void gess__layer_begin(gess__layer *layer, const gess__layer_type *type, size_t dim)
{
    GESS_ASSERT(type != NULL && layer->memory != NULL);
    unsigned char *next = layer->memory;
    layer->type = type;
    layer->count = 0;
    for (size_t p = 0; p < GESS__MAX_PARTS; p++) {
        layer->part[p] = next;
        next += part_bytes(type, p, dim);
    }
}

void gess__layer_copy(gess__layer *to, const gess__layer *from, size_t dim)
{
    GESS_ASSERT(from->type != NULL && from->count <= from->type->max_items(dim));
    gess__layer_begin(to, from->type, dim);
    to->count = from->count;
    to->constant = from->constant;
    memcpy(to->centre, from->centre, dim * sizeof *to->centre);
    for (size_t p = 0; p < GESS__MAX_PARTS; p++)
        memcpy(to->part[p], from->part[p], from->count * item_bytes(from->type, p, dim));
}

/* ---- whether it is valid ---- */

bool gess__layer_finish(gess__layer *layer, size_t dim)
{
    GESS_ASSERT(layer->type != NULL);
    if (layer->count == 0 || layer->count > layer->type->max_items(dim)) return false;
    for (size_t i = 0; i < dim; i++)
        if (!isfinite(layer->centre[i])) return false;
    if (!layer->type->valid(layer, dim)) return false;
    layer->constant = layer->type->constant(layer);
    return true;
}

/* ---- archives ---- */

void gess__layer_archive(gess__layer *layer, size_t dim, gess__archive *archive)
{
    uint32_t kind = archive->reading ? 0 : layer->type->archived, count = layer->count;
    GESS_ARCHIVE(archive, &kind);
    GESS_ARCHIVE(archive, &count);
    gess__archive_bytes(archive, layer->centre, dim * sizeof *layer->centre);
    if (archive->bad) return;
    const gess__layer_type *type = gess__layer_type_find(kind);
    if (type == NULL || count > type->max_items(dim)) {
        archive->bad = 1;
        return;
    }
    if (archive->reading) gess__layer_begin(layer, type, dim);
    layer->count = count;
    for (size_t p = 0; p < GESS__MAX_PARTS; p++)
        gess__archive_bytes(archive, layer->part[p], count * item_bytes(type, p, dim));
    if (archive->reading && !archive->bad && !gess__layer_finish(layer, dim)) archive->bad = 1;
}
