/* The multivariate t (builtin/student_t.c) at one point. C and CUDA compilers take this header.
 *
 * numbers: nu, (nu + dim) / 2, and the constant of the log density. */
#ifndef GESS_MODEL_LANE_STUDENT_T_H
#define GESS_MODEL_LANE_STUDENT_T_H

#include "base/tile_body.h"

/* From |x|². */
GESS__INLINE double gess__student_t_density(const double *numbers, double square)
{
    return gess__fma(-numbers[1], gess__log1p(square / numbers[0]), numbers[2]);
}

GESS__INLINE double gess__lane_student_t(size_t dim, const double *numbers, const double *x)
{
    return gess__student_t_density(numbers, gess__dot_of(dim, x, x));
}

#endif
