/* Weights of points in the multivariate t that suits them best. The warp and skew layers weight points with them when
 * they fit their warps, so that heavy tails, which T has too, do not count as a shape to warp. */
#ifndef GESS_TRANSFORM_TAIL_WEIGHTS_H
#define GESS_TRANSFORM_TAIL_WEIGHTS_H

#include <stddef.h>

/* The weights (ν + D) / (ν − 2 + |z|²) of m whitened points with these squared lengths |z|², for the ν with the largest
 * likelihood. Weighted, the points have mean square 1. */
void gess__tail_weights(size_t dim, size_t m, const double *lengths, double *weights);

#endif
