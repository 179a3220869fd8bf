/* The multivariate-t fit against an independent maximiser, and what it promises for any points.
 *
 * The other maximiser knows nothing of EM: it climbs the log-likelihood, written out in long double
 * over (log ν, μ, Cholesky factor with logarithms on its diagonal), by BFGS with numerical
 * gradients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "approx/fit.h"
#include "base/linalg.h"
#include "base/rng.h"
#include "base/special.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DIM = 5, MAX_POINTS = 400, MAX_PARAMETERS = 1 + MAX_DIM + MAX_DIM * (MAX_DIM + 1) / 2 };

static double *new_doubles(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

/* ---- points ---- */

static void fill_normals(uint32_t seed, uint32_t chain, size_t n, double *out)
{
    gess__normals((gess__key){.seed = seed, .chain = chain, .purpose = GESS__FOR_TEST}, n, out);
}

/* Points of a t with ν degrees of freedom (INFINITY: normal), correlated, of several scales. */
static void draw_points(uint32_t seed, size_t dim, size_t count, double nu, double *points)
{
    double *z = new_doubles(dim);
    for (size_t k = 0; k < count; k++) {
        gess__key key = {.seed = seed, .iteration = 1, .chain = (uint32_t)k, .purpose = GESS__FOR_TEST};
        double root = isinf(nu) ? 1.0 : sqrt(0.5 * nu / gess__gamma(key, 0.5 * nu));
        fill_normals(seed, (uint32_t)k, dim, z);
        for (size_t i = 0; i < dim; i++) {
            double mixed = z[i] + (i > 0 ? 0.7 * z[i - 1] : 0.0);
            points[k * dim + i] = (double)i - 0.5 + (1.0 + 0.5 * (double)i) * root * mixed;
        }
    }
    free(z);
}

/* ---- the independent maximiser ---- */

typedef struct problem {
    size_t dim, count, parameters;
    const double *points;
} problem;

/* Parameters: μ, then the factor row by row with logarithms on the diagonal, then log ν. */
static long double objective(const problem *p, const long double *at)
{
    size_t d = p->dim;
    long double l[MAX_DIM][MAX_DIM], log_det = 0.0L, sum = 0.0L;
    const long double *next = at + d;
    for (size_t i = 0; i < d; i++)
        for (size_t k = 0; k <= i; k++)
            l[i][k] = i == k ? expl(*next) : *next, log_det += i == k ? *next : 0.0L, next++;
    long double nu = expl(*next), n = (long double)p->count, dim = (long double)d;
    for (size_t j = 0; j < p->count; j++) {
        long double z[MAX_DIM], delta = 0.0L;
        for (size_t i = 0; i < d; i++) {
            z[i] = (long double)p->points[j * d + i] - at[i];
            for (size_t k = 0; k < i; k++) z[i] -= l[i][k] * z[k];
            z[i] /= l[i][i];
            delta += z[i] * z[i];
        }
        sum -= 0.5L * (nu + dim) * log1pl(delta / nu);
    }
    return sum + n * (lgammal(0.5L * (nu + dim)) - lgammal(0.5L * nu) -
                      0.5L * dim * logl(nu * 3.14159265358979323846L) - log_det);
}

static void gradient(const problem *p, const long double *at, long double *g)
{
    long double x[MAX_PARAMETERS];
    memcpy(x, at, p->parameters * sizeof *x);
    for (size_t i = 0; i < p->parameters; i++) {
        long double h = 2e-4L * fmaxl(1.0L, fabsl(at[i])), f[4];
        static const long double steps[] = {-2, -1, 1, 2};
        for (size_t s = 0; s < 4; s++) {
            x[i] = at[i] + steps[s] * h;
            f[s] = objective(p, x);
        }
        x[i] = at[i];
        g[i] = (f[0] - 8.0L * f[1] + 8.0L * f[2] - f[3]) / (12.0L * h);
    }
}

