/* A mixture of t by EM, and how many components it has.
 *
 * An iteration finds the share r_ij = w_j t_j(z_i) / T(z_i) of component j in point i, and then for every j
 *   w_j = mean_i r_ij,   u_ij = (ν_j + D) / (ν_j + δ_ij),
 *   μ_j = Σ r u z / Σ r u,   Σ_j = (m S + Σ r u (z − μ_j)(z − μ_j)ᵀ) / (m + Σ r),
 *   ν_j the maximum of Σ_i r_ij log t_j(z_i) at the new μ_j and Σ_j,
 * with S the scatter within components at the start and m = D + 2: the mode under an inverse Wishart prior that
 * counts for m points at S. Each of these steps raises Σ_j Σ_i r_ij log w_j t_j(z_i) plus the log priors, so that the
 * objective, the log-likelihood plus the log priors, never falls but where a component is dropped. With one
 * component there is no prior, and the division is by Σ r u, as in student_t.c.
 * O(K N D²) an iteration. docs/statistics.md says how the number of components is chosen. */
#include "approx/mixture_fit.h"

#include "base/lanes.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/special.h"
#include "base/vmath.h"

#include <stdlib.h>

enum { CHUNK = 64, W = GESS__WIDE_LANES };

/* Shares below this are passed over in the M step. */
static const double negligible = 1e-10;

/* ---- memory ---- */

int gess__mixture_fitter_new(gess__mixture_fitter **fitter, size_t dim, size_t points, gess__team *team,
                             gess_error *err)
{
    GESS_ALLOC(fitter, 1, err);
    gess__mixture_fitter *f = *fitter;
    f->dim = dim;
    f->points = points;
    f->pseudo = (double)dim + 2.0;
    GESS_ALLOC(&f->white, points * dim, err);
    GESS_ALLOC(&f->rows, points * dim, err);
    GESS_ALLOC(&f->deltas, points * GESS__MOST_COMPONENTS, err);
    GESS_ALLOC(&f->shares, points * GESS__MOST_COMPONENTS, err);
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
    GESS_ALLOC(&f->inverses, dim * dim * GESS__MOST_COMPONENTS, err);
    GESS_ALLOC(&f->shifts, dim * GESS__MOST_COMPONENTS, err);
    GESS_TRY(gess__hands_open(&f->hands, team, dim, points, err));
    GESS_ALLOC(&f->centres, dim * GESS__MOST_COMPONENTS, err);
    GESS_ALLOC(&f->best_centres, dim * GESS__MOST_COMPONENTS, err);
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
    gess__hands_close(&f->hands);
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

/* δ = |L⁻¹ z − L⁻¹ μ|² of a tile of points; four rows at a time, so that their sums do not wait for each other. */
GESS__VECTOR
static void tile_deltas(size_t dim, const double *restrict inverse, const double *restrict shift,
                        const double *restrict tile, double *restrict deltas)
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

/* f->inverses and f->shifts: L_j⁻¹ and L_j⁻¹ μ_j. */
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
    double deltas[W], *tile = gess__hands_tile(&f->hands, worker);
    for (size_t k = first; k < end; k += W) {
        size_t some = end - k < W ? end - k : W;
        gess__to_wide_tile(dim, some, d->white + k * dim, tile);
        for (size_t j = 0; j < f->trial->count; j++) {
            tile_deltas(dim, f->inverses + j * dim * dim, f->shifts + j * dim, tile, deltas);
            memcpy(f->deltas + j * d->n + k, deltas, some * sizeof *deltas);
        }
    }
}

/* δ of every point in every component. */
static void set_deltas(gess__mixture_fitter *f, size_t n, const double *white)
{
    struct deltas d = {f, n, white};
    double dim = (double)f->dim;
    invert(f);
    gess__blocks(f->hands.team, (double)(n * f->trial->count) * dim * dim, n, deltas_of_block, &d);
}

/* Up to CHUNK points: their log w_j t_j, `stride` apart for the next j, become shares; the log of the sum goes to
 * logs. */
GESS__VECTOR
static void normalise(size_t count, size_t stride, size_t n, double *restrict terms, double *restrict logs)
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

/* Shares and log T of n points whose deltas are set. Returns the sum of log T. */
static double expect(gess__mixture_fitter *f, size_t n, double *logs)
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

/* The mean of the points, weighted; returns the sum of the weights. */
GESS__VECTOR
static double weighted_mean(size_t dim, size_t n, const double *restrict points, const double *restrict weights,
                            double *restrict mean)
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

