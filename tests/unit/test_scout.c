/* The cheap test for several basins: it finds a second mode that chains are in, it finds none in densities with one
 * mode, and it costs few evaluations; stopped and resumed, it ends the same. */
#include "explore/scout.h"
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

enum { CHAINS = 32, MAX_DIM = 8 };

/* ---- densities ---- */

static double gaussian(size_t dim, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < dim; i++) {
        double z = (x[i] - (double)i) / (0.3 + (double)i);
        sum -= 0.5 * z * z;
    }
    return sum;
}

static double banana(size_t dim, const double *x)
{
    double bend = x[1] - (x[0] * x[0] - 1.0), sum = -0.5 * (x[0] * x[0] + bend * bend);
    for (size_t i = 2; i < dim; i++) sum -= 0.5 * x[i] * x[i];
    return sum;
}

static double heavy(size_t dim, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < dim; i++) sum += x[i] * x[i];
    return -0.5 * (2.0 + (double)dim) * log1p(sum / 2.0);
}

static double skewed(size_t dim, const double *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < dim; i++) sum += 2.0 * x[i] - exp(x[i]);
    return sum;
}

/* Unit Gaussians around −7 and 7 in every coordinate, with weights 0.8 and 0.2. */
static double two_modes(size_t dim, const double *x)
{
    double left = 0.0, right = 0.0;
    for (size_t i = 0; i < dim; i++) {
        left += (x[i] + 7.0) * (x[i] + 7.0);
        right += (x[i] - 7.0) * (x[i] - 7.0);
    }
    double a = log(0.8) - 0.5 * left, b = log(0.2) - 0.5 * right;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

/* The same with a second mode of half the width, which most chains leave in the first stage. */
static double narrow_mode(size_t dim, const double *x)
{
    double left = 0.0, right = 0.0;
    for (size_t i = 0; i < dim; i++) {
        left += (x[i] + 8.0) * (x[i] + 8.0);
        right += 4.0 * (x[i] - 8.0) * (x[i] - 8.0);
    }
    double a = log(0.7) - 0.5 * left, b = log(0.3) + (double)dim * log(2.0) - 0.5 * right;
    return fmax(a, b) + log1p(exp(-fabs(a - b)));
}

typedef struct density {
    double (*value)(size_t dim, const double *x);
    double spread; /* standard deviation of the starts */
    atomic_ullong asked;
    unsigned long long stop_at; /* sets `stop` at this evaluation; 0: never */
    atomic_int stop;
} density;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    density *d = user;
    (void)worker;
    for (size_t i = 0; i < n; i++) out[i] = d->value(dim, x + i * dim);
    unsigned long long asked = atomic_fetch_add(&d->asked, n) + n;
    if (d->stop_at > 0 && asked >= d->stop_at) atomic_store(&d->stop, 1);
    return 0;
}

static void begin_at(void *user, size_t dim, const double *normals, double *x)
{
    const density *d = user;
    for (size_t i = 0; i < dim; i++) x[i] = d->spread * normals[i];
}

/* ---- a sampler after its first stage ---- */

typedef struct trial {
    density d;
    gess_model model;
    gess_options options;
    gess__team *team;
    gess__sampler *s;
} trial;

static trial *start(double (*value)(size_t dim, const double *x), size_t dim, double spread, uint64_t seed)
{
    trial *t = calloc(1, sizeof *t);
    gess_error err = {0};
    assert_non_null(t);
    t->d.value = value;
    t->d.spread = spread;
    t->model = (gess_model){.dim = dim, .logp = logp, .start = begin_at, .user = &t->d};
    gess__options_init(&t->options);
    t->options.seed = seed;
    assert_int_equal(gess__team_new(&t->team, 2, &err), GESS_OK);
    if (gess__sampler_new(&t->s, &t->model, &t->options, 0, CHAINS, t->team, &err) != GESS_OK) fail_msg("%s", err.text);
    return t;
}

static int stage(trial *t)
{
    gess_error err = {0};
    gess__record record = {.stop = &t->d.stop};
    return gess__sampler_warm_up(t->s, &record, &err);
}

static const gess__scout *scout_of(const trial *t)
{
    return gess__sampler_exploration(t->s)->scout;
}

