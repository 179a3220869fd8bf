/* The approximation T of the target: a multivariate t with degrees of freedom ν, centre μ and
 * scale matrix Σ = L Lᵀ. At the cap of ν it is a Gaussian: the scale s is 1 and log T is -δ/2.
 *
 * Kernels work with z = L⁻¹(x − μ) and δ = |z|², so that log T at any point of an ellipse costs a
 * few operations. */
#ifndef GESS_APPROX_APPROX_H
#define GESS_APPROX_APPROX_H

#include "base/rng.h"
#include "base/status.h"

/* ν is fitted within these. Below the floor a few coincident points make the likelihood of a fit
 * unbounded; above the cap the t is replaced by its limit, the Gaussian. */
#define GESS__NU_FLOOR 0.5
#define GESS__NU_CAP 1000.0

typedef struct gess__approx {
    size_t dim;
    double nu;                /* INFINITY: Gaussian */
    double *mu;               /* dim */
    double *chol;             /* dim × dim, column-major, lower; upper triangle 0 */
    double *inverse_diagonal; /* 1 / L[i,i] */
    double log_det;           /* log |Σ| */
} gess__approx;

/* A new approximation is N(0, I). */
int gess__approx_new(gess__approx **approx, size_t dim, gess_error *err);
void gess__approx_free(gess__approx *approx);
void gess__approx_copy(gess__approx *to, const gess__approx *from);

/* Sets log_det and inverse_diagonal from chol. Call after writing chol. */
void gess__approx_ready(gess__approx *approx);

/* log T at squared distance δ, without its normalising constant. */
double gess__approx_log_t(const gess__approx *approx, double delta);

/* The same for n points, with the same bits as one at a time. `gaussian`: as if ν were infinite. */
void gess__approx_log_ts(const gess__approx *approx, int gaussian, size_t n, const double *deltas, double *out);

/* The normalising constant: log T(x) = gess__approx_log_t(δ) + gess__approx_log_norm(). */
double gess__approx_log_norm(const gess__approx *approx);

/* Draws a point of T into x: the normals by the key, the scale of the t by the same key with another purpose. normals:
 * dim, scratch. */
void gess__approx_draw(const gess__approx *approx, gess__key key, enum gess__purpose scale, double *normals, double *x);

/* tr Σ. */
double gess__approx_trace(const gess__approx *approx);

/* Reads the JSON of `gess fit --json`: {"nu": 4.5 or null, "mu": [...], "sigma": [[...], ...]}. */
int gess__approx_read(gess__approx *approx, const char *path, gess_error *err);

#endif