/* Maximises from `at`, in place. Returns the log-likelihood. */
static long double climb(const problem *p, long double *at)
{
    size_t n = p->parameters;
    long double inverse[MAX_PARAMETERS][MAX_PARAMETERS], g[MAX_PARAMETERS], step[MAX_PARAMETERS];
    long double value = objective(p, at);
    gradient(p, at, g);
    for (int iteration = 0; iteration < 400; iteration++) {
        if (iteration % 60 == 0)
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++) inverse[i][k] = i == k ? 1.0L / (long double)p->count : 0.0L;
        long double slope = 0.0L;
        for (size_t i = 0; i < n; i++) {
            step[i] = 0.0L;
            for (size_t k = 0; k < n; k++) step[i] += inverse[i][k] * g[k];
            slope += step[i] * g[i];
        }
        if (slope < 1e-18L) break;
        long double length = 1.0L, tried[MAX_PARAMETERS], reached = -INFINITY, most = 0.0L;
        for (size_t i = 0; i < n; i++) most = fmaxl(most, fabsl(step[i]));
        if (most > 1.0L) length = 1.0L / most;
        for (int halving = 0; halving < 60; halving++, length *= 0.5L) {
            for (size_t i = 0; i < n; i++) tried[i] = at[i] + length * step[i];
            reached = objective(p, tried);
            if (reached >= value + 1e-4L * length * slope) break;
        }
        if (!(reached > value)) break;
        long double fresh[MAX_PARAMETERS], s[MAX_PARAMETERS], y[MAX_PARAMETERS], hy[MAX_PARAMETERS], sy = 0, yhy = 0;
        gradient(p, tried, fresh);
        for (size_t i = 0; i < n; i++) {
            s[i] = tried[i] - at[i];
            y[i] = g[i] - fresh[i]; /* of the negative log-likelihood */
            sy += s[i] * y[i];
        }
        for (size_t i = 0; i < n; i++) {
            hy[i] = 0.0L;
            for (size_t k = 0; k < n; k++) hy[i] += inverse[i][k] * y[k];
            yhy += y[i] * hy[i];
        }
        if (sy > 0.0L)
            for (size_t i = 0; i < n; i++)
                for (size_t k = 0; k < n; k++)
                    inverse[i][k] += (sy + yhy) * s[i] * s[k] / (sy * sy) - (hy[i] * s[k] + s[i] * hy[k]) / sy;
        memcpy(at, tried, n * sizeof *at);
        memcpy(g, fresh, n * sizeof *g);
        value = reached;
    }
    return value;
}

/* A start from the means and standard deviations of the coordinates, without correlations, and a ν. */
static void begin_at(const problem *p, long double nu, long double *at)
{
    size_t d = p->dim;
    long double *next = at + d;
    for (size_t i = 0; i < d; i++) {
        long double mean = 0.0L, square = 0.0L;
        for (size_t j = 0; j < p->count; j++) mean += p->points[j * d + i] / (long double)p->count;
        for (size_t j = 0; j < p->count; j++) {
            long double away = p->points[j * d + i] - mean;
            square += fminl(away * away, 25.0L) / (long double)p->count;
        }
        at[i] = mean;
        for (size_t k = 0; k <= i; k++) *next++ = i == k ? 0.5L * logl(square) : 0.0L;
    }
    *next = logl(nu);
}

/* ---- fits ---- */

static gess__fitter *new_fitter(size_t dim, size_t points)
{
    gess__fitter *fitter;
    gess_error err = {0};
    if (gess__fitter_new(&fitter, dim, points, &err) != GESS_OK) fail_msg("%s", err.text);
    if (gess__fitter_thorough(fitter, &err) != GESS_OK) fail_msg("%s", err.text);
    return fitter;
}

static gess__approx *new_approx(size_t dim)
{
    gess__approx *approx;
    gess_error err = {0};
    if (gess__approx_new(&approx, dim, &err) != GESS_OK) fail_msg("%s", err.text);
    return approx;
}

static gess__fit_report fit_once(size_t dim, size_t count, const double *points, gess__fit_settings settings,
                                 gess__approx *approx)
{
    gess__fitter *fitter = new_fitter(dim, count);
    gess__fit_report report;
    gess__fit(fitter, count, points, settings, approx, &report);
    gess__fitter_free(fitter);
    return report;
}

static double sigma_of(const gess__approx *t, size_t i, size_t k)
{
    double sum = 0.0;
    for (size_t j = 0; j < t->dim; j++) sum += t->chol[i + j * t->dim] * t->chol[k + j * t->dim];
    return sum;
}

static void assert_near(const char *what, double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) fail_msg("%s: %.12g, should be %.12g", what, got, want);
}

