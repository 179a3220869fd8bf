/* Maximum-likelihood multivariate t by ECME.
 *
 * C. Liu & D. B. Rubin, "ML estimation of the t distribution using EM and its extensions, ECM and
 * ECME", Statistica Sinica 5 (1995); the paper's Algorithm 4 with its errata:
 *   - the loop runs until the log-likelihood and every parameter have converged;
 *   - Σ is updated around the new μ;
 *   - ν maximises the likelihood itself given the new μ and Σ, solved for log ν in
 *     [GESS__NU_FLOOR, GESS__NU_CAP]; a solution at the cap means a Gaussian;
 *   - Σ is divided by the sum of the weights, not by the number of points (Kent, Tyler & Vardi
 *     1994; Meng & van Dyk 1997): the same maximum in far fewer iterations.
 * One iteration costs O(K D² + D³): one product, one Cholesky factorisation and one triangular solve for all points,
 * in tiles (base/tiles.h).
 *
 * Contract: the log-likelihood never falls from one iteration to the next unless a ridge was needed
 * (fit.c). Nothing is allocated; any finite points are accepted. */
#include "approx/fit.h"

#include "base/assert.h"
#include "base/special.h"
#include "base/tiles.h"
#include "base/vmath.h"

/* out_k = factor_k (y_k − centre). */
static GESS__VECTOR(centre,
                    (size_t dim, size_t count, const double *restrict points, const double *restrict middle,
                     const double *restrict factors, double *restrict out),
                    (dim, count, points, middle, factors, out))
{
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < dim; i++) out[k * dim + i] = factors[k] * (points[k * dim + i] - middle[i]);
    }
}

/* δ_k = |L⁻¹(y_k − μ)|² for all points. */
static void set_deltas(gess__fitter *f, size_t count, const double *points, const gess__approx *t)
{
    gess__fit_blocks_squares(&f->blocks, t, count, points, f->deltas);
}

/* Σ log(1 + factor δ_k), in GESS__LANES interleaved sums. */
static GESS__VECTOR_VALUE(double, sum_log1p, (size_t count, const double *restrict deltas, double factor),
                          (count, deltas, factor))
{
    double sums[GESS__LANES] = {0}, sum = 0.0;
    size_t whole = count - count % GESS__LANES;
    for (size_t k = 0; k < whole; k += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) sums[l] += gess__log1p(factor * deltas[k + l]);
    for (size_t k = whole; k < count; k++) sum += gess__log1p(factor * deltas[k]);
    for (size_t l = 0; l < GESS__LANES; l++) sum += sums[l];
    return sum;
}

static double log_likelihood(const gess__fitter *f, size_t count, const gess__approx *t)
{
    double norm = (double)count * gess__approx_log_norm(t), nu = t->nu;
    if (isinf(nu)) {
        double sum = 0.0;
        for (size_t k = 0; k < count; k++) sum += f->deltas[k];
        return norm - 0.5 * sum;
    }
    return norm - 0.5 * (nu + (double)t->dim) * sum_log1p(count, f->deltas, 1.0 / nu);
}

double gess__fit_log_likelihood(gess__fitter *f, size_t count, const double *points, const gess__approx *t)
{
    GESS_ASSERT(count <= f->points && t->dim <= f->dim);
    set_deltas(f, count, points, t);
    return log_likelihood(f, count, t);
}

/* w_k = (ν + D) / (ν + δ_k); 1 for a Gaussian. */
static void set_weights(gess__fitter *f, size_t dim, size_t count, double nu)
{
    for (size_t k = 0; k < count; k++) f->weights[k] = isinf(nu) ? 1.0 : (nu + (double)dim) / (nu + f->deltas[k]);
}

/* Sets the weighted mean; returns the sum of the weights. */
static GESS__VECTOR_VALUE(double, weighted_mean,
                          (size_t dim, size_t count, const double *restrict points, const double *restrict weights,
                           double *restrict mean),
                          (dim, count, points, weights, mean))
{
    double total = 0.0;
    for (size_t i = 0; i < dim; i++) mean[i] = 0.0;
    for (size_t k = 0; k < count; k++) {
        total += weights[k];
        for (size_t i = 0; i < dim; i++) mean[i] = gess__fma(weights[k], points[k * dim + i], mean[i]);
    }
    for (size_t i = 0; i < dim; i++) mean[i] /= total;
    return total;
}

/* Sets μ and Σ by the weights, which are replaced by their square roots. Returns 1 if Σ needed a ridge. */
static int set_moments(gess__fitter *f, size_t dim, size_t count, const double *points, gess__approx *t)
{
    double total = weighted_mean(dim, count, points, f->weights, t->mu);
    for (size_t k = 0; k < count; k++) f->weights[k] = sqrt(f->weights[k]);
    centre(dim, count, points, t->mu, f->weights, f->centred);
    gess__fit_blocks_self_product(&f->blocks, dim, count, 1.0 / total, f->centred, f->square);
    return gess__ridged_cholesky(dim, f->square, f->scales, t->mu, t);
}

/* ---- ν ---- */

struct score {
    size_t dim, count;
    const double *deltas;
};

/* Σ log w_k − w_k with w_k = top / (ν + δ_k), in GESS__LANES interleaved sums. */
static GESS__VECTOR_VALUE(double, sum_score, (size_t count, const double *restrict deltas, double nu, double top),
                          (count, deltas, nu, top))
{
    double sums[GESS__LANES] = {0}, sum = 0.0;
    size_t whole = count - count % GESS__LANES;
    for (size_t k = 0; k < whole; k += GESS__LANES)
        for (size_t l = 0; l < GESS__LANES; l++) {
            double w = top / (nu + deltas[k + l]);
            sums[l] += gess__log(w) - w;
        }
    for (size_t k = whole; k < count; k++) sum += gess__log(top / (nu + deltas[k])) - top / (nu + deltas[k]);
    for (size_t l = 0; l < GESS__LANES; l++) sum += sums[l];
    return sum;
}

