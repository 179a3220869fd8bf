/* The cost of sampling beside its density, after warm-up, on one thread.
 *
 * Outside the density: the seconds of a run minus those inside the model, over the seconds of the pieces that no
 * sampler of this kind can avoid: the same number of normals, one triangular product per update, and the copying of the
 * draws. It is measured for every model with one t (`pooled`) and with the choice of `auto`, and for Gaussians of 10 to
 * 1000 dimensions.
 *
 * Then the same over these pieces plus the work per proposal: a pair of uniforms, sine and cosine of its angle, its
 * point on the ellipse, log T there, and the transform of the bounds.
 *
 * Then the whole run, over a bare loop of the same evaluations in the same batches.
 *
 * Warm-up of `auto`: the seconds outside the density, as a share of a warm-up whose evaluations take 20 µs each.
 *
 * Pieces of a run, of the reference and of the loop alternate, and medians are compared. Verified: the density at the
 * chains is the one that the chains have stored, it was called for as many points as were counted, and the product is
 * right. */
#include "base/mem.h"
#include "base/tiles.h"
#include "bench/warmed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHAINS = 100, ROUNDS = 21, MAX_CALLS = 1 << 20 };

/* A piece of a run takes about this long. */
#define PIECE 0.01

/* Seconds per evaluation of a density that is not cheap. */
#define DEAR 20e-6

/* The times of one round, in seconds. */
typedef struct round {
    double whole, outside, pieces, proposals, bare, full;
} round_times;

typedef struct work {
    double *normals, *steps, *scratch, *rows;
    double *points, *lanes; /* of a batch of proposals: their points, and VECTORS numbers per proposal */
    uint32_t *numbers;
    size_t slots, columns;
} work;

enum { FIRST, SECOND, SINES, COSINES, DELTAS, LOG_TS, VECTORS };

static int work_new(work *w, const gess__ensemble *e, gess_error *err)
{
    size_t dim = e->target.dim, block = e->block;
    w->columns = e->target.columns;
    w->slots = (1 << 17) / (block * w->columns) + 1;
    GESS_ALLOC(&w->normals, block * dim, err);
    GESS_ALLOC(&w->steps, block * (dim > w->columns ? dim : w->columns), err);
    GESS_ALLOC(&w->scratch, gess__triangular_scratch(dim), err);
    GESS_ALLOC(&w->rows, w->slots * block * w->columns, err);
    GESS_ALLOC(&w->points, 2 * block * (dim > w->columns ? dim : w->columns), err);
    GESS_ALLOC(&w->lanes, VECTORS * block, err);
    GESS_ALLOC(&w->numbers, block, err);
    for (size_t j = 0; j < block; j++) w->numbers[j] = (uint32_t)j;
    return GESS_OK;
}

static void work_free(work *w)
{
    free(w->normals);
    free(w->steps);
    free(w->scratch);
    free(w->rows);
    free(w->points);
    free(w->lanes);
    free(w->numbers);
}

/* Checks the triangular product of one block against plain sums. */
static int verify_product(const gess__ensemble *e, const work *w, gess_error *err)
{
    size_t dim = e->target.dim;
    for (size_t i = 0; i < e->block * dim; i++) w->normals[i] = sin((double)i);
    gess__triangular_products(dim, e->frozen.approx->chol, e->block, w->normals, w->steps, w->scratch);
    for (size_t j = 0; j < e->block; j++)
        for (size_t i = 0; i < dim; i++) {
            double sum = 0.0, size = 0.0;
            for (size_t k = 0; k <= i; k++) {
                double term = e->frozen.approx->chol[i + k * dim] * w->normals[j * dim + k];
                sum += term;
                size += fabs(term);
            }
            if (!(fabs(w->steps[j * dim + i] - sum) <= 1e-13 * (1.0 + (double)dim) * size))
                return gess__fail(err, GESS_ERR_INTERNAL, "bench overhead: the triangular product is wrong");
        }
    return GESS_OK;
}

/* Seconds of the pieces that no sampler of this kind can avoid. */
static double time_pieces(const gess__ensemble *e, const work *w, uint64_t updates)
{
    size_t dim = e->target.dim, block = e->block;
    double start = gess__seconds();
    for (uint64_t done = 0, i = 0; done < updates; i++) {
        size_t count = updates - done < block ? (size_t)(updates - done) : block;
        gess__normal_rows((gess__key){.seed = 9, .iteration = i, .purpose = GESS__FOR_TEST}, count, dim, w->normals);
        gess__triangular_products(dim, e->frozen.approx->chol, count, w->normals, w->steps, w->scratch);
        for (size_t j = 0; j < count; j++)
            memcpy(w->rows + ((i % w->slots) * block + j) * w->columns, w->steps + j * dim,
                   (w->columns < dim ? w->columns : dim) * sizeof *w->rows);
        done += count;
    }
    return gess__seconds() - start;
}

