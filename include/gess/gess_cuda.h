/* gess: what a model in CUDA includes, a file such as line.cu that `gess sample line.cu --device cuda` takes. gess
 * compiles the file together with its sampler when a run begins, for the GPU by NVRTC and for the processor by the
 * machine's C++ compiler, so neither CUDA code for the host nor a build is needed.
 *
 * The file says what its parameters are in comments of one line each,
 *
 *   // gess: parameter NAME[COUNT] [lower=A] [upper=B] [periodic]
 *   // gess: derived NAME[COUNT]
 *   // gess: data [columns=N] [rows=N]
 *
 * and defines the log density of one point,
 *
 *   __device__ double logp(size_t dim, const double *x, const gess_data *data)
 *
 * and, if it has lines `derived`, the function that writes these quantities of one draw, and runs on the processor,
 *
 *   __device__ void derived(size_t dim, const double *x, const gess_data *data, double *out)
 *
 * logp is what gess_logp_fn in <gess/gess.h> is, for one point: −INFINITY is outside the support; NaN counts as outside
 * and is counted; +INFINITY ends the run. COUNT is a number, `rows` or `columns` (of the data); without [COUNT] it is
 * one. Parameters come in the order of their lines. docs/gpus.md has the rest. */
#ifndef GESS_GESS_CUDA_H
#define GESS_GESS_CUDA_H

#include <math.h>
#include <stddef.h>

/* The words of CUDA, for compilers that do not know them. */
#if !defined(__CUDACC__) && !defined(__device__)
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#endif

/* The table of --data: rows × columns, row by row. Both are 0 without --data. */
typedef struct gess_data {
    const double *values;
    size_t rows, columns;
} gess_data;

/* Functions with the same bits on GPUs and on processors, where those of CUDA and of the C library differ in last
 * places. A density that uses only these, + − × ÷, sqrt, fabs and comparisons has the same draws on either. */
#ifdef GESS__CUDA_MODEL /* inside gess, which has their code */
#define GESS__CUDA_FUNCTION(head, code) \
    __device__ static inline head       \
    {                                   \
        code;                           \
    }
#else
#define GESS__CUDA_FUNCTION(head, code) __device__ head;
#endif
GESS__CUDA_FUNCTION(double gess_exp(double x), return gess__exp(x))
GESS__CUDA_FUNCTION(double gess_log(double x), return gess__log(x))
GESS__CUDA_FUNCTION(double gess_log1p(double x), return gess__log1p(x))
GESS__CUDA_FUNCTION(double gess_fma(double a, double b, double c),
                    return gess__fma(a, b, c)) /* a b + c, rounded once */
/* Sine and cosine of 2π t. */
GESS__CUDA_FUNCTION(void gess_sincos_turns(double t, double *sine, double *cosine), gess__sincos_turns(t, sine, cosine))
#undef GESS__CUDA_FUNCTION

#endif
