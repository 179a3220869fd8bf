/* The reference of annealing: its density integrates to 1, its draws have that density, between bounds it is uniform in
 * the user's parameters, and the target joins it to the model's density. */
#include "transform/reference.h"

#include "transform/target.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { GRID = 4000, DRAWS = 20000, BINS = 20 };
#define PI 3.14159265358979323846

/* ---- spaces of one parameter ---- */

typedef struct space {
    const char *name;
    double lower, upper;
    unsigned char periodic;
    int transform;
    enum gess__reference_kind kind;
    double from, to; /* where the density is integrated; equal: everywhere */
} space;

static const space spaces[] = {
    {"free", -INFINITY, INFINITY, 0, 1, GESS__REFERENCE_T, 0.0, 0.0},
    {"above", 2.0, INFINITY, 0, 1, GESS__REFERENCE_T, 0.0, 0.0},
    {"half-line with a hard bound", 2.0, INFINITY, 0, 0, GESS__REFERENCE_T, 0.0, 0.0},
    {"between", -1.0, 3.0, 0, 1, GESS__REFERENCE_LOGISTIC, -40.0, 40.0},
    {"periodic", 0.0, 5.0, 1, 1, GESS__REFERENCE_NORMAL, -9.0, 9.0},
    {"between hard bounds", -1.0, 3.0, 0, 0, GESS__REFERENCE_UNIFORM, -1.0, 3.0},
};
enum { SPACES = sizeof spaces / sizeof *spaces };

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *out)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) {
        out[i] = 0.7;
        for (size_t k = 0; k < dim; k++) out[i] += sin(x[i * dim + k]) - 0.1 * x[i * dim + k] * x[i * dim + k];
    }
    return 0;
}

/* Points that the reference is fitted to: of one or two coordinates, centre 1.5, standard deviation 2. */
static const double points[] = {-0.5, -0.5, 3.5, 3.5};

static void open_space(gess__bounds *bounds, gess__reference **r, const space *s)
{
    gess_error err = {0};
    gess_model m = {.dim = 1, .logp = logp, .lower = &s->lower, .upper = &s->upper, .periodic = &s->periodic};
    assert_int_equal(gess__bounds_init(bounds, &m, s->transform, &err), GESS_OK);
    assert_int_equal(gess__reference_new(r, bounds, &err), GESS_OK);
    assert_int_equal((*r)->kind[0], s->kind);
    gess__reference_fit(*r, 4 / (*r)->dim, points);
}

static void close_space(gess__bounds *bounds, gess__reference *r)
{
    gess__reference_free(r);
    gess__bounds_free(bounds);
}

/* Places and widths of a grid along a coordinate: within the space's limits, or everywhere by y = centre + scale tan.
 */
static void set_grid(const space *s, const gess__reference *r, double *y, double *width)
{
    for (size_t i = 0; i < GRID; i++) {
        double at = ((double)i + 0.5) / GRID, angle = PI * (at - 0.5);
        y[i] = s->from < s->to ? s->from + at * (s->to - s->from) : r->centre[0] + r->scale[0] * tan(angle);
        width[i] = s->from < s->to ? (s->to - s->from) / GRID : r->scale[0] * PI / GRID / (cos(angle) * cos(angle));
    }
}

/* The density at y; of two coordinates that of the first, since they are independent and alike. */
static double density(const gess__reference *r, double y)
{
    double at[2] = {y, 0.0}, none[2] = {0.0, 0.0};
    double log = gess__reference_log(r, at);
    return exp(r->dim == 1 ? log : log - 0.5 * gess__reference_log(r, none));
}

static void integrates_to_one(void **state)
{
    (void)state;
    static double y[GRID], width[GRID];
    for (size_t k = 0; k < SPACES; k++) {
        gess__bounds bounds;
        gess__reference *r = NULL;
        double sum = 0.0;
        open_space(&bounds, &r, &spaces[k]);
        set_grid(&spaces[k], r, y, width);
        for (size_t i = 0; i < GRID; i++) sum += density(r, y[i]) * width[i];
        if (!(fabs(sum - 1.0) < 1e-6)) fail_msg("%s: the integral is %.9g", spaces[k].name, sum);
        close_space(&bounds, r);
    }
}