/* √w (y − middle) of the points whose weight w is not 0, one after the other. Returns how many. */
GESS__VECTOR
static size_t pack_rows(size_t dim, size_t n, const double *restrict points, const double *restrict weights,
                        const double *restrict middle, double *restrict out)
{
    size_t packed = 0;
    for (size_t k = 0; k < n; k++) {
        if (weights[k] == 0.0) continue;
        double factor = __builtin_sqrt(weights[k]), *row = out + packed++ * dim;
        for (size_t i = 0; i < dim; i++) row[i] = factor * (points[k * dim + i] - middle[i]);
    }
    return packed;
}

/* weights_k = r u, 0 where r is negligible. Returns Σ r. */
GESS__VECTOR
static double set_weights(size_t n, double nu, double dim, const double *restrict shares, const double *restrict deltas,
                          double *restrict weights)
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
    gess__hands_self_product(&f->hands, f->dim, packed, 1.0, f->rows, f->square);
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

/* Σ r (log w − w) with w = top / (ν + δ), in LANES interleaved sums. */
GESS__VECTOR
static double sum_score(size_t n, const double *restrict shares, const double *restrict deltas, double nu, double top)
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

/* Derivative by ν of the mean of log t_j, weighted by shares, times 2, at ν = exp(log_nu). */
static double nu_score(double log_nu, const struct score *s)
{
    double nu = gess__exp(log_nu), sum = sum_score(s->n, s->shares, s->deltas, nu, nu + s->dim);
    return gess__digamma(0.5 * (nu + s->dim)) - gess__digamma(0.5 * nu) - gess__log((nu + s->dim) / nu) + 1.0 +
           sum / s->total;
}

/* The root between a and b, where the score has the values of different sign `at_a` and `at_b`: regula falsi, halving
 * the value of an end that stays (Illinois). */
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

/* The best ν, looked for from the present one on, in steps that double. */
static double search_nu(const struct score *s, double nu)
{
    const double low = log(GESS__NU_FLOOR), high = log(GESS__NU_CAP);
    double a = nu > GESS__NU_CAP ? high : fmax(low, log(nu)), at_a = nu_score(a, s);
    double end = at_a > 0.0 ? high : low;
    for (double step = 0.2;; step *= 2.0) {
        if (a == end) return end == high ? INFINITY : GESS__NU_FLOOR;
        double b = end == high ? fmin(high, a + step) : fmax(low, a - step), at_b = nu_score(b, s);
        if ((at_b > 0.0) != (at_a > 0.0)) return gess__exp(bracketed(s, a, at_a, b, at_b));
        a = b;
        at_a = at_b;
    }
}

/* The points with shares that count, packed into f->factors (shares) and f->packed (deltas). */
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

/* Component j's w, μ and Σ. False where it has collapsed. */
static bool maximise_one(gess__mixture_fitter *f, size_t j, size_t n, const double *white)
{
    size_t dim = f->dim;
    gess__approx *t = f->trial->component[j];
    double share, least = fmax(2.0 * ((double)dim + 2.0), 0.005 * (double)n);
    double total = gess__mixture_scatter(f, j, n, white, &share);
    double pseudo = f->trial->count > 1 ? f->pseudo : 0.0, divisor = pseudo > 0.0 ? share + pseudo : total;
    if (f->trial->count > 1 && share < least) return false;
    if (!(share > 0.0)) return false;
    for (size_t i = 0; i < dim * dim; i++) f->square[i] = (f->square[i] + pseudo * f->within[i]) / divisor;
    if (gess__ridged_cholesky(dim, f->square, f->scales, t->mu, t)) return false;
    f->trial->log_weight[j] = gess__log(share / (double)n);
    return true;
}

/* Component `from`, its shares included, moves to a place before it. */
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
    double sum = gess__log_sum(kept, f->trial->log_weight); /* 0 but for what was dropped */
    for (size_t j = 0; j < kept; j++) f->trial->log_weight[j] -= sum;
    if (held) return;
    set_deltas(f, n, white);
    for (size_t j = 0; j < kept; j++) f->trial->component[j]->nu = best_nu(f, j, n);
}

/* Σ_j log of the prior of Σ_j, up to a constant: −(m/2) (log |Σ_j| + tr S Σ_j⁻¹). */
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

unsigned gess__mixture_climb(gess__mixture_fitter *f, size_t n, const double *white, gess__mixture_settings settings)
{
    unsigned iteration = 0;
    bool settled = false;
    f->recorded = 0;
    set_deltas(f, n, white);
    double objective = expect(f, n, f->distance) + log_prior(f);
    for (; iteration < settings.most_iterations && !settled; iteration++) {
        size_t count = f->trial->count;
        double before = objective;
        if (f->recorded < GESS__MIXTURE_HISTORY) f->history[f->recorded++] = objective;
        gess__mixture_maximise(f, n, white, false);
        if (f->trial->count == 0) return iteration + 1;
        objective = expect(f, n, f->distance) + log_prior(f);
        if (f->trial->count < count)
            f->recorded = 0;
        else
            settled = fabs(objective - before) <= settings.tolerance * (double)n;
    }
    if (f->recorded < GESS__MIXTURE_HISTORY) f->history[f->recorded++] = objective;
    return iteration;
}

