/* The maximum a posteriori mixture of t by EM.
 *
 * D. Peel & G. J. McLachlan, "Robust mixture modelling using the t distribution", Statistics and Computing 10 (2000),
 * with ν as in ECME (fit_ecme.c). An iteration finds the share (responsibility) r_ij = w_j t_j(z_i) / T(z_i) of
 * component j in point i, and then for every j
 *   w_j = mean_i r_ij,   u_ij = (ν_j + D) / (ν_j + δ_ij),
 *   μ_j = Σ r u z / Σ r u,   Σ_j = (m S + Σ r u (z − μ_j)(z − μ_j)ᵀ) / (m + Σ r),
 *   ν_j the maximum of Σ_i r_ij log t_j(z_i) at the new μ_j and Σ_j,
 * with S the mean Σ within components at the start and m = D + 2: the mode under an inverse Wishart prior with centre S
 * and the weight of m points. Each step raises Σ_j Σ_i r_ij log w_j t_j(z_i) plus the log priors, so that the
 * objective, the log-likelihood plus the log priors, never falls unless a component is dropped. With one component
 * there is no prior, and the division is by Σ r u, as in fit_ecme.c. One iteration costs O(K N D²). */
#include "approx/mixture_fit.h"

#include "base/assert.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/special.h"
#include "base/tiles.h"
#include "base/vmath.h"

#include <stdlib.h>

enum { CHUNK = 64, W = GESS__WIDE_LANES };

/* The M step ignores shares below this. */
static const double negligible = 1e-10;

/* ---- memory ---- */

int gess__mixture_fitter_new(gess__mixture_fitter **fitter, size_t dim, size_t points, gess__team *team,
                             gess_error *err)
{
    GESS_ASSERT(dim > 0 && points > 0);
    GESS_ALLOC(fitter, 1, err);
    gess__mixture_fitter *f = *fitter;
    f->dim = dim;
    f->points = points;
    f->pseudo = (double)dim + 2.0;
    GESS_ALLOC(&f->white, points * dim, err);
    GESS_ALLOC(&f->rows, points * dim, err);
    GESS_ALLOC(&f->deltas, points * GESS__MAX_COMPONENTS, err);
    GESS_ALLOC(&f->shares, points * GESS__MAX_COMPONENTS, err);
    GESS_ALLOC(&f->logs, points, err);
    GESS_ALLOC(&f->best_logs, points, err);
    GESS_ALLOC(&f->factors, points, err);
    GESS_ALLOC(&f->packed, points, err);
    GESS_ALLOC(&f->distance, points, err);
    GESS_ALLOC(&f->labels, points, err);
    GESS_ALLOC(&f->square, dim * dim, err);
    GESS_ALLOC(&f->scales, dim, err);
    GESS_ALLOC(&f->mean, dim, err);
    GESS_ALLOC(&f->within, dim * dim, err);
    GESS_ALLOC(&f->inverses, dim * dim * GESS__MAX_COMPONENTS, err);
    GESS_ALLOC(&f->shifts, dim * GESS__MAX_COMPONENTS, err);
    GESS_TRY(gess__fit_blocks_open(&f->blocks, team, dim, points, err));
    GESS_ALLOC(&f->centres, dim * GESS__MAX_COMPONENTS, err);
    GESS_ALLOC(&f->best_centres, dim * GESS__MAX_COMPONENTS, err);
    GESS_TRY(gess__approx_new(&f->prior, dim, err));
    GESS_TRY(gess__approx_new(&f->metric, dim, err));
    GESS_TRY(gess__approx_new(&f->standard, dim, err));
    GESS_TRY(gess__mixture_new(&f->spare, dim, err));
    GESS_TRY(gess__mixture_new(&f->trial, dim, err));
    GESS_TRY(gess__mixture_new(&f->better, dim, err));
    return gess__mixture_new(&f->best, dim, err);
}

void gess__mixture_fitter_free(gess__mixture_fitter *f)
{
    if (f == NULL) return;
    free(f->white);
    free(f->rows);
    free(f->deltas);
    free(f->shares);
    free(f->logs);
    free(f->best_logs);
    free(f->factors);
    free(f->packed);
    free(f->distance);
    free(f->labels);
    free(f->square);
    free(f->scales);
    free(f->mean);
    free(f->within);
    free(f->inverses);
    free(f->shifts);
    gess__fit_blocks_close(&f->blocks);
    free(f->centres);
    free(f->best_centres);
    gess__approx_free(f->prior);
    gess__approx_free(f->metric);
    gess__approx_free(f->standard);
    gess__mixture_free(f->spare);
    gess__mixture_free(f->trial);
    gess__mixture_free(f->better);
    gess__mixture_free(f->best);
    free(f);
}

