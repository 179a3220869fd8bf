/* The bounds' map between a user's parameters x and unbounded coordinates y, and the target behind it. */
#include "transform/bounds.h"
#include "transform/target.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 7 };
#define TWO_PI 6.28318530717958623200

static const double lower[DIM] = {-INFINITY, 2.0, -INFINITY, -1.0, 0.5, 0.0, 1e6};
static const double upper[DIM] = {INFINITY, INFINITY, -3.0, 4.0, 0.5, TWO_PI, 1e6 + 1.0};
static const unsigned char periodic[DIM] = {0, 0, 0, 0, 0, 1, 0};

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        out[i] = 0.0;
        for (size_t k = 0; k < dim; k++) {
            if (!(x[i * dim + k] >= lower[k] && x[i * dim + k] <= upper[k]))
                ++*(int *)user; /* the model must not be called there */
            out[i] += sin((double)(k + 1) + x[i * dim + k]);
        }
    }
    return 0;
}

static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out, double *g)
{
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < dim; k++) g[i * dim + k] = cos((double)(k + 1) + x[i * dim + k]);
    return logp(user, worker, n, dim, x, out);
}

static gess_model make(int *outside)
{
    gess_model m = {0};
    m.dim = DIM;
    m.logp = logp;
    m.gradient = gradient;
    m.user = outside;
    m.lower = lower;
    m.upper = upper;
    m.periodic = periodic;
    return m;
}

static void there_and_back(void **state)
{
    (void)state;
    int outside = 0;
    gess_model m = make(&outside);
    gess_error err = {0};
    for (int transform = 0; transform < 2; transform++) {
        gess__bounds b;
        assert_int_equal(gess__bounds_init(&b, &m, transform, &err), GESS_OK);
        assert_int_equal(b.inner, transform ? 7 : 6); /* one is fixed; a circle has two coordinates */
        assert_false(b.trivial);
        const double x[DIM] = {-0.7, 2.001, -40.0, 3.9999, 0.5, 5.5, 1e6 + 0.25};
        double y[DIM + 1], back[DIM];
        assert_true(gess__bounds_in(&b, x, y));
        assert_true(gess__bounds_out(&b, y, back) > -INFINITY);
        for (size_t i = 0; i < DIM; i++) {
            assert_true(fabs(back[i] - x[i]) <= 1e-9 * (1.0 + fabs(x[i])));
            assert_true(gess__bounds_one(&b, i, y) == back[i]);
        }
        /* just beyond each bound */
        for (size_t i = 0; i < DIM; i++) {
            double bad[DIM];
            if (lower[i] == upper[i]) continue;
            memcpy(bad, x, sizeof bad);
            bad[i] = nextafter(lower[i], -INFINITY);
            if (isfinite(lower[i])) assert_false(gess__bounds_in(&b, bad, y));
            bad[i] = nextafter(upper[i], INFINITY);
            if (isfinite(upper[i])) assert_false(gess__bounds_in(&b, bad, y));
        }
        gess__bounds_free(&b);
    }
}

/* log |dx/dy| against finite differences, coordinate by coordinate; for the circle, log e^(−r²/2). */
static void jacobian(void **state)
{
    (void)state;
    int outside = 0;
    gess_model m = make(&outside);
    gess_error err = {0};
    gess__bounds b;
    assert_int_equal(gess__bounds_init(&b, &m, 1, &err), GESS_OK);
    for (double t = -6.0; t <= 6.0; t += 0.75) {
        double y[DIM + 1], x[DIM], up[DIM], down[DIM];
        for (size_t i = 0; i < b.inner; i++) y[i] = 0.3 * t + 0.1 * (double)i;
        double base = gess__bounds_out(&b, y, x), sum = 0.0;
        for (size_t i = 0; i < DIM; i++) {
            const gess__coordinate *c = &b.coordinates[i];
            const double h = 1e-5;
            if (c->kind == GESS__FIXED) continue;
            if (c->kind == GESS__CIRCLE) {
                sum -= 0.5 * (y[c->at] * y[c->at] + y[c->at + 1] * y[c->at + 1]);
                continue;
            }
            y[c->at] += h;
            gess__bounds_out(&b, y, up);
            y[c->at] -= 2.0 * h;
            gess__bounds_out(&b, y, down);
            y[c->at] += h;
            sum += log(fabs(up[i] - down[i]) / (2.0 * h));
        }
        assert_true(fabs(base - sum) < 1e-4); /* differences near 1e6 have few digits */
    }
    gess__bounds_free(&b);
}