static const struct {
    size_t dim, count;
    double nu;
} cases[] = {{1, 50, 3},         {1, 200, 10},       {1, 30, 1},         {2, 40, 3},         {2, 100, 1}, {2, 200, 10},
             {3, 60, 3},         {3, 200, 10},       {3, 50, 1},         {5, 80, 3},         {5, 150, 1}, {5, 200, 10},
             {1, 100, INFINITY}, {2, 150, INFINITY}, {3, 200, INFINITY}, {5, 200, INFINITY}, {5, 11, 3}};
enum { CASES = sizeof cases / sizeof *cases };

static double points[MAX_DIM * MAX_POINTS], moved[MAX_DIM * MAX_POINTS];

static void independent_maximiser(void **state)
{
    (void)state;
    size_t gaussian = 0;
    for (size_t c = 0; c < CASES; c++) {
        size_t d = cases[c].dim, n = cases[c].count;
        draw_points(100 + (uint32_t)c, d, n, cases[c].nu, points);
        gess__approx *t = new_approx(d);
        gess__fit_report report = fit_once(d, n, points, GESS__FIT_EXACT, t);
        assert_true(report.converged && !report.ridged && report.rank == d);
        problem p = {.dim = d, .count = n, .parameters = 1 + d + d * (d + 1) / 2, .points = points};
        long double best[MAX_PARAMETERS], value = -INFINITY;
        static const long double starts[] = {0.8L, 5.0L, 60.0L};
        for (size_t s = 0; s < 3; s++) {
            long double at[MAX_PARAMETERS];
            begin_at(&p, starts[s], at);
            long double reached = climb(&p, at);
            if (reached > value) {
                value = reached;
                memcpy(best, at, sizeof best);
            }
        }
        /* beyond the cap of ν the t is replaced by the Gaussian, at hardly any cost */
        long double allowed = expl(best[p.parameters - 1]) > GESS__NU_CAP ? 1e-3L : 1e-7L;
        if (!(report.loglik >= (double)(value - allowed)))
            fail_msg("case %zu: log-likelihood %.12g (nu %g), the other maximiser %.12Lg (nu %Lg)", c, report.loglik,
                     t->nu, value, expl(best[p.parameters - 1]));
        /* the reported log-likelihood is that of the reported parameters */
        if (!isinf(t->nu)) {
            long double own[MAX_PARAMETERS], *next = own + d;
            for (size_t i = 0; i < d; i++) {
                own[i] = t->mu[i];
                for (size_t k = 0; k <= i; k++)
                    *next++ = i == k ? logl(t->chol[i + k * d]) : (long double)t->chol[i + k * d];
            }
            *next = logl(t->nu);
            assert_near("log-likelihood", report.loglik, (double)objective(&p, own), 1e-9 * fabs(report.loglik));
            assert_near("log-likelihoods", report.loglik, (double)value, 1e-6);
            assert_near("log nu", log(t->nu), (double)best[p.parameters - 1], 1e-4);
            next = best + d;
            for (size_t i = 0; i < d; i++) {
                double spread = sqrt(sigma_of(t, i, i));
                assert_near("mu", t->mu[i], (double)best[i], 1e-5 * spread);
                for (size_t k = 0; k <= i; k++, next++)
                    assert_near("factor", t->chol[i + k * d], (double)(i == k ? expl(*next) : *next), 1e-5 * spread);
            }
        } else { /* the other one runs off to large ν; the Gaussian fit is known */
            gaussian++;
            assert_true(expl(best[p.parameters - 1]) > GESS__NU_CAP);
            for (size_t i = 0; i < d; i++) {
                double mean = 0.0;
                for (size_t k = 0; k < n; k++) mean += points[k * d + i] / (double)n;
                assert_near("mean", t->mu[i], mean, 1e-12 * (1.0 + fabs(mean)));
            }
            for (size_t i = 0; i < d; i++)
                for (size_t k = 0; k <= i; k++) {
                    double sum = 0.0;
                    for (size_t j = 0; j < n; j++)
                        sum += (points[j * d + i] - t->mu[i]) * (points[j * d + k] - t->mu[k]) / (double)n;
                    assert_near("covariance", sigma_of(t, i, k), sum,
                                1e-12 * sqrt(sigma_of(t, i, i) * sigma_of(t, k, k)));
                }
        }
        gess__approx_free(t);
    }
    assert_true(gaussian >= 1); /* the cases must reach both branches */
}