/* Seconds of the work per proposal, in the recorded batches. */
static double time_proposals(const gess__warmed *f, const work *w)
{
    const gess__ensemble *e = f->ensemble;
    const gess__bounds *bounds = &e->target.bounds;
    size_t dim = e->target.dim, block = e->block;
    double *v[VECTORS], *mapped = w->points + block * dim;
    for (size_t k = 0; k < VECTORS; k++) v[k] = w->lanes + k * block;
    double start = gess__seconds();
    for (size_t i = 0; i < f->timed.calls; i++) {
        size_t n = f->timed.batches[i] < block ? f->timed.batches[i] : block;
        gess__key key = {.seed = 9, .iteration = i, .purpose = GESS__FOR_TEST};
        gess__uniform_pairs(key, 0, n, w->numbers, v[FIRST], v[SECOND]);
        gess__turn(n, v[FIRST], v[SINES], v[COSINES]);
        gess__ellipse_points(dim, e->frozen.approx->mu, e->chains.x, w->steps, n, w->numbers, v[COSINES], v[SINES],
                             v[SECOND], w->points);
        for (size_t j = 0; j < n; j++) v[DELTAS][j] = (double)dim * v[SECOND][j];
        gess__approx_log_ts(e->frozen.approx, 0, n, v[DELTAS], v[LOG_TS]);
        if (!bounds->trivial) gess__bounds_out_rows(bounds, n, w->points, mapped, v[FIRST]);
    }
    return gess__seconds() - start;
}

/* Seconds of the recorded calls, at the points of the chains. */
static double time_bare(const gess__warmed *f)
{
    size_t dim = f->inner->dim, chains = f->ensemble->chains.count, at = 0;
    double start = gess__seconds();
    for (size_t i = 0; i < f->timed.calls; i++) {
        size_t n = f->timed.batches[i];
        if (at + n > chains) at = 0;
        f->inner->logp(f->inner->user, 0, n, dim, f->points + at * dim, f->logp);
        at += n;
    }
    return gess__seconds() - start;
}

/* Seconds of the same number of evaluations in batches of a whole block. */
static double time_full(const gess__warmed *f, uint64_t evals)
{
    size_t block = f->ensemble->block;
    double start = gess__seconds();
    for (uint64_t done = 0; done < evals; done += block)
        f->inner->logp(f->inner->user, 0, evals - done < block ? (size_t)(evals - done) : block, f->inner->dim,
                       f->points, f->logp);
    return gess__seconds() - start;
}

static int measure_rounds(gess__warmed *f, size_t rounds, double piece, round_times *median, uint64_t *updates,
                          gess_error *err)
{
    double seconds[6][ROUNDS];
    uint64_t iterations;
    work w = {0};
    int status = gess__alloc_bytes(&f->timed.batches, MAX_CALLS, sizeof *f->timed.batches, "sizes of batches", err);
    if (status == GESS_OK) status = work_new(&w, f->ensemble, err);
    if (status == GESS_OK) status = verify_product(f->ensemble, &w, err);
    if (status == GESS_OK) status = gess__warmed_pace(f, piece, &iterations, err);
    f->timed.room = MAX_CALLS;
    for (size_t i = 0; status == GESS_OK && i < rounds; i++) {
        gess__lap lap = {0};
        f->timed.calls = 0;
        status = gess__warmed_run(f, iterations, &lap, err);
        if (status == GESS_OK) status = gess__warmed_verify(f, err);
        if (status == GESS_OK && f->timed.calls == f->timed.room)
            status = gess__fail(err, GESS_ERR_INTERNAL, "bench overhead: more calls than there is room for");
        if (status != GESS_OK) break;
        *updates = lap.updates;
        seconds[0][i] = lap.seconds;
        seconds[1][i] = lap.seconds - lap.inside;
        seconds[2][i] = time_pieces(f->ensemble, &w, lap.updates);
        seconds[3][i] = time_bare(f);
        seconds[4][i] = time_full(f, lap.evals);
        seconds[5][i] = time_proposals(f, &w);
    }
    work_free(&w);
    if (status == GESS_OK)
        *median = (round_times){.whole = gess__bench_median(rounds, seconds[0]),
                                .outside = gess__bench_median(rounds, seconds[1]),
                                .pieces = gess__bench_median(rounds, seconds[2]),
                                .proposals = gess__bench_median(rounds, seconds[5]),
                                .bare = gess__bench_median(rounds, seconds[3]),
                                .full = gess__bench_median(rounds, seconds[4])};
    return status;
}

