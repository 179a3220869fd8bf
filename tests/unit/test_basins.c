/* Basins: they are taken from annealing, points are found in them, T covers them again after it has forgotten one, and
 * at the end of warm-up each has a fate; archives bring them back, and refuse what is impossible. */
#include "explore/basins.h"

#include "schedule/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 2, CHAINS = 40, MODES = 3 };

static const double centres[MODES] = {-12.0, 0.0, 15.0}, sds[MODES] = {1.0, 0.7, 0.5}, weights[MODES] = {0.5, 0.3, 0.2};

/* Gaussians around (centre, ..., centre). */
static int three_modes(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double log_p[MODES], top = -INFINITY, sum = 0.0;
        for (size_t m = 0; m < MODES; m++) {
            log_p[m] = log(weights[m]) - (double)dim * log(sds[m]);
            for (size_t k = 0; k < dim; k++) {
                double z = (x[i * dim + k] - centres[m]) / sds[m];
                log_p[m] -= 0.5 * z * z;
            }
            top = fmax(top, log_p[m]);
        }
        for (size_t m = 0; m < MODES; m++) sum += exp(log_p[m] - top);
        out[i] = top + log(sum);
    }
    return 0;
}

static void start_widely(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    for (size_t k = 0; k < dim; k++) x[k] = 12.0 * normals[k];
}

/* ---- a sampler whose annealing is done ---- */

typedef struct trial {
    gess_model model;
    gess_options options;
    gess__team *team;
    gess__sampler *s;
    gess__learning *learning;
    gess__basins *basins;
} trial;

static void make(trial *t, int states)
{
    gess_error err = {0};
    *t = (trial){.model = {.dim = DIM, .logp = three_modes, .start = start_widely}};
    gess__options_init(&t->options);
    t->options.chains = CHAINS;
    t->options.schedule = "annealed";
    assert_int_equal(gess__team_new(&t->team, 2, &err), GESS_OK);
    int status = states ? gess__sampler_new(&t->s, &t->model, &t->options, 0, CHAINS, t->team, &err)
                        : gess__sampler_make(&t->s, &t->model, &t->options, 0, CHAINS, t->team, &err);
    if (status != GESS_OK) fail_msg("%s", err.text);
    t->learning = ((gess__exploration *)t->s->state)->learning;
    t->basins = ((gess__exploration *)t->s->state)->basins;
}

static void stage(trial *t)
{
    gess_error err = {0};
    gess__record none = {0};
    if (gess__sampler_warm_up(t->s, &none, &err) != GESS_OK) fail_msg("%s", err.text);
}

static gess__archive annealed; /* of a sampler whose annealing is done */

/* Anneals once; later calls bring the same sampler back. */
static void anneal(trial *t)
{
    if (annealed.size > 0) {
        make(t, 0);
        annealed.at = 0;
        gess__sampler_archive(t->s, &annealed);
        assert_false(annealed.bad);
        return;
    }
    make(t, 1);
    for (int i = 0; !gess__sampler_exploration(t->s)->annealing->state.done; i++) {
        assert_true(i < 60);
        stage(t);
    }
    gess__sampler_archive(t->s, &annealed);
    annealed.reading = 1;
}

static void release(trial *t)
{
    gess__sampler_free(t->s);
    gess__team_free(t->team);
}

/* The basin of each mode. */
static void find_modes(const gess__basins *b, size_t *basin)
{
    for (size_t m = 0; m < MODES; m++) {
        double y[DIM] = {centres[m], centres[m]};
        basin[m] = gess__basins_find(b, y);
        for (size_t other = 0; other < m; other++) assert_int_not_equal(basin[m], basin[other]);
    }
}

/* Puts every point of the window and every chain into one mode. */
static void leave_one_mode(trial *t, size_t mode)
{
    gess__window *w = &t->s->adaptation.window;
    const gess__basins *b = t->basins;
    size_t n = gess__window_points(w), basin[MODES];
    find_modes(b, basin);
    size_t from = basin[mode] * GESS__BASIN_POINTS, held = (size_t)b->basin[basin[mode]].held;
    for (size_t i = 0; i < n; i++) {
        memcpy(w->points + i * DIM, b->points + (from + i % held) * DIM, DIM * sizeof(double));
        w->values[i] = b->raw[from + i % held];
    }
    memcpy(t->s->ensemble.chains.x, w->points, sizeof(double) * CHAINS * DIM);
}

/* ---- tests ---- */

static void taken_from_annealing(void **state)
{
    (void)state;
    trial t;
    size_t basin[MODES];
    anneal(&t);
    const gess__basins *b = t.basins;
    assert_int_equal(b->count, MODES);
    find_modes(b, basin);
    for (size_t m = 0; m < MODES; m++) {
        const gess__basin *one = &b->basin[basin[m]];
        assert_true(one->held > 20 && one->held <= GESS__BASIN_POINTS && one->particles >= one->held);
        assert_true(fabs(one->weight - weights[m]) < 0.05);
        assert_true(one->error > 0.0 && one->error < 0.05);
        assert_true(fabs(one->value - log(weights[m]) + DIM * log(sds[m])) < 0.5);
        assert_int_equal(one->fate, GESS__FATE_OPEN);
        for (size_t k = 0; k < DIM; k++) {
            assert_true(fabs(b->centre[basin[m] * DIM + k] - centres[m]) < 4.0 * sds[m] / sqrt((double)one->held));
            assert_true(fabs(b->spread[basin[m] * DIM + k] / sds[m] - 1.0) < 0.4);
        }
    }
    release(&t);
}

