/* Clusters of points with known log densities: separate clouds are found, one cloud of any shape is one cluster;
 * copies, ties and few points. */
#include "explore/clusters.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_POINTS = 6000, MAX_DIM = 6, MAX = 32 };

typedef struct cloud {
    size_t n, dim;
    double points[MAX_POINTS * MAX_DIM], values[MAX_POINTS];
    size_t origin[MAX_POINTS]; /* which Gaussian a point was drawn from */
    gess__clusters *found;
} cloud;

static cloud *make(size_t dim)
{
    gess_error err = {0};
    cloud *c = calloc(1, sizeof *c);
    assert_non_null(c);
    c->dim = dim;
    assert_int_equal(gess__clusters_new(&c->found, MAX_POINTS, dim, &err), GESS_OK);
    return c;
}

static void release(cloud *c)
{
    gess__clusters_free(c->found);
    free(c);
}

/* Adds n points of a Gaussian around (centre, ..., centre) whose coordinate k has the standard deviation
 * sd · unit^k; `weight` is its share of the mass. */
static void add(cloud *c, size_t n, double centre, double sd, double unit, double weight, size_t origin)
{
    for (size_t i = 0; i < n; i++, c->n++) {
        double *x = c->points + c->n * c->dim, scale = sd, value = log(weight);
        gess__normals((gess__key){.seed = 9, .iteration = c->n, .chain = 1, .purpose = GESS__FOR_TEST}, c->dim, x);
        for (size_t k = 0; k < c->dim; k++, scale *= unit) {
            value -= 0.5 * x[k] * x[k] + log(scale);
            x[k] = centre * scale / sd + scale * x[k];
        }
        c->values[c->n] = value;
        c->origin[c->n] = origin;
    }
}

static size_t find(cloud *c, size_t least, size_t max)
{
    gess__clusters *f = c->found;
    size_t sum = 0;
    gess__clusters_find(f, c->n, c->points, c->values, least, max);
    assert_in_range(f->count, 1, max);
    for (size_t k = 0; k < f->count; k++) {
        size_t size = 0;
        for (size_t i = 0; i < c->n; i++) size += f->label[i] == k;
        assert_int_equal(size, f->size[k]);
        assert_true(size > 0);
        sum += size;
    }
    assert_int_equal(sum, c->n); /* so every label is below the count */
    return f->count;
}

/* Every cluster is one of the Gaussians. */
static void assert_origins(const cloud *c)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t j = i % 97; j < c->n; j += 97)
            assert_true((c->found->label[i] == c->found->label[j]) == (c->origin[i] == c->origin[j]));
}

static void separate_clouds(void **state)
{
    (void)state;
    static const size_t dims[] = {1, 2, 6}, counts[] = {2, 3, 8};
    for (size_t d = 0; d < 3; d++)
        for (size_t k = 0; k < 3; k++) {
            cloud *c = make(dims[d]);
            for (size_t j = 0; j < counts[k]; j++) add(c, 300, 12.0 * (double)j, 1.0, 1.0, 1.0, j);
            if (find(c, 20, MAX) != counts[k])
                fail_msg("%zu clusters of %zu clouds in %zu dimensions", c->found->count, counts[k], dims[d]);
            assert_origins(c);
            release(c);
        }
}

/* A wide and a narrow cloud, coordinates in units that differ by a million, and a small cloud. */
static void unlike_clouds(void **state)
{
    (void)state;
    cloud *c = make(3);
    add(c, 1500, 0.0, 1.0, 1.0, 0.9, 0);
    add(c, 60, 8.0, 0.05, 1.0, 0.1, 1);
    assert_int_equal(find(c, 20, MAX), 2);
    assert_origins(c);
    assert_true(c->found->size[0] == 1500 && c->found->size[1] == 60); /* the largest is number 0 */
    release(c);
    c = make(2);
    add(c, 400, 0.0, 1e-3, 1e6, 0.5, 0);
    add(c, 800, 0.012, 1e-3, 1e6, 0.5, 1);
    assert_int_equal(find(c, 20, MAX), 2);
    assert_origins(c);
    assert_int_equal(c->found->size[0], 800);
    release(c);
}

