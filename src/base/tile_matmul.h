/* Multiplies rows of a matrix by the points of a tile (base/tiles.h), in vector instructions written out by hand,
 * because compilers vectorise these loops only sometimes. The bits are those of the plain loops. */
#ifndef GESS_BASE_TILE_MATMUL_H
#define GESS_BASE_TILE_MATMUL_H

#include "base/cpu.h"

#include <stddef.h>

/* A matrix, or a part of one: element k of row b is numbers[b * apart + k * step]. */
typedef struct gess__matrix_rows {
    const double *numbers;
    size_t apart, step;
} gess__matrix_rows;

/* out_b += Σ_k row_b[k] x_k for rows b < count, at least one, and k = 0, …, terms - 1 in this order, with fused
 * multiply-adds. x_k is x[k * LANES + lane], out_b is out[b * LANES + lane]; out may not overlap x. */
void gess__tile_matmul(gess__matrix_rows rows, size_t count, size_t terms, const double *x, double *out);

/* The same with vectors of a given width, which the machine must have: gess__machine_vectors or any before it. */
void gess__tile_matmul_with(gess__vectors with, gess__matrix_rows rows, size_t count, size_t terms, const double *x,
                            double *out);

#endif
