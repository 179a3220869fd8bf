/* The fit of a mixture of t to a warm-up window. The number of components is chosen by cross-validation, by how likely
 * each half of the chains is under the fit to the other (docs/specification.md, "The mixture of t"); EM on all points
 * follows. */
#include "approx/mixture_fit.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/tiles.h"
#include "base/vmath.h"

/* ---- the number of components ---- */

typedef struct choice {
    size_t counts[2];                 /* whitened points of each half; f->white holds both halves in order */
    double nu;                        /* of the single t */
    double fitted[2], best_fitted[2]; /* mean log T of each half under the fit to itself: last trial, best trial */
    int attempt;                      /* number of the attempt at a size, for other random numbers in each */
    double reached;                   /* mean log T of the fitted half after the first steps from a start */
    double rise;                      /* expected rise of mean log T from the best trial to the last */
    bool far_off;                     /* the gain of two components over one was all noise */
    gess__mixture_report *report;
} choice;

/* Sets white to L⁻¹(x − μ) of `take` evenly spaced points of the n. */
static void whiten(const gess__approx *t, size_t n, size_t take, const double *points, double *white)
{
    size_t dim = t->dim;
    for (size_t k = 0; k < take; k++) {
        const double *x = points + (take == n ? k : k * n / take) * dim;
        for (size_t i = 0; i < dim; i++) white[k * dim + i] = x[i] - t->mu[i];
    }
    gess__solve_lower(dim, t->chol, take, white);
}

static bool all_moderate(size_t n, const double *values)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs(values[i]) < 1e100)) return false;
    return true;
}

/* The number of a half's points that are used to choose the size, of n in both halves. In few dimensions points cost
 * little, so more are used. */
static size_t sample_size(size_t dim, size_t half, size_t n)
{
    double d = (double)dim, max = gess__max(4000.0 + 100.0 * d, 80000.0 / d), d2 = d * d;
    size_t take = (size_t)ceil(gess__min(1.0, max / (double)n) * (double)half), affordable = (size_t)(1.28e8 / d2) + 1;
    return take < affordable ? take : affordable;
}

/* Sets f->trial to the single t in whitened coordinates. */
static void set_single(gess__mixture_fitter *f, double nu)
{
    gess__approx *t = f->trial->component[0];
    f->trial->count = 1;
    f->trial->log_weight[0] = 0.0;
    memset(t->mu, 0, f->dim * sizeof *t->mu);
    memset(t->chol, 0, f->dim * f->dim * sizeof *t->chol);
    for (size_t i = 0; i < f->dim; i++) t->chol[i + i * f->dim] = 1.0;
    t->nu = nu;
    gess__approx_ready(t);
}

static double mean_of(size_t n, const double *values)
{
    double sum = 0.0;
    for (size_t k = 0; k < n; k++) sum += values[k];
    return sum / (double)n;
}

/* Mean log T of the other half's points under f->trial; f->logs receives log T per point. *more: the mean minus that of
 * the best so far. */
static double score(gess__mixture_fitter *f, const choice *c, int side, double *more)
{
    size_t first = side == 0 ? c->counts[0] : 0, others = c->counts[1 - side];
    gess__mixture_set_deltas(f, others, f->white + first * f->dim);
    double mean = gess__mixture_expect(f, others, f->logs + first) / (double)others;
    *more = mean - mean_of(others, f->best_logs + first);
    return mean;
}

/* The expected rise of mean log T over the best so far, for a fit to all draws instead of half of them. The noise of a
 * fit with p parameters to n draws lowers log T of new draws by p/2n nats and raises that of the fitted draws by as
 * much. A fit to all draws has half that noise; a mean of the held-out rise (weight 3/4) and the fitted one (1/4) has
 * the same.
 */
static double rise(const choice *c, int side, double held_out)
{
    return 0.75 * held_out + 0.25 * (c->fitted[side] - c->best_fitted[side]);
}