static void chains_are_counted(void **state)
{
    (void)state;
    trial t;
    uint32_t counts[GESS__MAX_BASINS];
    size_t basin[MODES], sum = 0;
    anneal(&t);
    gess__basins_count_chains(t.basins, &t.s->ensemble, counts);
    for (size_t k = 0; k < GESS__MAX_BASINS; k++) sum += counts[k];
    assert_int_equal(sum, CHAINS);
    for (size_t k = 0; k < MODES; k++) assert_true(counts[k] > 0);
    leave_one_mode(&t, 2);
    find_modes(t.basins, basin);
    gess__basins_count_chains(t.basins, &t.s->ensemble, counts);
    assert_int_equal(counts[basin[2]], CHAINS);
    release(&t);
}

/* T forgets two of the modes, as a fit to chains of one mode would. */
static void covered_again(void **state)
{
    (void)state;
    trial t;
    size_t basin[MODES];
    anneal(&t);
    gess__mixture *m = t.s->ensemble.frozen.mixture;
    assert_int_equal(gess__basins_cover(t.basins, t.learning), 0);
    find_modes(t.basins, basin);
    leave_one_mode(&t, 0);
    m->count = 1;
    m->log_weight[0] = 0.0;
    for (size_t k = 0; k < DIM; k++) {
        m->component[0]->mu[k] = centres[0];
        for (size_t i = k; i < DIM; i++) m->component[0]->chol[i + k * DIM] = i == k ? sds[0] : 0.0;
    }
    m->component[0]->nu = 20.0;
    gess__approx_ready(m->component[0]);
    gess__approx_copy(t.s->ensemble.frozen.approx, m->component[0]);
    assert_int_equal(gess__basins_cover(t.basins, t.learning), 2);
    assert_int_equal(m->count, MODES);
    double sum = 0.0;
    for (size_t j = 0; j < m->count; j++) {
        size_t in = gess__basins_find(t.basins, m->component[j]->mu);
        sum += exp(m->log_weight[j]);
        if (j > 0) assert_true(fabs(exp(m->log_weight[j]) - t.basins->basin[in].weight) < 0.1);
    }
    assert_true(fabs(sum - 1.0) < 1e-9);
    assert_int_equal(t.basins->basin[basin[0]].restored, 0);
    assert_int_equal(t.basins->basin[basin[1]].restored, 1);
    assert_int_equal(t.basins->basin[basin[2]].restored, 1);
    assert_int_equal(gess__basins_cover(t.basins, t.learning), 0); /* it covers them now */
    release(&t);
}

/* A basin that is too light for a component is not covered. */
static void negligible_basins(void **state)
{
    (void)state;
    trial t;
    size_t basin[MODES];
    anneal(&t);
    find_modes(t.basins, basin);
    leave_one_mode(&t, 0);
    t.s->ensemble.frozen.mixture->count = 1;
    t.s->ensemble.frozen.mixture->log_weight[0] = 0.0;
    for (size_t k = 0; k < DIM; k++) t.s->ensemble.frozen.mixture->component[0]->mu[k] = centres[0];
    t.s->ensemble.frozen.mixture->component[0]->chol[0] = t.s->ensemble.frozen.mixture->component[0]->chol[3] = 1.0;
    t.s->ensemble.frozen.mixture->component[0]->chol[1] = 0.0;
    gess__approx_ready(t.s->ensemble.frozen.mixture->component[0]);
    t.basins->basin[basin[1]].weight = t.basins->basin[basin[2]].weight = 5e-5;
    assert_int_equal(gess__basins_cover(t.basins, t.learning), 0);
    release(&t);
}

static void fates(void **state)
{
    (void)state;
    trial t;
    size_t basin[MODES];
    anneal(&t);
    find_modes(t.basins, basin);
    double starts[3 * DIM];
    for (size_t i = 0; i < 3 * DIM; i++) starts[i] = centres[i < DIM ? 0 : 1] + 0.1;
    gess__basins_judge(t.basins, t.learning, 3, starts);
    for (size_t m = 0; m < MODES; m++) {
        assert_int_equal(t.basins->basin[basin[m]].fate, GESS__FATE_KEPT);
        assert_int_equal(t.basins->basin[basin[m]].starts, m == 0 ? 1 : m == 1 ? 2 : 0);
    }
    leave_one_mode(&t, 1);
    gess__basins_judge(t.basins, t.learning, 0, NULL);
    assert_int_equal(t.basins->basin[basin[0]].fate, GESS__FATE_LOST);
    assert_int_equal(t.basins->basin[basin[1]].fate, GESS__FATE_KEPT);
    assert_int_equal(t.basins->basin[basin[2]].fate, GESS__FATE_LOST);
    /* given up: negligible, and with an error that excludes ten times as much */
    gess__basin *light = &t.basins->basin[basin[0]], *unsure = &t.basins->basin[basin[2]];
    light->weight = unsure->weight = 2e-5;
    light->error = 1e-5;
    unsure->error = 6e-4;
    gess__basins_judge(t.basins, t.learning, 0, NULL);
    assert_int_equal(light->fate, GESS__FATE_GIVEN_UP);
    assert_int_equal(unsure->fate, GESS__FATE_LOST);
    release(&t);
}

