/* Peaks: chains note the evaluated points that stand out; climbs lead from the foot of a narrow mode into it; a look
 * after sampling finds and weighs a mode that no chain has been in. */
#include "explore/peaks.h"

#include "schedule/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 2, CHAINS = 40 };

#define CENTRE 0.7
#define SD 0.01
#define WEIGHT 0.4 /* of the spike */

static const double log_2pi = 1.8378770664093453;

/* N(0, I), and a spike in it. */
static int with_spike(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        double wide = log(1.0 - WEIGHT), narrow = log(WEIGHT) - (double)dim * log(SD);
        for (size_t k = 0; k < dim; k++) {
            double z = (x[i * dim + k] - CENTRE) / SD;
            wide -= 0.5 * x[i * dim + k] * x[i * dim + k];
            narrow -= 0.5 * z * z;
        }
        out[i] = fmax(wide, narrow) + log1p(exp(-fabs(wide - narrow)));
    }
    return 0;
}

static int without_spike(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        out[i] = 0.0;
        for (size_t k = 0; k < dim; k++) out[i] -= 0.5 * x[i * dim + k] * x[i * dim + k];
    }
    return 0;
}

static void start(void *user, size_t dim, const double *normals, double *x)
{
    (void)user;
    memcpy(x, normals, dim * sizeof *x);
}

/* A sampler that samples with T = N(0, I). */
typedef struct trial {
    gess_model model;
    gess_options options;
    gess__team *team;
    gess__sampler *s;
    gess__exploration *x;
} trial;

static void make(trial *t, int (*logp)(void *, unsigned, size_t, size_t, const double *, double *))
{
    gess_error err = {0};
    *t = (trial){.model = {.dim = DIM, .logp = logp, .start = start}};
    gess__options_init(&t->options);
    t->options.chains = CHAINS;
    t->options.warmup = 0;
    assert_int_equal(gess__team_new(&t->team, 2, &err), GESS_OK);
    if (gess__sampler_new(&t->s, &t->model, &t->options, 0, CHAINS, t->team, &err) != GESS_OK) fail_msg("%s", err.text);
    t->x = t->s->state;
    assert_non_null(t->x->peaks);
    assert_int_equal(t->s->ensemble.frozen.mixture->count, 1);
}

static void release(trial *t)
{
    gess__sampler_free(t->s);
    gess__team_free(t->team);
}

static double value_at(const double *x)
{
    double value;
    with_spike(NULL, 0, 1, DIM, x, &value);
    return value;
}

static double log_t(const double *x)
{
    return -0.5 * (x[0] * x[0] + x[1] * x[1]) - log_2pi;
}

static void limits(void **state)
{
    (void)state;
    double flat[20], wide[20];
    for (int i = 0; i < 20; i++) {
        flat[i] = 3.0;
        wide[i] = (double)((7 * i) % 20);
    }
    gess__level_limit l = gess__level_limits(20, flat);
    assert_true(l.typical == 3.0 && l.limit > 3.0 && l.limit < 3.05);
    l = gess__level_limits(20, wide);
    assert_true(l.typical == 10.0 && l.limit == 11.0);
}

static void chains_note_peaks(void **state)
{
    (void)state;
    trial t;
    gess_error err = {0};
    gess__record none = {0};
    make(&t, without_spike);
    if (gess__sampler_advance(t.s, 6, &none, &err) != GESS_OK) fail_msg("%s", err.text);
    const gess__chains *c = &t.s->ensemble.chains;
    double highest = -INFINITY;
    for (size_t i = 0; i < CHAINS; i++) {
        const double *at = c->level_at + i * DIM;
        assert_true(c->peak[i] >= c->value[i] && c->level[i] > -INFINITY);
        assert_true(fabs(c->level_value[i] + 0.5 * (at[0] * at[0] + at[1] * at[1])) < 1e-9);
        highest = fmax(highest, c->peak[i]);
    }
    assert_int_equal(gess__peaks_collect(t.x->peaks, t.x->learning, &err), GESS_OK);
    const gess__peaks *p = t.x->peaks;
    assert_int_equal(p->count, GESS__PEAKS);
    for (size_t i = 0; i < p->count; i++) {
        assert_true(i == 0 || p->levels[i] <= p->levels[i - 1]);
        assert_true(fabs(p->levels[i] - (p->inside_values[i] - log_t(p->inside + i * DIM))) < 1e-9);
        assert_true(p->values[i] <= highest);
    }
    for (size_t i = 0; i < CHAINS; i++) assert_true(c->peak[i] == -INFINITY && c->level[i] == -INFINITY);
    release(&t);
}