/* Several coordinates without bounds are one multivariate t, whose coordinates are not independent. */
static void integrates_to_one_in_two_dimensions(void **state)
{
    (void)state;
    enum { SIDE = 1000 };
    gess_error err = {0};
    gess_model m = {.dim = 2, .logp = logp};
    gess__bounds bounds;
    gess__reference *r = NULL;
    double sum = 0.0;
    static const double spread[] = {0.0, 10.0, 4.0, 14.0, 0.0, 16.0};
    assert_int_equal(gess__bounds_init(&bounds, &m, 1, &err), GESS_OK);
    assert_int_equal(gess__reference_new(&r, &bounds, &err), GESS_OK);
    gess__reference_fit(r, 3, spread);
    for (size_t i = 0; i < SIDE; i++)
        for (size_t j = 0; j < SIDE; j++) {
            double a = PI * (((double)i + 0.5) / SIDE - 0.5), b = PI * (((double)j + 0.5) / SIDE - 0.5);
            double y[2] = {r->centre[0] + r->scale[0] * tan(a), r->centre[1] + r->scale[1] * tan(b)};
            double area = r->scale[0] * r->scale[1] / (cos(a) * cos(a) * cos(b) * cos(b));
            sum += exp(gess__reference_log(r, y)) * area * PI * PI / SIDE / SIDE;
        }
    if (!(fabs(sum - 1.0) < 1e-4)) fail_msg("the integral is %.9g", sum);
    close_space(&bounds, r);
}

/* The bin of a value among limits that rise. */
static size_t bin_of(const double *limits, double y)
{
    size_t bin = 0;
    while (bin < BINS - 1 && y > limits[bin]) bin++;
    return bin;
}

static void draws_have_the_density(void **state)
{
    (void)state;
    static double y[GRID], width[GRID];
    for (size_t k = 0; k < SPACES; k++) {
        gess__bounds bounds;
        gess__reference *r = NULL;
        double limits[BINS - 1], below = 0.0, draw[2];
        size_t counts[2][BINS] = {{0}}, next = 0;
        open_space(&bounds, &r, &spaces[k]);
        set_grid(&spaces[k], r, y, width);
        for (size_t i = 0; i < GRID && next < BINS - 1; i++) {
            double more = density(r, y[i]) * width[i], wanted = (double)(next + 1) / BINS;
            if (below + more >= wanted) limits[next++] = y[i] + ((wanted - below) / more - 0.5) * width[i];
            below += more;
        }
        assert_int_equal(next, BINS - 1);
        for (uint32_t i = 0; i < DRAWS; i++) {
            gess__reference_draw(r, (gess__key){.seed = 3, .chain = i, .purpose = GESS__FOR_REFERENCE}, draw);
            for (size_t j = 0; j < r->dim; j++) counts[j][bin_of(limits, draw[j])]++;
        }
        for (size_t j = 0; j < r->dim; j++) {
            double square = 0.0, expected = (double)DRAWS / BINS;
            for (size_t b = 0; b < BINS; b++)
                square += ((double)counts[j][b] - expected) * ((double)counts[j][b] - expected) / expected;
            if (!(square < 57.0)) fail_msg("%s: χ² is %g", spaces[k].name, square); /* p = 1e-5, 19 degrees */
        }
        close_space(&bounds, r);
    }
}

/* Between bounds and on a circle a draw is uniform in the user's parameter: the density is the Jacobian of the bounds,
 * apart from a constant. */
static void uniform_between_bounds(void **state)
{
    (void)state;
    for (size_t k = 0; k < SPACES; k++) {
        const space *s = &spaces[k];
        gess__bounds bounds;
        gess__reference *r = NULL;
        double y[2], x, mean = 0.0;
        open_space(&bounds, &r, s);
        int box = s->kind != GESS__REFERENCE_T;
        assert_int_equal(gess__reference_is_box(r), box);
        for (uint32_t i = 0; box && i < DRAWS; i++) {
            gess__reference_draw(r, (gess__key){.seed = 4, .chain = i, .purpose = GESS__FOR_REFERENCE}, y);
            double jacobian = gess__bounds_out(&bounds, y, &x), constant = s->periodic ? 2.0 * PI : s->upper - s->lower;
            assert_true(x > s->lower && x < s->upper);
            assert_true(fabs(gess__reference_log(r, y) - jacobian + log(constant)) < 1e-9);
            mean += (x - s->lower) / (s->upper - s->lower) / DRAWS;
        }
        if (box) assert_true(fabs(mean - 0.5) < 5.0 / sqrt(12.0 * DRAWS));
        close_space(&bounds, r);
    }
}

static void outside_a_box(void **state)
{
    (void)state;
    gess__bounds bounds;
    gess__reference *r = NULL;
    open_space(&bounds, &r, &spaces[5]);
    assert_true(gess__reference_log(r, &(double){-1.001}) == -INFINITY);
    assert_true(gess__reference_log(r, &(double){3.001}) == -INFINITY);
    assert_true(gess__reference_log(r, &(double){NAN}) == -INFINITY);
    assert_true(fabs(gess__reference_log(r, &(double){0.3}) + log(4.0)) < 1e-12);
    close_space(&bounds, r);
}

