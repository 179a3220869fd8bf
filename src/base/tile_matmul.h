/* Rows of a matrix times points side by side in a tile (base/tiles.h), spelled out for the vectors of the machine:
 * compilers make vectors of such loops or do not, by luck. The bits are those of the plain loops. */
#ifndef GESS_BASE_TILE_MATMUL_H
#define GESS_BASE_TILE_MATMUL_H

#include <stddef.h>

/* A matrix, or the part of one that is meant: from one row to the next, and from one number of a row to the next. */
typedef struct gess__matrix_rows {
    const double *numbers;
    size_t apart, step;
} gess__matrix_rows;

/* out_b += Σ_k row_b[k] x_k for rows b < count, at least one, and k = 0, …, terms - 1 in this order, with fused
 * multiply-adds. x_k and out_b are LANES numbers each, one after the other; out may not overlap x. */
void gess__tile_matmul(gess__matrix_rows rows, size_t count, size_t terms, const double *x, double *out);

/* The same with these vectors, which the machine must have: what it has is the best and all before it. */
typedef enum gess__vectors { GESS__NO_VECTORS, GESS__NARROW_VECTORS, GESS__WIDEST_VECTORS } gess__vectors;
gess__vectors gess__best_vectors(void);
void gess__tile_matmul_with(gess__vectors with, gess__matrix_rows rows, size_t count, size_t terms, const double *x, double *out);

#endif
