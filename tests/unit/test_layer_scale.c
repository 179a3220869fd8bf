/* The scale layer: steps by hand, damage, and that learning finds funnels, hierarchies and bananas. */
#include "unit/maps.h"

/* One step by the formulas of scale.h. */
static double step_by_hand(const gess__layer *layer, const gess__scale_step *s, const double *y)
{
    double a = s->shift, h = 0.0, pull = s->pull;
    for (size_t j = 0; j < s->means; j++) {
        double t = y[s->mean_from[j]] - layer->centre[s->mean_from[j]];
        a += s->mean[j] * t;
        pull += s->pull_slope[j] * t;
    }
    for (size_t j = 0; j < s->scales; j++) h += s->scale[j] * (y[s->scale_from[j]] - layer->centre[s->scale_from[j]]);
    if (s->bends) a += s->bend * pow(y[s->bend_from] - layer->centre[s->bend_from], 2.0);
    double variance = exp(h);
    if (s->saturated) {
        a += s->cap * variance / (1.0 + s->cap * variance) * pull;
        variance = (s->floor + variance) / (1.0 + s->cap * variance);
    }
    return (y[s->at] - a) / (s->spread * sqrt(variance));
}

static void steps_by_hand(void **state)
{
    (void)state;
    enum { N = 50 };
    for (size_t dim = 2; dim < 40; dim += 3) {
        gess__learned *map = random_map(dim, "s", (uint32_t)dim);
        const gess__layer *layer = &map->layers[0];
        const gess__scale_step *steps = gess__scale_steps(layer);
        double *y = doubles(N * dim), *w = doubles(N * dim), *scratch = doubles(gess__learned_scratch(map, N)), jac[N];
        normals(6, N * dim, y);
        gess__learned_in(map, N, y, w, jac, scratch);
        for (size_t j = 0; j < N; j++)
            for (size_t p = 0; p < layer->count; p++) {
                double expected = step_by_hand(layer, &steps[p], y + j * dim);
                assert_true(fabs(w[j * dim + steps[p].at] - expected) <= 1e-11 * (1.0 + fabs(expected)));
            }
        free(y);
        free(w);
        free(scratch);
        gess__learned_free(map);
    }
}

static void damage_is_refused(void **state)
{
    (void)state;
    REFUSED("s", layer->count = 0);
    REFUSED("s", layer->centre[2] = NAN);
    REFUSED("ks", gess__scale_steps(layer)[1].at = 4);
    REFUSED("s", gess__scale_steps(layer)[1].at = gess__scale_steps(layer)[0].at);
    REFUSED("s", gess__scale_steps(layer)[1].means = 4);
    REFUSED("s", gess__scale_steps(layer)[1].scales = 4);
    REFUSED("s", gess__scale_steps(layer)[1].bends = 2);
    REFUSED("s", gess__scale_steps(layer)[1].spread = 0.0);
    REFUSED("s", gess__scale_steps(layer)[1].spread = -1.0);
    REFUSED("s", gess__scale_steps(layer)[1].spread = INFINITY);
    REFUSED("s", gess__scale_steps(layer)[1].shift = NAN);
    REFUSED("s", (gess__scale_steps(layer)[0].scales = 1,
                  gess__scale_steps(layer)[0].scale_from[0] = gess__scale_steps(layer)[2].at));
    REFUSED("s", (gess__scale_steps(layer)[0].means = 1,
                  gess__scale_steps(layer)[0].mean_from[0] = gess__scale_steps(layer)[0].at));
    REFUSED("s", (gess__scale_steps(layer)[0].bends = 1,
                  gess__scale_steps(layer)[0].bend_from = gess__scale_steps(layer)[1].at));
    REFUSED("s", (gess__scale_steps(layer)[0].bends = 1, gess__scale_steps(layer)[0].bend_from = 77));
    REFUSED("s", (gess__scale_steps(layer)[2].scales = 1, gess__scale_steps(layer)[2].scale[0] = INFINITY));
    REFUSED("s", gess__scale_steps(layer)[1].saturated = 2);
    REFUSED("s", gess__scale_steps(layer)[1].cap = -1.0);
    REFUSED("s", gess__scale_steps(layer)[1].cap = NAN);
    REFUSED("s", gess__scale_steps(layer)[1].floor = -1.0);
    REFUSED("s", gess__scale_steps(layer)[1].floor = INFINITY);
    REFUSED("s", gess__scale_steps(layer)[1].pull = NAN);
    REFUSED("s", gess__scale_steps(layer)[1].pull_slope[2] = INFINITY);
}

