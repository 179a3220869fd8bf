/* What --isolate adds to a call of the density: the time of a call in a worker process less that of the same call here,
 * by the number of points and dimensions, for a Gaussian, one thread. Medians of short pieces. */
#include "execute/isolate.h"
#include "base/clock.h"
#include "base/mem.h"
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECES = 15, MAX_POINTS = 1000 };

static int time_calls(const gess_model *m, size_t n, const double *x, double *logp, size_t calls, double *seconds,
                      gess_error *err)
{
    double pieces[PIECES];
    for (size_t i = 0; i < PIECES; i++) {
        double before = gess__seconds();
        for (size_t k = 0; k < calls; k++)
            if (gess__model_logp(m, 0, n, x, logp) != 0)
                return gess__fail(err, GESS_ERR_MODEL, "the density failed in the benchmark");
        pieces[i] = (gess__seconds() - before) / (double)calls;
    }
    *seconds = gess__bench_median(PIECES, pieces);
    return GESS_OK;
}

static int compare(const gess_model *m, const gess_model *isolated, size_t n, size_t calls, const double *x,
                   double *logp, gess__bench_result *result, gess_error *err)
{
    double here, there;
    GESS_TRY(time_calls(m, n, x, logp, calls, &here, err));
    GESS_TRY(time_calls(isolated, n, x, logp + n, calls, &there, err));
    if (memcmp(logp, logp + n, n * sizeof *logp) != 0)
        return gess__fail(err, GESS_ERR_INTERNAL, "a worker process gives other values");
    gess__bench_figure(result, 1e6 * here, NAN, 0, "us per call here, %zu points, D = %zu", n, m->dim);
    gess__bench_figure(result, 1e6 * (there - here), NAN, 0, "us more in a worker process");
    return GESS_OK;
}

static int time_dim(size_t dim, const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    static const size_t points[] = {1, 10, 64, MAX_POINTS};
    char name[64];
    gess_model *model = NULL;
    gess_options *o = NULL;
    gess__isolate *iso = NULL;
    double *x = calloc(MAX_POINTS * dim, sizeof *x), *logp = calloc(2 * MAX_POINTS, sizeof *logp);
    snprintf(name, sizeof name, "gaussian:dim=%zu", dim);
    int status = x != NULL && logp != NULL ? GESS_OK : gess__fail(err, GESS_ERR_INTERNAL, "out of memory");
    if (status == GESS_OK) status = gess_model_open(&model, name, NULL, err);
    if (status == GESS_OK) status = gess_options_new(&o, err);
    if (status == GESS_OK) status = gess_options_set(o, "isolate", "1", err);
    if (status == GESS_OK) status = gess_options_set(o, "block", "1000", err);
    if (status == GESS_OK) status = gess_options_set(o, "chains", "1000", err);
    if (status == GESS_OK) status = gess__isolate_new(&iso, model, o, 1, err);
    for (size_t i = 0; status == GESS_OK && i < MAX_POINTS * dim; i++) x[i] = (double)(i % 7) - 3.0;
    for (size_t i = 0; status == GESS_OK && i < sizeof points / sizeof *points; i++)
        status = compare(model, gess__isolate_model(iso), points[i], options->quick ? 20 : 1000, x, logp, result, err);
    gess__isolate_free(iso);
    gess_options_free(o);
    gess_model_free(model);
    free(x);
    free(logp);
    return status;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    GESS_TRY(time_dim(10, options, result, err));
    return time_dim(100, options, result, err);
}

const gess__bench gess__bench_isolate = {
    .name = "isolate",
    .help = "what --isolate adds to a call of the density, by points and dimensions",
    .run = run,
};
