/* What a frozen run costs beside its density.
 *
 * At D = 10 … 1000: seconds outside the density, over the seconds of as many of our own normals, one
 * triangular product an update and the copying of the draws, in the same run, on one thread. And a
 * density of 20 µs: the whole run over a bare loop of the same evaluations in the same batches.
 *
 * Verified first: the timed run has the draws of an untimed one, and the pieces it is compared with
 * compute what they should. */
#include "base/lanes.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "ensemble/ensemble.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 64 };

typedef struct measured {
    gess__ensemble *ensemble;
    double *kept; /* last segment's rows, to check and to have been copied */
    uint64_t checksum;
    double seconds;
    uint64_t updates;
} measured;

static int keep(void *user, const gess__segment *segment, gess_error *err)
{
    measured *m = user;
    (void)err;
    m->checksum += gess__bench_checksum(segment, m->ensemble->target.columns);
    return GESS_OK;
}

static int run_frozen(measured *m, const gess_model *model, double nu, uint64_t iterations, uint64_t timed_from,
                      gess__team *team, gess_error *err)
{
    gess_options o;
    gess_options_init(&o);
    o.schedule = "fixed";
    o.warmup = 0;
    o.chains = CHAINS;
    GESS_TRY(gess__ensemble_new(&m->ensemble, model, &o, 0, CHAINS, team, err));
    m->ensemble->approx->nu = nu;
    gess__record record = {.thin = 1, .sink = keep, .user = m};
    GESS_TRY(gess__ensemble_advance(m->ensemble, timed_from, &record, err));
    uint64_t updates = m->ensemble->tally.updates;
    double start = gess__seconds();
    GESS_TRY(gess__ensemble_advance(m->ensemble, iterations, &record, err));
    m->seconds = gess__seconds() - start;
    m->updates = m->ensemble->tally.updates - updates;
    return GESS_OK;
}

/* Seconds of the pieces that no sampler of this kind can do without. */
static int time_pieces(const gess__ensemble *e, uint64_t updates, double *seconds, gess_error *err)
{
    size_t dim = e->target.dim, block = e->block;
    double *normals = NULL, *steps = NULL, *scratch = NULL, *rows = NULL, sink = 0.0;
    size_t slots = (1 << 17) / (block * (dim + 1)) + 1;
    GESS_ALLOC(&normals, block * dim, err);
    GESS_ALLOC(&steps, block * dim, err);
    GESS_ALLOC(&scratch, gess__triangular_scratch(dim), err);
    GESS_ALLOC(&rows, slots * block * (dim + 1), err);
    /* verify: with L = I the product is its argument */
    int verified = 1;
    for (size_t i = 0; i < block * dim; i++) normals[i] = sin((double)i);
    gess__triangular_products(dim, e->approx->chol, block, normals, steps, scratch);
    for (size_t i = 0; i < block * dim; i++) verified &= steps[i] == normals[i];
    double start = gess__seconds();
    for (uint64_t i = 0; i < updates / block; i++) {
        for (size_t j = 0; j < block; j++) {
            gess__key key = {.seed = 9, .iteration = i, .chain = (uint32_t)j, .purpose = GESS__FOR_TEST};
            gess__normals(key, dim, normals + j * dim);
        }
        gess__triangular_products(dim, e->approx->chol, block, normals, steps, scratch);
        for (size_t j = 0; j < block; j++)
            memcpy(rows + ((i % slots) * block + j) * (dim + 1), steps + j * dim, dim * sizeof *rows);
        sink += rows[0];
    }
    *seconds = gess__seconds() - start;
    int right = isfinite(sink) && verified;
    free(normals);
    free(steps);
    free(scratch);
    free(rows);
    return right ? GESS_OK : gess__fail(err, GESS_ERR_INTERNAL, "bench overhead: the triangular product is wrong");
}

