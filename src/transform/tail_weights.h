/* Weights of points in the multivariate t that suits them best. */
#ifndef GESS_TRANSFORM_TAIL_WEIGHTS_H
#define GESS_TRANSFORM_TAIL_WEIGHTS_H

#include <stddef.h>

/* The weights (ν + D) / (ν − 2 + |z|²) of m whitened points with these squared lengths |z|², for the ν with the largest
 * likelihood. Weighted, the points have mean square 1. */
void gess__tail_weights(size_t dim, size_t m, const double *lengths, double *weights);

#endif
