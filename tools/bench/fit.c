/* The time to fit a multivariate t, over the time of the same linear algebra in OpenBLAS on one thread: one symmetric
 * product (DSYRK), one Cholesky factor (DPOTRF) and one triangular solve (DTRSM) per iteration.
 *
 * An iteration on K points in D dimensions has K D (D + 1) operations in the scatter matrix, K D (D + 1) in the
 * triangular solve and D³/3 in the factor. The logarithms and roots for ν, the means and the passes over the points are
 * overhead, which the reference does not have. A cold start has one more solve, product and factor. If OpenBLAS is not
 * installed, the reference is gess's own linear algebra.
 *
 * Verified first: the fit is at least as likely as the t that the points were drawn from, and its ν is near the true
 * one. */
#include "approx/fit.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "bench/openblas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIT_TRIALS = 9 };

typedef struct problem {
    size_t dim, count;
    double *points, *product, *factor, *square;
    gess__approx *truth, *fitted;
    gess__fitter *fitter;
} problem;

static void problem_free(problem *p)
{
    free(p->points);
    free(p->product);
    free(p->factor);
    free(p->square);
    gess__approx_free(p->truth);
    gess__approx_free(p->fitted);
    gess__fitter_free(p->fitter);
}

/* Points of a t with ν = 5 and correlated neighbours. */
static int problem_new(problem *p, size_t dim, size_t count, gess_error *err)
{
    *p = (problem){.dim = dim, .count = count};
    GESS_ALLOC(&p->points, count * dim, err);
    GESS_ALLOC(&p->product, count * dim, err);
    GESS_ALLOC(&p->factor, dim * dim, err);
    GESS_ALLOC(&p->square, dim * dim, err);
    GESS_TRY(gess__approx_new(&p->truth, dim, err));
    GESS_TRY(gess__approx_new(&p->fitted, dim, err));
    GESS_TRY(gess__fitter_new(&p->fitter, dim, count, err));
    p->truth->nu = 5.0;
    for (size_t i = 0; i + 1 < dim; i++) p->truth->chol[i * dim + i + 1] = 0.5;
    gess__approx_ready(p->truth);
    gess__key key = {.seed = 5, .purpose = GESS__FOR_TEST};
    gess__normal_rows(key, count, dim, p->points);
    for (size_t k = 0; k < count; k++) {
        double *x = p->points + k * dim;
        key.chain = (uint32_t)k;
        key.iteration = 1;
        double root = sqrt(2.5 / gess__gamma(key, 2.5));
        for (size_t i = dim; i-- > 0;) x[i] = root * (x[i] + (i > 0 ? 0.5 * x[i - 1] : 0.0));
    }
    return GESS_OK;
}

/* The linear algebra of `iterations` iterations. */
static void same_operations(problem *p, unsigned iterations)
{
    bool openblas = gess__openblas();
    for (unsigned i = 0; i < iterations; i++) {
        (openblas ? gess__openblas_self_product : gess__self_product)(p->dim, p->count, 1.0 / (double)p->count,
                                                                      p->points, p->square);
        memcpy(p->factor, p->square, p->dim * p->dim * sizeof *p->factor);
        (openblas ? gess__openblas_cholesky : gess__cholesky)(p->dim, p->factor);
        memcpy(p->product, p->points, p->count * p->dim * sizeof *p->product);
        (openblas ? gess__openblas_solve_lower : gess__solve_lower)(p->dim, p->factor, p->count, p->product);
    }
}

static int verify(problem *p, const gess__fit_report *report, gess_error *err)
{
    double truth = gess__fit_log_likelihood(p->fitter, p->count, p->points, p->truth);
    if (report->converged && report->loglik >= truth && fabs(p->fitted->nu - 5.0) < 0.5) return GESS_OK;
    return gess__fail(err, GESS_ERR_INTERNAL,
                      "bench fit: log-likelihood %.10g, of the truth %.10g; nu %g, of the truth 5", report->loglik,
                      truth, p->fitted->nu);
}

static int measure(size_t dim, size_t count, int trials, double goal, gess__bench_result *result, gess_error *err)
{
    const gess__fit_settings exact = {1e-11, 20000, 0, 0};
    double fits[FIT_TRIALS], blas[FIT_TRIALS];
    gess__fit_report report = {0};
    problem p;
    int status = problem_new(&p, dim, count, err);
    for (int i = 0; status == GESS_OK && i < trials; i++) {
        double start = gess__seconds();
        gess__fit(p.fitter, count, p.points, exact, p.fitted, &report);
        double between = gess__seconds();
        same_operations(&p, report.iterations + 1);
        blas[i] = gess__seconds() - between;
        fits[i] = between - start;
        if (i == 0) status = verify(&p, &report, err);
    }
    if (status == GESS_OK) {
        double d = (double)dim, k = (double)count, per_iteration = 2.0 * k * d * (d + 1.0) + d * d * d / 3.0;
        gess__bench_add(result, gess__bench_median((size_t)trials, fits), gess__bench_median((size_t)trials, blas),
                        goal, 0, "%zu points, D = %zu: %u iterations, %.4g operations%s", count, dim, report.iterations,
                        per_iteration * (report.iterations + 1), gess__openblas() ? "" : "; no OpenBLAS here");
    }
    problem_free(&p);
    return status;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    if (options->quick) return measure(20, 1000, 3, 3.0, result, err);
    GESS_TRY(measure(25, 10000, FIT_TRIALS, 1.3, result, err));
    GESS_TRY(measure(50, 10000, FIT_TRIALS, 1.3, result, err));
    GESS_TRY(measure(100, 10000, FIT_TRIALS, 1.3, result, err));
    GESS_TRY(measure(250, 10000, FIT_TRIALS, 1.3, result, err));
    return measure(1000, 10000, 3, 1.6, result, err);
}

const gess__bench gess__bench_fit = {
    .name = "fit",
    .help = "the fit of a t against the same linear algebra in OpenBLAS",
    .run = run,
};