/* Sets f->within to the weighted mean of the components' Σ. */
static void set_within(gess__mixture_fitter *f, const gess__mixture *mixture)
{
    size_t dim = f->dim;
    memset(f->within, 0, dim * dim * sizeof *f->within);
    for (size_t j = 0; j < mixture->count; j++) {
        gess__self_product(dim, dim, gess__exp(mixture->log_weight[j]), mixture->component[j]->chol, f->square);
        for (size_t i = 0; i < dim * dim; i++) f->within[i] += f->square[i];
    }
}

/* Sets the factor of f->standard to L⁻¹ S: |S⁻¹ L z|² is the squared distance of points in units of each coordinate's
 * spread S. */
static void set_standard(gess__mixture_fitter *f, const gess__approx *t)
{
    size_t dim = f->dim;
    double *factor = f->standard->chol;
    memset(factor, 0, dim * dim * sizeof *factor);
    for (size_t i = 0; i < dim; i++) {
        double variance = 0.0;
        for (size_t k = 0; k <= i; k++) variance += t->chol[i + k * dim] * t->chol[i + k * dim];
        factor[i + i * dim] = sqrt(variance);
    }
    gess__solve_lower(dim, t->chol, dim, factor);
}

static void swap_metrics(gess__mixture_fitter *f)
{
    gess__approx *metric = f->metric;
    f->metric = f->standard;
    f->standard = metric;
}

/* Two iterations of EM. Returns the mean log T, or -inf if the fit failed. */
static double few_steps(gess__mixture_fitter *f, size_t n, const double *white, choice *c)
{
    const gess__mixture_settings settings = {2, 0.0};
    c->report->iterations += gess__mixture_em(f, n, white, settings);
    double mean = f->trial->count > 0 ? mean_of(n, f->distance) : -HUGE_VAL;
    return isfinite(mean) ? mean : -HUGE_VAL;
}

/* The same from a new start. */
static double tentative(gess__mixture_fitter *f, size_t count, size_t n, const double *white, choice *c, int side)
{
    if (!gess__mixture_seed(f, count, n, white, c->nu, (uint32_t)(2 * c->attempt + side))) return -HUGE_VAL;
    return few_steps(f, n, white, c);
}

/* Finds a start of EM. Whitening by the single t hides separated modes. So as long as the single t is the best fit, two
 * starts are compared after two iterations, one from clusters of whitened points and one from clusters of points in
 * units of each coordinate's spread, and the better one gets two more iterations. */
static bool start(gess__mixture_fitter *f, size_t count, size_t n, const double *white, choice *c, int side)
{
    if (f->best->count > 1) return gess__mixture_seed(f, count, n, white, c->nu, (uint32_t)(2 * c->attempt + side));
    double whitened = tentative(f, count, n, white, c, side);
    gess__mixture *first = f->trial;
    f->trial = f->spare;
    swap_metrics(f);
    double standard = tentative(f, count, n, white, c, side);
    swap_metrics(f);
    f->spare = first;
    if (isinf(whitened) && isinf(standard)) return false;
    if (whitened >= standard) {
        f->spare = f->trial;
        f->trial = first;
    }
    set_within(f, f->trial);
    if (!gess__mixture_set_prior(f)) return false;
    c->reached = few_steps(f, n, white, c);
    return isfinite(c->reached);
}

/* Whether the first few iterations show that the others would not help either, while the single t is the best. In
 * experiments the others added at most a fraction `later` of what the first ones added to the fitted half's mean log T.
 */
static bool hopeless(gess__mixture_fitter *f, choice *c, int side)
{
    const double later = 0.15;
    double more;
    if (f->best->count > 1) return false;
    c->fitted[side] = c->reached;
    (void)score(f, c, side, &more);
    /* a true gain g shows as g + e in the fitted half and as g − e in the other, e for noise: here g < e / 3 */
    c->far_off = more < -0.5 * (c->reached - c->best_fitted[side]);
    return !(rise(c, side, more) + later * (c->reached - c->best_fitted[side]) > 0.0);
}

/* Fits `count` components to each half and scores them on the other half; f->logs receives log T per point, f->better
 * the fit with the better score. Returns false if a fit fails or one of the two is worse than the best so far. */
