/* The workspace of fits, the rule that chooses between ECME and the projected fit, and the ridge. */
#include "approx/fit.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Allocates what every fit needs. `blocks`: split work on points into blocks, which a team can share. */
static int make_fitter(gess__fitter **fitter, size_t dim, size_t points, int blocks, gess__team *team, gess_error *err)
{
    GESS_ASSERT(dim > 0 && points > 0);
    GESS_ALLOC(fitter, 1, err);
    gess__fitter *f = *fitter;
    f->dim = dim;
    f->points = points;
    GESS_ALLOC(&f->weights, points, err);
    GESS_ALLOC(&f->deltas, points, err);
    GESS_ALLOC(&f->centred, points * dim, err);
    GESS_TRY(gess__fit_blocks_open(&f->blocks, team, dim, blocks ? points : 0, err));
    GESS_ALLOC(&f->solved, dim * (points < dim ? points : dim), err);
    GESS_ALLOC(&f->square, dim * dim, err);
    GESS_ALLOC(&f->mean, dim, err);
    GESS_ALLOC(&f->scales, dim, err);
    GESS_ALLOC(&f->previous_mu, dim, err);
    GESS_ALLOC(&f->previous_chol, dim * dim, err);
    return GESS_OK;
}

int gess__fitter_new(gess__fitter **fitter, size_t dim, size_t points, gess_error *err)
{
    GESS_TRY(make_fitter(fitter, dim, points, 0, NULL, err));
    gess__fitter *f = *fitter;
    /* a fit to fewer points than `points` may be projected; it has at most 2 dim - 1 points */
    size_t few = points < 2 * dim ? points : 2 * dim - 1, rank = few / 2 > 0 ? few / 2 : 1;
    if (rank > dim) rank = dim;
    GESS_ALLOC(&f->projected, few * rank, err);
    GESS_ALLOC(&f->gram, few * few, err);
    GESS_ALLOC(&f->values, few, err);
    GESS_ALLOC(&f->axes, dim * rank, err);
    GESS_ALLOC(&f->eigen_work, gess__eigen_work(few), err);
    return gess__approx_new(&f->inner, rank, err);
}

int gess__fitter_new_pooled(gess__fitter **fitter, size_t dim, size_t points, gess__team *team, gess_error *err)
{
    GESS_TRY(make_fitter(fitter, dim, points, 1, team, err));
    GESS_TRY(gess__approx_new(&(*fitter)->other, dim, err));
    return gess__approx_new(&(*fitter)->trial, dim, err);
}

int gess__fitter_thorough(gess__fitter *fitter, gess_error *err)
{
    GESS_ASSERT(fitter->saved == NULL);
    return gess__approx_new(&fitter->saved, fitter->dim, err);
}

void gess__fitter_free(gess__fitter *fitter)
{
    if (fitter == NULL) return;
    free(fitter->weights);
    free(fitter->deltas);
    free(fitter->centred);
    gess__fit_blocks_close(&fitter->blocks);
    free(fitter->solved);
    free(fitter->square);
    free(fitter->mean);
    free(fitter->scales);
    free(fitter->previous_mu);
    free(fitter->previous_chol);
    free(fitter->projected);
    free(fitter->gram);
    free(fitter->values);
    free(fitter->axes);
    free(fitter->eigen_work);
    gess__approx_free(fitter->saved);
    gess__approx_free(fitter->inner);
    gess__approx_free(fitter->other);
    gess__approx_free(fitter->trial);
    free(fitter);
}

/* Whether the caller keeps gess__fit()'s promise: as many points as the fitter holds or fewer, all finite. */
static int points_are_valid(const gess__fitter *fitter, size_t count, const double *points)
{
    if (count == 0 || count > fitter->points) return 0;
    for (size_t i = 0; i < count * fitter->dim; i++)
        if (!isfinite(points[i])) return 0;
    return 1;
}

void gess__fit(gess__fitter *fitter, size_t count, const double *points, gess__fit_settings settings,
               gess__approx *approx, gess__fit_report *report)
{
    GESS_ASSERT(points_are_valid(fitter, count, points) && approx->dim == fitter->dim);
    GESS_ASSERT(count >= 2 * fitter->dim || fitter->inner != NULL);
    if (count < 2 * fitter->dim)
        gess__fit_projected(fitter, count, points, settings, approx, report);
    else
        gess__fit_student_t(fitter, fitter->dim, count, points, settings, approx, report);
}

/* The matrix is first scaled to unit diagonal, so that the ridge means the same for parameters of
 * any units. A coordinate without spread gets a spread of 1e-13 times its size (1e-13 if it is 0).
 * Then λI is added, λ = 0, 1e-12, 1e-11, …, 1, until the factor exists and its smallest pivot is above
 * 1e-7, that is, until no direction is narrower than 1e-7 times its coordinates. */
int gess__ridged_cholesky(size_t dim, double *square, double *scales, const double *centre, gess__approx *approx)
{
    int ridged = 0;
    for (size_t i = 0; i < dim; i++) {
        double size = fabs(centre[i]), variance = square[i + i * dim];
        double min = size > 0.0 && isfinite(size) ? 1e-13 * size : variance > 0.0 ? 0.0 : 1e-13;
        if (min < 1e-140) min = 1e-140; /* its square must not underflow */
        if (!(variance > min * min)) {
            variance = min * min;
            ridged = 1;
        }
        if (variance > DBL_MAX) variance = DBL_MAX;
        scales[i] = sqrt(variance);
    }
    static const double ridges[] = {0.0,  1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7,
                                    1e-6, 1e-5,  1e-4,  1e-3,  1e-2, 1e-1, 1.0};
    bool good = false;
    for (size_t r = 0; r < sizeof ridges / sizeof *ridges && !good; r++) {
        double ridge = ridges[r];
        for (size_t k = 0; k < dim; k++) {
            approx->chol[k + k * dim] = 1.0 + ridge;
            for (size_t i = k + 1; i < dim; i++) {
                double entry = square[i + k * dim] / scales[i] / scales[k];
                approx->chol[i + k * dim] = isfinite(entry) ? entry : 0.0;
            }
        }
        good = gess__cholesky(dim, approx->chol);
        for (size_t i = 0; good && i < dim; i++) good = approx->chol[i + i * dim] > 1e-7;
        if (!good) ridged = 1;
    }
    if (!good) { /* the entries are not correlations: keep the diagonal only */
        memset(approx->chol, 0, dim * dim * sizeof *approx->chol);
        for (size_t i = 0; i < dim; i++) approx->chol[i + i * dim] = 1.0;
    }
    for (size_t k = 0; k < dim; k++)
        for (size_t i = k; i < dim; i++) approx->chol[i + k * dim] *= scales[i];
    gess__approx_ready(approx);
    return ridged;
}