/* ---- the E step ---- */

/* δ = |L⁻¹ z − L⁻¹ μ|² of a tile of points; four rows at a time, so that their sums run in parallel. */
static GESS__VECTOR(tile_deltas,
                    (size_t dim, const double *restrict inverse, const double *restrict shift,
                     const double *restrict tile, double *restrict deltas),
                    (dim, inverse, shift, tile, deltas))
{
    double sums[W] = {0};
    size_t i = 0;
    for (; i + 4 <= dim; i += 4) {
        double r0[W] = {0}, r1[W] = {0}, r2[W] = {0}, r3[W] = {0};
        for (size_t k = 0; k < i + 4; k++) { /* above the diagonal the inverse is 0 */
            const double *column = inverse + k * dim + i, *x = tile + k * W;
            for (size_t l = 0; l < W; l++) r0[l] = gess__fma(column[0], x[l], r0[l]);
            for (size_t l = 0; l < W; l++) r1[l] = gess__fma(column[1], x[l], r1[l]);
            for (size_t l = 0; l < W; l++) r2[l] = gess__fma(column[2], x[l], r2[l]);
            for (size_t l = 0; l < W; l++) r3[l] = gess__fma(column[3], x[l], r3[l]);
        }
        for (size_t l = 0; l < W; l++) {
            double a = r0[l] - shift[i], b = r1[l] - shift[i + 1], c = r2[l] - shift[i + 2], d = r3[l] - shift[i + 3];
            sums[l] = gess__fma(a, a, gess__fma(b, b, gess__fma(c, c, gess__fma(d, d, sums[l]))));
        }
    }
    for (; i < dim; i++) {
        double r[W] = {0};
        for (size_t k = 0; k <= i; k++)
            for (size_t l = 0; l < W; l++) r[l] = gess__fma(inverse[k * dim + i], tile[k * W + l], r[l]);
        for (size_t l = 0; l < W; l++) sums[l] = gess__fma(r[l] - shift[i], r[l] - shift[i], sums[l]);
    }
    for (size_t l = 0; l < W; l++) deltas[l] = sums[l];
}

/* Sets f->inverses and f->shifts to L_j⁻¹ and L_j⁻¹ μ_j. */
static void invert(gess__mixture_fitter *f)
{
    size_t dim = f->dim;
    for (size_t j = 0; j < f->trial->count; j++) {
        const gess__approx *t = f->trial->component[j];
        double *inverse = f->inverses + j * dim * dim, *shift = f->shifts + j * dim;
        memset(inverse, 0, dim * dim * sizeof *inverse);
        for (size_t i = 0; i < dim; i++) inverse[i + i * dim] = 1.0;
        gess__solve_lower(dim, t->chol, dim, inverse);
        memcpy(shift, t->mu, dim * sizeof *shift);
        gess__solve_lower(dim, t->chol, 1, shift);
    }
}

struct deltas {
    gess__mixture_fitter *f;
    size_t n;
    const double *white;
};

static void deltas_of_block(void *data, unsigned worker, size_t block, size_t first, size_t count)
{
    (void)block;
    const struct deltas *d = data;
    gess__mixture_fitter *f = d->f;
    size_t dim = f->dim, end = first + count;
    double deltas[W], *tile = gess__fit_blocks_tile(&f->blocks, worker);
    for (size_t k = first; k < end; k += W) {
        size_t some = end - k < W ? end - k : W;
        gess__to_wide_tile(dim, some, d->white + k * dim, tile);
        for (size_t j = 0; j < f->trial->count; j++) {
            tile_deltas(dim, f->inverses + j * dim * dim, f->shifts + j * dim, tile, deltas);
            memcpy(f->deltas + j * d->n + k, deltas, some * sizeof *deltas);
        }
    }
}

void gess__mixture_set_deltas(gess__mixture_fitter *f, size_t n, const double *white)
{
    struct deltas d = {f, n, white};
    double dim = (double)f->dim;
    invert(f);
    gess__blocks(f->blocks.team, (double)(n * f->trial->count) * dim * dim, n, deltas_of_block, &d);
}