static bool try_size(gess__mixture_fitter *f, choice *c, size_t count)
{
    const gess__mixture_settings settings = {20, 1e-3};
    const double *sides[2] = {f->white, f->white + c->counts[0] * f->dim};
    double best = -HUGE_VAL, all = (double)(c->counts[0] + c->counts[1]);
    c->rise = 0.0;
    for (int side = 0; side < 2; side++) {
        size_t n = c->counts[side], others = c->counts[1 - side];
        if (count == 1)
            set_single(f, c->nu);
        else if (!start(f, count, n, sides[side], c, side) || hopeless(f, c, side))
            return false;
        c->report->iterations += gess__mixture_em(f, n, sides[side], settings);
        if (f->trial->count == 0) return false;
        c->fitted[side] = mean_of(n, f->distance);
        double more, mean = score(f, c, side, &more), up = rise(c, side, more);
        if (!isfinite(mean) || (count > 1 && up < 0.0)) return false;
        c->rise += up * (double)others / all;
        if (mean > best) gess__mixture_copy(f->better, f->trial);
        best = gess__max(best, mean);
    }
    return true;
}

/* Whether the last trial is better than the best so far by 0.01 nats plus a standard error of the difference. It must
 * also raise the held-out mean: if it does not, the chains have not mixed enough for any number of components. */
static bool is_better(const gess__mixture_fitter *f, const choice *c)
{
    size_t n = c->counts[0] + c->counts[1];
    double mean = 0.0, square = 0.0;
    for (size_t k = 0; k < n; k++) mean += (f->logs[k] - f->best_logs[k]) / (double)n;
    for (size_t k = 0; k < n; k++) {
        double difference = f->logs[k] - f->best_logs[k] - mean;
        square += difference * difference;
    }
    return mean > 0.0 && c->rise > 0.01 + sqrt(square) / (double)n;
}

/* Makes the last trial the best so far. */
static void keep(gess__mixture_fitter *f, choice *c)
{
    gess__mixture *better = f->better;
    double *logs = f->logs;
    f->better = f->best;
    f->best = better;
    f->logs = f->best_logs;
    f->best_logs = logs;
    memcpy(c->best_fitted, c->fitted, sizeof c->fitted);
    set_within(f, f->best);
    if (gess__mixture_set_prior(f)) gess__approx_copy(f->metric, f->prior);
}

/* Chooses the number of components. Sets f->best to the start of the final fit, and report->score and gain to those of
 * whitened points. `only`: the one size to try, or 0. Returns false if one component is best. */
static bool choose(gess__mixture_fitter *f, choice *c, size_t only)
{
    static const size_t ladder[] = {2, 3, 4, 6, 8, 12, 16};
    const size_t *sizes = only > 0 ? &only : ladder;
    size_t n = c->counts[0] + c->counts[1], fewer = c->counts[0] < c->counts[1] ? c->counts[0] : c->counts[1];
    size_t tries = only > 0 ? 1 : sizeof ladder / sizeof *ladder;
    int misses = 0;
    set_single(f, c->nu);
    gess__approx_copy(f->metric, f->trial->component[0]);
    if (!try_size(f, c, 1)) return false;
    keep(f, c);
    double single = c->report->score = mean_of(n, f->best_logs);
    for (size_t i = 0; i < tries && misses < 2; i++) {
        /* try a size again if several components are best: it may have had a bad start */
        if (misses > 0 && f->best->count > 1) i--;
        c->attempt = misses;
        if (only == 0 && sizes[i] == 3 && f->best->count == 1)
            continue; /* if two components do not help, four are the last trial */
        if (fewer < 4 * sizes[i] * (f->dim + 2) || (i > 0 && c->far_off)) break;
        misses++;
        if (!try_size(f, c, sizes[i]) || f->better->count == 1 || !is_better(f, c)) continue;
        keep(f, c);
        misses = 0;
    }
    c->report->score = mean_of(n, f->best_logs);
    c->report->gain = c->report->score - single;
    return f->best->count > 1;
}

/* ---- all points ---- */