/* An iteration never lowers the log-likelihood; its result is reported truthfully. */
static void monotone(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        size_t d = cases[c].dim, n = cases[c].count;
        draw_points(200 + (uint32_t)c, d, n, cases[c].nu, points);
        gess__approx *t = new_approx(d);
        gess__fitter *fitter = new_fitter(d, n);
        double before = -INFINITY;
        for (unsigned i = 0; i <= 40; i++) {
            gess__fit_report report;
            gess__fit_student_t(fitter, d, n, points, (gess__fit_settings){0.0, i, 0, 0}, t, &report);
            double again = gess__fit_log_likelihood(fitter, n, points, t);
            assert_true(report.iterations <= i);
            if (!(report.loglik >= before - 1e-12 * fabs(before)))
                fail_msg("case %zu, iteration %u: %.17g after %.17g", c, i, report.loglik, before);
            assert_near("own log-likelihood", again, report.loglik, 1e-12 * fabs(report.loglik));
            before = report.loglik;
        }
        gess__fitter_free(fitter);
        gess__approx_free(t);
    }
}

/* At the solution: the score for ν is 0, μ and Σ are the weighted moments. */
static void stationary(void **state)
{
    (void)state;
    size_t finite = 0;
    for (size_t c = 0; c < CASES; c++) {
        size_t d = cases[c].dim, n = cases[c].count;
        draw_points(300 + (uint32_t)c, d, n, cases[c].nu, points);
        gess__approx *t = new_approx(d);
        fit_once(d, n, points, GESS__FIT_EXACT, t);
        double nu = t->nu, dim = (double)d, score = 0.0, total = 0.0, mu[MAX_DIM] = {0}, sigma[MAX_DIM * MAX_DIM] = {0};
        for (size_t j = 0; j < n; j++) {
            double z[MAX_DIM], delta = 0.0;
            for (size_t i = 0; i < d; i++) {
                z[i] = points[j * d + i] - t->mu[i];
                for (size_t k = 0; k < i; k++) z[i] -= t->chol[i + k * d] * z[k];
                z[i] /= t->chol[i + i * d];
                delta += z[i] * z[i];
            }
            double w = isinf(nu) ? 1.0 : (nu + dim) / (nu + delta);
            total += w;
            score += log(w) - w;
            for (size_t i = 0; i < d; i++) {
                mu[i] += w * points[j * d + i];
                for (size_t k = 0; k <= i; k++)
                    sigma[i * d + k] += w * (points[j * d + i] - t->mu[i]) * (points[j * d + k] - t->mu[k]);
            }
        }
        assert_near("sum of weights", total / (double)n, 1.0, 1e-7); /* so that both forms of ECME have one solution */
        if (!isinf(nu) && nu > GESS__NU_FLOOR) {
            finite++;
            score = gess__digamma(0.5 * (nu + dim)) - gess__digamma(0.5 * nu) - log((nu + dim) / nu) + 1.0 +
                    score / (double)n;
            assert_near("score", score, 0.0, 1e-9);
        }
        for (size_t i = 0; i < d; i++) {
            double spread = sqrt(sigma_of(t, i, i));
            assert_near("mu", mu[i] / total, t->mu[i], 1e-8 * spread);
            for (size_t k = 0; k <= i; k++)
                assert_near("sigma", sigma[i * d + k] / (double)n, sigma_of(t, i, k),
                            1e-7 * spread * sqrt(sigma_of(t, k, k)));
        }
        gess__approx_free(t);
    }
    assert_true(finite >= 10);
}

