/* Turns T, the map and the bounds into plain structures, and lists their arrays. */
#include "lane/pack.h"

#include "base/assert.h"
#include "lane/frozen.h"
#include "model/model.h"
#include "transform/scale.h"

static gess__lane_t pack_t(const gess__approx *t, double log_weight)
{
    return (gess__lane_t){.nu = t->nu,
                          .log_weight = log_weight,
                          .log_norm = log_weight + gess__approx_log_norm(t),
                          .mu = t->mu,
                          .chol = t->chol,
                          .inverse_diagonal = t->inverse_diagonal};
}

static bool annealed(const gess__target *target)
{
    return target->reference != NULL && target->reference->power < 1.0;
}

static gess__lane_layer pack_layer(const gess__layer *layer)
{
    static const enum gess__lane_layer_kind kinds[] = {[GESS__LAYER_ROW_scale] = GESS__LANE_SCALE,
                                                       [GESS__LAYER_ROW_warp] = GESS__LANE_WARP,
                                                       [GESS__LAYER_ROW_skew] = GESS__LANE_SKEW};
    gess__lane_layer packed = {.count = layer->count, .constant = layer->constant, .centre = layer->centre};
    for (size_t i = 0; gess__layer_type_row(i) != NULL; i++)
        if (gess__layer_type_row(i) == layer->type) packed.kind = kinds[i];
    for (size_t i = 0; i < GESS__MAX_PARTS; i++) packed.part[i] = layer->part[i];
    return packed;
}

bool gess__lane_pack(gess__lane_frozen *f, const gess__target *target, const gess__stretch *with, uint64_t seed)
{
    const gess__mixture *m = with->mixture;
    const gess__learned *map = target->learned;
    if (annealed(target) || target->model->lane.name == NULL || target->model->blobs > 0) return false;
    *f = (gess__lane_frozen){.dim = target->dim,
                             .outer = target->bounds.outer,
                             .seed = seed,
                             .moves = with->moves,
                             .single = pack_t(with->approx, 0.0),
                             .components = m != NULL ? m->count : 1,
                             .layers = map != NULL ? map->count : 0,
                             .bounded = !target->bounds.trivial,
                             .coordinates = target->bounds.coordinates,
                             .numbers = target->model->lane.numbers};
    for (size_t k = 0; m != NULL && k < m->count; k++) f->t[k] = pack_t(m->component[k], m->log_weight[k]);
    for (size_t i = 0; i < f->layers; i++) f->layer[i] = pack_layer(&map->layers[i]);
    return true;
}

static size_t add(gess__lane_array *arrays, size_t count, const void *slot, size_t bytes)
{
    GESS_ASSERT(count < GESS__LANE_MAX_ARRAYS);
    /* every slot is a pointer to constant data, of whatever type */
    arrays[count] = (gess__lane_array){(const void **)(uintptr_t)slot, bytes};
    return bytes > 0 ? count + 1 : count;
}

static size_t add_t(gess__lane_array *arrays, size_t count, const gess__lane_t *t, size_t dim)
{
    count = add(arrays, count, &t->mu, dim * sizeof *t->mu);
    count = add(arrays, count, &t->chol, dim * dim * sizeof *t->chol);
    return add(arrays, count, &t->inverse_diagonal, dim * sizeof *t->inverse_diagonal);
}

size_t gess__lane_arrays(gess__lane_frozen *f, size_t numbers, gess__lane_array *arrays)
{
    size_t n = add_t(arrays, 0, &f->single, f->dim);
    for (size_t k = 0; f->components > 1 && k < f->components; k++) n = add_t(arrays, n, &f->t[k], f->dim);
    for (size_t i = 0; i < f->layers; i++) {
        const gess__lane_layer *layer = &f->layer[i];
        const gess__layer_type *type = gess__layer_type_row((size_t)layer->kind);
        n = add(arrays, n, &layer->centre, f->dim * sizeof *layer->centre);
        for (size_t p = 0; p < GESS__MAX_PARTS; p++)
            n = add(arrays, n, &layer->part[p],
                    layer->count * (type->parts[p].bytes + f->dim * type->parts[p].bytes_per_dim));
    }
    n = add(arrays, n, &f->coordinates, f->outer * sizeof *f->coordinates);
    return add(arrays, n, &f->numbers, numbers * sizeof *f->numbers);
}