static void added_and_removed(void **state)
{
    (void)state;
    enum { N = 200 };
    trial t;
    double points[N * DIM], values[N], importance[N];
    anneal(&t);
    t.basins->count = 0;
    gess__basins_add_window(t.basins, t.learning);
    assert_int_equal(t.basins->count, 1);
    assert_int_equal(t.basins->basin[0].held, GESS__BASIN_POINTS);
    assert_true(t.basins->basin[0].weight == 1.0);
    for (size_t i = 0; i < N; i++) { /* half of the points have no weight */
        double z = (double)(i % 100) / 100.0 - 0.5;
        points[i * DIM] = i < N / 2 ? 40.0 + z : -90.0;
        points[i * DIM + 1] = i < N / 2 ? -40.0 - z : 90.0;
        values[i] = -z * z;
        importance[i] = i < N / 2 ? 1.0 : 0.0;
    }
    assert_int_equal(gess__basins_add(t.basins, t.learning, N, points, values, importance, 0.02, 0.003), 1);
    const gess__basin *one = &t.basins->basin[1];
    assert_true(t.basins->count == 2 && one->weight == 0.02 && one->error == 0.003);
    assert_int_equal(one->held, GESS__BASIN_POINTS);
    assert_true(fabs(one->value) < 1e-3);
    assert_true(fabs(t.basins->centre[DIM] - 40.0) < 0.05 && fabs(t.basins->centre[DIM + 1] + 40.0) < 0.05);
    assert_int_equal(gess__basins_find(t.basins, (double[DIM]){41.0, -39.0}), 1);
    assert_int_equal(gess__basins_find(t.basins, (double[DIM]){0.0, 0.0}), 0);
    size_t added = 1;
    while (gess__basins_add(t.basins, t.learning, N, points, values, importance, 0.01, 0.001)) added++;
    assert_int_equal(t.basins->count, GESS__MAX_BASINS); /* no room for another */
    assert_int_equal(added, GESS__MAX_BASINS - 1);
    gess__basins_remove(t.basins, &added);
    assert_int_equal(added, 0);
    assert_int_equal(t.basins->count, 1);
    release(&t);
}

/* An archive brings basins back; impossible numbers are refused. */
static void there_and_back(void **state)
{
    (void)state;
    trial t, other;
    gess__archive a = {0};
    anneal(&t);
    gess__basins_archive(t.basins, &a);
    make(&other, 0);
    a.reading = 1;
    gess__basins_archive(other.basins, &a);
    assert_false(a.bad);
    assert_int_equal(a.at, a.size);
    assert_int_equal(other.basins->count, t.basins->count);
    size_t room = (size_t)MODES * DIM * sizeof(double);
    assert_memory_equal(other.basins->basin, t.basins->basin, MODES * sizeof *t.basins->basin);
    assert_memory_equal(other.basins->points, t.basins->points, room * GESS__BASIN_POINTS);
    assert_memory_equal(other.basins->raw, t.basins->raw, MODES * GESS__BASIN_POINTS * sizeof(double));
    assert_memory_equal(other.basins->centre, t.basins->centre, room);
    assert_memory_equal(other.basins->spread, t.basins->spread, room);
    /* too many basins, too many points */
    uint64_t many = GESS__MAX_BASINS + 1, kept;
    memcpy(&kept, a.bytes, sizeof kept);
    memcpy(a.bytes, &many, sizeof many);
    a.at = 0;
    gess__basins_archive(other.basins, &a);
    assert_true(a.bad);
    memcpy(a.bytes, &kept, sizeof kept);
    many = GESS__BASIN_POINTS + 1;
    memcpy(a.bytes + sizeof kept + offsetof(gess__basin, held), &many, sizeof many);
    a.at = 0;
    a.bad = 0;
    gess__basins_archive(other.basins, &a);
    assert_true(a.bad);
    gess__archive_free(&a);
    release(&other);
    release(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken_from_annealing),
        cmocka_unit_test(chains_are_counted),
        cmocka_unit_test(covered_again),
        cmocka_unit_test(negligible_basins),
        cmocka_unit_test(fates),
        cmocka_unit_test(added_and_removed),
        cmocka_unit_test(there_and_back),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    gess__archive_free(&annealed);
    return failed;
}
