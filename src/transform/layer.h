/* One layer of the learned map, and the table of the kinds of layer (layers.def).
 *
 * A kind of layer is one file and one row of layers.def. It maps points between a space y and a space w of the same
 * dimension. `in` maps y to w, towards the sampling space, and `out` maps w to y, towards the user's parameters.
 *
 * A layer is a list of items, such as the coordinates or directions that it maps, and a centre. An item's numbers lie
 * in up to GESS__MAX_PARTS arrays, the parts, which the kind declares. So layer.c can allocate, copy and archive layers
 * of any kind. Coordinates that no item maps pass through a layer unchanged, to the bit.
 *
 * A layer's arithmetic is per point and in a fixed order: a point has the same bits in any batch. */
#ifndef GESS_TRANSFORM_LAYER_H
#define GESS_TRANSFORM_LAYER_H

#include "base/archive.h"
#include "parallel/team.h"

typedef struct gess__layer gess__layer;
typedef struct gess__learner gess__learner;

/* Row numbers: GESS__LAYER_ROW_scale, … */
enum gess__layer_row {
#define GESS_LAYER(name) GESS__LAYER_ROW_##name,
#include "transform/layers.def"
#undef GESS_LAYER
    GESS__LAYER_ROWS
};

enum { GESS__MAX_PARTS = 3 };

/* The size of an item in one of the arrays: bytes + dim × bytes_per_dim. Its numbers must leave no padding, since they
 * are archived as they are. */
typedef struct gess__layer_part {
    size_t bytes, bytes_per_dim;
} gess__layer_part;

/* `in` or `out` over a tile of GESS__LANES points (base/tiles.h), in place. Adds log |d result / d argument| of every
 * point to sums, but for the layer's constant. The scratch is that of gess__layer_type, for a tile. */
typedef void gess__layer_map(const gess__layer *layer, size_t dim, double *restrict tile, double *restrict sums,
                             double *restrict scratch);

typedef struct gess__layer_type {
    const char *name;
    const char *unit;  /* what an item is, in the singular: "coordinate", "direction" */
    uint32_t archived; /* the number of this kind in archives, never to be used for another one */
    int max_uses;      /* how many layers of this kind the search may put into a map */
    gess__layer_part parts[GESS__MAX_PARTS];

    size_t (*max_items)(size_t dim);

    /* Doubles of scratch per point of a tile; NULL: none. */
    size_t (*scratch)(size_t dim);

    gess__layer_map *in, *out;

    /* The part of log |dy/dw| that is the same for all points. */
    double (*constant)(const gess__layer *layer);

    /* Whether indices are in range and in order, numbers finite, scales positive and the layer invertible. `count` is
     * within range and the centre finite when it is called. Layers are read from files that may be damaged, so it must
     * check everything else. */
    bool (*valid)(const gess__layer *layer, size_t dim);

    /* A coordinate along which item number i extrapolates, or SIZE_MAX. NULL: there are none. */
    size_t (*extrapolates)(const gess__layer *layer, size_t i);

    /* Finds the structure that this kind of layer removes, in n × dim points that have gone through the layers before
     * it. Adds the items that hold on points they were not fitted to: layer->count is 0 at the call and stays 0 if
     * nothing was found. The caller sets the centre, to learner->mean. Deterministic. */
    void (*learn)(gess__learner *learner, size_t n, const double *points, gess__layer *layer);

    /* Bytes of learner->scratch that learn needs; NULL: none. `points`: the learner's max_points. */
    size_t (*learn_bytes)(size_t dim, size_t points);
} gess__layer_type;

struct gess__layer {
    const gess__layer_type *type; /* NULL before the first use */
    uint32_t count;               /* items */
    double constant;
    double *centre;              /* dim */
    void *part[GESS__MAX_PARTS]; /* arrays of `count` items, with room for max_items: inside `memory` */
    void *memory;                /* owned; large enough for any kind */
};

/* Rows of layers.def in order; NULL behind the last. */
const gess__layer_type *gess__layer_type_row(size_t i);
/* By the number in archives; NULL if there is no such kind. */
const gess__layer_type *gess__layer_type_find(uint32_t archived);

/* Memory for a layer of any kind. After a failure gess__layer_free() releases what was allocated. */
int gess__layer_init(gess__layer *layer, size_t dim, gess_error *err);
void gess__layer_free(gess__layer *layer);

/* Makes it an empty layer of this kind. */
void gess__layer_begin(gess__layer *layer, const gess__layer_type *type, size_t dim);

/* Sets the constant once the centre and all items are set; false if the layer is empty or not valid. */
bool gess__layer_finish(gess__layer *layer, size_t dim);

void gess__layer_copy(gess__layer *to, const gess__layer *from, size_t dim);

/* Writes or reads the layer; reading sets archive->bad if what it read is not valid. */
void gess__layer_archive(gess__layer *layer, size_t dim, gess__archive *archive);

#endif