/* ---- Gaussians ---- */

static int measure_dimension(size_t dim, gess__bench_result *result, gess_error *err)
{
    char name[64];
    gess__warmed f;
    round_times t = {0};
    uint64_t updates = 0;
    snprintf(name, sizeof name, "gaussian:dim=%zu", dim);
    int status = gess__warmed_open(&f, name, NULL, 1, CHAINS, 0, err);
    if (status == GESS_OK) status = measure_rounds(&f, ROUNDS, PIECE, &t, &updates, err);
    if (status == GESS_OK)
        gess__bench_add(result, t.outside, t.pieces, 1.5, 0, "gaussian, D = %zu: outside, %.0f ns per update", dim,
                        1e9 * t.outside / (double)updates);
    gess__warmed_close(&f);
    return status;
}

/* ---- models ---- */

/* The goal of the ratio of a whole run to a bare loop; NaN: none. */
static double goal_of(const char *model)
{
    static const struct {
        const char *name;
        double goal;
    } goals[] = {{"german-credit", 1.05}, {"breast-cancer", 1.05},        {"ionosphere", 1.05}, {"snp", 1.05},
                 {"mixture", 2.0},        {"stochastic-volatility", 1.5}, {"funnel", 4.0}};
    for (size_t i = 0; i < sizeof goals / sizeof *goals; i++)
        if (strncmp(model, goals[i].name, strlen(goals[i].name)) == 0) return goals[i].goal;
    return NAN;
}

static int measure_model(const char *model, const char *schedule, int quick, gess__bench_result *result,
                         gess_error *err)
{
    gess__warmed f;
    round_times t = {0};
    uint64_t updates = 0;
    int plain = strcmp(schedule, "pooled") == 0;
    int status = gess__warmed_open(&f, model, schedule, 1, CHAINS, quick ? 20000 : plain ? 200000 : 500000, err);
    if (status == GESS_OK) status = measure_rounds(&f, quick ? 3 : ROUNDS, PIECE, &t, &updates, err);
    if (status == GESS_OK) {
        double outside = f.warmup_seconds - f.warmup_inside;
        gess__bench_add(result, t.outside, t.pieces, plain ? 1.5 : NAN, 0, "%.24s, %s: outside, %.0f ns per update",
                        model, schedule, 1e9 * t.outside / (double)updates);
        gess__bench_add(result, t.whole, t.bare, plain ? goal_of(model) : NAN, 0,
                        "%.24s, %s: whole run over a bare loop", model, schedule);
        if (plain) {
            gess__bench_add(result, t.outside, t.pieces + t.proposals, NAN, 0,
                            "%.24s: outside, over the pieces and what proposals take", model);
            gess__bench_add(result, t.bare + t.pieces, t.bare, NAN, 0, "%.24s: the pieces and the bare loop over it",
                            model);
            gess__bench_add(result, t.bare, t.full, NAN, 0, "%.24s: its batches over full ones", model);
        } else {
            gess__bench_add(result, outside, outside + DEAR * (double)f.warmup_evals, 0.1, 0,
                            "%.24s, %s: share of a warm-up of %.3g evaluations of 20 us", model, schedule,
                            (double)f.warmup_evals);
        }
    }
    gess__warmed_close(&f);
    return status;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    static const size_t dims[] = {10, 25, 50, 250, 1000};
    gess__bench_list models;
    GESS_TRY(gess__bench_split(options->models != NULL ? options->models : GESS__WARMED_MODELS, &models, err));
    for (size_t i = 0; options->models == NULL && i < sizeof dims / sizeof *dims; i++)
        GESS_TRY(measure_dimension(dims[i], result, err));
    for (size_t i = 0; i < models.count; i++) {
        GESS_TRY(measure_model(models.item[i], "pooled", options->quick, result, err));
        GESS_TRY(measure_model(models.item[i], "auto", options->quick, result, err));
    }
    return GESS_OK;
}

const gess__bench gess__bench_overhead = {
    .name = "overhead",
    .help = "time outside the density in frozen sampling, and in warm-up",
    .run = run,
};
