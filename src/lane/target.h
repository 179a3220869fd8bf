/* The log density of one point of the sampling space: the learned map and the bounds outwards, the density there, and
 * the Jacobians of both. It has the bits of transform/target.c. */
#ifndef GESS_LANE_TARGET_H
#define GESS_LANE_TARGET_H

#include "lane/frozen.h"

/* A point in the user's space, with what its map adds to the log density. */
typedef struct gess__lane_image {
    double learned, bounds; /* log |dy/dw|, log |dx/dy|; −inf: outside */
    double y[GESS__LANE_DIM], x[GESS__LANE_OUTER];
} gess__lane_image;

/* u_j = row_j · (y − centre), then y += Σ column_j (v_j − u_j). */
GESS__INLINE void gess__lane_skew(const gess__lane_layer *layer, size_t dim, double *y, double *sum)
{
    const double *rows = (const double *)layer->part[0], *columns = (const double *)layer->part[1];
    double v[GESS__LANE_DIM];
    for (size_t j = 0; j < layer->count; j++) {
        v[j] = 0.0;
        for (size_t i = 0; i < dim; i++) v[j] = gess__fma(rows[j * dim + i], y[i] - layer->centre[i], v[j]);
    }
    gess__skew_out_body(layer->count, (const gess__warp *)layer->part[2], v, sum);
    for (size_t i = 0; i < dim; i++) {
        double by = 0.0;
        for (size_t j = 0; j < layer->count; j++) by = gess__fma(columns[j * dim + i], v[j], by);
        y[i] += by;
    }
}

/* w → y in place; returns log |dy/dw|. */
GESS__INLINE double gess__lane_map(const gess__lane_frozen *f, double *y)
{
    double sum = 0.0;
    for (size_t i = f->layers; i-- > 0;) {
        const gess__lane_layer *layer = &f->layer[i];
        if (layer->kind == GESS__LANE_SCALE)
            gess__scale_out_body(layer->count, (const gess__scale_step *)layer->part[0], layer->centre, y, &sum);
        else if (layer->kind == GESS__LANE_WARP)
            gess__warp_out_body(layer->count, (const uint32_t *)layer->part[0], (const gess__warp *)layer->part[1], y,
                                &sum);
        else
            gess__lane_skew(layer, GESS__LANE_DIM_OF(f), y, &sum);
        sum += layer->constant;
    }
    gess__keep_finite(GESS__LANE_DIM_OF(f), y, &sum);
    return sum;
}

/* Maps w outwards. */
GESS__INLINE void gess__lane_out(const gess__lane_frozen *f, const double *w, gess__lane_image *out)
{
    double part;
    out->learned = out->bounds = 0.0;
    for (size_t i = 0; i < GESS__LANE_DIM_OF(f); i++) out->y[i] = w[i];
    if (GESS__LANE_HAS_MAP(f)) out->learned = gess__lane_map(f, out->y);
    for (size_t i = 0; i < GESS__LANE_OUTER_OF(f); i++) {
        if (!GESS__LANE_HAS_BOUNDS(f)) {
            out->x[i] = out->y[i];
            continue;
        }
        out->x[i] = gess__coordinate_out(&f->coordinates[i], out->y, &part);
        out->bounds += part;
    }
}

/* Whether the density is to be called there: not where a bound has been rounded to. */
GESS__INLINE int gess__lane_inside(const gess__lane_frozen *f, const gess__lane_image *image)
{
    return !GESS__LANE_HAS_BOUNDS(f) || image->bounds > -HUGE_VAL;
}

/* The log density in the sampling space, raw: NaN and infinities are passed on. value: that of the user's space, if the
 * point is inside. */
GESS__INLINE double gess__lane_combine(const gess__lane_frozen *f, const gess__lane_image *image, double value)
{
    if (!gess__lane_inside(f, image))
        value = -HUGE_VAL;
    else if (GESS__LANE_HAS_BOUNDS(f))
        value += image->bounds;
    if (!GESS__LANE_HAS_MAP(f)) return value;
    return image->learned > -HUGE_VAL ? value + image->learned : -HUGE_VAL;
}

/* The same at w, calling the density. */
GESS__INLINE double gess__lane_evaluate(const gess__lane_frozen *f, const double *w)
{
    gess__lane_image out;
    double value = -HUGE_VAL;
    gess__lane_out(f, w, &out);
    if (gess__lane_inside(f, &out)) value = GESS__LANE_DENSITY(GESS__LANE_OUTER_OF(f), f->numbers, out.x);
    return gess__lane_combine(f, &out, value);
}

#endif