/* Sets `out` to component t in the coordinates of the points: μ + L μ_t and L L_t. */
static void unwhiten(gess__mixture_fitter *f, const double *mu, const double *chol, const gess__approx *t,
                     gess__approx *out)
{
    size_t dim = f->dim;
    gess__product(false, dim, 1, dim, chol, t->mu, f->mean);
    gess__product(false, dim, dim, dim, chol, t->chol, f->square);
    for (size_t i = 0; i < dim; i++) out->mu[i] = mu[i] + f->mean[i];
    for (size_t k = 0; k < dim; k++)
        for (size_t i = 0; i < dim; i++) out->chol[i + k * dim] = i < k ? 0.0 : f->square[i + k * dim];
    out->nu = t->nu;
    gess__approx_ready(out);
}

static bool is_sound(const gess__approx *t)
{
    for (size_t i = 0; i < t->dim; i++)
        if (!isfinite(t->mu[i]) || !(t->chol[i + i * t->dim] > 0.0)) return false;
    for (size_t i = 0; i < t->dim * t->dim; i++)
        if (!isfinite(t->chol[i])) return false;
    return isfinite(t->log_det) && t->nu >= GESS__NU_FLOOR;
}

/* EM on all points from f->best. Returns false if fewer than two components are left. */
static bool fit_all(gess__mixture_fitter *f, size_t n, gess__mixture_report *report)
{
    double operations = (double)f->best->count * (double)n * (double)f->dim * (double)f->dim; /* per iteration */
    gess__mixture_settings settings = {(unsigned)gess__max(10.0, gess__min(40.0, 4e9 / operations)), 1e-4};
    gess__mixture_copy(f->trial, f->best);
    set_within(f, f->trial);
    if (!gess__mixture_set_prior(f)) return false;
    report->iterations += gess__mixture_em(f, n, f->white, settings);
    return f->trial->count > 1;
}

/* The fit. Returns false if the single t stays. */
static bool fit(gess__mixture_fitter *f, const gess__pool *pool, size_t size, gess__mixture *mixture,
                gess__mixture_report *report)
{
    size_t dim = f->dim, n = pool->half + pool->rest;
    const gess__approx *t = mixture->component[0];
    choice c = {.counts = {sample_size(dim, pool->half, n), sample_size(dim, pool->rest, n)},
                .nu = t->nu,
                .report = report};
    if (c.counts[0] == 0 || c.counts[1] == 0) return false;
    whiten(t, pool->half, c.counts[0], pool->points, f->white);
    whiten(t, pool->rest, c.counts[1], pool->points + pool->half * dim, f->white + c.counts[0] * dim);
    if (!all_moderate((c.counts[0] + c.counts[1]) * dim, f->white)) return false;
    set_standard(f, t);
    bool more = choose(f, &c, size) && (size == 0 || f->best->count == size);
    report->score -= 0.5 * t->log_det;
    if (!more) return false;
    whiten(t, n, n, pool->points, f->white);
    if (!all_moderate(n * dim, f->white) || !fit_all(f, n, report)) return false;
    for (size_t j = 0; j < f->trial->count; j++) {
        unwhiten(f, t->mu, t->chol, f->trial->component[j], f->best->component[j]);
        if (!is_sound(f->best->component[j])) return false;
        f->best->log_weight[j] = f->trial->log_weight[j];
    }
    f->best->count = f->trial->count;
    gess__mixture_copy(mixture, f->best);
    return true;
}

void gess__fit_mixture(gess__mixture_fitter *f, const gess__pool *pool, size_t size, gess__mixture *mixture,
                       gess__mixture_report *report)
{
    GESS_ASSERT(mixture->dim == f->dim && size <= gess__mixture_room(f->dim));
    GESS_ASSERT(pool->points != NULL && pool->half + pool->rest <= f->points);
    *report = (gess__mixture_report){0};
    mixture->count = 1;
    mixture->log_weight[0] = 0.0;
    if (!fit(f, pool, size, mixture, report)) {
        report->score -= report->gain;
        report->gain = 0.0;
    }
}
