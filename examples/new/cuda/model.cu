// @NAME@: a straight line through points with noise of unknown size,
//
//   y = intercept + slope x + noise,   noise ~ N(0, sigma²),   sigma > 0.
//
// gess compiles this file together with its sampler, for a GPU (--device cuda) or for the processor. What to change for a
// density of your own: the lines `gess:`, logp() and derived(). <gess/gess_cuda.h> says what they may be.
//
// gess: data columns=2 rows=3
// gess: parameter intercept
// gess: parameter slope
// gess: parameter sigma lower=0
// gess: derived mean_at_20
#include <gess/gess_cuda.h>

enum { INTERCEPT, SLOPE, SIGMA };

// Log prior plus log likelihood of one point, up to a constant. No Jacobian: gess adds its own where it samples sigma on
// a log scale. gess_log() has the same bits on GPUs and processors; log() may be used, too.
__device__ double logp(size_t dim, const double *x, const gess_data *data)
{
    double intercept = x[INTERCEPT], slope = x[SLOPE], sigma = x[SIGMA], squares = 0.0;
    if (!(sigma > 0.0)) return -INFINITY;
    for (size_t i = 0; i < data->rows; i++) {
        const double *row = data->values + i * data->columns;
        double residual = row[1] - intercept - slope * row[0];
        squares += residual * residual;
    }
    double likelihood = -(double)data->rows * gess_log(sigma) - 0.5 * squares / (sigma * sigma);
    double prior = -0.5 * (intercept * intercept + slope * slope) / (10.0 * 10.0) // N(0, 10²) each
                   - sigma;                                                       // exponential of mean 1
    return likelihood + prior;
}

// What the line says about x = 20; stored with each draw, computed on the processor.
__device__ void derived(size_t dim, const double *x, const gess_data *data, double *out)
{
    out[0] = x[INTERCEPT] + x[SLOPE] * 20.0;
}
