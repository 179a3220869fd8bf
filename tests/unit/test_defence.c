/* Defensive components: T with them is a density, wider along the coordinates of the map and nearly the same elsewhere,
 * and taking them away restores the bits. */
#include "unit/maps.h"

#include "adapt/defence.h"
#include "base/special.h"

enum { DIM = 5 };

typedef struct fixture {
    gess__ensemble ensemble;
    gess__learning learning;
} fixture;

/* A map with a scale layer whose only driver is coordinate 2, and a correlated Gaussian behind it. */
static void set_up(fixture *f)
{
    gess_error err = {0};
    memset(f, 0, sizeof *f);
    gess__frozen *frozen = &f->ensemble.frozen;
    frozen->map = random_map(DIM, "s", 9);
    gess__layer *layer = &frozen->map->layers[0];
    layer->count = 2;
    gess__scale_steps(layer)[0] =
        (gess__scale_step){.at = 0, .scales = 1, .scale_from = {2}, .scale = {1.0}, .spread = 1.0};
    gess__scale_steps(layer)[1] =
        (gess__scale_step){.at = 4, .scales = 1, .scale_from = {2}, .scale = {1.0}, .spread = 1.0};
    assert_int_equal(gess__approx_new(&frozen->approx, DIM, &err), GESS_OK);
    assert_int_equal(gess__mixture_new(&frozen->mixture, DIM, &err), GESS_OK);
    for (size_t k = 0; k < DIM; k++) {
        frozen->approx->mu[k] = (double)k;
        for (size_t i = k; i < DIM; i++) frozen->approx->chol[i + k * DIM] = i == k ? 1.0 + 0.2 * (double)i : 0.3;
    }
    frozen->approx->nu = INFINITY;
    gess__approx_ready(frozen->approx);
    frozen->mixture->log_weight[0] = -0.7; /* of a fit that was given up */
    f->learning.ensemble = &f->ensemble;
}

static void tear_down(fixture *f)
{
    gess__learned_free(f->ensemble.frozen.map);
    gess__approx_free(f->ensemble.frozen.approx);
    gess__mixture_free(f->ensemble.frozen.mixture);
}

static double log_t(const gess__mixture *m, const double *x)
{
    double out, *scratch = doubles(gess__mixture_scratch(DIM, 1));
    gess__mixture_log_ts(m, 1, x, &out, scratch);
    free(scratch);
    return out;
}

/* The point `far` standard deviations out along coordinate `along`, the others at their means given it. */
static void point_along(const gess__approx *t, size_t along, double far, double *x)
{
    double row = 0.0;
    for (size_t k = 0; k <= along; k++) row += t->chol[along + k * DIM] * t->chol[along + k * DIM];
    for (size_t i = 0; i < DIM; i++) {
        double covariance = 0.0;
        for (size_t k = 0; k <= (i < along ? i : along); k++)
            covariance += t->chol[i + k * DIM] * t->chol[along + k * DIM];
        x[i] = t->mu[i] + far * covariance / sqrt(row);
    }
}

static void is_wider_along_the_driver(void **state)
{
    (void)state;
    fixture f;
    set_up(&f);
    gess__mixture *m = f.ensemble.frozen.mixture;
    const gess__approx *t = f.ensemble.frozen.approx;
    double x[DIM], sum = 0.0, norm = gess__approx_log_norm(t);
    gess__defence_add(&f.learning);
    assert_int_equal(m->count, 2);
    assert_int_equal(m->defensive, 1);
    for (size_t k = 0; k < m->count; k++) sum += exp(m->log_weight[k]);
    assert_true(fabs(sum - 1.0) < 1e-12);
    point_along(t, 2, 0.0, x); /* at the centre the price is the share of the wide component, less what it gives */
    assert_true(fabs(log_t(m, x) - norm - log(0.94 + 0.06 / 2.0)) < 1e-12);
    point_along(t, 2, 5.0, x);
    double expected = log(0.94 * exp(-12.5) + 0.06 / 2.0 * exp(-12.5 / 4.0));
    assert_true(fabs(log_t(m, x) - norm - expected) < 1e-9);
    /* a coordinate that the map does not extrapolate along has the tails that it had */
    double whitened[DIM] = {5.0, 0.0, 0.0, 0.0, 0.0};
    for (size_t i = 0; i < DIM; i++) {
        x[i] = t->mu[i];
        for (size_t k = 0; k <= i; k++) x[i] += t->chol[i + k * DIM] * whitened[k];
    }
    assert_true(fabs(log_t(m, x) - norm + 12.5) < 1.0);
    gess__defence_add(&f.learning); /* once only */
    assert_int_equal(m->count, 2);
    tear_down(&f);
}

static void is_taken_away(void **state)
{
    (void)state;
    fixture f;
    set_up(&f);
    gess__mixture *m = f.ensemble.frozen.mixture;
    m->log_weight[0] = 0.0;
    gess__approx_copy(m->component[0], f.ensemble.frozen.approx);
    double x[DIM] = {0.5, 2.0, -1.0, 7.0, 3.0}, before = log_t(m, x);
    gess__defence_add(&f.learning);
    assert_true(fabs(log_t(m, x) - before) > 1e-6);
    gess__defence_remove(&f.learning);
    assert_int_equal(m->count, 1);
    assert_int_equal(m->defensive, 0);
    assert_true(fabs(log_t(m, x) - before) < 1e-12);
    gess__defence_remove(&f.learning);
    assert_int_equal(m->count, 1);
    tear_down(&f);
}

static void needs_a_coordinate(void **state)
{
    (void)state;
    fixture f;
    uint32_t along[2];
    set_up(&f);
    assert_int_equal(gess__learned_extrapolated(f.ensemble.frozen.map, 2, along), 1);
    assert_int_equal(along[0], 2);
    f.ensemble.frozen.map->count = 0;
    assert_int_equal(gess__learned_extrapolated(f.ensemble.frozen.map, 2, along), 0);
    gess__defence_add(&f.learning);
    assert_int_equal(f.ensemble.frozen.mixture->defensive, 0);
    f.ensemble.frozen.map->count = 1;
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_wider_along_the_driver),
        cmocka_unit_test(is_taken_away),
        cmocka_unit_test(needs_a_coordinate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