/* Turns the log w_j t_j of up to CHUNK points into shares, in place; terms[j stride + k] is component j's at point k.
 * Sets logs to the log of the points' sums. */
static GESS__VECTOR(normalise, (size_t count, size_t stride, size_t n, double *restrict terms, double *restrict logs),
                    (count, stride, n, terms, logs))
{
    double largest[CHUNK], sums[CHUNK];
    for (size_t k = 0; k < n; k++) largest[k] = terms[k];
    for (size_t k = 0; k < n; k++) sums[k] = 0.0;
    for (size_t j = 1; j < count; j++)
        for (size_t k = 0; k < n; k++) {
            double term = terms[j * stride + k];
            largest[k] = gess__select(term > largest[k], term, largest[k]);
        }
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < n; k++) {
            double part = gess__exp(terms[j * stride + k] - largest[k]);
            terms[j * stride + k] = part;
            sums[k] += part;
        }
    for (size_t k = 0; k < n; k++) logs[k] = largest[k] + gess__log(sums[k]);
    for (size_t j = 0; j < count; j++)
        for (size_t k = 0; k < n; k++) terms[j * stride + k] /= sums[k];
}

double gess__mixture_expect(gess__mixture_fitter *f, size_t n, double *logs)
{
    double sum = 0.0;
    for (size_t j = 0; j < f->trial->count; j++) {
        const gess__approx *t = f->trial->component[j];
        double *terms = f->shares + j * n, constant = f->trial->log_weight[j] + gess__approx_log_norm(t);
        gess__approx_log_ts(t, 0, n, f->deltas + j * n, terms);
        for (size_t k = 0; k < n; k++) terms[k] += constant;
    }
    for (size_t k = 0; k < n; k += CHUNK)
        normalise(f->trial->count, n, n - k < CHUNK ? n - k : CHUNK, f->shares + k, logs + k);
    for (size_t k = 0; k < n; k++) sum += logs[k];
    return sum;
}

/* ---- the M step ---- */

/* Sets the weighted mean of the points; returns the sum of the weights. */
static GESS__VECTOR_VALUE(double, weighted_mean,
                          (size_t dim, size_t n, const double *restrict points, const double *restrict weights,
                           double *restrict mean),
                          (dim, n, points, weights, mean))
{
    double total = 0.0;
    for (size_t i = 0; i < dim; i++) mean[i] = 0.0;
    for (size_t k = 0; k < n; k++) {
        if (weights[k] == 0.0) continue;
        total += weights[k];
        for (size_t i = 0; i < dim; i++) mean[i] = gess__fma(weights[k], points[k * dim + i], mean[i]);
    }
    for (size_t i = 0; i < dim; i++) mean[i] /= total;
    return total;
}

/* Packs √w (y − middle) of the points whose weight w is not 0 into `out`. Returns their number. */
static GESS__VECTOR_VALUE(size_t, pack_rows,
                          (size_t dim, size_t n, const double *restrict points, const double *restrict weights,
                           const double *restrict middle, double *restrict out),
                          (dim, n, points, weights, middle, out))
{
    size_t packed = 0;
    for (size_t k = 0; k < n; k++) {
        if (weights[k] == 0.0) continue;
        double factor = __builtin_sqrt(weights[k]), *row = out + packed++ * dim;
        for (size_t i = 0; i < dim; i++) row[i] = factor * (points[k * dim + i] - middle[i]);
    }
    return packed;
}

/* Sets weights_k = r u, 0 if r is negligible. Returns Σ r. */
static GESS__VECTOR_VALUE(double, set_weights,
                          (size_t n, double nu, double dim, const double *restrict shares,
                           const double *restrict deltas, double *restrict weights),
                          (n, nu, dim, shares, deltas, weights))
{
    double total = 0.0;
    int gaussian = nu > GESS__NU_CAP;
    for (size_t k = 0; k < n; k++) {
        double u = gess__select(gaussian, 1.0, (nu + dim) / (nu + deltas[k]));
        weights[k] = gess__select(shares[k] > negligible, shares[k] * u, 0.0);
    }
    for (size_t k = 0; k < n; k++) total += shares[k];
    return total;
}