/* ---- learning ---- */

/* The step for coordinate i, or NULL. */
static const gess__scale_step *step_of(const gess__learned *map, uint32_t i)
{
    const gess__layer *layer = &map->layers[0];
    const gess__scale_step *steps = gess__scale_steps(layer);
    for (size_t p = 0; p < layer->count; p++)
        if (steps[p].at == i) return &steps[p];
    return NULL;
}

static void finds_a_funnel(void **state)
{
    (void)state;
    enum { DIM = 10 };
    const size_t sizes[] = {2000, 12000};
    for (size_t k = 0; k < 2; k++) {
        size_t n = sizes[k];
        double *x = doubles(n * DIM), tolerance = k == 0 ? 0.1 : 0.03;
        gess__learned *map = new_map(DIM);
        funnel_points(DIM, n, x);
        assert_int_equal(learn(map, DIM, n, x, SCALE), 1);
        assert_int_equal(map->layers[0].count, DIM - 1);
        assert_null(step_of(map, DIM - 1));
        for (uint32_t i = 0; i + 1 < DIM; i++) {
            const gess__scale_step *s = step_of(map, i);
            assert_int_equal(s->scales, 1);
            assert_int_equal(s->scale_from[0], DIM - 1);
            assert_int_equal(s->bends, 0);
            assert_true(fabs(s->scale[0] - 1.0) < tolerance);
            double level = s->spread * exp(0.5 * s->scale[0] * -map->layers[0].centre[DIM - 1]);
            assert_true(fabs(level - 1.0) < tolerance + 0.02);
            assert_true(fabs(s->shift) < 0.1);
        }
        gess__learned_free(map);
        free(x);
    }
}

/* A centred hierarchical model: mu, log tau, then theta_j ~ N(mu, tau²). */
static void finds_a_hierarchy(void **state)
{
    (void)state;
    enum { DIM = 10, N = 12000 };
    double *x = doubles((size_t)N * DIM);
    gess__learned *map = new_map(DIM);
    normals(21, (size_t)N * DIM, x);
    for (size_t j = 0; j < N; j++) {
        double *p = x + j * DIM;
        p[0] = 4.0 + 3.0 * p[0];
        p[1] = 1.0 + 0.8 * p[1];
        for (size_t i = 2; i < DIM; i++) p[i] = p[0] + exp(p[1]) * p[i];
    }
    assert_int_equal(learn(map, DIM, N, x, SCALE), 1);
    assert_int_equal(map->layers[0].count, DIM - 2);
    for (uint32_t i = 2; i < DIM; i++) {
        const gess__scale_step *s = step_of(map, i);
        assert_non_null(s);
        assert_int_equal(s->scales, 1);
        assert_int_equal(s->scale_from[0], 1);
        assert_true(fabs(s->scale[0] - 2.0) < 0.1);
        assert_true(s->means >= 1);
        assert_int_equal(s->mean_from[0], 0);
        double slope = 0.0; /* the mean may also come through other theta */
        for (uint32_t k = 0; k < s->means; k++) slope += s->mean_from[k] == 1 ? 0.0 : s->mean[k];
        assert_true(fabs(slope - 1.0) < 0.05);
    }
    gess__learned_free(map);
    free(x);
}

/* The same with data of variance v_i about d_i: precisions add, and means lie between mu and d_i. The factors that hold
 * for tau → 0, where there are no points, are found to the last digit, so points of the hierarchy at log tau = −8, 11
 * standard deviations out, are mapped to the same scale as those in the middle. */
