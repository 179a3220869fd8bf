/* The mixture of t: its density against a plain computation; its fit to samples with known answers, against an
 * independent maximiser, and on degenerate input. */
#include "approx/mixture_fit.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MODES = 8 };

static double modes[MODES][MODES]; /* data/mixture_means.csv */

static void read_modes(void)
{
    FILE *file = fopen(GESS_SOURCE_DATA "/mixture_means.csv", "r");
    char line[1024];
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    for (int k = 0; k < MODES; k++)
        for (int i = 0; i < MODES; i++) assert_int_equal(fscanf(file, "%lf%*c", &modes[k][i]), 1);
    fclose(file);
}

/* ---- samples ---- */

typedef enum shape { GAUSSIAN, HEAVY, BANANA, SKEWED, TWO, NEAR_MODES, FAR_MODES } shape;

static double *sample(shape kind, size_t dim, size_t n, uint32_t stream)
{
    double *points = malloc(n * dim * sizeof *points);
    assert_non_null(points);
    for (size_t k = 0; k < n; k++) {
        gess__key key = {.seed = 21, .iteration = k, .chain = 2 * stream, .purpose = GESS__FOR_TEST};
        double *x = points + k * dim;
        gess__normals(key, dim, x);
        key.chain++;
        double u = gess__uniform(key, 0), radius = sqrt(gess__gamma(key, 1.5) / 1.5);
        if (kind == BANANA) x[1] += x[0] * x[0];
        for (size_t i = 0; i < dim; i++) {
            if (kind == HEAVY) x[i] /= radius;
            if (kind == SKEWED) x[i] = exp(0.7 * x[i]);
            if (kind == TWO && u < 0.3) x[i] = 3.0 + 0.5 * x[i];
            if (kind == NEAR_MODES) x[i] += modes[(int)(u * MODES)][i];
            if (kind == FAR_MODES) x[i] += 5.0 * modes[(int)(u * MODES)][i];
        }
    }
    return points;
}

/* ---- fits ---- */

typedef struct fitted {
    gess__mixture *mixture;
    gess__mixture_fitter *fitter;
    gess__approx *single;
    gess__mixture_report report;
} fitted;

static gess__mixture *make(size_t dim)
{
    gess__mixture *mixture = NULL;
    gess_error err = {0};
    assert_int_equal(gess__mixture_new(&mixture, dim, &err), GESS_OK);
    return mixture;
}

/* Fits the single t, then the mixture. `half`: the number of points in the first half. */
static fitted fit(size_t dim, size_t n, size_t half, const double *points)
{
    fitted f = {.mixture = make(dim)};
    gess_error err = {0};
    gess__fitter *fitter = NULL;
    gess__fit_report report;
    gess__pool pool = {.half = half, .rest = n - half, .points = points};
    assert_int_equal(gess__fitter_new(&fitter, dim, n, &err), GESS_OK);
    assert_int_equal(gess__mixture_fitter_new(&f.fitter, dim, n, NULL, &err), GESS_OK);
    assert_int_equal(gess__approx_new(&f.single, dim, &err), GESS_OK);
    gess__fit(fitter, n, points, GESS__FIT_QUICK, f.single, &report);
    gess__approx_copy(f.mixture->component[0], f.single);
    gess__fit_mixture(f.fitter, &pool, 0, f.mixture, &f.report);
    gess__fitter_free(fitter);
    return f;
}

static void drop(fitted *f)
{
    gess__mixture_free(f->mixture);
    gess__mixture_fitter_free(f->fitter);
    gess__approx_free(f->single);
}

/* Mean log T of n points. */
static double mean_log(const gess__mixture *mixture, size_t n, const double *points)
{
    double *out = malloc(n * sizeof *out), *scratch = malloc(gess__mixture_scratch(mixture->dim, n) * sizeof *scratch);
    double sum = 0.0;
    gess__mixture_log_ts(mixture, n, points, out, scratch);
    for (size_t k = 0; k < n; k++) sum += out[k];
    free(out);
    free(scratch);
    return sum / (double)n;
}

