/* Chooses ν from a list by the likelihood of the points, and computes their weights. */
#include "transform/tail_weights.h"

#include "base/special.h"
#include "base/tiles.h"

/* Points that ν is chosen by, at least; all if there are fewer. */
enum { SAMPLE = 4000 };

/* Σ log(1 + factor length) over every step-th length. */
static GESS__VECTOR_VALUE(double, sum_logs, (size_t m, size_t step, double factor, const double *restrict lengths),
                          (m, step, factor, lengths))
{
    double sums[GESS__LANES] = {0};
    size_t j = 0;
    for (; j + GESS__LANES * step <= m; j += GESS__LANES * step)
        for (size_t l = 0; l < GESS__LANES; l++) sums[l] += gess__log(gess__fma(factor, lengths[j + l * step], 1.0));
    for (; j < m; j += step) sums[0] += gess__log(gess__fma(factor, lengths[j], 1.0));
    return gess__lane_sum(sums);
}

/* The best of a few ν for a t with covariance I, judged by every step-th point; INFINITY: a Gaussian. */
static double best_nu(size_t dim, size_t m, const double *lengths)
{
    static const double tried[] = {3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 14.0, 20.0, 30.0, 50.0, 100.0, 300.0, INFINITY};
    double d = (double)dim, best = INFINITY, max = -INFINITY;
    size_t step = m / SAMPLE < 1 ? 1 : m / SAMPLE, used = (m + step - 1) / step;
    for (size_t k = 0; k < sizeof tried / sizeof *tried; k++) {
        double nu = tried[k], sum = 0.0;
        if (isinf(nu)) {
            for (size_t j = 0; j < m; j += step) sum -= 0.5 * lengths[j];
            sum -= 0.5 * d * gess__log(2.0) * (double)used;
        } else {
            double norm = gess__log_gamma(0.5 * (nu + d)) - gess__log_gamma(0.5 * nu) - 0.5 * d * gess__log(nu - 2.0);
            sum = norm * (double)used - 0.5 * (nu + d) * sum_logs(m, step, 1.0 / (nu - 2.0), lengths);
        }
        if (!(sum > max)) continue;
        max = sum;
        best = nu;
    }
    return best;
}

void gess__tail_weights(size_t dim, size_t m, const double *lengths, double *weights)
{
    double nu = best_nu(dim, m, lengths);
    for (size_t j = 0; j < m; j++) weights[j] = isinf(nu) ? 1.0 : (nu + (double)dim) / (nu - 2.0 + lengths[j]);
}
