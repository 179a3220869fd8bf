/* The skew layer: damage, and that learning finds skewed directions. */
#include "unit/maps.h"

static void damage_is_refused(void **state)
{
    (void)state;
    REFUSED("k", gess__skew_warps(layer)[0].spread = 0.0);
    REFUSED("k", gess__skew_warps(layer)[0].power = -1.0);
    REFUSED("k", gess__skew_warps(layer)[1].power = NAN);
    REFUSED("k", gess__skew_warps(layer)[1].tilt = NAN);
    REFUSED("k", gess__skew_warps(layer)[1].lean = NAN);
    REFUSED("k", gess__skew_warps(layer)[1].lean = 0.95 * gess__skew_warps(layer)[1].power);
    REFUSED("k", gess__skew_warps(layer)[1].shift = INFINITY);
    REFUSED("k", gess__skew_rows(layer)[5] = NAN);
    REFUSED("k", gess__skew_rows(layer)[5] += 1e-3);
    REFUSED("sk", gess__skew_columns(layer)[3] += 1e-3);
}

/* ---- learning ---- */

/* Three log-normal coordinates, mixed with three normal ones: three directions, and no skewness behind the map. */
static void finds_skewed_directions(void **state)
{
    (void)state;
    enum { DIM = 6, N = 12000 };
    double *z = doubles((size_t)N * DIM), *x = doubles((size_t)N * DIM), *w = doubles((size_t)N * DIM), mix[DIM * DIM];
    double *jacobian = doubles(N), *scratch, along[DIM];
    gess__learned *map = new_map(DIM);
    normals(26, (size_t)N * DIM, z);
    normals(25, sizeof mix / sizeof *mix, mix);
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < 3; i++) z[j * DIM + i] = (i == 1 ? -1.0 : 1.0) * exp(0.4 * z[j * DIM + i]) / 0.45;
        for (size_t i = 0; i < DIM; i++)
            for (size_t k = 0; k < DIM; k++) x[j * DIM + i] += mix[i * DIM + k] * z[j * DIM + k];
    }
    assert_int_equal(learn(map, DIM, N, x, SKEW), 1);
    assert_int_equal(map->layers[0].count, 3);
    scratch = doubles(gess__learned_scratch(map, N));
    gess__learned_in(map, N, x, w, jacobian, scratch);
    for (size_t j = 0; j < 3; j++) {
        memcpy(along, gess__skew_rows(&map->layers[0]) + j * DIM, sizeof along);
        assert_true(fabs(skewness(N, DIM, x, along)) > 1.0);
        assert_true(fabs(skewness(N, DIM, w, along)) < 0.15);
    }
    gess__learned_free(map);
    free(z);
    free(x);
    free(w);
    free(jacobian);
    free(scratch);
}

static void finds_skewness_in_one_dimension(void **state)
{
    (void)state;
    enum { N = 4000 };
    double *x = doubles(N), *w = doubles(N), *jacobian = doubles(N), *scratch, one = 1.0;
    gess__learned *map = new_map(1);
    normals(27, N, x);
    for (size_t j = 0; j < N; j++) x[j] = exp(0.5 * x[j]);
    assert_int_equal(learn(map, 1, N, x, SCALE), 0);
    assert_int_equal(learn(map, 1, N, x, SKEW), 1);
    scratch = doubles(gess__learned_scratch(map, N));
    gess__learned_in(map, N, x, w, jacobian, scratch);
    assert_true(fabs(skewness(N, 1, w, &one)) < fabs(skewness(N, 1, x, &one)) / 3.0); /* T describes the tails */
    gess__learned_free(map);
    free(x);
    free(w);
    free(jacobian);
    free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(finds_skewed_directions),
        cmocka_unit_test(finds_skewness_in_one_dimension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
