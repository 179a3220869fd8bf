/* Outliers: points that are a few per cent higher than their neighbours are found, whatever the smooth density around
 * them is like; trails keep the points evaluated last. */
#include "explore/outliers.h"

#include "chains/state.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 3000 };

static double x[N * GESS__OUTLIERS_MAX_DIM], values[N];

static void draw_normals(size_t dim)
{
    uint64_t state = 1;
    for (size_t i = 0; i < N * dim; i++) {
        double sum = -6.0; /* of twelve uniform numbers */
        for (int k = 0; k < 12; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sum += (double)(state >> 11) * 0x1p-53;
        }
        x[i] = sum;
    }
}

static double normal(size_t dim, const double *y)
{
    double value = 0.0;
    for (size_t k = 0; k < dim; k++) value -= 0.5 * y[k] * y[k];
    return value;
}

static double banana(size_t dim, const double *y)
{
    double bent = y[1] + y[0] * y[0];
    (void)dim;
    return -0.5 * y[0] * y[0] - 0.5 * bent * bent;
}

static double kinked(size_t dim, const double *y)
{
    double value = 0.0;
    for (size_t k = 0; k < dim; k++) value -= fabs(y[k]);
    return value;
}

static void set_values(size_t dim, double (*log_density)(size_t, const double *))
{
    draw_normals(dim);
    for (size_t i = 0; i < N; i++) values[i] = log_density(dim, x + i * dim);
}

static gess__outliers find(size_t dim)
{
    gess__outliers found;
    gess_error err = {0};
    if (gess__outliers_find(N, dim, x, values, &found, &err) != GESS_OK) fail_msg("%s", err.text);
    return found;
}

static void smooth_densities_have_none(void **state)
{
    (void)state;
    for (size_t dim = 1; dim <= GESS__OUTLIERS_MAX_DIM; dim++) {
        set_values(dim, normal);
        assert_int_equal(find(dim).count, 0);
    }
    memset(x, 0, sizeof x); /* one point, N times */
    assert_int_equal(find(2).count, 0);
    for (size_t i = 0; i < N; i++) { /* on a line */
        x[2 * i] = x[2 * i + 1] = (double)i;
        values[i] = (double)((i * 37) % 11);
    }
    assert_int_equal(find(2).count, 0);
    for (size_t i = 0; i < N; i++) values[i] = i % 2 == 0 ? -1e308 : 1e308;
    draw_normals(2);
    assert_int_equal(find(2).count, 0);
}

/* A point near the centre is a few per cent too high, or two that share a cell. */
static void a_few_per_cent_are_found(void **state)
{
    (void)state;
    for (size_t dim = 1; dim <= GESS__OUTLIERS_MAX_DIM; dim++) {
        set_values(dim, normal);
        values[77] += 0.04;
        gess__outliers found = find(dim);
        assert_int_equal(found.count, 1);
        assert_int_equal(found.row[0], 77);
        values[77] -= 0.08; /* too low: no mode */
        assert_int_equal(find(dim).count, 0);
    }
    set_values(2, normal);
    x[2 * 5] = 0.700, x[2 * 5 + 1] = 0.65;
    x[2 * 9] = 0.703, x[2 * 9 + 1] = 0.66;
    values[5] = normal(2, x + 2 * 5) + 0.06;
    values[9] = normal(2, x + 2 * 9) + 0.05;
    gess__outliers found = find(2);
    assert_int_equal(found.count, 1); /* one per cell */
    assert_true(found.row[0] == 5 || found.row[0] == 9);
    set_values(2, banana);
    size_t hits = 0;
    for (size_t i = 0; i < 100; i++) {
        values[i] += 0.06;
        found = find(2);
        for (size_t k = 0; k < found.count; k++) hits += found.row[k] == i;
        values[i] -= 0.06;
    }
    if (hits < 75) fail_msg("%zu of 100 points were found", hits);
}

/* Where the density has kinks, the worst explained points come first, and there are not many. */
static void they_come_in_order(void **state)
{
    (void)state;
    set_values(2, kinked);
    for (size_t i = 0; i < 3; i++) values[100 * i] += 1.0 + (double)i;
    gess__outliers found = find(2);
    assert_in_range(found.count, 3, GESS__OUTLIERS);
    for (size_t k = 1; k < found.count; k++) assert_true(found.score[k] <= found.score[k - 1]);
    size_t hits = 0;
    for (size_t k = 0; k < found.count; k++) hits += found.row[k] % 100 == 0 && found.row[k] <= 200;
    assert_int_equal(hits, 3);
}

static void trails_keep_the_last_points(void **state)
{
    (void)state;
    gess_error err = {0};
    gess__archive archive = {0};
    gess__chains c = {.count = 3, .dim = 2}, d = {.count = 3, .dim = 2}, high = {.count = 1, .dim = 5};
    assert_int_equal(gess__chains_new(&c, 0, &err), GESS_OK);
    assert_int_equal(gess__chains_new(&d, 0, &err), GESS_OK);
    assert_int_equal(gess__chains_new(&high, 0, &err), GESS_OK);
    assert_true(c.trail_points == GESS__TRAIL_POINTS && high.trail_points == 0);
    for (int i = 0; i < GESS__TRAIL_POINTS + 5; i++) {
        double point[5] = {i, -i};
        gess__chains_note_trail(&c, 1, point, 0.5 * i);
        gess__chains_note_trail(&c, 1, point, -INFINITY); /* not kept */
        gess__chains_note_trail(&high, 0, point, 0.0);
    }
    double last[2] = {7.0, 8.0};
    gess__chains_note_trail(&c, 2, last, 9.0);
    assert_true(c.trail_count[0] == 0 && c.trail_count[1] == GESS__TRAIL_POINTS + 5 && c.trail_count[2] == 1);
    const double *rows = c.trail + 3 * c.trail_points;
    for (int i = 5; i < GESS__TRAIL_POINTS + 5; i++) {
        const double *row = rows + 3 * (i % GESS__TRAIL_POINTS);
        assert_true(row[0] == i && row[1] == -i && row[2] == 0.5 * i);
    }
    gess__chains_archive(&c, 0, 3, &archive);
    archive.reading = 1;
    gess__chains_archive(&d, 0, 3, &archive);
    assert_true(!archive.bad && archive.at == archive.size);
    assert_memory_equal(c.trail_count, d.trail_count, 3 * sizeof *c.trail_count);
    assert_memory_equal(c.trail, d.trail, 3 * 3 * c.trail_points * sizeof *c.trail);
    gess__chains_forget_peaks(&c);
    assert_true(c.trail_count[1] == 0 && c.trail_count[2] == 0);
    gess__archive_free(&archive);
    gess__chains_free(&c);
    gess__chains_free(&d);
    gess__chains_free(&high);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_densities_have_none),
        cmocka_unit_test(a_few_per_cent_are_found),
        cmocka_unit_test(they_come_in_order),
        cmocka_unit_test(trails_keep_the_last_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