static void one_cloud(void **state)
{
    (void)state;
    for (size_t dim = 1; dim <= MAX_DIM; dim++)
        for (size_t n = 200; n <= (dim == 1 ? 5000 : 1000); n *= 5) {
            cloud *c = make(dim);
            add(c, n, 3.0, 1.0, 1.0, 1.0, 0);
            if (find(c, n / 50, MAX) != 1)
                fail_msg("%zu clusters of %zu points in %zu dimensions", c->found->count, n, dim);
            release(c);
        }
}

static void one_bent_cloud(void **state)
{
    (void)state;
    cloud *c = make(2);
    add(c, 3000, 0.0, 1.0, 1.0, 1.0, 0);
    for (size_t i = 0; i < c->n; i++) c->points[2 * i + 1] += 2.0 * c->points[2 * i] * c->points[2 * i];
    assert_int_equal(find(c, 60, MAX), 1);
    release(c);
}

/* Particles after resampling: every point several times, some very often. */
static void copies(void **state)
{
    (void)state;
    for (size_t clouds = 1; clouds <= 2; clouds++) {
        cloud *c = make(2);
        for (size_t j = 0; j < clouds; j++) add(c, 300, 15.0 * (double)j, 1.0, 1.0, 1.0, j);
        size_t n = c->n;
        for (size_t i = 0; i < n; i++)
            for (size_t copy = i % 50 == 0 ? 40 : 3; copy > 0; copy--, c->n++) {
                memcpy(c->points + c->n * 2, c->points + i * 2, 2 * sizeof *c->points);
                c->values[c->n] = c->values[i];
                c->origin[c->n] = c->origin[i];
            }
        assert_int_equal(find(c, 40, MAX), clouds);
        assert_origins(c);
        release(c);
    }
}

static void small_clouds_join(void **state)
{
    (void)state;
    cloud *c = make(2);
    add(c, 500, 0.0, 1.0, 1.0, 0.9, 0);
    add(c, 400, 20.0, 1.0, 1.0, 0.9, 1);
    add(c, 12, 60.0, 1.0, 1.0, 0.1, 2);
    assert_int_equal(find(c, 5, MAX), 3);
    assert_origins(c);
    assert_int_equal(find(c, 20, MAX), 2);
    assert_int_equal(find(c, 5, 2), 2);
    assert_int_equal(c->found->size[0] + c->found->size[1], 912);
    assert_int_equal(find(c, 5, 1), 1);
    release(c);
}

/* Equal log densities, equal points, and so few points that nothing can be said of them. */
static void degenerate(void **state)
{
    (void)state;
    cloud *c = make(2);
    add(c, 500, 0.0, 1.0, 1.0, 1.0, 0);
    add(c, 500, 30.0, 1.0, 1.0, 1.0, 1);
    for (size_t i = 0; i < c->n; i++) c->values[i] = 0.0;
    find(c, 20, MAX);
    for (size_t i = 0; i < 500; i++) /* no cluster has points of both */
        for (size_t j = 500; j < 1000; j++) assert_true(c->found->label[i] != c->found->label[j]);
    for (size_t i = 0; i < 2 * c->n; i++) c->points[i] = 4.0;
    assert_int_equal(find(c, 20, MAX), 1);
    release(c);
    for (size_t n = 1; n <= 12; n++) {
        c = make(3);
        add(c, n, 0.0, 1.0, 1.0, 1.0, 0);
        assert_true(find(c, 20, MAX) <= n);
        find(c, 1, 1);
        release(c);
    }
}

static void the_same_every_time(void **state)
{
    (void)state;
    static uint32_t labels[MAX_POINTS];
    cloud *c = make(4);
    for (size_t j = 0; j < 3; j++) add(c, 2000, 9.0 * (double)j, 1.0 + (double)j, 1.0, 1.0, j);
    assert_int_equal(find(c, 60, MAX), 3); /* more points than links are computed for */
    memcpy(labels, c->found->label, sizeof labels);
    memset(c->found->label, 0xff, sizeof labels);
    find(c, 60, MAX);
    assert_memory_equal(labels, c->found->label, sizeof labels);
    release(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separate_clouds), cmocka_unit_test(unlike_clouds),
        cmocka_unit_test(one_cloud),       cmocka_unit_test(one_bent_cloud),
        cmocka_unit_test(copies),          cmocka_unit_test(small_clouds_join),
        cmocka_unit_test(degenerate),      cmocka_unit_test(the_same_every_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
