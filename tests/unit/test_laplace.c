/* The Laplace approximation: the search for the maximum, and the T made from the curvature there. */
#include "adapt/laplace.h"
#include "adapt/laplace_state.h"
#include "schedule/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 6, CHAINS = 12, MIN_FOUND = 12 };

/* Counts the evaluations of a density, and makes it stop the run or fail. */
typedef struct counted {
    atomic_ullong asked;
    unsigned long long stop_at; /* sets `stop` at this evaluation; 0: never */
    atomic_int stop;
    double fails_beyond; /* an error if a coordinate is larger; 0: never */
} counted;

static double centre(size_t i)
{
    return 3.0 - (double)i;
}

/* z = B (x - centre), B unit lower triangular with entries that make widths differ by a factor of hundreds. */
static double below(size_t i, size_t k)
{
    return i == k ? 1.0 + 10.0 * (double)i : 4.0 * sin((double)(3 * i + k));
}

static void note(counted *w, size_t n)
{
    unsigned long long asked = atomic_fetch_add(&w->asked, n) + n;
    if (w->stop_at > 0 && asked >= w->stop_at) atomic_store(&w->stop, 1);
}

static int gaussian(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    counted *w = user;
    (void)worker;
    note(w, n);
    for (size_t p = 0; p < n; p++, x += dim) {
        out[p] = 0.0;
        for (size_t i = 0; i < dim; i++) {
            double z = 0.0;
            if (w->fails_beyond > 0.0 && fabs(x[i]) > w->fails_beyond) return 1;
            for (size_t k = 0; k <= i; k++) z += below(i, k) * (x[k] - centre(k));
            out[p] -= 0.5 * z * z;
        }
    }
    return 0;
}

/* A density without a maximum. */
static int funnel(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    note(user, n);
    for (size_t p = 0; p < n; p++, x += dim) {
        out[p] = -x[0] * x[0] / 18.0 - 0.5 * (double)(dim - 1) * x[0];
        for (size_t i = 1; i < dim; i++) out[p] -= 0.5 * x[i] * x[i] * exp(-x[0]);
    }
    return 0;
}

/* A hierarchy: a mode where the scale e^x0 is about 2, and a neck at x0 → −∞ in which the density rises without bound.
 */
static int hierarchy(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    note(user, n);
    for (size_t p = 0; p < n; p++, x += dim) {
        out[p] = 0.0;
        for (size_t i = 1; i < dim; i++) {
            double data = (i % 2 == 0 ? 2.2 : -2.2) + 0.05 * (double)i;
            out[p] -= x[0] + 0.5 * x[i] * x[i] * exp(-2.0 * x[0]) + 0.5 * (x[i] - data) * (x[i] - data);
        }
    }
    return 0;
}

typedef struct run {
    counted w;
    gess_model model;
    gess_options options;
    gess__team *team;
    gess__sampler *s;
} run;

static gess__learning *learning_of(const run *r)
{
    return ((gess__exploration *)r->s->state)->learning;
}

static run *start(gess_logp_fn *logp, unsigned threads)
{
    run *r = calloc(1, sizeof *r);
    gess_error err = {0};
    r->model = (gess_model){0};
    r->model.dim = DIM;
    r->model.logp = logp;
    r->model.user = &r->w;
    gess__options_init(&r->options);
    r->options.max_warmup_evals = 100000;
    assert_int_equal(gess__team_new(&r->team, threads, &err), GESS_OK);
    if (gess__sampler_new(&r->s, &r->model, &r->options, 0, CHAINS, r->team, &err) != GESS_OK) fail_msg("%s", err.text);
    return r;
}

static int stage(run *r)
{
    gess_error err = {0};
    gess__record record = {.stop = &r->w.stop};
    return gess__sampler_warm_up(r->s, &record, &err);
}

static void release(run *r)
{
    gess__sampler_free(r->s);
    gess__team_free(r->team);
    free(r);
}

static void assert_same(const gess__approx *a, const gess__approx *b)
{
    assert_memory_equal(a->mu, b->mu, DIM * sizeof *a->mu);
    assert_memory_equal(a->chol, b->chol, (size_t)DIM * DIM * sizeof *a->chol);
    assert_true(a->nu == b->nu);
}