static void gradients(void **state)
{
    (void)state;
    int outside = 0;
    gess_model m = make(&outside);
    gess_error err = {0};
    gess__target target;
    assert_int_equal(gess__target_init(&target, &m, 1, &err), GESS_OK);
    double y[DIM + 1] = {0.2, -0.4, 0.9, 1.3, 0.6, -0.8, 0.1}, by_y[DIM + 1], value, up, down, scratch[64];
    assert_true(gess__target_scratch(&target, 1) <= 64);
    assert_int_equal(gess__target_evaluate(&target, 0, 1, y, &value, by_y, NULL, scratch, &err), GESS_OK);
    for (size_t i = 0; i < target.dim; i++) {
        const double h = 1e-5;
        y[i] += h;
        gess__target_evaluate(&target, 0, 1, y, &up, NULL, NULL, scratch, &err);
        y[i] -= 2.0 * h;
        gess__target_evaluate(&target, 0, 1, y, &down, NULL, NULL, scratch, &err);
        y[i] += h;
        assert_true(fabs(by_y[i] - (up - down) / (2.0 * h)) < 1e-5);
    }
    gess__target_free(&target);
}

/* In a batch with a point outside, every point has the value and gradient that it has by itself. */
static void gradients_of_batches(void **state)
{
    (void)state;
    int outside = 0;
    gess_model m = make(&outside);
    gess_error err = {0};
    gess__target target;
    double y[5 * (DIM + 1)], values[5], g[5 * (DIM + 1)], single[DIM + 1], value, scratch[5 * 32];
    assert_int_equal(gess__target_init(&target, &m, 1, &err), GESS_OK);
    assert_true(gess__target_scratch(&target, 5) <= 5 * 32);
    for (size_t i = 0; i < 5 * target.dim; i++) y[i] = sin((double)(3 * i + 1));
    y[2 * target.dim + 1] = 1e4; /* outside */
    assert_int_equal(gess__target_evaluate(&target, 0, 5, y, values, g, NULL, scratch, &err), GESS_OK);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(gess__target_evaluate(&target, 0, 1, y + i * target.dim, &value, single, NULL, scratch, &err),
                         GESS_OK);
        assert_true(value == values[i]);
        if (i == 2) assert_true(value == -INFINITY);
        if (i != 2) assert_memory_equal(single, g + i * target.dim, target.dim * sizeof *g);
    }
    gess__target_free(&target);
}

/* Far out, exponentials and logits saturate: such points are outside, and the model is not called. */
static void saturation(void **state)
{
    (void)state;
    int outside = 0;
    gess_model m = make(&outside);
    gess_error err = {0};
    for (int transform = 0; transform < 2; transform++) {
        gess__target target;
        double scratch[64], value;
        assert_int_equal(gess__target_init(&target, &m, transform, &err), GESS_OK);
        for (size_t i = 0; i < target.dim; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double y[DIM + 1] = {0.0, 3.0, -4.0, 0.0, 1.0, 0.0, 1e6 + 0.5}, big[] = {40.0, 800.0, 1e6 * 1e300};
                if (transform)
                    for (size_t k = 0; k < DIM + 1; k++) y[k] = 0.5;
                for (size_t k = 0; k < 3; k++) {
                    y[i] = sign * big[k];
                    assert_int_equal(gess__target_evaluate(&target, 0, 1, y, &value, NULL, NULL, scratch, &err),
                                     GESS_OK);
                    assert_true(value < INFINITY); /* -inf, finite or NaN from sin(inf), never +inf */
                }
            }
        gess__target_free(&target);
    }
    assert_int_equal(outside, 0);
}

/* The value of a point does not depend on its batch, which has points outside too. */
static void batches(void **state)
{
    (void)state;
    int outside = 0;
    gess_model m = make(&outside);
    gess_error err = {0};
    gess__target target;
    double y[9 * DIM], values[9], single, scratch[9 * 32];
    assert_int_equal(gess__target_init(&target, &m, 0, &err), GESS_OK);
    for (size_t i = 0; i < 9 * target.dim; i++) y[i] = (i % target.dim == 5 ? 1e6 : 0.0) + 3.0 * sin((double)i);
    assert_int_equal(gess__target_evaluate(&target, 0, 9, y, values, NULL, NULL, scratch, &err), GESS_OK);
    for (size_t i = 0; i < 9; i++) {
        gess__target_evaluate(&target, 0, 1, y + i * target.dim, &single, NULL, NULL, scratch, &err);
        assert_true(single == values[i]);
    }
    gess__target_free(&target);
}