static void finds_what_saturates(void **state)
{
    (void)state;
    enum { DIM = 8, N = 12000, FAR = 400 };
    double *x = doubles((size_t)N * DIM), *far = doubles((size_t)FAR * DIM), *w = doubles((size_t)FAR * DIM);
    double jacobians[FAR], square = 0.0;
    gess__learned *map = new_map(DIM);
    double *scratch = doubles(gess__learned_scratch(map, FAR));
    normals(22, (size_t)N * DIM, x);
    normals(23, (size_t)FAR * DIM, far);
    for (size_t j = 0; j < N + FAR; j++) {
        double *p = j < N ? x + j * DIM : far + (j - N) * DIM;
        p[0] = 4.0 + 3.0 * p[0];
        p[1] = j < N ? 1.0 + 0.8 * p[1] : -8.0;
        for (size_t i = 2; i < DIM; i++) {
            double prior = exp(-2.0 * p[1]), data = 0.02 * (double)(i - 1), d = 3.0 * (double)i - 12.0;
            p[i] = (prior * p[0] + data * d) / (prior + data) + p[i] / sqrt(prior + data);
        }
    }
    assert_int_equal(learn(map, DIM, N, x, SCALE), 1);
    assert_int_equal(map->layers[0].count, DIM - 2);
    for (uint32_t i = 2; i < DIM; i++) {
        const gess__scale_step *s = step_of(map, i);
        assert_non_null(s);
        assert_int_equal(s->saturated, 1);
        assert_int_equal(s->scale_from[0], 1);
        assert_true(fabs(s->scale[0] - 2.0) < 1e-12);
        assert_int_equal(s->mean_from[0], 0);
        for (uint32_t k = 0; k < s->means; k++) assert_true(s->mean[k] == (k == 0 ? 1.0 : 0.0));
        assert_true(s->floor == 0.0);
        double limit = s->spread * s->spread / s->cap, expected = 1.0 / (0.02 * (double)(i - 1));
        assert_true(fabs(log(limit / expected)) < log(2.0));
        assert_true(fabs(log(s->spread / exp(map->layers[0].centre[1]))) < 0.1);
    }
    gess__learned_in(map, FAR, far, w, jacobians, scratch);
    for (size_t j = 0; j < FAR; j++)
        for (size_t i = 2; i < DIM; i++) square += w[j * DIM + i] * w[j * DIM + i];
    assert_true(fabs(square / (FAR * (DIM - 2.0)) - 1.0) < 0.2);
    gess__learned_free(map);
    free(x);
    free(far);
    free(w);
    free(scratch);
}

/* What one scale drives agrees: a coordinate whose mean happens to follow the scale a little, as it does in draws of
 * chains that have not gone far, still follows the scale to 0 like its siblings; and a coordinate of the level above,
 * to whose variance the scale adds, keeps a spread of its own. */
static void siblings_agree(void **state)
{
    (void)state;
    enum { DIM = 9, N = 12000, ODD = 5, ABOVE = 8 };
    double *x = doubles((size_t)N * DIM);
    gess__learned *map = new_map(DIM);
    normals(24, (size_t)N * DIM, x);
    for (size_t j = 0; j < N; j++) {
        double *p = x + j * DIM, tau2;
        p[0] *= 3.0;
        p[1] *= 0.5;
        tau2 = exp(2.0 * p[1]);
        for (size_t i = 2; i < ABOVE; i++) p[i] *= sqrt(tau2 / (1.0 + 0.3 * tau2));
        p[ODD] += 0.4 * p[1] - 0.3;
        p[ABOVE] *= sqrt(0.1 + tau2);
    }
    assert_int_equal(learn(map, DIM, N, x, SCALE), 1);
    for (uint32_t i = 2; i < DIM; i++) {
        const gess__scale_step *s = step_of(map, i);
        assert_non_null(s);
        assert_int_equal(s->saturated, 1);
        assert_int_equal(s->scale_from[0], 1);
        assert_true(fabs(s->scale[0] - 2.0) < 1e-12);
        for (uint32_t k = 0; k < s->means && i < ABOVE; k++) assert_true(s->mean[k] == 0.0);
        assert_true(i == ABOVE || (s->floor == 0.0 && s->shift == 0.0));
    }
    for (int i = 0; i < 100; i++) assert_int_equal(gess__scale_driver(map, i / 100.0), 1);
    gess__learned_free(map);
    map = new_map(DIM);
    assert_int_equal(gess__scale_driver(map, 0.5), DIM); /* no map */
    gess__learned_free(map);
    free(x);
}

/* The first `members` coordinates after 0 have a scale that coordinate 0 drives, each so weakly that it alone would not
 * be noticed; the others have nothing to do with it. Returns the steps that are learned, 0 if there is no map. */
static size_t weak_members(uint32_t key, size_t members, size_t *driven)
{
    enum { DIM = 24, N = 3000 };
    double *x = doubles((size_t)N * DIM);
    gess__learned *map = new_map(DIM);
    normals(key, (size_t)N * DIM, x);
    for (size_t j = 0; j < N; j++) {
        double *p = x + j * DIM;
        p[0] *= 0.16;
        for (size_t i = 1; i <= members; i++) p[i] *= exp(p[0]);
    }
    size_t steps = learn(map, DIM, N, x, SCALE) == 1 ? map->layers[0].count : 0;
    *driven = 0;
    for (uint32_t i = 1; i < DIM && steps > 0; i++) {
        const gess__scale_step *s = step_of(map, i);
        if (s == NULL) continue;
        assert_int_equal(s->scale_from[0], 0);
        *driven += i <= members && s->saturated && fabs(s->scale[0] - 2.0) < 1e-12;
    }
    gess__learned_free(map);
    free(x);
    return steps;
}

