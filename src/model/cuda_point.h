/* The log density of a model in a CUDA source file at one point: the file, and what calls its functions. The including
 * file defines GESS__SOURCE as the file's name. C++ and CUDA compilers take this header, whose text the library
 * carries.
 *
 * numbers: rows and columns of the data, then their values. */
#ifndef GESS_MODEL_CUDA_POINT_H
#define GESS_MODEL_CUDA_POINT_H

#include "base/vmath.h"

#define GESS__CUDA_MODEL
#include <gess/gess_cuda.h>

#include GESS__SOURCE

GESS__INLINE double gess__lane_source(size_t dim, const double *numbers, const double *x)
{
    const gess_data data = {numbers + 2, (size_t)numbers[0], (size_t)numbers[1]};
    return logp(dim, x, &data); /* the model's: double logp(size_t dim, const double *x, const gess_data *data) */
}

#endif
