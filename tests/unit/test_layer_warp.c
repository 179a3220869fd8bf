/* The warp layer and the sinh-arcsinh warp: inverse and slopes, damage, and that learning finds coordinates whose tails
 * differ. */
#include "unit/maps.h"

/* One warp on a grid that reaches far out, up to the largest lean: the inverse to 1e-10, slopes by differences. */
static void check_warp(const gess__warp *w)
{
    for (double a = -30.0; a <= 30.0; a += 0.37) {
        double x = sinh(a), in, out, h = 1e-6 * (1.0 + fabs(x)), unused;
        double v = gess__warp_in(x, w->power, w->lean, w->tilt, &in);
        assert_true(isfinite(v) && in > 0.0);
        double back = gess__warp_out(v, w->power, w->lean, w->tilt, &out);
        assert_true(fabs(asinh(back) - a) <= 1e-10 * (1.0 + fabs(a)));
        assert_true(fabs(log(in * out)) < 1e-9);
        double up = gess__warp_in(x + h, w->power, w->lean, w->tilt, &unused);
        double down = gess__warp_in(x - h, w->power, w->lean, w->tilt, &unused);
        if (fabs(v) > 1e-3 * in * (1.0 + fabs(x))) /* else the difference has no digits left */
            assert_true(fabs(log((up - down) / (2.0 * h) / (w->power * in))) < 1e-4);
    }
}

static void single_warps(void **state)
{
    (void)state;
    const double powers[] = {0.25, 0.7, 1.0, 2.0}, tilts[] = {-3.0, 0.0, 0.01, 2.0};
    const double leans[] = {-0.9, -0.3, -1e-9, 0.0, 1e-9, 0.3, 0.9};
    for (size_t i = 0; i < 4; i++)
        for (size_t j = 0; j < 4; j++)
            for (size_t k = 0; k < 7; k++)
                check_warp(
                    &(gess__warp){.spread = 1.0, .tilt = tilts[j], .power = powers[i], .lean = leans[k] * powers[i]});
}

/* Without lean it is the sinh-arcsinh function; with lean the powers of the two sides differ far out. */
static void powers_of_the_sides(void **state)
{
    (void)state;
    double slope;
    for (double x = -9.5; x < 10.0; x += 1.0) {
        double v = gess__warp_in(x, 0.8, 0.0, 0.3, &slope), expected = sinh(0.8 * asinh(x) - 0.3);
        assert_true(fabs(v - expected) < 1e-13 * (1.0 + fabs(expected)));
        assert_true(fabs(slope - cosh(0.8 * asinh(x) - 0.3) / sqrt(1.0 + x * x)) < 1e-13);
    }
    for (int side = -1; side <= 1; side += 2) {
        double far = gess__warp_in(side * 1e120, 0.8, 0.3, 0.0, &slope);
        double near = gess__warp_in(side * 1e100, 0.8, 0.3, 0.0, &slope);
        assert_true(fabs(log10(far / near) / 20.0 - (0.8 + side * 0.3)) < 1e-3);
    }
}

static void damage_is_refused(void **state)
{
    (void)state;
    REFUSED("w", gess__warp_warps(layer)[1].lean = -0.95 * gess__warp_warps(layer)[1].power);
    REFUSED("w", gess__warp_warps(layer)[0].spread = -1.0);
    REFUSED("w", gess__warp_warps(layer)[1].power = INFINITY);
    REFUSED("w", gess__warp_coordinates(layer)[1] = 4);
    REFUSED("w", gess__warp_coordinates(layer)[1] = gess__warp_coordinates(layer)[0]);
    REFUSED("w", layer->count = 0);
    REFUSED("w", layer->count = 4);
    REFUSED("sw", layer->centre[0] = NAN);
}

/* ---- learning ---- */

/* Mean log-likelihood of x if the mapped points are standard normal. */
static double under_the_map(gess__learned *map, size_t dim, size_t n, const double *x, double *w, double *jacobian)
{
    double *scratch = doubles(gess__learned_scratch(map, n)), sum = 0.0;
    gess__learned_in(map, n, x, w, jacobian, scratch);
    free(scratch);
    for (size_t j = 0; j < n; j++) {
        sum += jacobian[j] / (double)n;
        for (size_t i = 0; i < dim; i++)
            sum -= (0.5 * w[j * dim + i] * w[j * dim + i] + 0.5 * log(2.0 * acos(-1.0))) / (double)n;
    }
    return sum;
}

/* Two coordinates with an exponential left tail and a right tail lighter than a Gaussian's (log of an exponential), one
 * the other way round, two normal. Under the map all are nearly normal: the likelihood of fresh points comes within
 * 0.02 nats per coordinate of the true one, which is −1 − γ for a log-exponential coordinate. */
static void finds_warped_coordinates(void **state)
{
    (void)state;
    enum { DIM = 5, N = 12000 };
    double *x = doubles((size_t)2 * N * DIM), *w = doubles((size_t)N * DIM), *jacobian = doubles(N);
    gess__learned *map = new_map(DIM);
    char text[64];
    normals(27, (size_t)2 * N * DIM, x);
    for (size_t j = 0; j < (size_t)2 * N; j++) {
        double *p = x + j * DIM;
        for (size_t i = 0; i < 3; i++) p[i] = (i == 1 ? -1.0 : 1.0) * log(-log(0.5 * erfc(p[i] / sqrt(2.0))));
    }
    assert_int_equal(learn(map, DIM, N, x, WARP), 1);
    gess__learned_describe(map, text, sizeof text);
    assert_string_equal(text, "warp (3 coordinates)");
    for (uint32_t i = 0; i < 3; i++) {
        const gess__warp *warp = &gess__warp_warps(&map->layers[0])[i];
        assert_int_equal(gess__warp_coordinates(&map->layers[0])[i], i);
        assert_true((i == 1 ? -1.0 : 1.0) * warp->lean > 0.1);
    }
    double normal = 0.5 * log(2.0 * acos(-1.0)) + 0.5, euler = 0.57721566490153286061;
    double best = -3.0 * (1.0 + euler) - 2.0 * normal;
    double got = under_the_map(map, DIM, N, x + (size_t)N * DIM, w, jacobian);
    assert_true(fabs(got - best) < 0.06);
    gess__learned_free(map);
    free(x);
    free(w);
    free(jacobian);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_warps),
        cmocka_unit_test(powers_of_the_sides),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(finds_warped_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