static void assert_sound(const fitted *f, size_t n, const double *points)
{
    const gess__mixture *m = f->mixture;
    double sum = 0.0;
    assert_in_range(m->count, 1, GESS__MAX_COMPONENTS);
    for (size_t j = 0; j < m->count; j++) {
        const gess__approx *t = m->component[j];
        sum += exp(m->log_weight[j]);
        assert_true(t->nu >= GESS__NU_FLOOR && (isinf(t->nu) || t->nu <= GESS__NU_CAP * (1.0 + 1e-12)));
        assert_true(isfinite(t->log_det));
        for (size_t i = 0; i < t->dim; i++) assert_true(isfinite(t->mu[i]) && t->chol[i + i * t->dim] > 0.0);
        for (size_t i = 0; i < t->dim * t->dim; i++) assert_true(isfinite(t->chol[i]));
    }
    assert_true(fabs(sum - 1.0) < 1e-12);
    assert_true(isfinite(mean_log(m, n, points)));
    assert_true(isfinite(f->report.score) && isfinite(f->report.gain));
    if (m->count == 1) assert_true(f->report.gain == 0.0);
}

/* ---- the density ---- */

/* Components with dense factors and every kind of ν. */
static gess__mixture *strange(size_t dim, size_t count)
{
    gess__mixture *m = make(dim);
    const double nus[] = {0.5, INFINITY, 3.25, 41.0};
    double weights = 0.0;
    m->count = count;
    for (size_t j = 0; j < count; j++) {
        gess__approx *t = m->component[j];
        gess__key key = {.seed = 4, .iteration = j, .purpose = GESS__FOR_TEST};
        gess__normals(key, dim * dim, t->chol);
        for (size_t k = 0; k < dim; k++)
            for (size_t i = 0; i <= k; i++)
                t->chol[i + k * dim] = i < k ? 0.0 : 0.3 + fabs(t->chol[i + k * dim]) * (double)(j + 1);
        key.chain = 1;
        gess__normals(key, dim, t->mu);
        t->nu = nus[j % 4];
        gess__approx_ready(t);
        m->log_weight[j] = (double)(j + 1);
        weights += (double)(j + 1);
    }
    for (size_t j = 0; j < count; j++) m->log_weight[j] = log(m->log_weight[j] / weights);
    return m;
}

/* log T, in long double, by forward substitution. */
static long double plain_log_t(const gess__mixture *m, const double *x)
{
    enum { MAX_DIM = 8 };
    long double terms[GESS__MAX_COMPONENTS], largest = -HUGE_VALL, sum = 0.0L, pi = acosl(-1.0L);
    size_t dim = m->dim;
    assert_in_range(dim, 1, MAX_DIM);
    for (size_t j = 0; j < m->count; j++) {
        const gess__approx *t = m->component[j];
        long double z[MAX_DIM], delta = 0.0L, log_det = 0.0L, d = (long double)dim, nu = t->nu;
        for (size_t i = 0; i < dim; i++) {
            z[i] = (long double)x[i] - t->mu[i];
            for (size_t k = 0; k < i; k++) z[i] -= t->chol[i + k * dim] * z[k];
            z[i] /= t->chol[i + i * dim];
            delta += z[i] * z[i];
            log_det += logl(t->chol[i + i * dim]);
        }
        terms[j] = m->log_weight[j] - log_det;
        terms[j] += isinf(t->nu) ? -0.5L * (delta + d * logl(2.0L * pi))
                                 : lgammal(0.5L * (nu + d)) - lgammal(0.5L * nu) - 0.5L * d * logl(nu * pi) -
                                       0.5L * (nu + d) * log1pl(delta / nu);
        if (terms[j] > largest) largest = terms[j];
    }
    for (size_t j = 0; j < m->count; j++) sum += expl(terms[j] - largest);
    return largest + logl(sum);
}