/* y = Bx + b maps the fit as it maps the points. */
static void affine(void **state)
{
    (void)state;
    static const double scales[] = {1.0, 1e-6, 1e6};
    for (size_t c = 0; c < CASES; c++)
        for (size_t s = 0; s < 3; s++) {
            size_t d = cases[c].dim, n = cases[c].count;
            double b[MAX_DIM][MAX_DIM], shift[MAX_DIM], mixing[MAX_DIM * MAX_DIM];
            draw_points(400 + (uint32_t)c, d, n, cases[c].nu, points);
            fill_normals(7, 7, d * d, mixing);
            for (size_t i = 0; i < d; i++) {
                shift[i] = 3.0 * scales[s] * (double)i;
                for (size_t k = 0; k < d; k++) b[i][k] = scales[s] * (mixing[i * d + k] + (i == k ? 3.0 : 0.0));
            }
            for (size_t j = 0; j < n; j++)
                for (size_t i = 0; i < d; i++) {
                    moved[j * d + i] = shift[i];
                    for (size_t k = 0; k < d; k++) moved[j * d + i] += b[i][k] * points[j * d + k];
                }
            gess__approx *t = new_approx(d), *u = new_approx(d);
            fit_once(d, n, points, GESS__FIT_EXACT, t);
            fit_once(d, n, moved, GESS__FIT_EXACT, u);
            assert_int_equal(isinf(t->nu), isinf(u->nu));
            if (!isinf(t->nu)) assert_near("log nu", log(u->nu), log(t->nu), 1e-6);
            for (size_t i = 0; i < d; i++) {
                double mu = shift[i], spread = sqrt(sigma_of(u, i, i));
                for (size_t k = 0; k < d; k++) mu += b[i][k] * t->mu[k];
                assert_near("mu", u->mu[i], mu, 1e-7 * spread);
                for (size_t k = 0; k <= i; k++) {
                    double want = 0.0;
                    for (size_t p = 0; p < d; p++)
                        for (size_t q = 0; q < d; q++) want += b[i][p] * sigma_of(t, p, q) * b[k][q];
                    assert_near("sigma", sigma_of(u, i, k), want, 1e-6 * spread * sqrt(sigma_of(u, k, k)));
                }
            }
            gess__approx_free(t);
            gess__approx_free(u);
        }
}

/* From any earlier fit to the same place as from none. */
static void warm_start(void **state)
{
    (void)state;
    gess__fit_settings warm = GESS__FIT_EXACT;
    warm.warm = 1;
    for (size_t c = 0; c < CASES; c++) {
        size_t d = cases[c].dim, n = cases[c].count;
        draw_points(500 + (uint32_t)c, d, n, cases[c].nu, points);
        gess__approx *cold = new_approx(d), *t = new_approx(d);
        gess__fit_report first = fit_once(d, n, points, GESS__FIT_EXACT, cold), second;
        for (size_t i = 0; i < d; i++) { /* a poor but possible fit */
            t->mu[i] = cold->mu[i] + 0.5;
            t->chol[i + i * d] = 2.0;
        }
        t->nu = 4.0;
        gess__approx_ready(t);
        second = fit_once(d, n, points, warm, t);
        if (!first.converged || !second.converged)
            fail_msg("case %zu (nu %g) did not converge in %u and %u iterations", c, t->nu, first.iterations,
                     second.iterations);
        assert_near("log-likelihood", second.loglik, first.loglik, 1e-8 * (double)n);
        assert_int_equal(isinf(t->nu), isinf(cold->nu));
        if (!isinf(t->nu)) assert_near("log nu", log(t->nu), log(cold->nu), 1e-5);
        for (size_t i = 0; i < d; i++) {
            assert_near("mu", t->mu[i], cold->mu[i], 1e-6 * sqrt(sigma_of(cold, i, i)));
            for (size_t k = 0; k <= i; k++)
                assert_near("factor", t->chol[i + k * d], cold->chol[i + k * d], 1e-6 * sqrt(sigma_of(cold, i, i)));
        }
        /* from its result: at once */
        second = fit_once(d, n, points, warm, t);
        assert_true(second.converged && second.iterations <= 3);
        gess__approx_free(cold);
        gess__approx_free(t);
    }
}

/* The quick settings of the samplers end near the exact fit. */
static void quick(void **state)
{
    (void)state;
    for (size_t c = 0; c < CASES; c++) {
        size_t d = cases[c].dim, n = cases[c].count;
        draw_points(600 + (uint32_t)c, d, n, cases[c].nu, points);
        gess__approx *t = new_approx(d);
        gess__fit_report fast = fit_once(d, n, points, GESS__FIT_QUICK, t),
                         exact = fit_once(d, n, points, GESS__FIT_EXACT, t);
        assert_true(fast.converged && fast.iterations <= exact.iterations);
        assert_near("log-likelihood", fast.loglik, exact.loglik, 1e-3);
        gess__approx_free(t);
    }
}

