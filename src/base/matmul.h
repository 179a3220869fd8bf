/* Products of matrices of any size and layout, in a fixed order: the base of the linear algebra for fits.
 *
 * The algorithm is that of K. Goto & R. A. van de Geijn, "Anatomy of high-performance matrix multiplication", ACM
 * Transactions on Mathematical Software 34 (2008): parts of both matrices are packed, so that the innermost loops
 * (base/panels.h) read memory in order. The order of the sums does not depend on it, nor on the vector width. */
#ifndef GESS_BASE_MATMUL_H
#define GESS_BASE_MATMUL_H

#include "base/tile_matmul.h"

/* C ± A Bᵀ, with element (i, k) of A at a.numbers[i * a.apart + k * a.step], b likewise, and element (i, j) of C at
 * c[i + j * stride].
 *
 * The terms of a sum are taken in runs of GESS__MATMUL_RUN: every run is summed by itself, k ascending, from 0, with
 * fused multiply-adds, and is then added to (or subtracted from) c. So an element depends only on its row of A, its row
 * of B and its old value. */
typedef struct gess__matmul_job {
    gess__matrix_rows a, b;
    size_t rows, columns, terms; /* of A, of Bᵀ, and in every sum */
    double *c;
    size_t stride;
    int subtract;
    int lower; /* only elements with i >= j; b must be the same as a, and columns = rows */
} gess__matmul_job;

enum { GESS__MATMUL_RUN = 96 };

/* c may not overlap a and b. Uses about 64 kB of stack and allocates nothing. */
void gess__matmul(const gess__matmul_job *job);

/* The same with vectors of a given width (base/tile_matmul.h). */
void gess__matmul_with(gess__vectors with, const gess__matmul_job *job);

#endif
