/* Code of one chain has the bits of the kernels: whole runs on a device that is the processor (host_device.h) leave
 * the same states, counts and draws as runs on threads, with every kind of move, map, bound and mixture. */
#include "unit/host_device.h"

#include "run/run.h"
#include "unit/api.h"

#include <stdio.h>
#include <string.h>

/* A hash of all draws and their places. */
typedef struct witness {
    uint64_t hash, rows;
} witness;

static int on_draw(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t columns,
                   const double *rows)
{
    witness *w = user;
    for (size_t c = 0; c < chains; c++)
        for (uint64_t i = 0; i < draws; i++)
            for (size_t k = 0; k < columns; k++) {
                uint64_t place = ((first_draw + i) * 100003 + first_chain + c) * 1009 + k;
                w->hash += gess__bits(rows[(c * draws + i) * columns + k]) * (2 * place + 1);
            }
    w->rows += chains * draws;
    return 0;
}

enum { ANY = -1, MAX_UNITS = 3 };

typedef struct one_case {
    const char *model;
    const char *options[13]; /* names and values in turn */
    /* what the run must have had for the case to show anything */
    size_t components;
    int layer; /* a kind of layer; ANY: none is asked for */
} one_case;

static gess_run *run_case(const one_case *c, const gess_model *model, gess__accelerator *device, witness *w)
{
    gess_error err = {0};
    gess_options *options = new_options();
    gess_run *run = NULL;
    set(options, "threads", "1");
    for (size_t i = 0; c->options[i] != NULL; i += 2) set(options, c->options[i], c->options[i + 1]);
    options->accelerator = device;
    succeed(gess_run_new(&run, model, options, NULL, &err), &err);
    gess_options_free(options);
    succeed(gess_run_on_draw(run, on_draw, w, &err), &err);
    succeed(gess_run_go(run, &err), &err);
    return run;
}

static void same(const char *what, size_t n, const double *a, const double *b)
{
    for (size_t i = 0; i < n; i++)
        if (gess__bits(a[i]) != gess__bits(b[i])) fail_msg("%s: number %zu is %a and %a", what, i, a[i], b[i]);
}

static void same_chains(const gess__chains *a, const gess__chains *b)
{
    size_t n = a->count, dim = a->dim;
    same("value", n, a->value, b->value);
    same("x", n * dim, a->x, b->x);
    same("z", n * dim, a->kernel_state, b->kernel_state);
    same("deltas", n, a->deltas, b->deltas);
    same("log_ts", n, a->log_ts, b->log_ts);
    same("peak", n, a->peak, b->peak);
    same("peak_at", n * dim, a->peak_at, b->peak_at);
    same("level", n, a->level, b->level);
    same("level_value", n, a->level_value, b->level_value);
    same("level_at", n * dim, a->level_at, b->level_at);
    if (a->trail_points == 0) return;
    assert_memory_equal(a->trail_count, b->trail_count, n * sizeof *a->trail_count);
    same("trail", n * a->trail_points * (dim + 1), a->trail, b->trail);
}

static uint64_t independence, slices; /* moves of all cases: there must be some */

/* batched: the density is a function of many points, called between proposals. devices: how many share the chains. */
static void check_as(const one_case *c, bool batched, size_t devices)
{
    gess_error err = {0};
    gess_model *model = NULL;
    gess__accelerator *device = NULL;
    succeed(gess_model_open(&model, c->model, NULL, &err), &err);
    model->lane.name = "host";
    model->lane.batch = batched ? host_batch : NULL;
    host_backend backends[MAX_UNITS];
    gess__backend *list[MAX_UNITS];
    for (size_t i = 0; i < devices; i++) {
        backends[i] = host_backend_of(model);
        list[i] = &backends[i].backend;
    }
    const host_backend *backend = &backends[0];
    succeed(gess__device_new(&device, devices, list, &err), &err);
    witness threads = {0}, lanes = {0};
    gess_run *a = run_case(c, model, NULL, &threads), *b = run_case(c, model, device, &lanes);
    for (size_t i = 0; i < devices; i++) assert_true(backends[i].launches > 0);
    for (size_t i = 0; i < a->ensembles; i++) {
        same_chains(&a->ensemble[i]->chains, &b->ensemble[i]->chains);
        assert_memory_equal(&a->ensemble[i]->tally, &b->ensemble[i]->tally, sizeof a->ensemble[i]->tally);
    }
    assert_int_equal(threads.rows, lanes.rows);
    assert_true(threads.hash == lanes.hash && threads.rows > 0);
    const gess__ensemble *e = b->ensemble[0];
    const gess__mixture *mixture = gess__frozen_mixture(&e->frozen);
    if (mixture == NULL ? c->components > 1 : mixture->count < c->components)
        fail_msg("%s: T has %zu components", c->model, mixture == NULL ? 1 : mixture->count);
    if (c->layer != ANY && backend->layers[c->layer] == 0) fail_msg("%s: no such layer was in use", c->model);
    independence += backend->independence;
    slices += backend->slices;
    gess_run_free(a);
    gess_run_free(b);
    device->free(device);
    for (size_t i = 0; i < devices; i++) assert_int_equal(backends[i].open, 0);
    gess_model_free(model);
}

static void check(const one_case *c)
{
    check_as(c, false, 1);
    check_as(c, true, 1);
}

#define SMALL "chains", "24", "draws", "30"