static void fit_to_starts(void **state)
{
    (void)state;
    gess__bounds bounds;
    gess__reference *r = NULL;
    static const double same[] = {-7.0, -7.0, -7.0}, zero[] = {0.0};
    open_space(&bounds, &r, &spaces[0]);
    assert_true(fabs(r->centre[0] - 1.5) < 1e-12 && fabs(r->scale[0] - 1.2 * 2.0) < 1e-12);
    gess__reference_fit(r, 3, same); /* starts that do not differ: as broad as they are far from 0 */
    assert_true(r->centre[0] == -7.0 && r->scale[0] == 7.0);
    gess__reference_fit(r, 1, zero);
    assert_true(r->centre[0] == 0.0 && r->scale[0] == 1.0);
    close_space(&bounds, r);
    open_space(&bounds, &r, &spaces[3]); /* nothing to fit between bounds */
    assert_true(r->centre[0] == 0.0 && r->scale[0] == 1.0);
    close_space(&bounds, r);
}

static void there_and_back(void **state)
{
    (void)state;
    gess__bounds bounds;
    gess__reference *r = NULL;
    gess__archive a = {0};
    open_space(&bounds, &r, &spaces[0]);
    r->power = 0.25;
    double before = gess__reference_log(r, &(double){0.3}), centre = r->centre[0];
    gess__reference_archive(r, &a);
    r->power = 1.0;
    gess__reference_fit(r, 1, &(double){40.0});
    a.reading = 1;
    gess__reference_archive(r, &a);
    assert_false(a.bad);
    assert_int_equal(a.at, a.size);
    assert_true(r->power == 0.25 && r->centre[0] == centre);
    assert_true(gess__reference_log(r, &(double){0.3}) == before);
    /* power, centre and scale that are impossible are refused */
    static const double bad[][3] = {{0.0, 0.0, 1.0},      {1.5, 0.0, 1.0}, {NAN, 0.0, 1.0},  {0.5, NAN, 1.0},
                                    {0.5, INFINITY, 1.0}, {0.5, 0.0, 0.0}, {0.5, 0.0, -1.0}, {0.5, 0.0, NAN},
                                    {0.5, 0.0, INFINITY}, {-0.5, 0.0, 1.0}};
    assert_int_equal(a.size, sizeof bad[0]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        memcpy(a.bytes, bad[i], sizeof bad[i]);
        a.at = 0;
        a.bad = 0;
        gess__reference_archive(r, &a);
        assert_true(a.bad);
    }
    gess__archive_free(&a);
    close_space(&bounds, r);
}

/* The annealed target is β log π + (1 − β) log reference in the space y, and gives log π back. */
static void annealed_target(void **state)
{
    (void)state;
    for (size_t k = 0; k < SPACES; k++) {
        const space *s = &spaces[k];
        gess_error err = {0};
        gess_model m = {.dim = 1, .logp = logp, .lower = &s->lower, .upper = &s->upper, .periodic = &s->periodic};
        gess__target target;
        double y[2] = {s->lower > 0.0 ? 2.3 : 0.4, -0.8}, raw, value, scratch[64];
        assert_int_equal(gess__target_init(&target, &m, s->transform, &err), GESS_OK);
        assert_int_equal(gess__target_anneal(&target, &err), GESS_OK);
        assert_true(gess__target_scratch(&target, 1) <= 64);
        gess__reference_fit(target.reference, 4 / target.dim, points);
        assert_int_equal(gess__target_evaluate(&target, 0, 1, y, &raw, NULL, NULL, scratch, &err), GESS_OK);
        assert_true(gess__target_unannealed(&target, y, raw) == raw);
        target.reference->power = 0.3;
        assert_int_equal(gess__target_evaluate(&target, 0, 1, y, &value, NULL, NULL, scratch, &err), GESS_OK);
        assert_true(fabs(value - 0.3 * raw - 0.7 * gess__reference_log(target.reference, y)) < 1e-12);
        assert_true(fabs(gess__target_unannealed(&target, y, value) - raw) < 1e-12);
        gess__target_free(&target);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integrates_to_one),      cmocka_unit_test(integrates_to_one_in_two_dimensions),
        cmocka_unit_test(draws_have_the_density), cmocka_unit_test(uniform_between_bounds),
        cmocka_unit_test(outside_a_box),          cmocka_unit_test(fit_to_starts),
        cmocka_unit_test(there_and_back),         cmocka_unit_test(annealed_target),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