/* ---- points that a fit can hardly use ---- */

/* Whatever the points: ν in its range, everything finite, the factor's diagonal positive. */
static void check_usable(const char *what, size_t dim, size_t count, const double *x)
{
    static const gess__fit_settings settings[] = {{1e-5, 100, 0, 0}, {1e-11, 2000, 0, 0}};
    for (size_t s = 0; s < 2; s++) {
        gess__approx *t = new_approx(dim);
        gess__fit_report report = fit_once(dim, count, x, settings[s], t);
        int good = t->nu >= GESS__NU_FLOOR && (t->nu <= GESS__NU_CAP || isinf(t->nu)) && isfinite(t->log_det) &&
                   report.iterations <= settings[s].max_iterations && isfinite(report.loglik);
        for (size_t i = 0; i < dim; i++) {
            good = good && isfinite(t->mu[i]) && t->chol[i + i * dim] > 0.0 && isfinite(t->inverse_diagonal[i]);
            for (size_t k = 0; k < dim; k++) good = good && isfinite(t->chol[i + k * dim]);
            for (size_t k = i + 1; k < dim; k++) good = good && t->chol[i + k * dim] == 0.0;
        }
        if (!good)
            fail_msg("%s: dimension %zu, %zu points: nu %g, log det %g, log-likelihood %g, mu %g, L %g", what, dim,
                     count, t->nu, t->log_det, report.loglik, t->mu[0], t->chol[0]);
        gess__approx_free(t);
    }
}

