/* The running mean and covariance of a chain's history.
 *
 * The Cholesky factor of M = Σ (x − mean)(x − mean)ᵀ is kept and updated with each new point by Givens rotations
 * (G. H. Golub & C. F. Van Loan, Matrix Computations, section 6.5.4), so that a draw with this covariance costs O(D²)
 * at any time. M may be singular, as it is at first.
 *
 * Lower triangles are packed column after column: column k has its dim − k entries from the diagonal down. */
#ifndef GESS_KERNEL_RUNNING_COV_H
#define GESS_KERNEL_RUNNING_COV_H

#include <stddef.h>

/* Doubles of a packed triangle. */
size_t gess__packed_size(size_t dim);

/* out = L in, and out = Lᵀ in; out may not overlap in. */
void gess__packed_product(size_t dim, const double *chol, const double *in, double *out);
void gess__packed_transposed(size_t dim, const double *chol, const double *in, double *out);

/* Makes L Lᵀ into L Lᵀ + v vᵀ, where the entries of v before `from` are zero. Overwrites v. */
void gess__packed_add(size_t dim, double *chol, size_t from, double *v);

/* Doubles of a history, which the caller allocates and zeroes: count, mean (dim), packed factor of M. */
size_t gess__running_cov_size(size_t dim);

/* Adds a point. scratch holds dim doubles. */
void gess__running_cov_add(size_t dim, double *history, const double *x, double *scratch);

static inline double gess__running_cov_count(const double *history)
{
    return history[0];
}

static inline double *gess__running_cov_chol(size_t dim, double *history)
{
    return history + 1 + dim;
}

#endif
