/* The elliptical slice update for a T that is a mixture of t.
 *
 * Given x, the component j is drawn with probability ∝ w_j t_j(x), then s given x and j, then x by an elliptical slice
 * update in component j's frame with log-likelihood log π − log T, T being the whole mixture. The distance to every
 * component k along the ellipse is a trigonometric polynomial: with A = L_k⁻¹(x − μ_j), B = L_k⁻¹ v, v the ellipse's
 * second axis, and C = L_k⁻¹(μ_j − μ_k),
 *   δ_k(θ) = |A|² cos² + |B|² sin² + 2 A·B sin cos + |C|² + 2 A·C cos + 2 B·C sin,
 * so log T costs a few operations per component and proposal. */
#ifndef GESS_KERNEL_ELLIPSE_MIXTURE_H
#define GESS_KERNEL_ELLIPSE_MIXTURE_H

#include "kernel/kernel.h"

size_t gess__ellipse_mixture_scratch_size(size_t dim, size_t block);
void gess__ellipse_mixture_begin(gess__update *u);
void gess__ellipse_mixture_propose(gess__update *u);
int gess__ellipse_mixture_predict(const gess__update *u, size_t p, size_t rejections, double *point);
int gess__ellipse_mixture_consume(gess__update *u, gess_error *err);

#endif
