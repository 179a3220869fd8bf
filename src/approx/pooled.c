/* The fit of a warm-up window: all chains' draws, shrunk towards the diagonal while they are few.
 *
 * The t is fitted to the draws of each half of the chains and scored on the other half's, with
 * Σ_λ = (1 − λ) Σ + λ diag Σ for λ = 0, 0.003, 0.01, …, 1 in turn, until the score falls. The best λ
 * is then used for the fit to all. Chains are nearly independent of each other while the draws of
 * one chain are not, so this counts what the draws are worth, however slowly the chains move.
 *
 * The score is honest (no draw is scored by a fit that saw its chain), and the gap between it and
 * the score of the halves that were fitted tells what the fit's own noise costs. */
#include "approx/fit.h"

#include "base/linalg.h"

#include <math.h>
#include <string.h>

static const double shrinkages[] = {0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0};
enum { SHRINKAGES = sizeof shrinkages / sizeof *shrinkages };

/* `to` gets T with Σ_λ. */
static void shrink(gess__fitter *f, const gess__approx *from, double lambda, gess__approx *to)
{
    size_t dim = from->dim;
    gess__self_product(dim, dim, 1.0 - lambda, from->chol, f->square);
    for (size_t i = 0; i < dim; i++) {
        double variance = 0.0;
        for (size_t k = 0; k <= i; k++) variance += from->chol[i + k * dim] * from->chol[i + k * dim];
        f->square[i + i * dim] = variance;
    }
    to->nu = from->nu;
    memcpy(to->mu, from->mu, dim * sizeof *to->mu);
    gess__ridged_cholesky(dim, f->square, f->scales, to->mu, to);
}

/* Log-likelihood of the newest points of a side. */
static double newest(gess__fitter *f, const double *side, size_t count, size_t new, const gess__approx *t)
{
    return gess__fit_log_likelihood(f, f->dim, new, side + (count - new) * f->dim, t);
}

void gess__fit_pooled(gess__fitter *f, const gess__pool *pool, gess__approx *approx, gess__approx *spare,
                      gess__pool_report *report)
{
    const gess__fit_settings settings = {.tolerance = 1e-4, .most_iterations = 30, .warm = 1};
    size_t dim = f->dim, best = 0;
    const double *sides[2] = {pool->points, pool->points + pool->half * dim};
    const size_t counts[2] = {pool->half, pool->rest}, new[2] = {pool->half_new, pool->rest_new};
    double all = (double)(counts[0] + counts[1]), train[SHRINKAGES] = {0}, test[SHRINKAGES] = {0}, before = 0.0,
           after = 0.0;
    gess__approx *fits[2] = {spare, f->other};
    gess__blas_begin();
    for (int side = 0; side < 2; side++) {
        before += newest(f, sides[side], counts[side], new[side], approx);
        gess__approx_copy(fits[side], approx);
        gess__fit_student_t(f, dim, counts[side], sides[side], settings, fits[side], &report->fit);
    }
    for (size_t i = 0; i < SHRINKAGES && i <= best + 1; i++) {
        for (int side = 0; side < 2; side++) {
            shrink(f, fits[side], shrinkages[i], f->trial);
            train[i] += gess__fit_log_likelihood(f, dim, counts[side], sides[side], f->trial);
            test[i] += gess__fit_log_likelihood(f, dim, counts[1 - side], sides[1 - side], f->trial);
        }
        if (test[i] > test[best]) best = i;
    }
    for (int side = 0; side < 2; side++) {
        shrink(f, fits[side], shrinkages[best], f->trial);
        after += newest(f, sides[1 - side], counts[1 - side], new[1 - side], f->trial);
    }
    report->shrinkage = shrinkages[best];
    report->score = test[best] / all;
    report->gap = (train[best] - test[best]) / all;
    report->gain = (after - before) / (double)(new[0] + new[1]);
    gess__fit_student_t(f, dim, counts[0] + counts[1], pool->points, settings, approx, &report->fit);
    if (best > 0) {
        gess__approx_copy(spare, approx);
        shrink(f, spare, shrinkages[best], approx);
    }
    gess__blas_end();
}