static void climbs_into_the_spike(void **state)
{
    (void)state;
    trial t;
    gess_error err = {0};
    gess__record none = {0};
    const double scale[DIM] = {0.3, 0.3};
    make(&t, with_spike);
    for (int i = 0; i < 16; i++) {
        double angle = 0.4 * i, x[DIM] = {CENTRE + 4.2 * SD * cos(angle), CENTRE + 4.2 * SD * sin(angle)};
        double value = value_at(x), level = value - log_t(x), top = level;
        uint64_t before = t.s->ensemble.tally.evals;
        assert_int_equal(gess__climb(&t.s->ensemble, &none, scale, 200, x, &value, &level, &err), GESS_OK);
        if (!(hypot(x[0] - CENTRE, x[1] - CENTRE) < 2.0 * SD)) fail_msg("direction %d: ends at %g, %g", i, x[0], x[1]);
        assert_true(level > top + 5.0 && fabs(value - value_at(x)) < 1e-9 && fabs(level - value + log_t(x)) < 1e-9);
        assert_in_range(t.s->ensemble.tally.evals - before, 1, 200);
    }
    double x[DIM] = {-1.0, 0.5}, value = value_at(x), level = value - log_t(x);
    assert_int_equal(gess__climb(&t.s->ensemble, &none, scale, 200, x, &value, &level, &err), GESS_OK);
    assert_true(x[0] == -1.0 && x[1] == 0.5); /* there is nothing to climb to */
    release(&t);
}