static void density(void **state)
{
    (void)state;
    const size_t dims[] = {1, 3, 8}, counts[] = {1, 2, 5, 16};
    for (size_t d = 0; d < 3; d++)
        for (size_t c = 0; c < 4; c++) {
            enum { N = 100 };
            size_t dim = dims[d];
            gess__mixture *m = strange(dim, counts[c]);
            double points[N * 8], out[N], *scratch = malloc(gess__mixture_scratch(dim, N) * sizeof *scratch);
            gess__key key = {.seed = 5, .purpose = GESS__FOR_TEST};
            gess__normals(key, N * dim, points);
            for (size_t i = 0; i < N * dim; i++) points[i] *= i < 90 * dim ? 3.0 : 1e5;
            gess__mixture_log_ts(m, N, points, out, scratch);
            for (size_t k = 0; k < N; k++) {
                double want = (double)plain_log_t(m, points + k * dim);
                if (!(fabs(out[k] - want) < 1e-12 * (1.0 + fabs(want))))
                    fail_msg("dim %zu, %zu components, point %zu: %.17g instead of %.17g", dim, counts[c], k, out[k],
                             want);
            }
            free(scratch);
            gess__mixture_free(m);
        }
}

static void density_of_any_batch(void **state)
{
    (void)state;
    const size_t dims[] = {1, 5, 8, 31};
    for (size_t d = 0; d < 4; d++) {
        enum { N = 150 };
        size_t dim = dims[d];
        gess__mixture *m = strange(dim, 7);
        double *points = sample(GAUSSIAN, dim, N, 1), whole[N], part[N];
        double *scratch = malloc(gess__mixture_scratch(dim, N) * sizeof *scratch);
        gess__mixture_log_ts(m, N, points, whole, scratch);
        const size_t batches[] = {1, 2, 7, 64, 65, 149};
        for (size_t b = 0; b < 6; b++) {
            for (size_t k = 0; k < N; k += batches[b]) {
                size_t some = N - k < batches[b] ? N - k : batches[b];
                double *exact =
                    malloc(gess__mixture_scratch(dim, some) * sizeof *exact); /* exactly the scratch needed */
                gess__mixture_log_ts(m, some, points + k * dim, part + k, exact);
                free(exact);
            }
            assert_memory_equal(whole, part, sizeof whole);
        }
        free(points);
        free(scratch);
        gess__mixture_free(m);
    }
}

static void sums_of_logs(void **state)
{
    (void)state;
    const double one[] = {-3.7}, none[] = {-HUGE_VAL, -HUGE_VAL}, far[] = {-1e5, -1e5 - 1.0, -HUGE_VAL},
                 large[] = {900.0, 900.0}, infinite[] = {1.0, HUGE_VAL}, lost[] = {1.0, NAN};
    assert_true(gess__log_sum(1, one) == -3.7);
    assert_true(gess__log_sum(0, one) == -HUGE_VAL);
    assert_true(gess__log_sum(2, none) == -HUGE_VAL);
    assert_true(fabs(gess__log_sum(3, far) - (-1e5 + log1p(exp(-1.0)))) < 1e-10);
    assert_true(fabs(gess__log_sum(2, large) - (900.0 + log(2.0))) < 1e-12);
    assert_true(gess__log_sum(2, infinite) == HUGE_VAL);
    assert_true(isnan(gess__log_sum(2, lost)));
}

static void starts_and_copies(void **state)
{
    (void)state;
    gess__mixture *m = make(2), *from = strange(2, 3);
    const double origin[2] = {0.0, 0.0};
    assert_true(m->count == 1 && m->log_weight[0] == 0.0);
    assert_true(fabs(mean_log(m, 1, origin) + log(2.0 * M_PI)) < 1e-15);
    gess__mixture_copy(m, from);
    assert_true(m->count == 3 && mean_log(m, 1, origin) == mean_log(from, 1, origin));
    gess__mixture_free(m);
    gess__mixture_free(from);
    gess__mixture_free(NULL);
    gess__mixture_fitter_free(NULL);
}

