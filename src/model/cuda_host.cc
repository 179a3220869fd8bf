// A model in a CUDA source file as a shared object for the processor. The text goes to the machine's C++ compiler
// (cuda_file_build.c), which defines GESS__SOURCE and, if the model has derived quantities, GESS__DERIVED.
#define GESS_NO_CLONES
#include "model/cuda_point.h"

#define GESS__EXPORT extern "C" __attribute__((visibility("default")))

GESS__EXPORT double gess__cuda_logp(size_t dim, const double *numbers, const double *x)
{
    return gess__lane_source(dim, numbers, x);
}

#ifdef GESS__DERIVED
GESS__EXPORT void gess__cuda_derived(size_t dim, const double *numbers, const double *x, double *out)
{
    const gess_data data = {numbers + 2, (size_t)numbers[0], (size_t)numbers[1]};
    derived(dim, x, &data, out); // the model's: void derived(size_t, const double *, const gess_data *, double *)
}
#endif