static int measure_dimension(size_t dim, gess__team *team, gess__bench_result *result, gess_error *err)
{
    char name[64];
    const gess_model *inner = NULL;
    gess__timed timed;
    measured plain = {0}, m = {0};
    uint64_t iterations = dim >= 500 ? 200 : 200000 / dim;
    double pieces = 0.0, best = INFINITY, best_pieces = INFINITY;
    snprintf(name, sizeof name, "gaussian:dim=%zu", dim);
    int status = gess_model_open(&inner, name, NULL, err);
    if (status == GESS_OK) status = run_frozen(&plain, inner, 30.0, iterations, iterations / 10, team, err);
    for (int trial = 0; status == GESS_OK && trial < 5; trial++) {
        gess__ensemble_free(m.ensemble);
        m = (measured){0};
        gess__timed_init(&timed, inner, 1);
        status = run_frozen(&m, &timed.model, 30.0, iterations, iterations / 10, team, err);
        if (status != GESS_OK) break;
        if (m.checksum != plain.checksum || timed.points != m.ensemble->tally.evals)
            status =
                gess__fail(err, GESS_ERR_INTERNAL, "bench overhead: the timed run has other draws than the plain one");
        /* the density's seconds of the timed part: its share of all its points */
        double inside = timed.seconds * (double)m.updates / (double)m.ensemble->tally.updates;
        if (status == GESS_OK) status = time_pieces(m.ensemble, m.updates, &pieces, err);
        best = fmin(best, m.seconds - inside);
        best_pieces = fmin(best_pieces, pieces);
    }
    if (status == GESS_OK)
        gess__bench_add(result, best, best_pieces, 2.0, 0,
                        "outside the density, D = %zu: %.0f ns an update over the pieces", dim,
                        1e9 * best / (double)m.updates);
    gess__ensemble_free(plain.ensemble);
    gess__ensemble_free(m.ensemble);
    gess_model_close(inner);
    return status;
}

/* The whole run over a bare loop, for a density of 20 µs. */
static int measure_whole(gess__team *team, gess__bench_result *result, gess_error *err)
{
    const gess_model *inner = NULL;
    gess__timed timed;
    measured m = {0};
    double *logp = NULL, best_run = INFINITY, best_loop = INFINITY;
    int status = gess_model_open(&inner, "gaussian:dim=25", NULL, err);
    if (status == GESS_OK) {
        gess__timed_init(&timed, inner, 1);
        status = gess__timed_calibrate(&timed, 20e-6, 32, err);
    }
    if (status == GESS_OK) status = gess__alloc_bytes(&logp, CHAINS, sizeof *logp, "values", err);
    for (int trial = 0; status == GESS_OK && trial < 3; trial++) {
        gess__ensemble_free(m.ensemble);
        m = (measured){0};
        timed.points = 0;
        status = run_frozen(&m, &timed.model, 30.0, 60, 0, team, err);
        if (status != GESS_OK) break;
        uint64_t evals = timed.points;
        size_t batch = m.ensemble->block / 2 > 0 ? m.ensemble->block / 2 : 1;
        double start = gess__seconds();
        for (uint64_t done = 0; done < evals; done += batch)
            timed.model.logp(&timed, 0, batch, timed.model.dim, m.ensemble->chains.x, logp);
        best_loop = fmin(best_loop, gess__seconds() - start);
        best_run = fmin(best_run, m.seconds);
    }
    if (status == GESS_OK)
        gess__bench_add(result, best_run, best_loop, 1.05, 0, "whole run over a bare loop, 20 us density, D = 25");
    free(logp);
    gess__ensemble_free(m.ensemble);
    gess_model_close(inner);
    return status;
}

static int run(gess__bench_result *result, gess_error *err)
{
    static const size_t dims[] = {10, 25, 50, 250, 1000};
    gess__team *team = NULL;
    int status = gess__team_new(&team, 1, err);
    for (size_t i = 0; status == GESS_OK && i < sizeof dims / sizeof *dims; i++)
        status = measure_dimension(dims[i], team, result, err);
    if (status == GESS_OK) status = measure_whole(team, result, err);
    gess__team_free(team);
    return status;
}

const gess__bench gess__bench_overhead = {
    .name = "overhead",
    .help = "time outside the density in frozen sampling",
    .run = run,
};
