/* Linear algebra for fits, in a fixed order: the bits are the same for any vector width, compiler and machine.
 *
 * Matrices are column-major. A set of points stored row after row (count × dim, row-major) is a
 * dim × count matrix in that convention. None of these functions allocates; each runs on the calling thread. */
#ifndef GESS_BASE_LINALG_H
#define GESS_BASE_LINALG_H

#include <stdbool.h>
#include <stddef.h>

/* What makes fits, for --version and config.json. */
const char *gess__linalg_name(void);

/* Lower Cholesky factor of the n × n symmetric matrix whose lower triangle is in a, in place; the
 * upper triangle is set to zero. False if a is not positive definite; a is then overwritten all the same. */
bool gess__cholesky(size_t n, double *a);

/* b = L⁻¹ b for the `columns` columns of b, each n long. A column's bits do not depend on the others. */
void gess__solve_lower(size_t n, const double *chol, size_t columns, double *b);

/* Lower triangle of c = factor · B Bᵀ, B being n × columns; c is n × n. */
void gess__self_product(size_t n, size_t columns, double factor, const double *b, double *c);

/* Lower triangle of c = factor · Bᵀ B, B being rows × n; c is n × n. */
void gess__gram(size_t n, size_t rows, double factor, const double *b, double *c);

/* c = A B, or Aᵀ B, with A rows × inner, or inner × rows, and B inner × columns. */
void gess__product(bool transpose_a, size_t rows, size_t columns, size_t inner, const double *a, const double *b,
                   double *c);

/* Eigenvalues (ascending) and orthonormal eigenvectors (columns of a) of the symmetric matrix whose
 * lower triangle is in a. work holds gess__eigen_work(n) doubles. False if it did not converge or a is not finite. */
size_t gess__eigen_work(size_t n);
bool gess__symmetric_eigen(size_t n, double *a, double *values, double *work);

#endif
