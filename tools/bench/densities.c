/* A density that counts and times its calls, on top of any model. */
#include "base/mem.h"
#include "bench/bench.h"
#include "model/model.h"

#include <stdlib.h>

static int timed_logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    gess__timed *t = user;
    double start = worker == 0 ? gess__seconds() : 0.0;
    int code = 0;
    /* with repeats, a point must cost the same in every batch, so points are evaluated one by one */
    size_t step = t->repeats > 1 ? 1 : n;
    for (size_t j = 0; j < n && code == 0; j += step)
        for (uint64_t i = 0; i < t->repeats && code == 0; i++)
            code = gess__model_logp(t->inner, worker, step, x + j * dim, logp + j);
    if (worker == 0) {
        t->seconds += gess__seconds() - start;
        t->points += n;
        if (t->calls < t->room) t->batches[t->calls++] = (uint32_t)n;
    }
    return code;
}

static void timed_start(void *user, size_t dim, const double *normals, double *x)
{
    const gess__timed *t = user;
    if (t->start_scale == 0.0) {
        t->inner->start(t->inner->user, dim, normals, x);
        return;
    }
    for (size_t i = 0; i < dim; i++) x[i] = t->start_scale * normals[i];
}

static int timed_derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    gess__timed *t = user;
    double start = worker == 0 ? gess__seconds() : 0.0;
    int code = t->inner->derive(t->inner->user, worker, dim, x, derived, out);
    if (worker == 0) t->seconds += gess__seconds() - start;
    return code;
}

void gess__timed_start_at(gess__timed *timed, double scale)
{
    timed->start_scale = scale;
    timed->model.start = timed_start;
}

void gess__timed_init(gess__timed *timed, gess_model *inner, uint64_t repeats)
{
    *timed = (gess__timed){.model = *inner, .inner = inner, .repeats = repeats};
    timed->model.logp = timed_logp;
    timed->model.gradient = NULL;
    timed->model.start = inner->start != NULL ? timed_start : NULL;
    timed->model.derive = inner->derive != NULL ? timed_derive : NULL;
    timed->model.user = timed;
    timed->model.blobs = 0;
    timed->model.logp_blobs = NULL;
    timed->model.gradient_blobs = NULL;
}

int gess__timed_calibrate(gess__timed *timed, double seconds, gess_error *err)
{
    enum { CALLS = 25 };
    double *x = NULL, logp, best = 1e9;
    int status = gess__alloc_bytes(&x, timed->model.dim, sizeof *x, "points", err);
    for (int trial = 0; status == GESS_OK && trial < 20; trial++) {
        double start = gess__seconds();
        for (int i = 0; i < CALLS; i++) gess__model_logp(timed->inner, 0, 1, x, &logp);
        double seconds_per_call = (gess__seconds() - start) / CALLS;
        if (seconds_per_call < best) best = seconds_per_call;
    }
    free(x);
    timed->repeats = best < seconds ? (uint64_t)(seconds / best + 0.5) : 1;
    return status;
}