static void degenerate(void **state)
{
    (void)state;
    enum { DIM = 6, COUNT = 2 * DIM + 3 };
    static const double sizes[] = {1e-150, 1e-30, 1e-8, 1.0, 1e8, 1e30, 1e150};
    double x[DIM * COUNT], z[DIM * COUNT];
    for (size_t dim = 1; dim <= DIM; dim++)
        for (size_t count = 1; count <= 2 * dim + 3; count++) {
            fill_normals(40, (uint32_t)(dim * 100 + count), dim * count, z);
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                double size = sizes[s];
                for (size_t i = 0; i < dim * count; i++) x[i] = size * z[i];
                check_usable("scaled", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = size * z[i % dim];
                check_usable("all equal", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = size * (z[i % dim] + (double)(i / dim % 2));
                check_usable("two points", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = size * (1.0 + (double)(i % dim) * z[i / dim]);
                check_usable("on a line", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = size * z[(i / dim / 2 * dim + i % dim)];
                check_usable("in pairs", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = i % dim == 0 ? 5.0 * size : size * z[i];
                check_usable("constant coordinate", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = i % dim == 0 ? 0.0 : size * z[i];
                check_usable("zero coordinate", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = i < dim ? size * 1e6 : size * 1e-6 * z[i];
                check_usable("one far point", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = size * (1.0 + 1e-15 * z[i]);
                check_usable("rounding only", dim, count, x);
                for (size_t i = 0; i < dim * count; i++) x[i] = z[i] * (i % dim % 2 == 0 ? size : 1.0);
                check_usable("mixed scales", dim, count, x);
            }
            for (size_t i = 0; i < dim * count; i++) x[i] = 0.0;
            check_usable("all zero", dim, count, x);
        }
}

/* A ridge is reported where there is one and not where there is none. */
static void ridge_reported(void **state)
{
    (void)state;
    enum { DIM = 3, COUNT = 40 };
    double x[DIM * COUNT];
    gess__approx *t = new_approx(DIM);
    fill_normals(41, 0, DIM * COUNT, x);
    assert_int_equal(fit_once(DIM, COUNT, x, GESS__FIT_QUICK, t).ridged, 0);
    for (size_t k = 0; k < COUNT; k++) x[k * DIM + 2] = x[k * DIM] - 2.0 * x[k * DIM + 1];
    assert_int_equal(fit_once(DIM, COUNT, x, GESS__FIT_QUICK, t).ridged, 1);
    /* the plane's own scatter is untouched by it */
    gess__approx *plane = new_approx(2);
    double y[2 * COUNT];
    for (size_t k = 0; k < COUNT; k++) y[2 * k] = x[k * DIM], y[2 * k + 1] = x[k * DIM + 1];
    fit_once(2, COUNT, y, GESS__FIT_QUICK, plane);
    assert_true(sigma_of(t, 0, 0) > 0.0 && sigma_of(plane, 0, 0) > 0.0);
    assert_near("correlation", sigma_of(t, 0, 1) / sqrt(sigma_of(t, 0, 0) * sigma_of(t, 1, 1)),
                sigma_of(plane, 0, 1) / sqrt(sigma_of(plane, 0, 0) * sigma_of(plane, 1, 1)), 0.05);
    gess__approx_free(plane);
    gess__approx_free(t);
}

/* ---- few points ---- */

/* Four points of the plane z = 7 around (10, 20, 7), on the axes: K = 4 < 2D = 6, so J = 2. The
 * axes are e1 and e2; the projected points are (±2, 0) and (0, ±1). Their fit is the Gaussian with
 * the sample moments: no point is farther than √2 from the centre. */
static void projected_by_hand(void **state)
{
    (void)state;
    static const double x[] = {12, 20, 7, 8, 20, 7, 10, 21, 7, 10, 19, 7};
    gess__approx *t = new_approx(3);
    gess__fit_report report = fit_once(3, 4, x, GESS__FIT_EXACT, t);
    assert_int_equal(report.rank, 2);
    assert_true(isinf(t->nu));
    static const double mu[] = {10, 20, 7}; /* not (20, 40, 14): the mean counts once */
    for (size_t i = 0; i < 3; i++) assert_near("mu", t->mu[i], mu[i], 1e-12);
    /* Σ̂ = diag(2, 0.5); ε, its median diagonal entry, is 1.25 */
    static const double sigma[3][3] = {{3.25, 0, 0}, {0, 1.75, 0}, {0, 0, 1.25}};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 3; k++) assert_near("sigma", sigma_of(t, i, k), sigma[i][k], 1e-12);
    /* of T as it is used: four points in three dimensions */
    double deltas = 2.0 * 4.0 / 3.25 + 2.0 * 1.0 / 1.75;
    assert_near("log-likelihood", report.loglik,
                -0.5 * deltas - 2.0 * (3.0 * log(2.0 * M_PI) + log(3.25 * 1.75 * 1.25)), 1e-12);
    gess__approx_free(t);
}

/* The general case against the recipe, step by step: any orthonormal basis of the leading principal
 * axes, here by power iteration, gives the same Σ up to ε, which depends on the basis. */
static void projected_recipe(void **state)
{
    (void)state;
    enum { DIM = 6, COUNT = 9, RANK = 4 };
    double x[DIM * COUNT], mean[DIM] = {0}, scatter[DIM][DIM] = {{0}}, axes[RANK][DIM], y[RANK * COUNT];
    draw_points(70, DIM, COUNT, 4.0, x);
    for (size_t k = 0; k < COUNT; k++)
        for (size_t i = 0; i < DIM; i++) mean[i] += x[k * DIM + i] / COUNT;
    for (size_t k = 0; k < COUNT; k++)
        for (size_t i = 0; i < DIM; i++)
            for (size_t j = 0; j < DIM; j++) scatter[i][j] += (x[k * DIM + i] - mean[i]) * (x[k * DIM + j] - mean[j]);
    for (size_t a = 0; a < RANK; a++) {
        for (size_t i = 0; i < DIM; i++) axes[a][i] = 1.0 + (double)((i * 7 + a * 3) % 5);
        for (int round = 0; round < 20000; round++) {
            double next[DIM] = {0}, norm = 0.0;
            for (size_t i = 0; i < DIM; i++)
                for (size_t j = 0; j < DIM; j++) next[i] += scatter[i][j] * axes[a][j];
            for (size_t b = 0; b < a; b++) {
                double along = 0.0;
                for (size_t i = 0; i < DIM; i++) along += next[i] * axes[b][i];
                for (size_t i = 0; i < DIM; i++) next[i] -= along * axes[b][i];
            }
            for (size_t i = 0; i < DIM; i++) norm += next[i] * next[i];
            for (size_t i = 0; i < DIM; i++) axes[a][i] = next[i] / sqrt(norm);
        }
    }
    for (size_t k = 0; k < COUNT; k++)
        for (size_t a = 0; a < RANK; a++) {
            y[k * RANK + a] = 0.0;
            for (size_t i = 0; i < DIM; i++) y[k * RANK + a] += axes[a][i] * (x[k * DIM + i] - mean[i]);
        }
    gess__approx *t = new_approx(DIM), *inner = new_approx(RANK);
    gess__fit_report report = fit_once(DIM, COUNT, x, GESS__FIT_EXACT, t);
    gess__fit_report low = fit_once(RANK, COUNT, y, GESS__FIT_EXACT, inner); /* 9 >= 2 · 4 points: the plain fit */
    assert_int_equal(report.rank, RANK);
    assert_int_equal(low.rank, RANK);
    if (isinf(inner->nu))
        assert_true(isinf(t->nu));
    else
        assert_near("log nu", log(t->nu), log(inner->nu), 1e-5);
    double diagonal[RANK];
    for (size_t a = 0; a < RANK; a++) diagonal[a] = sigma_of(inner, a, a);
    for (size_t a = 0; a < RANK; a++)
        for (size_t b = a + 1; b < RANK; b++)
            if (diagonal[b] < diagonal[a]) {
                double swap = diagonal[a];
                diagonal[a] = diagonal[b];
                diagonal[b] = swap;
            }
    double epsilon = 0.5 * (diagonal[1] + diagonal[2]);
    for (size_t i = 0; i < DIM; i++) {
        double mu = mean[i];
        for (size_t a = 0; a < RANK; a++) mu += axes[a][i] * inner->mu[a];
        assert_near("mu", t->mu[i], mu, 1e-5);
        for (size_t j = 0; j <= i; j++) {
            double want = i == j ? epsilon : 0.0;
            for (size_t a = 0; a < RANK; a++)
                for (size_t b = 0; b < RANK; b++) want += axes[a][i] * sigma_of(inner, a, b) * axes[b][j];
            assert_near("sigma", sigma_of(t, i, j), want, 1e-4 * sqrt(sigma_of(t, i, i) * sigma_of(t, j, j)));
        }
    }
    gess__approx_free(t);
    gess__approx_free(inner);
}

/* K < 2D takes the projection, K >= 2D does not. */
static void the_rule(void **state)
{
    (void)state;
    enum { DIM = 5 };
    double x[DIM * 20];
    draw_points(80, DIM, 20, 5.0, x);
    for (size_t count = 2; count <= 20; count++) {
        gess__approx *t = new_approx(DIM), *u = new_approx(DIM);
        gess__fitter *fitter = new_fitter(DIM, 20); /* room for more than is given */
        gess__fit_report report, other;
        gess__fit(fitter, count, x, GESS__FIT_QUICK, t, &report);
        if (count < 2 * DIM) {
            assert_int_equal(report.rank, count / 2);
            gess__fit_projected(fitter, count, x, GESS__FIT_QUICK, u, &other);
        } else {
            assert_int_equal(report.rank, DIM);
            gess__fit_student_t(fitter, DIM, count, x, GESS__FIT_QUICK, u, &other);
        }
        assert_true(t->nu == u->nu && report.loglik == other.loglik);
        assert_memory_equal(t->mu, u->mu, DIM * sizeof *t->mu);
        assert_memory_equal(t->chol, u->chol, DIM * DIM * sizeof *t->chol);
        /* the workspace keeps nothing from one fit to the next */
        gess__approx *fresh = new_approx(DIM);
        fit_once(DIM, count, x, GESS__FIT_QUICK, fresh);
        assert_true(t->nu == fresh->nu);
        assert_memory_equal(t->chol, fresh->chol, DIM * DIM * sizeof *t->chol);
        gess__approx_free(fresh);
        gess__approx_free(t);
        gess__approx_free(u);
        gess__fitter_free(fitter);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(independent_maximiser),
        cmocka_unit_test(monotone),
        cmocka_unit_test(stationary),
        cmocka_unit_test(affine),
        cmocka_unit_test(warm_start),
        cmocka_unit_test(quick),
        cmocka_unit_test(degenerate),
        cmocka_unit_test(ridge_reported),
        cmocka_unit_test(projected_by_hand),
        cmocka_unit_test(projected_recipe),
        cmocka_unit_test(the_rule),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
