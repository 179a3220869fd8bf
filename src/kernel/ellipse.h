/* The elliptical slice update in whitened space, shared by `ess` and `gess`.
 *
 * I. Murray, R. P. Adams & D. J. C. MacKay, "Elliptical slice sampling", AISTATS 2010; the paper's
 * Algorithm 1. With z = L⁻¹(x − μ) and ζ = √s n, n ~ N(0, I), the point at angle θ of the ellipse
 * is
 *   x(θ) = μ + (x − μ) cos θ + Lζ sin θ,
 *   δ(θ) = |z|² cos²θ + |ζ|² sin²θ + 2 z·ζ sin θ cos θ,
 * so that log T(x(θ)) costs a few operations, and Lζ costs O(D²) once per update.
 *
 * As long as angles are rejected, the next one depends only on the earlier angles and the uniforms,
 * never on densities: it can be predicted.
 *
 * Invariants: the present point always belongs to the slice; an update that finds no other point
 * in GESS__MAX_ANGLES angles keeps its state and is counted as a failure. */
#ifndef GESS_KERNEL_ELLIPSE_H
#define GESS_KERNEL_ELLIPSE_H

#include "kernel/kernel.h"
#include "kernel/lane_math.h"

/* Draws two uniforms per lane, for lanes u->lane[0 .. n-1] and angle number `index` of the slice. */
void gess__slice_uniforms(const gess__update *u, uint32_t index, size_t n, double *first, double *second);

/* The bracket of a lane if its present angle, number `tries`, and `rejections` - 1 more after it are rejected. */
gess__bracket gess__bracket_predict(const gess__update *u, size_t lane, gess__bracket b, uint32_t tries,
                                    size_t rejections);

/* How the kernels of this family differ. `gaussian`: log T is the Gaussian's, whatever ν is.
 * `root_scales` draws the scales √s of all lanes given their δ. */
typedef struct gess__ellipse_family {
    int gaussian;
    void (*root_scales)(const gess__update *u, const double *deltas, double *roots);
} gess__ellipse_family;

size_t gess__ellipse_state_size(size_t dim);
size_t gess__ellipse_scratch_size(size_t dim, size_t block);
void gess__ellipse_begin(gess__update *u, const gess__ellipse_family *family);
void gess__ellipse_propose(gess__update *u);
int gess__ellipse_predict(const gess__update *u, size_t p, size_t rejections, double *point);
int gess__ellipse_consume(gess__update *u, const gess__ellipse_family *family, gess_error *err);

#endif