double gess__mixture_scatter(gess__mixture_fitter *f, size_t j, size_t n, const double *white, double *share)
{
    gess__approx *t = f->trial->component[j];
    *share = set_weights(n, t->nu, (double)f->dim, f->shares + j * n, f->deltas + j * n, f->factors);
    if (!(*share > negligible * (double)n)) {
        *share = 0.0; /* an empty cluster has no mean */
        return 0.0;
    }
    double total = weighted_mean(f->dim, n, white, f->factors, f->mean);
    size_t packed = pack_rows(f->dim, n, white, f->factors, f->mean, f->rows);
    memcpy(t->mu, f->mean, f->dim * sizeof *t->mu);
    gess__fit_blocks_self_product(&f->blocks, f->dim, packed, 1.0, f->rows, f->square);
    return total;
}

bool gess__mixture_set_prior(gess__mixture_fitter *f)
{
    size_t dim = f->dim;
    memcpy(f->square, f->within, dim * dim * sizeof *f->square);
    memset(f->mean, 0, dim * sizeof *f->mean);
    return !gess__ridged_cholesky(dim, f->square, f->scales, f->mean, f->prior);
}

/* ---- ν ---- */

struct score {
    size_t n;
    double dim, total;
    const double *shares, *deltas;
};

/* Σ r (log w − w) with w = top / (ν + δ), in GESS__LANES interleaved sums. */
static GESS__VECTOR_VALUE(double, sum_score,
                          (size_t n, const double *restrict shares, const double *restrict deltas, double nu,
                           double top),
                          (n, shares, deltas, nu, top))
{
    double sums[GESS__LANES] = {0}, sum = 0.0;
    size_t whole = n - n % GESS__LANES;
    for (size_t k = 0; k < whole; k += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) {
            double w = top / (nu + deltas[k + l]);
            sums[l] += shares[k + l] * (gess__log(w) - w);
        }
    for (size_t k = whole; k < n; k++) {
        double w = top / (nu + deltas[k]);
        sum += shares[k] * (gess__log(w) - w);
    }
    for (size_t l = 0; l < GESS__LANES; l++) sum += sums[l];
    return sum;
}

/* Twice the derivative with respect to ν of the mean of log t_j, weighted by shares, at ν = exp(log_nu). */
static double nu_score(double log_nu, const struct score *s)
{
    double nu = gess__exp(log_nu), sum = sum_score(s->n, s->shares, s->deltas, nu, nu + s->dim);
    return gess__digamma(0.5 * (nu + s->dim)) - gess__digamma(0.5 * nu) - gess__log((nu + s->dim) / nu) + 1.0 +
           sum / s->total;
}

/* The root of the score between a and b, at which it has the values at_a and at_b of different sign, by the Illinois
 * variant of regula falsi, which halves the value at an end that stays. */
static double bracketed(const struct score *s, double a, double at_a, double b, double at_b)
{
    for (int i = 0; i < 60 && fabs(b - a) > 1e-6; i++) {
        double x = b - at_b * (b - a) / (at_b - at_a), value = nu_score(x, s);
        if (fabs(x - b) < 1e-7 || value == 0.0) return x;
        if ((value > 0.0) != (at_b > 0.0)) {
            a = b;
            at_a = at_b;
        } else {
            at_a *= 0.5;
        }
        b = x;
        at_b = value;
    }
    return b;
}

/* The best ν: brackets the root from the present ν on, in steps of doubling length. */
static double search_nu(const struct score *s, double nu)
{
    const double low = gess__log(GESS__NU_FLOOR), high = gess__log(GESS__NU_CAP);
    double a = nu > GESS__NU_CAP ? high : gess__max(low, gess__log(nu)), at_a = nu_score(a, s);
    double end = at_a > 0.0 ? high : low;
    for (double step = 0.2;; step *= 2.0) {
        if (a == end) return end == high ? INFINITY : GESS__NU_FLOOR;
        double b = end == high ? gess__min(high, a + step) : gess__max(low, a - step), at_b = nu_score(b, s);
        if ((at_b > 0.0) != (at_a > 0.0)) return gess__exp(bracketed(s, a, at_a, b, at_b));
        a = b;
        at_a = at_b;
    }
}

/* The best ν of component j. Packs the points with shares above `negligible` into f->factors (shares) and f->packed
 * (deltas). */
static double best_nu(gess__mixture_fitter *f, size_t j, size_t n)
{
    const double *shares = f->shares + j * n;
    struct score s = {0, (double)f->dim, 0.0, f->factors, f->packed};
    for (size_t k = 0; k < n; k++) {
        if (!(shares[k] > negligible)) continue;
        f->factors[s.n] = shares[k];
        f->packed[s.n++] = f->deltas[j * n + k];
        s.total += shares[k];
    }
    return search_nu(&s, f->trial->component[j]->nu);
}