/* A scale that many coordinates show together is found where one of them, or none, shows nothing. */
static void pools_siblings(void **state)
{
    (void)state;
    size_t driven;
    for (uint32_t key = 40; key < 45; key++) {
        assert_int_equal(weak_members(key, 0, &driven), 0);
        (void)weak_members(key, 1, &driven);
        assert_int_equal(driven, 0);
        (void)weak_members(key, 23, &driven);
        assert_true(driven >= 18);
    }
}

/* A hierarchy that is not centred: members of unit prior variance whose data are the more precise the larger the scale.
 * Each hardly shows it; together they do, with few points, and their variances stay within bounds on both sides. */
static void finds_members_that_shrink(void **state)
{
    (void)state;
    enum { DIM = 10, N = 4000 };
    double *x = doubles((size_t)N * DIM), *w = doubles((size_t)N * DIM), far[2] = {0.0, 0.0}, jacobians[N];
    gess__learned *map = new_map(DIM);
    double *scratch = doubles(gess__learned_scratch(map, N));
    size_t count = 0;
    normals(31, (size_t)N * DIM, x);
    for (size_t j = 0; j < N; j++)
        for (size_t i = 0; i + 1 < DIM; i++) /* the last coordinate is the logarithm of the scale */
            x[j * DIM + i] /= sqrt(1.0 + exp(2.0 * x[j * DIM + DIM - 1]) / (8.0 + 2.0 * (double)i));
    assert_int_equal(learn(map, DIM, N, x, SCALE), 1);
    assert_true(map->layers[0].count >= DIM - 3);
    for (uint32_t i = 0; i + 1 < DIM; i++) {
        const gess__scale_step *s = step_of(map, i);
        if (s == NULL) continue;
        assert_int_equal(s->saturated, 1);
        assert_int_equal(s->scale_from[0], DIM - 1);
        assert_true(s->scale[0] < 0.0);
    }
    gess__learned_in(map, N, x, w, jacobians, scratch);
    for (size_t j = 0; j < N; j++) { /* where the scale is large, they are narrow before the map and not behind it */
        if (!(x[j * DIM + DIM - 1] > 1.8)) continue;
        for (size_t i = 0; i + 1 < DIM; i++) {
            far[0] += x[j * DIM + i] * x[j * DIM + i];
            far[1] += w[j * DIM + i] * w[j * DIM + i];
        }
        count += DIM - 1;
    }
    assert_true(count > 500);
    assert_true(far[0] / (double)count < 0.35);
    assert_true(far[1] / (double)count > 0.8 && far[1] / (double)count < 1.25);
    gess__learned_free(map);
    free(x);
    free(w);
    free(scratch);
}

/* A quadratic mean is not mistaken for a spread the other way round. */
static void finds_a_banana(void **state)
{
    (void)state;
    enum { DIM = 4, N = 12000 };
    double *x = doubles((size_t)N * DIM);
    gess__learned *map = new_map(DIM);
    normals(22, (size_t)N * DIM, x);
    for (size_t j = 0; j < N; j++) {
        x[j * DIM] *= 10.0;
        x[j * DIM + 2] += 0.03 * x[j * DIM] * x[j * DIM] - 3.0;
    }
    assert_int_equal(learn(map, DIM, N, x, SCALE), 1);
    assert_int_equal(map->layers[0].count, 1);
    const gess__scale_step *s = step_of(map, 2);
    assert_non_null(s);
    assert_int_equal(s->bends, 1);
    assert_int_equal(s->scales, 0);
    assert_int_equal(s->bend_from, 0);
    assert_true(fabs(s->bend - 0.03) < 0.001);
    gess__learned_free(map);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_by_hand),        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(finds_a_funnel),       cmocka_unit_test(finds_a_hierarchy),
        cmocka_unit_test(finds_what_saturates), cmocka_unit_test(siblings_agree),
        cmocka_unit_test(pools_siblings),       cmocka_unit_test(finds_members_that_shrink),
        cmocka_unit_test(finds_a_banana),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
