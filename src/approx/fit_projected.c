/* The fit for few points, K < 2D (paper, section 4.2).
 *
 * With ȳ the mean and A the first J = ⌊K/2⌋ principal axes of the centred points, a t is fitted to
 * Aᵀ(y − ȳ) in J dimensions and mapped back:
 *   ν = ν̂,  μ = A μ̂ + ȳ,  Σ = A Σ̂ Aᵀ + ε I,  ε the median entry on the diagonal of Σ̂.
 * (The paper projects y itself and adds ȳ as well, which counts the mean twice.)
 *
 * Axes without variance are left out, so J may be smaller; if none is left, every coordinate gets the
 * small spread of a ridge (fit.c). The axes come from the K × K Gram matrix in O(K²D + K³); only the
 * final Cholesky factorisation costs O(D³). */
#include "approx/fit.h"

#include "base/assert.h"
#include "base/linalg.h"

#include <math.h>
#include <string.h>

/* The median of the n values; for even n the mean of the middle two. Sorts them in place by insertion,
 * since qsort() may allocate. */
static double median(size_t n, double *values)
{
    for (size_t i = 1; i < n; i++) {
        double value = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
    return n % 2 == 1 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

/* Sets f->mean to ȳ, f->centred to the centred points and f->axes to the principal axes (columns, largest
 * first). Returns the number of axes. */
static size_t principal_axes(gess__fitter *f, size_t count, const double *points)
{
    size_t dim = f->dim, max = count / 2 < dim ? count / 2 : dim, rank = 0;
    memset(f->mean, 0, dim * sizeof *f->mean);
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < dim; i++) f->mean[i] += points[k * dim + i] / (double)count;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < dim; i++) f->centred[k * dim + i] = points[k * dim + i] - f->mean[i];
    gess__gram(count, dim, 1.0, f->centred, f->gram);
    if (!gess__symmetric_eigen(count, f->gram, f->values, f->eigen_work)) return 0;
    double largest = f->values[count - 1];
    for (size_t j = 0; j < max; j++) {
        double value = f->values[count - 1 - j];
        if (!(value > 1e-14 * largest) || !isfinite(value)) break;
        gess__product(false, dim, 1, count, f->centred, f->gram + (count - 1 - j) * count, f->axes + j * dim);
        double norm = 0.0;
        for (size_t i = 0; i < dim; i++) norm += f->axes[j * dim + i] * f->axes[j * dim + i];
        for (size_t i = 0; i < dim; i++) f->axes[j * dim + i] /= sqrt(norm);
        rank++;
    }
    return rank;
}

void gess__fit_projected(gess__fitter *f, size_t count, const double *points, gess__fit_settings settings,
                         gess__approx *t, gess__fit_report *report)
{
    GESS_ASSERT(f->inner != NULL && count > 0 && count < 2 * f->dim && count <= f->points);
    size_t dim = f->dim, rank = principal_axes(f, count, points);
    double epsilon = 0.0;
    memset(f->square, 0, dim * dim * sizeof *f->square);
    memcpy(t->mu, f->mean, dim * sizeof *t->mu);
    *report = (gess__fit_report){.converged = 1};
    t->nu = INFINITY;
    if (rank > 0) {
        gess__product(true, rank, count, dim, f->axes, f->centred, f->projected);
        settings.warm = 0; /* the axes have moved */
        f->inner->dim = rank;
        gess__fit_student_t(f, rank, count, f->projected, settings, f->inner, report);
        t->nu = f->inner->nu;
        /* μ = A μ̂ + ȳ */
        gess__product(false, dim, 1, rank, f->axes, f->inner->mu, t->mu);
        for (size_t i = 0; i < dim; i++) t->mu[i] += f->mean[i];
        /* ε: the diagonal of Σ̂ = L̂ L̂ᵀ */
        for (size_t i = 0; i < rank; i++) {
            f->values[i] = 0.0;
            for (size_t k = 0; k <= i; k++) f->values[i] += f->inner->chol[i + k * rank] * f->inner->chol[i + k * rank];
        }
        epsilon = median(rank, f->values);
        /* A L̂, then its product with itself; `solved` has room for it */
        gess__product(false, dim, rank, rank, f->axes, f->inner->chol, f->solved);
        gess__self_product(dim, rank, 1.0, f->solved, f->square);
    }
    for (size_t i = 0; i < dim; i++) f->square[i + i * dim] += epsilon;
    report->ridged |= gess__ridged_cholesky(dim, f->square, f->scales, t->mu, t);
    report->rank = rank;
    report->loglik = gess__fit_log_likelihood(f, count, points, t); /* of T as it is used, in D dimensions */
}