/* A proposal three standard deviations off the spike is all that there is. */
static void looks_after_sampling(void **state)
{
    (void)state;
    trial t;
    gess_error err = {0};
    gess__record none = {0};
    size_t found = 0;
    make(&t, with_spike);
    gess__chains *c = &t.s->ensemble.chains;
    gess__chains_forget_peaks(c);
    assert_int_equal(t.s->schedule->look(t.s, &none, &found, &err), GESS_OK);
    assert_int_equal(found, 0);
    double at[DIM] = {CENTRE + 3.0 * SD, CENTRE};
    memcpy(c->level_at + 7 * DIM, at, sizeof at);
    c->level_value[7] = value_at(at);
    c->level[7] = value_at(at) - log_t(at);
    uint64_t before = t.s->ensemble.tally.evals;
    size_t basins = (size_t)t.x->basins->count;
    if (t.s->schedule->look(t.s, &none, &found, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(found, 1);
    assert_in_range(t.s->ensemble.tally.evals - before, 1, 600);
    const gess__basin *b = &t.x->basins->basin[t.x->basins->count - 1];
    if (!(fabs(b->weight - WEIGHT) < 0.05)) fail_msg("weight %g", b->weight);
    assert_true(b->error > 0.0 && b->error < 0.05);
    assert_int_equal(t.x->peaks->count, 0);
    t.s->schedule->dismiss(t.s, &found);
    assert_true(found == 0 && t.x->basins->count <= basins + 1);
    release(&t);
}

/* All that there is are points evaluated in the bulk, one of them at the foot of the spike: 7 % above its neighbours.
 */
static void looks_into_outliers(void **state)
{
    (void)state;
    trial t;
    gess_error err = {0};
    gess__record none = {0};
    size_t found = 0;
    make(&t, with_spike);
    gess__chains *c = &t.s->ensemble.chains;
    gess__chains_forget_peaks(c);
    uint64_t numbers = 1;
    for (size_t i = 0; i < 50 * CHAINS; i++) {
        double at[DIM] = {-4.0, -4.0}; /* sums of uniform numbers */
        for (int k = 0; k < 8 * DIM; k++) {
            numbers = numbers * 6364136223846793005u + 1442695040888963407u;
            at[k % DIM] += (double)(numbers >> 11) * 0x1p-53;
        }
        if (i == 777) at[0] = CENTRE - 4.9 * SD * 0.8, at[1] = CENTRE + 4.9 * SD * 0.6;
        if (i == 777 || hypot(at[0] - CENTRE, at[1] - CENTRE) > 7.0 * SD)
            gess__chains_note_trail(c, i % CHAINS, at, value_at(at));
    }
    uint64_t before = t.s->ensemble.tally.evals;
    if (t.s->schedule->look(t.s, &none, &found, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(found, 1);
    assert_in_range(t.s->ensemble.tally.evals - before, 1, 600);
    const gess__basin *b = &t.x->basins->basin[t.x->basins->count - 1];
    if (!(fabs(b->weight - WEIGHT) < 0.05)) fail_msg("weight %g", b->weight);
    assert_int_equal(t.x->peaks->outliers, 0);
    release(&t);
}

static void archived(void **state)
{
    (void)state;
    trial t, u;
    gess_error err = {0};
    gess__record none = {0};
    gess__archive archive = {0};
    make(&t, without_spike);
    if (gess__sampler_advance(t.s, 6, &none, &err) != GESS_OK) fail_msg("%s", err.text);
    assert_int_equal(gess__peaks_collect(t.x->peaks, t.x->learning, &err), GESS_OK);
    if (gess__sampler_advance(t.s, 9, &none, &err) != GESS_OK) fail_msg("%s", err.text);
    gess__sampler_archive(t.s, &archive);
    archive.reading = 1;
    archive.at = 0;
    make(&u, without_spike);
    gess__sampler_archive(u.s, &archive);
    assert_false(archive.bad);
    const gess__peaks *p = t.x->peaks, *q = u.x->peaks;
    const gess__chains *c = &t.s->ensemble.chains, *d = &u.s->ensemble.chains;
    assert_int_equal(p->count, q->count);
    assert_true(p->trail.noted > 0 && p->trail.noted == q->trail.noted);
    assert_memory_equal(p->trail.points, q->trail.points, p->trail.noted * DIM * sizeof(double));
    assert_memory_equal(p->trail.values, q->trail.values, p->trail.noted * sizeof(double));
    assert_memory_equal(c->trail_count, d->trail_count, CHAINS * sizeof(uint64_t));
    assert_memory_equal(p->points, q->points, p->count * DIM * sizeof(double));
    assert_memory_equal(p->values, q->values, p->count * sizeof(double));
    assert_memory_equal(c->level, d->level, CHAINS * sizeof(double));
    assert_memory_equal(c->level_value, d->level_value, CHAINS * sizeof(double));
    assert_memory_equal(c->level_at, d->level_at, CHAINS * DIM * sizeof(double));
    t.x->peaks->count = GESS__PEAKS + 1;
    gess__archive bad = {0};
    gess__peaks_archive(t.x->peaks, &bad);
    assert_true(bad.bad);
    gess__archive_free(&archive);
    gess__archive_free(&bad);
    release(&t);
    release(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits),
        cmocka_unit_test(chains_note_peaks),
        cmocka_unit_test(climbs_into_the_spike),
        cmocka_unit_test(looks_after_sampling),
        cmocka_unit_test(looks_into_outliers),
        cmocka_unit_test(archived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