/* T is the density itself for any number of threads, every evaluation is counted, and sampling uses T. */
static void of_a_quadratic(void **state)
{
    (void)state;
    run *r = start(gaussian, 1), *other = start(gaussian, 3);
    assert_int_equal(stage(r), GESS_OK);
    assert_int_equal(stage(other), GESS_OK);
    const gess__approx *t = gess__laplace_t(learning_of(r));
    assert_non_null(t);
    assert_same(t, gess__laplace_t(learning_of(other)));
    for (size_t i = 0; i < DIM; i++) {
        assert_true(fabs(t->mu[i] - centre(i)) < 1e-6);
        for (size_t j = 0; j < DIM; j++) { /* B L is orthogonal */
            double sum = 0.0;
            for (size_t c = 0; c < DIM; c++) {
                double first = 0.0, second = 0.0;
                for (size_t k = 0; k < DIM; k++) {
                    first += k <= i ? below(i, k) * t->chol[k + c * DIM] : 0.0;
                    second += k <= j ? below(j, k) * t->chol[k + c * DIM] : 0.0;
                }
                sum += first * second;
            }
            assert_true(fabs(sum - (i == j)) < 1e-6);
        }
    }
    const gess__learning_state *u = &learning_of(r)->state;
    assert_true(u->laplace_evals > 2 * DIM * (DIM - 1) && u->laplace_evals < 10 * DIM * DIM);
    assert_true(r->s->ensemble.tally.evals == atomic_load(&r->w.asked));
    assert_true(r->s->adaptation.warmup.evals_per_update * (double)r->s->ensemble.tally.updates +
                    (double)u->laplace_evals <
                (double)r->s->ensemble.tally.evals + 1.0);
    for (int i = 0; i < 3; i++) assert_int_equal(stage(r), GESS_OK);
    assert_true(u->by_laplace);
    assert_memory_equal(r->s->ensemble.frozen.approx->chol, t->chol, (size_t)DIM * DIM * sizeof *t->chol);
    assert_true(r->s->ensemble.tally.evals == atomic_load(&r->w.asked));
    assert_true(u->laplace_evals < 10 * DIM * DIM); /* one search only */
    release(r);
    release(other);
}

/* Moves a run to a new ensemble by way of an archive. */
static void move(run *r)
{
    gess_error err = {0};
    gess__archive a = {0};
    gess__sampler_archive(r->s, &a);
    assert_false(a.bad);
    gess__sampler_free(r->s);
    if (gess__sampler_make(&r->s, &r->model, &r->options, 0, CHAINS, r->team, &err) != GESS_OK)
        fail_msg("%s", err.text);
    a.reading = 1;
    gess__sampler_archive(r->s, &a);
    assert_false(a.bad);
    assert_int_equal(a.at, a.size);
    gess__archive_free(&a);
}

/* The search is stopped at any evaluation, here and in a process that reads the checkpoint: nothing is lost, nothing is
 * counted twice, and the search ends however short the time between two stops is. */
static void stopped(void **state)
{
    (void)state;
    run *whole = start(gaussian, 2);
    assert_int_equal(stage(whole), GESS_OK);
    unsigned long long searched = learning_of(whole)->state.laplace_evals,
                       before = atomic_load(&whole->w.asked) - searched;
    for (int moves = 0; moves < 2; moves++) {
        run *r = start(gaussian, 2);
        int stops = 0, status = GESS_ERR_STOPPED;
        for (r->w.stop_at = before + 1; status == GESS_ERR_STOPPED; stops++) {
            assert_true(stops < 200);
            status = stage(r);
            if (status != GESS_ERR_STOPPED) break;
            assert_int_equal(r->s->adaptation.warmup.stages, 0);
            assert_true(r->s->ensemble.tally.evals == before);
            if (moves) move(r);
            r->w.stop_at = atomic_load(&r->w.asked) + 25;
            atomic_store(&r->w.stop, 0);
        }
        assert_int_equal(status, GESS_OK);
        assert_true(stops > 3);
        assert_same(gess__laplace_t(learning_of(r)), gess__laplace_t(learning_of(whole)));
        assert_same(r->s->ensemble.frozen.approx, whole->s->ensemble.frozen.approx);
        assert_true(r->s->ensemble.tally.evals == whole->s->ensemble.tally.evals);
        assert_memory_equal(r->s->ensemble.chains.x, whole->s->ensemble.chains.x, CHAINS * DIM * sizeof(double));
        release(r);
    }
    release(whole);
}