/* Twice the derivative of the mean log-likelihood with respect to ν, at ν = exp(log_nu). */
static double nu_score(double log_nu, void *data)
{
    const struct score *s = data;
    double nu = gess__exp(log_nu), dim = (double)s->dim, sum = sum_score(s->count, s->deltas, nu, nu + dim);
    return gess__digamma(0.5 * (nu + dim)) - gess__digamma(0.5 * nu) - gess__log((nu + dim) / nu) + 1.0 +
           sum / (double)s->count;
}

/* The best ν, with log ν to `accuracy`. Tries a narrow bracket around the present ν first. */
static double best_nu(const gess__fitter *f, size_t dim, size_t count, double nu, double accuracy)
{
    struct score s = {dim, count, f->deltas};
    const double low = gess__log(GESS__NU_FLOOR), high = gess__log(GESS__NU_CAP), near = 0.3;
    double a = low, b = high, here = gess__log(nu);
    if (here > low + near && here < high - near) {
        if (nu_score(here - near, &s) > 0.0)
            a = here - near;
        else
            b = here - near;
        if (a > low && nu_score(here + near, &s) < 0.0)
            b = here + near;
        else if (a > low)
            a = here + near;
    }
    if (b == high && nu_score(high, &s) >= 0.0) return INFINITY;
    if (a == low && nu_score(low, &s) <= 0.0) return GESS__NU_FLOOR;
    return gess__exp(gess__root(nu_score, &s, a, b, accuracy));
}

/* ---- the fit ---- */

/* The largest change of a parameter, in units that do not depend on the user's: μ and Σ relative to the
 * present spread, and ν as 1/ν, in which the likelihood is not flat near a Gaussian. */
static double movement(size_t dim, const double *old_chol, const double *old_mu, double old_nu, const gess__approx *t)
{
    double largest = fabs(1.0 / t->nu - 1.0 / old_nu);
    for (size_t i = 0; i < dim; i++) {
        double spread = 0.0;
        for (size_t k = 0; k <= i; k++) spread += t->chol[i + k * dim] * t->chol[i + k * dim];
        spread = sqrt(spread);
        largest = gess__max(largest, fabs(t->mu[i] - old_mu[i]) / spread);
        for (size_t k = 0; k <= i; k++)
            largest = gess__max(largest, fabs(t->chol[i + k * dim] - old_chol[i + k * dim]) / spread);
    }
    return largest;
}

/* Runs ECME from the present T until it converges; ν is fixed for the first `held` iterations. */
static void ecme(gess__fitter *f, size_t dim, size_t count, const double *points, gess__fit_settings settings,
                 unsigned held, gess__approx *t, gess__fit_report *report)
{
    set_deltas(f, count, points, t);
    report->loglik = log_likelihood(f, count, t);
    report->converged = 0;
    for (unsigned i = 0; i < settings.max_iterations && !report->converged; i++) {
        double old_nu = t->nu, old_loglik = report->loglik;
        memcpy(f->previous_mu, t->mu, dim * sizeof *t->mu);
        memcpy(f->previous_chol, t->chol, dim * dim * sizeof *t->chol);
        set_weights(f, dim, count, t->nu);
        report->ridged = set_moments(f, dim, count, points, t);
        set_deltas(f, count, points, t);
        if (i >= held) t->nu = best_nu(f, dim, count, t->nu, 1e-6 * settings.tolerance);
        report->loglik = log_likelihood(f, count, t);
        report->iterations++;
        report->converged = i >= held && fabs(report->loglik - old_loglik) <= settings.tolerance * (double)count &&
                            movement(dim, f->previous_chol, f->previous_mu, old_nu, t) <= settings.tolerance;
    }
}

/* A cold start with the given ν. Fits start with heavy tails, since with few points the likelihood may
 * have a second, lower maximum at the Gaussian, which ECME does not leave. */
static void start_cold(gess__fitter *f, size_t dim, size_t count, const double *points, double nu, gess__approx *t)
{
    set_weights(f, dim, count, INFINITY);
    set_moments(f, dim, count, points, t);
    t->nu = nu;
}

void gess__fit_student_t(gess__fitter *f, size_t dim, size_t count, const double *points, gess__fit_settings settings,
                         gess__approx *t, gess__fit_report *report)
{
    enum { HELD = 4 };
    const double heavy = 4.0;
    GESS_ASSERT(dim > 0 && dim <= f->dim && dim == t->dim && count > 0 && count <= f->points);
    *report = (gess__fit_report){.rank = dim};
    if (settings.warm) {
        ecme(f, dim, count, points, settings, 0, t, report);
        return;
    }
    start_cold(f, dim, count, points, heavy, t);
    ecme(f, dim, count, points, settings, HELD, t, report);
    if (!settings.thorough || f->saved == NULL) return;
    gess__fit_report first = *report;
    f->saved->dim = dim;
    gess__approx_copy(f->saved, t);
    start_cold(f, dim, count, points, INFINITY, t);
    ecme(f, dim, count, points, settings, 0, t, report);
    if (report->loglik >= first.loglik) return;
    gess__approx_copy(t, f->saved);
    *report = first;
}