/* ---- one iteration ---- */

/* Sets component j's w, μ and Σ. Returns false if the component has collapsed. */
static bool maximise_one(gess__mixture_fitter *f, size_t j, size_t n, const double *white)
{
    size_t dim = f->dim;
    gess__approx *t = f->trial->component[j];
    double share, min_share = gess__max(2.0 * ((double)dim + 2.0), 0.005 * (double)n);
    double total = gess__mixture_scatter(f, j, n, white, &share);
    double pseudo = f->trial->count > 1 ? f->pseudo : 0.0, divisor = pseudo > 0.0 ? share + pseudo : total;
    if (f->trial->count > 1 && share < min_share) return false;
    if (!(share > 0.0)) return false;
    for (size_t i = 0; i < dim * dim; i++) f->square[i] = (f->square[i] + pseudo * f->within[i]) / divisor;
    if (gess__ridged_cholesky(dim, f->square, f->scales, t->mu, t)) return false;
    f->trial->log_weight[j] = gess__log(share / (double)n);
    return true;
}

/* Moves component `from`, with its shares, to place `to` before it. */
static void move_down(gess__mixture_fitter *f, size_t n, size_t to, size_t from)
{
    gess__mixture *m = f->trial;
    gess__approx *t = m->component[to];
    m->component[to] = m->component[from];
    m->component[from] = t;
    m->log_weight[to] = m->log_weight[from];
    memcpy(f->shares + to * n, f->shares + from * n, n * sizeof *f->shares);
}

void gess__mixture_maximise(gess__mixture_fitter *f, size_t n, const double *white, bool held)
{
    size_t count = f->trial->count, kept = 0;
    for (size_t j = 0; j < count; j++) {
        if (!maximise_one(f, j, n, white)) continue;
        if (kept < j) move_down(f, n, kept, j);
        kept++;
    }
    f->trial->count = kept;
    if (kept == 0) return;
    double sum = gess__log_sum(kept, f->trial->log_weight); /* 0 unless a component was dropped */
    for (size_t j = 0; j < kept; j++) f->trial->log_weight[j] -= sum;
    if (held) return;
    gess__mixture_set_deltas(f, n, white);
    for (size_t j = 0; j < kept; j++) f->trial->component[j]->nu = best_nu(f, j, n);
}

/* The sum over j of the log prior of Σ_j, up to a constant: −(m/2) (log |Σ_j| + tr S Σ_j⁻¹). */
static double log_prior(gess__mixture_fitter *f)
{
    size_t dim = f->dim;
    double sum = 0.0;
    if (f->trial->count < 2 || !(f->pseudo > 0.0)) return 0.0;
    for (size_t j = 0; j < f->trial->count; j++) {
        const gess__approx *t = f->trial->component[j];
        memcpy(f->square, f->prior->chol, dim * dim * sizeof *f->square);
        gess__solve_lower(dim, t->chol, dim, f->square);
        sum -= 0.5 * f->pseudo * (t->log_det + gess__dot(dim * dim, f->square, f->square));
    }
    return sum;
}

unsigned gess__mixture_em(gess__mixture_fitter *f, size_t n, const double *white, gess__mixture_settings settings)
{
    GESS_ASSERT(n > 0 && n <= f->points && f->trial->count > 0 && f->trial->count <= gess__mixture_room(f->dim));
    unsigned iteration = 0;
    bool converged = false;
    f->recorded = 0;
    gess__mixture_set_deltas(f, n, white);
    double objective = gess__mixture_expect(f, n, f->distance) + log_prior(f);
    for (; iteration < settings.max_iterations && !converged; iteration++) {
        size_t count = f->trial->count;
        double before = objective;
        if (f->recorded < GESS__MIXTURE_HISTORY) f->history[f->recorded++] = objective;
        gess__mixture_maximise(f, n, white, false);
        if (f->trial->count == 0) return iteration + 1;
        objective = gess__mixture_expect(f, n, f->distance) + log_prior(f);
        if (f->trial->count < count)
            f->recorded = 0;
        else
            converged = fabs(objective - before) <= settings.tolerance * (double)n;
    }
    if (f->recorded < GESS__MIXTURE_HISTORY) f->history[f->recorded++] = objective;
    return iteration;
}