static void release(trial *t)
{
    gess__sampler_free(t->s);
    gess__team_free(t->team);
    free(t);
}

/* ---- tests ---- */

static void one_mode(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double (*value)(size_t dim, const double *x);
    } cases[] = {{"Gaussian", gaussian}, {"banana", banana}, {"t", heavy}, {"skewed", skewed}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        for (uint64_t seed = 1; seed <= 24; seed++) {
            size_t dim = seed % 3 == 0 ? MAX_DIM : seed % 3 == 1 ? 2 : 4;
            trial *t = start(cases[k].value, dim, seed % 2 == 0 ? 1.0 : 5.0, seed);
            assert_int_equal(stage(t), GESS_OK);
            const gess__scout_state *s = &scout_of(t)->state;
            assert_true(s->done);
            if (s->several)
                fail_msg("%s in %zu dimensions, seed %llu: maxima %g and %g, valley %g", cases[k].name, dim,
                         (unsigned long long)seed, s->first, s->second, s->valley);
            assert_true(s->ascents <= 6 && s->evals <= 300 + 20 * (2 * dim + 12) + dim * dim + 9);
            assert_true(t->s->ensemble.tally.evals == atomic_load(&t->d.asked));
            assert_false(gess__sampler_exploration(t->s)->annealing->state.under_way);
            release(t);
        }
}

static void separate_modes(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        size_t dim = seed % 2 == 0 ? 2 : MAX_DIM;
        trial *t = start(two_modes, dim, 10.0, seed);
        assert_int_equal(stage(t), GESS_OK);
        const gess__scout_state *s = &scout_of(t)->state;
        const double *top = scout_of(t)->top;
        assert_true(s->done && s->several);
        assert_true(s->unexplained > 0 && s->ascents > 0 && s->evals > 0);
        /* the two maxima, in either order; an ascent ends when another step would gain less than half a nat */
        double high = fmax(s->first, s->second), low = fmin(s->first, s->second);
        assert_true(fabs(high - log(0.8)) < 0.5 && fabs(low - log(0.2)) < 0.5);
        assert_true(s->valley < low - 20.0);
        for (size_t i = 0; i < dim; i++)
            assert_true(fabs(fabs(top[i]) - 7.0) < 0.3 && (top[i] > 0.0) == (top[0] > 0.0));
        assert_true(t->s->ensemble.tally.evals == atomic_load(&t->d.asked));
        assert_true(gess__sampler_exploration(t->s)->annealing->state.under_way); /* `auto` anneals */
        release(t);
    }
}

/* Starts lead to a mode that chains have left. */
static void mode_of_the_starts(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        trial *t = start(narrow_mode, 3, 10.0, seed);
        assert_int_equal(stage(t), GESS_OK);
        assert_true(scout_of(t)->state.several);
        release(t);
    }
}

/* A test that is stopped begins again, and finds the same. */
static void stopped(void **state)
{
    (void)state;
    trial *whole = start(two_modes, 4, 10.0, 3);
    assert_int_equal(stage(whole), GESS_OK);
    unsigned long long last = atomic_load(&whole->d.asked);
    const gess__scout_state *expected = &scout_of(whole)->state;
    assert_true(expected->evals > 40);
    /* the last points are evaluated together, after which nothing is left to be stopped */
    for (unsigned long long at = last - expected->evals + 1; at < last - 10; at += 1 + expected->evals / 7) {
        trial *t = start(two_modes, 4, 10.0, 3);
        t->d.stop_at = at;
        assert_int_equal(stage(t), GESS_ERR_STOPPED);
        assert_false(scout_of(t)->state.done);
        t->d.stop_at = 0;
        atomic_store(&t->d.stop, 0);
        assert_int_equal(stage(t), GESS_OK);
        assert_memory_equal(&scout_of(t)->state, expected, sizeof *expected);
        assert_true(t->s->ensemble.tally.evals == whole->s->ensemble.tally.evals);
        release(t);
    }
    release(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mode),
        cmocka_unit_test(separate_modes),
        cmocka_unit_test(mode_of_the_starts),
        cmocka_unit_test(stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
