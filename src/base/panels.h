/* The innermost loops of matrix products: sums of products over packed panels, in vector instructions written out by
 * hand, because compilers vectorise these loops only sometimes. The bits are those of the plain loops.
 *
 * A panel holds PANEL rows of a matrix side by side: element (i, k) is panel[k * PANEL + i]. */
#ifndef GESS_BASE_PANELS_H
#define GESS_BASE_PANELS_H

#include "base/tile_matmul.h"

enum { GESS__PANEL = 8, GESS__MAX_PANELS = 3 };

/* out[j * 8 * panels + i] = Σ_k a(i, k) b(j, k) for the rows i of `panels` panels of a, at most MAX_PANELS and `apart`
 * doubles from one to the next, and the rows j of the panel b. The sum begins with 0 and runs over k = 0, …, terms - 1
 * in this order, with fused multiply-adds. */
void gess__panel_product(gess__vectors with, size_t panels, size_t terms, const double *a, size_t apart,
                         const double *b, double *out);

#endif