/* A checkpoint contains the Laplace approximation. */
static void saved(void **state)
{
    (void)state;
    run *r = start(gaussian, 1), *again = start(gaussian, 1);
    assert_int_equal(stage(r), GESS_OK);
    assert_int_equal(stage(again), GESS_OK);
    again->options.max_warmup_evals = 100; /* too few evaluations for a search */
    move(again);
    assert_same(gess__laplace_t(learning_of(r)), gess__laplace_t(learning_of(again)));
    assert_int_equal(stage(r), GESS_OK);
    assert_int_equal(stage(again), GESS_OK);
    assert_same(r->s->ensemble.frozen.approx, again->s->ensemble.frozen.approx);
    assert_memory_equal(r->s->ensemble.chains.x, again->s->ensemble.chains.x, CHAINS * DIM * sizeof(double));
    release(r);
    release(again);
}

/* If there is no maximum or the search meets an error, warm-up continues without the Laplace approximation. */
static void without(void **state)
{
    (void)state;
    run *r = start(funnel, 1);
    assert_int_equal(stage(r), GESS_OK);
    assert_null(gess__laplace_t(learning_of(r)));
    assert_true(learning_of(r)->state.laplace_evals > 0);
    assert_true(r->s->ensemble.tally.evals == atomic_load(&r->w.asked));
    assert_int_equal(stage(r), GESS_OK);
    assert_false(learning_of(r)->state.by_laplace);
    release(r);
    r = start(gaussian, 2);
    double furthest = 0.0;
    gess_error err = {0};
    gess__record record = {0};
    assert_int_equal(gess__sampler_advance(r->s, 1, &record, &err), GESS_OK);
    for (size_t i = 0; i < CHAINS * DIM; i++) furthest = fmax(furthest, fabs(r->s->ensemble.chains.x[i]));
    r->w.fails_beyond = furthest; /* no chain is beyond, but the maximum is */
    assert_int_equal(gess__laplace_search(learning_of(r), &record, &err), GESS_OK);
    assert_int_equal(err.text[0], 0);
    assert_false(learning_of(r)->state.laplace_found);
    release(r);
}

/* A search that ends up in the neck of a hierarchy is given up, and another one starts from another chain. */
static void beside_a_neck(void **state)
{
    (void)state;
    int found = 0;
    for (unsigned seed = 1; seed <= 20; seed++) {
        run *r = start(hierarchy, 1);
        gess_error err = {0};
        gess__sampler_free(r->s);
        r->options.seed = seed;
        assert_int_equal(gess__sampler_new(&r->s, &r->model, &r->options, 0, CHAINS, r->team, &err), GESS_OK);
        assert_int_equal(stage(r), GESS_OK);
        found += learning_of(r)->state.laplace_found;
        release(r);
    }
    assert_true(found >= MIN_FOUND); /* 13; 9 with one search per run */
}

static void restart(run *r, uint64_t max_warmup_evals)
{
    gess_error err = {0};
    gess__sampler_free(r->s);
    r->options.max_warmup_evals = max_warmup_evals;
    assert_int_equal(gess__sampler_new(&r->s, &r->model, &r->options, 0, CHAINS, r->team, &err), GESS_OK);
}

/* There is no search if two steps of it would take more than half of warm-up. */
static void too_dear(void **state)
{
    (void)state;
    run *r = start(gaussian, 1);
    const uint64_t step = DIM * (DIM + 1) + GESS__LAPLACE_LENGTHS;
    restart(r, 4 * step);
    assert_non_null(learning_of(r)->laplace);
    restart(r, 4 * step - 1);
    assert_null(learning_of(r)->laplace);
    assert_int_equal(stage(r), GESS_OK);
    assert_true(learning_of(r)->state.laplace_evals == 0);
    release(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(of_a_quadratic), cmocka_unit_test(stopped),
                                       cmocka_unit_test(saved),          cmocka_unit_test(without),
                                       cmocka_unit_test(beside_a_neck),  cmocka_unit_test(too_dear)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