/* ---- fits ---- */

static void never_falls(void **state)
{
    (void)state;
    const shape kinds[] = {NEAR_MODES, BANANA, SKEWED, TWO};
    for (size_t i = 0; i < 4; i++) {
        double *points = sample(kinds[i], 8, 3000, 2);
        fitted f = fit(8, 3000, 1500, points);
        assert_true(f.mixture->count > 1 && f.fitter->recorded > 2);
        for (size_t k = 1; k < f.fitter->recorded; k++)
            if (!(f.fitter->history[k] >= f.fitter->history[k - 1] - 1e-6))
                fail_msg("sample %zu, iteration %zu: %.10g after %.10g", i, k, f.fitter->history[k],
                         f.fitter->history[k - 1]);
        assert_true(f.fitter->history[f.fitter->recorded - 1] > f.fitter->history[0]);
        assert_sound(&f, 3000, points);
        drop(&f);
        free(points);
    }
}

/* The log density that the samples with modes come from. */
static double true_log(double scale, const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < MODES; k++) {
        double square = 0.0;
        for (int i = 0; i < MODES; i++) square += pow(x[i] - scale * modes[k][i], 2.0);
        sum += exp(-0.5 * square) / MODES;
    }
    return log(sum) - 0.5 * MODES * log(2.0 * M_PI);
}

static void finds_eight_modes(void **state)
{
    (void)state;
    const size_t n = 8000, fresh = 4000;
    for (int far = 0; far < 2; far++) {
        double *points = sample(far ? FAR_MODES : NEAR_MODES, MODES, n, 3), scale = far ? 5.0 : 1.0, truth = 0.0;
        double *others = sample(far ? FAR_MODES : NEAR_MODES, MODES, fresh, 4);
        fitted f = fit(MODES, n, n / 2, points);
        assert_int_equal(f.mixture->count, MODES);
        unsigned seen = 0;
        for (size_t j = 0; j < MODES; j++) {
            double smallest = HUGE_VAL;
            int nearest = 0;
            for (int k = 0; k < MODES; k++) {
                double square = 0.0;
                for (int i = 0; i < MODES; i++)
                    square += pow(f.mixture->component[j]->mu[i] - scale * modes[k][i], 2.0);
                if (square < smallest) nearest = k;
                smallest = fmin(smallest, square);
            }
            seen |= 1u << nearest;
            /* the two closest modes are 2.6 standard deviations apart */
            assert_true(sqrt(smallest) < (far ? 0.25 : 0.5));
            assert_true(fabs(exp(f.mixture->log_weight[j]) - 0.125) < (far ? 0.02 : 0.04));
        }
        assert_int_equal(seen, 255);
        for (size_t k = 0; k < fresh; k++) truth += true_log(scale, others + k * MODES) / (double)fresh;
        double loss = truth - mean_log(f.mixture, fresh, others);
        print_message("eight modes, %s: %.4f nats lost, gain %.3f\n", far ? "far" : "near", loss, f.report.gain);
        assert_true(loss < 0.05); /* 360 parameters cost 360 / (2 × 8000) = 0.022 */
        assert_true(f.report.gain > (far ? 6.0 : 0.5));
        assert_sound(&f, n, points);
        drop(&f);
        free(points);
        free(others);
    }
}