/* A point in a batch has the bits that it has by itself, also far out and at NaN; with and without parameters that are
 * fixed or have two coordinates. */
static void points_in_rows(void **state)
{
    (void)state;
    enum { POINTS = 150 };
    static const double odd[] = {0.0, -0.0, 40.0, -40.0, 710.0, -745.0, 1e300, -1e300, INFINITY, -INFINITY, NAN};
    static double y[POINTS * (DIM + 1)], x[POINTS * DIM], jacobians[POINTS], single[DIM];
    int outside = 0;
    gess_error err = {0};
    for (int kind = 0; kind < 3; kind++) {
        gess_model m = make(&outside);
        if (kind == 2) m.dim = 4; /* no circle, nothing fixed */
        gess__bounds b;
        assert_int_equal(gess__bounds_init(&b, &m, kind > 0, &err), GESS_OK);
        assert_int_equal(b.aligned, kind == 2);
        for (size_t i = 0; i < POINTS * b.inner; i++)
            y[i] = i % 7 == 0 ? odd[i / 7 % (sizeof odd / sizeof *odd)] : 20.0 * sin((double)i);
        for (size_t n = 1; n <= POINTS; n += n < 10 ? 1 : 35) {
            gess__bounds_out_rows(&b, n, y, x, jacobians);
            for (size_t i = 0; i < n; i++) {
                double jacobian = gess__bounds_out(&b, y + i * b.inner, single);
                if (isnan(jacobian))
                    assert_true(isnan(jacobians[i]));
                else
                    assert_memory_equal(&jacobians[i], &jacobian, sizeof jacobian);
                for (size_t k = 0; k < m.dim; k++)
                    assert_true(x[i * m.dim + k] == single[k] || (isnan(x[i * m.dim + k]) && isnan(single[k])));
            }
        }
        gess__bounds_free(&b);
    }
}

static void everything_fixed(void **state)
{
    (void)state;
    const double one[2] = {1.0, 1.0};
    gess_model m = {0};
    gess_error err = {0};
    gess__bounds b;
    m.dim = 2;
    m.lower = m.upper = one;
    assert_int_equal(gess__bounds_init(&b, &m, 1, &err), GESS_ERR_MODEL);
    assert_non_null(strstr(err.text, "fixed"));
    gess__bounds_free(&b);
}

static void starts(void **state)
{
    (void)state;
    int outside = 0;
    gess_model m = make(&outside);
    gess_error err = {0};
    gess__bounds b;
    assert_int_equal(gess__bounds_init(&b, &m, 1, &err), GESS_OK);
    for (double n = -5.0; n <= 5.0; n += 0.5) {
        double x[DIM], y[DIM + 1];
        for (size_t i = 0; i < DIM; i++) x[i] = gess__bounds_start(&b, i, n == 0.0 ? 0.1 : n, 1.0);
        assert_true(gess__bounds_in(&b, x, y));
    }
    /* a scale multiplies the distance from a one-sided bound, or from 0, and leaves values between two bounds alone */
    size_t scaled = 0, fixed = 0;
    for (size_t i = 0; i < DIM; i++) {
        double a = m.lower[i], c = m.upper[i], origin = isfinite(a) ? a : isfinite(c) ? c : 0.0;
        double once = gess__bounds_start(&b, i, -0.75, 1.0), wide = gess__bounds_start(&b, i, -0.75, 4.0);
        int two_sided = isfinite(a) && isfinite(c);
        assert_true(two_sided ? wide == once : fabs(wide - origin - 4.0 * (once - origin)) < 1e-12);
        scaled += two_sided ? 0 : 1;
        fixed += two_sided ? 1 : 0;
    }
    assert_true(scaled >= 3 && fixed >= 2);
    gess__bounds_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),       cmocka_unit_test(jacobian),         cmocka_unit_test(gradients),
        cmocka_unit_test(gradients_of_batches), cmocka_unit_test(saturation),       cmocka_unit_test(batches),
        cmocka_unit_test(points_in_rows),       cmocka_unit_test(everything_fixed), cmocka_unit_test(starts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
