/* The workspace behind posterior.h: the sorted draws and the scratch memory (posterior_workspace.c), and the functions
 * on one series that posterior.c builds its figures from (posterior_series.c). Only the files posterior*.c and
 * tail_index.c of this folder include it. */
#ifndef GESS_DIAGNOSE_POSTERIOR_WORKSPACE_H
#define GESS_DIAGNOSE_POSTERIOR_WORKSPACE_H

#include "base/vmath.h"
#include "diagnose/autocovariance.h"
#include "diagnose/posterior.h"

/* How the draws are cut: `columns` columns of `rows` draws. Draw i of column c is x[begin(c) + i * stride]. */
typedef struct gess__posterior_split {
    size_t columns, rows, stride;
} gess__posterior_split;

struct gess__posterior_workspace {
    size_t chains, n, total; /* total = chains × n */
    gess__posterior_split split;
    const double *x;       /* loaded draws, the caller's */
    size_t numbers;        /* the draws that are not NaN */
    uint64_t *keys;        /* total: draws in ascending order, as keys (gess__draw_key()) */
    uint32_t *order;       /* total: index in x of each key */
    uint64_t *spare_keys;  /* total */
    uint32_t *spare_order; /* total */
    double *series;        /* total, in the order of x: the transformed draws of a figure */
    double *means;         /* columns */
    double *rho;           /* rows + 2: autocorrelations */
    gess__fft fft;
};

/* Integers in the order of the doubles: -0 and 0 are one value, NaNs are last. */
static inline uint64_t gess__draw_key(double x)
{
    const uint64_t top = UINT64_C(1) << 63;
    if (x != x) return UINT64_MAX;
    uint64_t u = gess__bits(x + 0.0);
    return (u & top) != 0 ? ~u : u | top;
}

static inline double gess__draw_of_key(uint64_t key)
{
    const uint64_t top = UINT64_C(1) << 63;
    return gess__from_bits((key & top) != 0 ? key & ~top : ~key);
}

/* Index in x of the first draw of a column. */
size_t gess__posterior_begin(const gess__posterior_workspace *work, size_t column);

/* Mean and variance (denominator n - 1; NaN for one value) of x[0], x[stride], …, n values. */
double gess__strided_mean(size_t n, const double *x, size_t stride);
double gess__strided_variance(size_t n, const double *x, size_t stride, double mean);

/* Put into `series` the normal scores of the draws, or of their distances from the median. False if there are none. */
bool gess__bulk_scores(gess__posterior_workspace *work);
bool gess__folded_scores(gess__posterior_workspace *work);

/* Of a series of `total` values in the order of x. */
double gess__series_rhat(gess__posterior_workspace *work, const double *series);
double gess__series_ess(gess__posterior_workspace *work, const double *series);

#endif
