/* The fit of a warm-up window to the draws of all chains, with shrinkage of Σ chosen by cross-validation.
 *
 * The t is fitted to the draws of each half of the chains and scored on the draws of the other half,
 * with Σ_λ for λ = 0, …, 1 in turn, until the score falls. Σ_λ lies between Σ and a shrinkage target:
 * the diagonal of Σ or, given a second T, the diagonal in the coordinates in which that T is the
 * identity. The best λ is then used for the fit to all draws. Different chains are nearly independent
 * and the draws of one chain are not, so the split by chains measures how much information the draws
 * hold, however slowly the chains move.
 *
 * The score is unbiased: no draw is scored by a fit that saw its chain. The gap between it and the
 * score of the fitted halves measures the noise of the fit. A fit shrunk towards the second T inherits
 * its errors, above all in the tails, which few draws show. So λ is the smallest with nearly the best
 * score. */
#include "approx/fit.h"

#include "base/assert.h"
#include "base/linalg.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 7 };
static const double diagonal_shrinkages[TRIALS] = {0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0};
static const double target_shrinkages[TRIALS] = {0.0, 0.03, 0.1, 0.3, 0.6, 0.9, 1.0};

/* One λ and its score: the log-likelihood of each half's draws under the fit to the other. */
typedef struct trial {
    const gess__approx *target; /* NULL: the diagonal */
    double lambda, test;
} trial;

/* Sets `to` to T with Σ_λ. */
static void shrink(gess__fitter *f, const gess__approx *from, const trial *by, gess__approx *to)
{
    size_t dim = from->dim;
    to->nu = from->nu;
    memcpy(to->mu, from->mu, dim * sizeof *to->mu);
    double *chol = f->previous_chol, *centre = to->mu;
    memcpy(chol, from->chol, dim * dim * sizeof *chol);
    if (by->target != NULL) {
        gess__solve_lower(dim, by->target->chol, dim, chol);
        centre = f->mean; /* those coordinates have no units */
        memset(centre, 0, dim * sizeof *centre);
    }
    gess__self_product(dim, dim, 1.0 - by->lambda, chol, f->square);
    for (size_t i = 0; i < dim; i++) {
        double variance = 0.0;
        for (size_t k = 0; k <= i; k++) variance += chol[i + k * dim] * chol[i + k * dim];
        f->square[i + i * dim] = variance;
    }
    gess__ridged_cholesky(dim, f->square, f->scales, centre, to);
    if (by->target == NULL) return;
    gess__product(false, dim, dim, dim, by->target->chol, to->chol, chol);
    memcpy(to->chol, chol, dim * dim * sizeof *chol);
    gess__approx_ready(to);
}

/* Log-likelihood of the newest points of a side. */
static double newest(gess__fitter *f, const double *side, size_t count, size_t new, const gess__approx *t)
{
    return gess__fit_log_likelihood(f, new, side + (count - new) * f->dim, t);
}

/* Log-likelihood of the draws of each half under the fit to the other half, or (`other` is 0) to itself. */
static double score(gess__fitter *f, const gess__pool *pool, gess__approx *const fits[2], const trial *t, int other)
{
    const double *sides[2] = {pool->points, pool->points + pool->half * f->dim};
    const size_t counts[2] = {pool->half, pool->rest};
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        int scored = other ? 1 - side : side;
        shrink(f, fits[side], t, f->trial);
        sum += gess__fit_log_likelihood(f, counts[scored], sides[scored], f->trial);
    }
    return sum;
}

/* Tries λ until the score falls; *top: the number of the best trial. */
static void try_all(gess__fitter *f, const gess__pool *pool, gess__approx *const fits[2], const gess__approx *target,
                    trial trials[TRIALS], size_t *top)
{
    size_t tried = 0;
    for (*top = 0; tried < TRIALS && tried <= *top + 1; tried++) {
        trial *t = &trials[tried];
        *t =
            (trial){.target = target, .lambda = target != NULL ? target_shrinkages[tried] : diagonal_shrinkages[tried]};
        t->test = score(f, pool, fits, t, 1);
        if (t->test > trials[*top].test) *top = tried;
    }
}