/* ---- the number of components ---- */

typedef struct choice {
    size_t counts[2];                 /* whitened points of the two halves, one after the other in f->white */
    double nu;                        /* of the single t */
    double fitted[2], best_fitted[2]; /* mean log T of each half under its own fit: what was tried last, and the best */
    double reached;                   /* by the first steps from a start: mean log T of the fitted half */
    double rise;                      /* of what was tried last, beside the best */
    gess__mixture_report *report;
} choice;

/* L⁻¹(x − μ) of `take` of n points, evenly. */
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

/* Of n points of a half, those that choose the size. */
static size_t sample_size(size_t dim, size_t half, size_t n)
{
    double most = 4000.0 + 100.0 * (double)dim, d2 = (double)dim * (double)dim;
    size_t take = (size_t)ceil(fmin(1.0, most / (double)n) * (double)half), affordable = (size_t)(1.28e8 / d2) + 1;
    return take < affordable ? take : affordable;
}

/* The single t, as the whitened points see it. */
static void single(gess__mixture_fitter *f, double nu)
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

/* Mean log T of the other half's points under f->trial, point by point into f->logs; *more: less what it is under the
 * best so far. */
static double score(gess__mixture_fitter *f, const choice *c, int side, double *more)
{
    size_t first = side == 0 ? c->counts[0] : 0, others = c->counts[1 - side];
    set_deltas(f, others, f->white + first * f->dim);
    double mean = expect(f, others, f->logs + first) / (double)others;
    *more = mean - mean_of(others, f->best_logs + first);
    return mean;
}

/* How much likelier draws would get under a fit to all draws instead of half of them, tried instead of the best so
 * far. A fit to n draws costs new draws as much as it flatters the fitted ones, p/2n nats for p parameters, and all
 * draws have half the noise of half of them: so a quarter of the rise is looked for in the fitted half. */
static double rise(const choice *c, int side, double held_out)
{
    return 0.75 * held_out + 0.25 * (c->fitted[side] - c->best_fitted[side]);
}

/* f->within: the mean of the components' Σ. */
static void set_within(gess__mixture_fitter *f, const gess__mixture *mixture)
{
    size_t dim = f->dim;
    memset(f->within, 0, dim * dim * sizeof *f->within);
    for (size_t j = 0; j < mixture->count; j++) {
        gess__self_product(dim, dim, gess__exp(mixture->log_weight[j]), mixture->component[j]->chol, f->square);
        for (size_t i = 0; i < dim * dim; i++) f->within[i] += f->square[i];
    }
}

/* f->standard: |S⁻¹ L z|² is the squared distance of points in units of each coordinate's spread S, so the factor is
 * L⁻¹ S. */
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

/* A start, and a few steps from it. Returns the mean log T, or -inf. */
static double tentative(gess__mixture_fitter *f, size_t count, size_t n, const double *white, choice *c, int side)
{
    const gess__mixture_settings settings = {4, 0.0};
    if (!gess__mixture_seed(f, count, n, white, c->nu, (uint32_t)side)) return -HUGE_VAL;
    c->report->iterations += gess__mixture_climb(f, n, white, settings);
    double mean = f->trial->count > 0 ? mean_of(n, f->distance) : -HUGE_VAL;
    return isfinite(mean) ? mean : -HUGE_VAL;
}

/* Where EM starts. The whitening by the single t hides modes that lie apart, so as long as nothing better than the
 * single t is known the start is the better of two: clusters of whitened points, and of points in units of each
 * coordinate's spread. */
static bool start(gess__mixture_fitter *f, size_t count, size_t n, const double *white, choice *c, int side)
{
    if (f->best->count > 1) return gess__mixture_seed(f, count, n, white, c->nu, (uint32_t)side);
    double whitened = tentative(f, count, n, white, c, side);
    gess__mixture *first = f->trial;
    f->trial = f->spare;
    swap_metrics(f);
    double standard = tentative(f, count, n, white, c, side);
    swap_metrics(f);
    f->spare = first;
    c->reached = fmax(whitened, standard);
    if (isinf(whitened) && isinf(standard)) return false;
    if (whitened >= standard) {
        f->spare = f->trial;
        f->trial = first;
    }
    set_within(f, f->trial);
    return gess__mixture_set_prior(f);
}