/* Curved and skewed samples: fresh draws are likelier under the mixture, by the reported gain. */
static void beats_one_t_where_there_is_something_to_win(void **state)
{
    (void)state;
    const struct {
        shape kind;
        size_t dim, n;
        double min_gain;
    } cases[] = {{BANANA, 2, 2000, 0.3}, {BANANA, 8, 6000, 0.3}, {SKEWED, 4, 6000, 0.3}, {TWO, 31, 6000, 1.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t dim = cases[i].dim, n = cases[i].n;
        double *points = sample(cases[i].kind, dim, n, 5), *fresh = sample(cases[i].kind, dim, 5000, 6);
        fitted f = fit(dim, n, n / 2, points);
        gess__mixture *one = make(dim);
        gess__approx_copy(one->component[0], f.single);
        double gain = mean_log(f.mixture, 5000, fresh) - mean_log(one, 5000, fresh);
        print_message("case %zu: %zu components, gain %.3f promised, %.3f on fresh draws\n", i, f.mixture->count,
                      f.report.gain, gain);
        assert_true(f.mixture->count > 1);
        assert_true(f.report.gain > cases[i].min_gain && gain > f.report.gain - 0.1);
        double beside =
            mean_log(f.mixture, 5000, fresh) - f.report.score; /* the score is that of fits to half the draws */
        assert_true(beside > -0.1 && beside < 0.1 + 0.25 * (double)dim * (double)dim / (double)n * 4.0);
        assert_sound(&f, n, points);
        gess__mixture_free(one);
        drop(&f);
        free(points);
        free(fresh);
    }
}

static void leaves_one_t_alone(void **state)
{
    (void)state;
    const size_t dims[] = {1, 2, 8, 31};
    for (size_t d = 0; d < 4; d++)
        for (int heavy = 0; heavy < 2; heavy++) {
            size_t dim = dims[d], n = 3000;
            double *points = sample(heavy ? HEAVY : GAUSSIAN, dim, n, 7);
            fitted f = fit(dim, n, n / 2, points);
            if (f.mixture->count != 1) fail_msg("dim %zu, heavy %d: %zu components", dim, heavy, f.mixture->count);
            const gess__approx *t = f.mixture->component[0];
            assert_true(f.report.gain == 0.0 && f.mixture->log_weight[0] == 0.0 && t->nu == f.single->nu);
            assert_memory_equal(t->mu, f.single->mu, dim * sizeof *t->mu);
            assert_memory_equal(t->chol, f.single->chol, dim * dim * sizeof *t->chol);
            assert_sound(&f, n, points);
            drop(&f);
            free(points);
        }
}

/* A fitter that was used before gives the same bits. */
static void is_a_function_of_its_input(void **state)
{
    (void)state;
    const size_t n = 3000, dim = 8;
    double *points = sample(NEAR_MODES, dim, n, 8), *others = sample(SKEWED, dim, n, 8);
    fitted f = fit(dim, n, n / 2, points), g = fit(dim, n, n / 3, others);
    gess__pool pool = {.half = n / 2, .rest = n - n / 2, .points = points};
    gess__mixture_report report;
    gess__approx_copy(g.mixture->component[0], f.single);
    gess__fit_mixture(g.fitter, &pool, 0, g.mixture, &report);
    assert_true(f.mixture->count > 1);
    assert_int_equal(f.mixture->count, g.mixture->count);
    assert_memory_equal(&report, &f.report, sizeof report.score + sizeof report.gain);
    assert_memory_equal(f.mixture->log_weight, g.mixture->log_weight, f.mixture->count * sizeof(double));
    for (size_t j = 0; j < f.mixture->count; j++) {
        const gess__approx *a = f.mixture->component[j], *b = g.mixture->component[j];
        assert_true(a->nu == b->nu);
        assert_memory_equal(a->mu, b->mu, dim * sizeof *a->mu);
        assert_memory_equal(a->chol, b->chol, dim * dim * sizeof *a->chol);
    }
    drop(&f);
    drop(&g);
    free(points);
    free(others);
}

/* The prior and the report of the fit do not depend on the units. */
static void does_not_depend_on_units(void **state)
{
    (void)state;
    const size_t n = 3000, dim = 4;
    double *points = sample(TWO, dim, n, 9), *scaled = malloc(n * dim * sizeof *scaled);
    for (size_t i = 0; i < n * dim; i++) scaled[i] = points[i] * pow(2.0, 40.0 - 30.0 * (double)(i % dim));
    fitted f = fit(dim, n, n / 2, points), g = fit(dim, n, n / 2, scaled);
    assert_int_equal(f.mixture->count, 2);
    assert_int_equal(g.mixture->count, 2);
    assert_true(fabs(f.report.gain - g.report.gain) < 1e-6);
    for (size_t j = 0; j < 2; j++) assert_true(fabs(f.mixture->log_weight[j] - g.mixture->log_weight[j]) < 1e-6);
    drop(&f);
    drop(&g);
    free(points);
    free(scaled);
}

/* ---- degenerate input ---- */

static void never_fails(void **state)
{
    (void)state;
    enum { N = 600, D = 5, CASES = 14 };
    for (int i = 0; i < CASES; i++) {
        size_t n = N, half = N / 2;
        double *p = sample(i == 13 ? TWO : GAUSSIAN, D, N, 10);
        for (size_t k = 0; k < N; k++) {
            double *x = p + k * D;
            if (i == 0) memset(x, 0, D * sizeof *x);                /* one point */
            if (i == 1) memcpy(x, p + k % 2 * D, D * sizeof *x);    /* two */
            if (i == 2) memcpy(x, p + k % 9 * D, D * sizeof *x);    /* nine */
            if (i == 3) x[2] = 7.0;                                 /* a constant coordinate */
            if (i == 4) x[3] = x[0] + x[1];                         /* a plane */
            if (i == 5) x[0] *= 1e140;                              /* far out */
            if (i == 6) x[0] *= 1e-140;                             /* close together */
            if (i == 7 && k % 100 == 0) x[1] *= 1e60;               /* some very far out */
            if (i == 12 && k > N / 3) memcpy(x, p, D * sizeof *x);  /* an atom */
            if (i == 13 && k % 2 == 0) memset(x, 0, D * sizeof *x); /* an atom beside two modes */
        }
        if (i == 8) half = 0;
        if (i == 9) half = N;
        if (i == 10) n = 3, half = 1;
        if (i == 11) n = 1, half = 1;
        fitted f = fit(D, n, half, p);
        assert_sound(&f, n, p);
        drop(&f);
        free(p);
    }
}

/* A single t that has nothing to do with the points. */
static void never_fails_from_a_bad_start(void **state)
{
    (void)state;
    const size_t n = 2000, dim = 3;
    const double scales[] = {1e-130, 1e-8, 1e8, 1e130};
    double *points = sample(TWO, dim, n, 11);
    for (size_t s = 0; s < 4; s++) {
        fitted f = fit(dim, n, n / 2, points);
        gess__pool pool = {.half = n / 2, .rest = n - n / 2, .points = points};
        for (size_t i = 0; i < dim; i++) f.single->mu[i] = 30.0 * scales[s];
        for (size_t i = 0; i < dim * dim; i++) f.single->chol[i] *= scales[s];
        gess__approx_ready(f.single);
        gess__approx_copy(f.mixture->component[0], f.single);
        gess__fit_mixture(f.fitter, &pool, 0, f.mixture, &f.report);
        for (size_t j = 0; j < f.mixture->count; j++) assert_true(isfinite(f.mixture->component[j]->log_det));
        assert_true(isfinite(f.report.gain));
        if (s == 1 || s == 2) assert_int_equal(f.mixture->count, 2);
        drop(&f);
    }
    free(points);
}

/* ---- against an independent maximiser: two components, no prior ---- */

/* Runs EM to convergence from k-means, without whitening the points. */
static double run_em(size_t dim, size_t n, const double *points, gess__mixture *out)
{
    gess__mixture_fitter *f = NULL;
    gess_error err = {0};
    assert_int_equal(gess__mixture_fitter_new(&f, dim, n, NULL, &err), GESS_OK);
    f->pseudo = 0.0;
    assert_true(gess__mixture_seed(f, 2, n, points, 4.0, 0));
    gess__mixture_em(f, n, points, (gess__mixture_settings){20000, 1e-13});
    gess__mixture_copy(out, f->trial);
    gess__mixture_fitter_free(f);
    return (double)n * mean_log(out, n, points);
}

typedef struct likelihood {
    size_t n;
    const double *points;
} likelihood;

/* Minus the log-likelihood of a mixture of two t in one dimension: the logit of the first weight, then log scale,
 * centre and log ν of each. */
static double minus_log_likelihood(const likelihood *l, const double *p)
{
    double weight = 1.0 / (1.0 + exp(-p[0])), sum = 0.0;
    for (size_t k = 0; k < l->n; k++) {
        double density = 0.0;
        for (int j = 0; j < 2; j++) {
            double scale = exp(p[1 + 3 * j]), z = (l->points[k] - p[2 + 3 * j]) / scale, nu = exp(p[3 + 3 * j]);
            density += (j == 0 ? weight : 1.0 - weight) * pow(1.0 + z * z / nu, -0.5 * (nu + 1.0)) *
                       exp(lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu)) / sqrt(nu * M_PI) / scale;
        }
        sum -= log(density);
    }
    return sum;
}

