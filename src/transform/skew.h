/* The items of a skew layer: one direction each. */
#ifndef GESS_TRANSFORM_SKEW_H
#define GESS_TRANSFORM_SKEW_H

#include "transform/layer.h"
#include "transform/sinh_arcsinh.h"

/* Rows of dim numbers: u_j = row_j · (y − centre). */
static inline double *gess__skew_rows(const gess__layer *layer)
{
    return layer->part[0];
}

/* Columns of dim numbers; row_j · column_k is 1 if j = k, else 0. */
static inline double *gess__skew_columns(const gess__layer *layer)
{
    return layer->part[1];
}

/* The warp of each direction. */
static inline gess__warp *gess__skew_warps(const gess__layer *layer)
{
    return layer->part[2];
}

#endif