static void test_ellipses(void **state)
{
    (void)state;
    check(&(one_case){"gaussian:dim=7", {SMALL, "warmup", "100", "schedule", "pooled", NULL}, 1, ANY});
    check(&(one_case){"student-t:dim=3,nu=3", {SMALL, "warmup", "100", "schedule", "two-group", NULL}, 1, ANY});
    check(&(one_case){"gaussian:dim=1", {SMALL, "warmup", "40", "schedule", "fixed", NULL}, 1, ANY});
    check_as(&(one_case){"student-t:dim=3,nu=3", {"chains", "25", "draws", "30", "warmup", "100", NULL}, 1, ANY}, false,
             MAX_UNITS);
    check_as(&(one_case){"gaussian:dim=2", {SMALL, "warmup", "40", "schedule", "two-group", NULL}, 1, ANY}, false,
             MAX_UNITS);
}

static void test_independence(void **state)
{
    (void)state;
    check(&(one_case){"german-credit", {SMALL, NULL}, 1, ANY});
}

static void test_mixture(void **state)
{
    (void)state;
    check(&(one_case){"mixture:spread=8", {"chains", "64", "draws", "20", NULL}, 4, ANY});
}

static void test_maps_and_bounds(void **state)
{
    (void)state;
    check(&(one_case){"funnel:dim=5",
                      {"chains", "40", "max-warmup-evals", "40000", "draws", "12", "seed", "3", NULL},
                      2,
                      GESS__LANE_SCALE});
    check(&(one_case){"eight-schools:centred=0",
                      {"chains", "32", "max-warmup-evals", "20000", "draws", "30", "seed", "22", NULL},
                      1,
                      GESS__LANE_SKEW});
    check(&(one_case){"banana:dim=3", {"chains", "32", "draws", "20", NULL}, 1, GESS__LANE_SCALE});
    check(&(one_case){"eight-schools",
                      {"chains", "32", "max-warmup-evals", "20000", "draws", "30", "seed", "2", NULL},
                      1,
                      GESS__LANE_WARP});
    check(
        &(one_case){"stochastic-volatility", {SMALL, "transform", "none", "max-warmup-evals", "20000", NULL}, 1, ANY});
    check(&(one_case){"seeds", {SMALL, "max-warmup-evals", "20000", NULL}, 1, ANY});
}

/* half_square(), NaN to the right of 1.5. */
static int nan_right(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    half_square(user, worker, n, dim, x, logp);
    for (size_t i = 0; i < n; i++)
        if (x[i * dim] > 1.5) logp[i] = NAN;
    return 0;
}

/* The same, +inf there. */
static int infinite_right(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    nan_right(user, worker, n, dim, x, logp);
    for (size_t i = 0; i < n; i++)
        if (x[i * dim] > 1.5) logp[i] = INFINITY;
    return 0;
}

static void near_zero(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t i = 0; i < dim; i++) x[i] = 0.01 * normals[i];
}

/* A run of a density with the host's device; the status of gess_run_go(). */
enum { THREADS, LANES, BATCHES };

static int run_strange(gess_logp_fn *logp, int on_device, gess__nans *nans, gess_error *err)
{
    gess_density density = {.size = sizeof density, .name = "strange", .dim = 2, .logp = logp, .start = near_zero};
    gess_model *model = new_model(&density);
    gess__accelerator *device = NULL;
    gess_run *run = NULL;
    gess_options *options = new_options();
    model->lane.name = "strange";
    model->lane.batch = on_device == BATCHES ? host_batch : NULL;
    host_backend backend = host_backend_of(model);
    gess__backend *list[] = {&backend.backend};
    succeed(gess__device_new(&device, 1, list, err), err);
    set(options, "chains", "8"), set(options, "warmup", "0"), set(options, "draws", "40"), set(options, "threads", "1");
    set(options, "schedule", "fixed");
    options->accelerator = on_device ? device : NULL;
    succeed(gess_run_new(&run, model, options, NULL, err), err);
    int status = gess_run_go(run, err);
    nans->count = run->ensemble[0]->nans.count;
    memcpy(nans->keys, run->ensemble[0]->nans.keys, sizeof nans->keys);
    gess_options_free(options);
    gess_run_free(run);
    device->free(device);
    gess_model_free(model);
    return status;
}

static void test_every_move_was_made(void **state)
{
    (void)state;
    assert_true(independence > 0 && slices > 0);
}

static void test_strange_densities(void **state)
{
    (void)state;
    gess__nans threads, lanes;
    gess_error err = {0}, other = {0};
    succeed(run_strange(nan_right, THREADS, &threads, &err), &err);
    for (int how = LANES; how <= BATCHES; how++) {
        succeed(run_strange(nan_right, how, &lanes, &err), &err);
        assert_true(threads.count > 0 && lanes.count > 0);
        assert_memory_equal(&threads.keys[0], &lanes.keys[0], sizeof threads.keys[0]);
    }
    assert_failed(run_strange(infinite_right, THREADS, &threads, &err), GESS_ERR_MODEL, &err, "+infinity");
    assert_failed(run_strange(infinite_right, LANES, &lanes, &other), GESS_ERR_MODEL, &other, "+infinity");
    assert_int_equal(err.dim, other.dim);
    assert_failed(run_strange(infinite_right, BATCHES, &lanes, &other), GESS_ERR_MODEL, &other, "+infinity");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ellipses),
        cmocka_unit_test(test_independence),
        cmocka_unit_test(test_mixture),
        cmocka_unit_test(test_maps_and_bounds),
        cmocka_unit_test(test_every_move_was_made),
        cmocka_unit_test(test_strange_densities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