/* Nelder and Mead (1965), in 7 dimensions. Returns the smallest value and its place in p. */
static double nelder_mead(const likelihood *l, double step, double p[7])
{
    enum { P = 7 };
    double simplex[P + 1][P], values[P + 1];
    for (int v = 0; v <= P; v++) {
        memcpy(simplex[v], p, sizeof simplex[v]);
        if (v > 0) simplex[v][v - 1] += step;
        values[v] = minus_log_likelihood(l, simplex[v]);
    }
    for (int iteration = 0; iteration < 3000; iteration++) {
        int low = 0, high = 0, second = 0;
        double middle[P] = {0}, trial[P], value;
        for (int v = 1; v <= P; v++) {
            if (values[v] < values[low]) low = v;
            if (values[v] > values[high]) high = v;
        }
        second = low;
        for (int v = 0; v <= P; v++)
            if (v != high && values[v] > values[second]) second = v;
        memcpy(p, simplex[low], sizeof simplex[low]);
        if (values[high] - values[low] < 1e-10) return values[low];
        for (int v = 0; v <= P; v++)
            for (int i = 0; i < P && v != high; i++) middle[i] += simplex[v][i] / P;
        /* reflection, then expansion if it is the best; otherwise contraction, otherwise shrinkage */
        const double reaches[] = {-1.0, 2.0, 0.5};
        bool done = false;
        for (int t = 0; t < 3 && !(done && t == 2); t++) {
            if (t == 1 && !(done && values[high] < values[low])) continue;
            double *worst = simplex[high];
            for (int i = 0; i < P; i++) trial[i] = middle[i] + reaches[t] * (worst[i] - middle[i]);
            value = minus_log_likelihood(l, trial);
            if (!(value < (t == 0 ? values[second] : values[high]))) continue;
            memcpy(worst, trial, sizeof trial);
            values[high] = value;
            done = true;
        }
        for (int v = 0; v <= P && !done; v++) {
            for (int i = 0; i < P; i++) simplex[v][i] = 0.5 * (simplex[v][i] + p[i]);
            values[v] = minus_log_likelihood(l, simplex[v]);
        }
    }
    return minus_log_likelihood(l, p);
}

