/* OpenBLAS and its LAPACK, loaded when they are asked for, as a reference for speed and accuracy. gess itself uses
 * neither. */
#ifndef GESS_BENCH_OPENBLAS_H
#define GESS_BENCH_OPENBLAS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether libopenblas.so.0 is there and has what the functions below need. It then runs on one thread. The others must
 * not be called otherwise. */
bool gess__openblas(void);

/* What OpenBLAS says about itself. */
const char *gess__openblas_name(void);

/* The functions of base/linalg.h by DPOTRF, DTRSM, DSYRK, DGEMM and DSYEV. The upper triangle of a factor is left as it
 * is. work holds 64 n + 64 doubles. */
bool gess__openblas_cholesky(size_t n, double *a);
void gess__openblas_solve_lower(size_t n, const double *chol, size_t columns, double *b);
void gess__openblas_self_product(size_t n, size_t columns, double factor, const double *b, double *c);
void gess__openblas_product(bool transpose_a, size_t rows, size_t columns, size_t inner, const double *a,
                            const double *b, double *c);
bool gess__openblas_symmetric_eigen(size_t n, double *a, double *values, double *work);

#endif