/* Chooses the shrinkage target and λ. *gap: the score of fitted draws minus that of held-out ones; with the second T as
 * target, at least the expected gain of a fit to many more draws, estimated from the fits without shrinkage. No T
 * scores higher than each half's fit on that half itself, so the second T is tried only if that score is worth it. */
static trial choose(gess__fitter *f, const gess__pool *pool, gess__approx *const fits[2], const gess__approx *target,
                    double *gap)
{
    const double allowed = 2.0 * gess__fit_allowance(f->dim) * (double)(pool->half + pool->rest);
    trial trials[TRIALS];
    size_t top;
    try_all(f, pool, fits, NULL, trials, &top);
    trial best = trials[top];
    double train = score(f, pool, fits, &best, 0);
    *gap = train - best.test;
    if (target == NULL) return best;
    double unshrunk = top > 0 ? score(f, pool, fits, &trials[0], 0) : train;
    if (!(unshrunk > best.test + allowed)) return best;
    try_all(f, pool, fits, target, trials, &top);
    if (!(trials[top].test > best.test + allowed)) return best;
    double enough = trials[top].test - allowed;
    while (top > 0 && trials[top - 1].test > enough) top--;
    best = trials[top];
    *gap = gess__max(score(f, pool, fits, &best, 0) - best.test, unshrunk + trials[0].test - 2.0 * best.test);
    return best;
}

double gess__fit_allowance(size_t dim)
{
    return 0.01 + 0.001 * (double)dim;
}

static int pool_is_valid(const gess__fitter *f, const gess__pool *pool)
{
    size_t newest = pool->half_new + pool->rest_new;
    return pool->points != NULL && pool->half > 0 && pool->rest > 0 && pool->half + pool->rest <= f->points &&
           pool->half_new <= pool->half && pool->rest_new <= pool->rest && newest > 0;
}

void gess__fit_pooled(gess__fitter *f, const gess__pool *pool, const gess__approx *target, gess__approx *approx,
                      gess__approx *spare, gess__pool_report *report)
{
    const gess__fit_settings settings = {.tolerance = 1e-4, .max_iterations = 30, .warm = 1};
    GESS_ASSERT(f->other != NULL && f->trial != NULL && pool_is_valid(f, pool));
    GESS_ASSERT(approx->dim == f->dim && spare->dim == f->dim && (target == NULL || target->dim == f->dim));
    size_t dim = f->dim;
    const double *sides[2] = {pool->points, pool->points + pool->half * dim};
    const size_t counts[2] = {pool->half, pool->rest}, new[2] = {pool->half_new, pool->rest_new};
    double all = (double)(counts[0] + counts[1]), before = 0.0, after = 0.0, gap;
    gess__approx *fits[2] = {spare, f->other};
    for (int side = 0; side < 2; side++) {
        before += newest(f, sides[side], counts[side], new[side], approx);
        gess__approx_copy(fits[side], approx);
        gess__fit_student_t(f, dim, counts[side], sides[side], settings, fits[side], &report->fit);
    }
    trial best = choose(f, pool, fits, target, &gap);
    for (int side = 0; side < 2; side++) {
        shrink(f, fits[side], &best, f->trial);
        after += newest(f, sides[1 - side], counts[1 - side], new[1 - side], f->trial);
    }
    report->shrinkage = best.lambda;
    report->shrunk_to_target = best.target != NULL;
    report->score = best.test / all;
    report->gap = gap / all;
    report->gain = (after - before) / (double)(new[0] + new[1]);
    gess__fit_student_t(f, dim, counts[0] + counts[1], pool->points, settings, approx, &report->fit);
    if (best.lambda > 0.0) {
        gess__approx_copy(spare, approx);
        shrink(f, spare, &best, approx);
    }
}