static void reaches_the_maximum_in_one_dimension(void **state)
{
    (void)state;
    enum { N = 600 };
    double points[N];
    for (uint32_t k = 0; k < N; k++) {
        gess__key key = {.seed = 31, .iteration = k, .purpose = GESS__FOR_TEST};
        gess__normals(key, 1, points + k);
        key.chain = 1;
        points[k] /= sqrt(gess__gamma(key, 2.0) / 2.0);
        points[k] = k % 3 == 0 ? 4.0 + 0.6 * points[k] : points[k];
    }
    likelihood l = {N, points};
    gess__mixture *m = make(1);
    double ours = run_em(1, N, points, m), best = HUGE_VAL;
    assert_int_equal(m->count, 2);
    for (int start = 0; start < 2; start++) {
        double p[7] = {0.7, 0.0, 0.0, 1.4, -0.5, 4.0, 1.4}; /* start near the truth */
        for (int i = 0; i < 7 && start == 1; i++) p[i] += 0.4 * (i % 2 == 0 ? 1.0 : -1.0);
        for (int again = 0; again < 6; again++) best = fmin(best, nelder_mead(&l, again % 2 == 0 ? 0.3 : 0.05, p));
    }
    print_message("one dimension: EM %.7f, Nelder and Mead %.7f\n", ours, -best);
    assert_true(fabs(ours + best) < 1e-4);
    gess__mixture_free(m);
}