/* The few steps from a start that were made while the single t is the best show whether the rest are worth making:
 * these raise the fitted half's likelihood by some more, and the rise by at most about `yet` of what the first ones
 * raised it by, as far as was seen. */
static bool hopeless(gess__mixture_fitter *f, choice *c, int side)
{
    const double yet = 0.15;
    double more;
    if (f->best->count > 1) return false;
    c->fitted[side] = c->reached;
    (void)score(f, c, side, &more);
    return !(rise(c, side, more) + yet * (c->reached - c->best_fitted[side]) > 0.0);
}

/* Fits `count` components to each half and scores them on the other, point by point, into f->logs. The fit with the
 * better score goes to f->better. Returns false where there is no such fit, or one of the two is worse than the best so
 * far. */
static bool try_size(gess__mixture_fitter *f, choice *c, size_t count)
{
    const gess__mixture_settings settings = {20, 1e-3};
    const double *sides[2] = {f->white, f->white + c->counts[0] * f->dim};
    double best = -HUGE_VAL, all = (double)(c->counts[0] + c->counts[1]);
    c->rise = 0.0;
    for (int side = 0; side < 2; side++) {
        size_t n = c->counts[side], others = c->counts[1 - side];
        if (count == 1)
            single(f, c->nu);
        else if (!start(f, count, n, sides[side], c, side) || hopeless(f, c, side))
            return false;
        c->report->iterations += gess__mixture_climb(f, n, sides[side], settings);
        if (f->trial->count == 0) return false;
        c->fitted[side] = mean_of(n, f->distance);
        double more, mean = score(f, c, side, &more), up = rise(c, side, more);
        if (!isfinite(mean) || (count > 1 && up < 0.0)) return false;
        c->rise += up * (double)others / all;
        if (mean > best) gess__mixture_copy(f->better, f->trial);
        best = fmax(best, mean);
    }
    return true;
}

/* Does it rise by 0.01 and a standard error of the difference? Where the halves' points get less likely under each
 * other's fits, the fits are of chains that have not gone far, and no size will do. */
static bool rises(const gess__mixture_fitter *f, const choice *c)
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

/* What was tried last becomes the best so far. */
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

/* f->best becomes the start of the final fit; report->score and gain are of whitened points. `only`: the one size to
 * try, or 0. False: one component. */
static bool choose(gess__mixture_fitter *f, choice *c, size_t only)
{
    static const size_t ladder[] = {2, 3, 4, 6, 8, 12, 16};
    const size_t *sizes = only > 0 ? &only : ladder;
    size_t n = c->counts[0] + c->counts[1], fewer = c->counts[0] < c->counts[1] ? c->counts[0] : c->counts[1];
    size_t tries = only > 0 ? 1 : sizeof ladder / sizeof *ladder;
    int misses = 0;
    single(f, c->nu);
    gess__approx_copy(f->metric, f->trial->component[0]);
    if (!try_size(f, c, 1)) return false;
    keep(f, c);
    double alone = c->report->score = mean_of(n, f->best_logs);
    for (size_t i = 0; i < tries && misses < 2; i++) {
        if (only == 0 && sizes[i] == 3 && f->best->count == 1)
            continue; /* where two bring nothing, four are the last try */
        if (fewer < 4 * sizes[i] * (f->dim + 2)) break;
        misses++;
        if (!try_size(f, c, sizes[i]) || f->better->count == 1 || !rises(f, c)) continue;
        keep(f, c);
        misses = 0;
    }
    c->report->score = mean_of(n, f->best_logs);
    c->report->gain = c->report->score - alone;
    return f->best->count > 1;
}

/* ---- all points ---- */

/* `out` gets component t of whitened points, seen from the points: μ + L μ_t and L L_t. */
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

/* EM on all points from f->best. False where fewer than two components are left. */
static bool fit_all(gess__mixture_fitter *f, size_t n, gess__mixture_report *report)
{
    double operations = (double)f->best->count * (double)n * (double)f->dim * (double)f->dim; /* an iteration */
    gess__mixture_settings settings = {(unsigned)fmax(10.0, fmin(40.0, 4e9 / operations)), 1e-4};
    gess__mixture_copy(f->trial, f->best);
    set_within(f, f->trial);
    if (!gess__mixture_set_prior(f)) return false;
    report->iterations += gess__mixture_climb(f, n, f->white, settings);
    return f->trial->count > 1;
}

/* The fit, between gess__blas_begin() and gess__blas_end(). False: the single t stays. */
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
    *report = (gess__mixture_report){0};
    mixture->count = 1;
    mixture->log_weight[0] = 0.0;
    gess__blas_begin();
    if (!fit(f, pool, size, mixture, report)) {
        report->score -= report->gain;
        report->gain = 0.0;
    }
    gess__blas_end();
}