/* In two dimensions: all derivatives of the log-likelihood vanish at the result of EM. */
static void is_stationary_in_two_dimensions(void **state)
{
    (void)state;
    enum { N = 900 };
    double *points = sample(TWO, 2, N, 12), ours, away = 0.0;
    for (size_t k = 0; k < N; k++) { /* one component with heavy tails, one Gaussian */
        gess__key key = {.seed = 32, .iteration = k, .purpose = GESS__FOR_TEST};
        double radius = sqrt(gess__gamma(key, 2.0) / 2.0), *x = points + 2 * k;
        if (x[0] + x[1] < 3.0) x[0] /= radius, x[1] /= radius;
    }
    gess__mixture *m = make(2);
    ours = run_em(2, N, points, m);
    assert_int_equal(m->count, 2);
    for (size_t j = 0; j < 2; j++) {
        gess__approx *t = m->component[j];
        double *parameters[] = {&t->mu[0], &t->mu[1], &t->chol[0], &t->chol[1], &t->chol[3], &t->nu};
        for (size_t i = 0; i < (isinf(t->nu) ? 5 : 6); i++) {
            long double values[2] = {0.0L, 0.0L};
            double here = *parameters[i], step = 1e-5;
            for (int side = 0; side < 2; side++) {
                *parameters[i] = here + (side == 0 ? step : -step);
                for (size_t k = 0; k < N; k++) values[side] += plain_log_t(m, points + 2 * k);
            }
            *parameters[i] = here;
            away = fmax(away, (double)fabsl((values[0] - values[1]) / (2.0L * step)));
        }
    }
    double weight = exp(m->log_weight[0]), slope = 0.0;
    for (size_t k = 0; k < N; k++) { /* d/dw of log(w a + (1 − w) b) */
        const double *x = points + 2 * k;
        gess__mixture one = *m;
        one.count = 1;
        one.log_weight[0] = 0.0;
        long double a = expl(plain_log_t(&one, x)), all = expl(plain_log_t(m, x));
        slope += (double)((a - (all - weight * a) / (1.0L - weight)) / all);
    }
    print_message("two dimensions: largest derivative %.2g, by the weight %.2g; log-likelihood %.6f\n", away, slope,
                  ours);
    assert_true(away < 0.01 && fabs(slope) < 0.01);
    gess__mixture_free(m);
    free(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(density),
        cmocka_unit_test(density_of_any_batch),
        cmocka_unit_test(sums_of_logs),
        cmocka_unit_test(starts_and_copies),
        cmocka_unit_test(never_falls),
        cmocka_unit_test(finds_eight_modes),
        cmocka_unit_test(beats_one_t_where_there_is_something_to_win),
        cmocka_unit_test(leaves_one_t_alone),
        cmocka_unit_test(is_a_function_of_its_input),
        cmocka_unit_test(does_not_depend_on_units),
        cmocka_unit_test(never_fails),
        cmocka_unit_test(never_fails_from_a_bad_start),
        cmocka_unit_test(reaches_the_maximum_in_one_dimension),
        cmocka_unit_test(is_stationary_in_two_dimensions),
    };
    read_modes();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
