/* Learned maps: invertible, right Jacobians, the same bits in any batch, archived whole or refused; and that learning
 * finds what is there and nothing else. */
#include "base/linalg.h"
#include "base/rng.h"
#include "transform/layers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static double *doubles(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static void normals(uint32_t chain, size_t n, double *out)
{
    gess__normals((gess__key){.seed = 77, .chain = chain, .purpose = GESS__FOR_TEST}, n, out);
}

static gess__learned *new_map(size_t dim)
{
    gess_error err = {0};
    gess__learned *map;
    assert_int_equal(gess__learned_new(&map, dim, &err), GESS_OK);
    return map;
}

/* ---- random maps ---- */

static uint32_t below(const double **r, size_t limit)
{
    return (uint32_t)(fabs(*(*r)++) * 1e6) % (uint32_t)limit;
}

/* Coordinates are mapped in a random order, each by earlier ones. */
static void random_scale(gess__layer *layer, size_t dim, const double *r)
{
    uint32_t order[64];
    for (size_t i = 0; i < dim; i++) order[i] = (uint32_t)i;
    for (size_t i = dim; i-- > 1;) {
        uint32_t k = below(&r, i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    layer->kind = GESS__SCALE_LAYER;
    layer->count = (uint32_t)(dim - 1);
    for (size_t i = 0; i < dim; i++) layer->centre[i] = *r++;
    for (size_t p = 0; p + 1 < dim; p++) {
        gess__scale_step s = {.at = order[p + 1], .means = below(&r, 4), .scales = below(&r, 4), .bends = below(&r, 2)};
        for (size_t j = 0; j < s.means; j++) {
            s.mean_from[j] = order[below(&r, p + 1)];
            s.mean[j] = *r++;
        }
        for (size_t j = 0; j < s.scales; j++) {
            s.scale_from[j] = order[below(&r, p + 1)];
            s.scale[j] = 0.5 * *r++;
        }
        s.bend_from = order[below(&r, p + 1)];
        s.bend = 0.1 * *r++;
        s.shift = *r++;
        s.spread = exp(*r++);
        s.saturated = below(&r, 2);
        if (s.saturated) {
            s.cap = exp(*r++);
            s.floor = fmax(*r++, 0.0);
            s.pull = *r++;
            for (size_t j = 0; j < s.means; j++) s.pull_slope[j] = *r++;
        }
        layer->steps[p] = s;
    }
}

static gess__warp random_warp(const double *r)
{
    gess__warp w = {.shift = 0.3 * r[0], .spread = exp(0.3 * r[1]), .tilt = 0.5 * r[2], .power = exp(0.3 * r[3])};
    w.lean = 0.5 * w.power * tanh(r[4]);
    return w;
}

/* Directions of a random orthogonal frame, stretched. */
static void random_skew(gess__layer *layer, size_t dim, size_t count, const double *r)
{
    layer->kind = GESS__SKEW_LAYER;
    layer->count = (uint32_t)count;
    for (size_t i = 0; i < dim; i++) layer->centre[i] = *r++;
    for (size_t j = 0; j < count; j++) {
        double *row = layer->rows + j * dim, *column = layer->columns + j * dim, size = 0.0, factor = exp(*r++);
        memcpy(row, r, dim * sizeof *r);
        r += dim;
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < j; k++) {
                double dot = 0.0, *other = layer->columns + k * dim, norm = 0.0;
                for (size_t i = 0; i < dim; i++) dot += row[i] * other[i];
                for (size_t i = 0; i < dim; i++) norm += other[i] * other[i];
                for (size_t i = 0; i < dim; i++) row[i] -= dot / norm * other[i];
            }
        for (size_t i = 0; i < dim; i++) size += row[i] * row[i];
        for (size_t i = 0; i < dim; i++) column[i] = row[i] / sqrt(size) * factor;
        for (size_t i = 0; i < dim; i++) row[i] /= sqrt(size) * factor;
        layer->warps[j] = random_warp(r);
        r += 5;
    }
}

/* Every second or third coordinate. */
static void random_coordinates(gess__layer *layer, size_t dim, const double *r)
{
    layer->kind = GESS__WARP_LAYER;
    layer->count = 0;
    for (size_t i = 0; i < dim; i++) layer->centre[i] = *r++;
    for (size_t i = 0; i < dim; i += 2 + below(&r, 2)) {
        layer->at[layer->count] = (uint32_t)i;
        layer->warps[layer->count++] = random_warp(r);
        r += 5;
    }
}

/* kinds: a letter for each layer, 's' (scale), 'k' (skew) or 'w' (warp). */
static gess__learned *random_map(size_t dim, const char *kinds, uint32_t seed)
{
    gess__learned *map = new_map(dim);
    double *r = doubles(2000 + 2 * dim * dim);
    for (size_t i = 0; kinds[i] != 0; i++) {
        gess__layer *layer = &map->layers[i];
        normals(1000 * seed + (uint32_t)i, 2000 + 2 * dim * dim, r);
        if (kinds[i] == 's')
            random_scale(layer, dim, r);
        else if (kinds[i] == 'w')
            random_coordinates(layer, dim, r);
        else
            random_skew(layer, dim, dim < 6 ? dim : 5, r);
        assert_true(gess__layer_possible(layer, dim));
        gess__layer_finish(layer);
        map->count++;
    }
    free(r);
    return map;
}

static const char *const mixtures[] = {"", "s", "k", "w", "sk", "ks", "sw", "swk", "skks", "wksw"};
enum { MIXTURES = sizeof mixtures / sizeof *mixtures };

/* ---- applying ---- */

static void there_and_back(void **state)
{
    (void)state;
    enum { N = 100 };
    for (size_t m = 0; m < MIXTURES; m++)
        for (size_t dim = 2; dim < 40; dim += 7) {
            gess__learned *map = random_map(dim, mixtures[m], (uint32_t)(10 * m + dim));
            double *y = doubles(N * dim), *w = doubles(N * dim), *back = doubles(N * dim), *near = doubles(N * dim);
            double *scratch = doubles(gess__learned_scratch(map, N)), size[N] = {0}, in[N], out[N], moved[N];
            normals(5, N * dim, y);
            size_t layers = map->count;
            for (map->count = 0; map->count <= layers; map->count++) { /* the largest number on the way */
                gess__learned_in(map, N, y, w, in, scratch);
                for (size_t i = 0; i < N * dim; i++) size[i / dim] = fmax(size[i / dim], fabs(w[i]));
            }
            map->count = layers;
            gess__learned_out(map, N, w, back, out, scratch);
            for (size_t i = 0; i < N * dim; i++) w[i] *= 1.0 + 1e-12;
            gess__learned_out(map, N, w, near, moved, scratch);
            for (size_t j = 0; j < N; j++) { /* to 1e-10, or as well as w to 12 digits determines it */
                double error = 0.0, loose = 0.0;
                for (size_t i = j * dim; i < (j + 1) * dim; i++) {
                    error = fmax(error, fabs(back[i] - y[i]));
                    loose = fmax(loose, fabs(near[i] - back[i]));
                }
                assert_true(error <= 1e-10 * size[j] + loose);
                assert_true(fabs(in[j] + out[j]) <= 1e-10 * (size[j] + fabs(in[j])) + fabs(moved[j] - out[j]));
            }
            free(near);
            free(y);
            free(w);
            free(back);
            free(scratch);
            gess__learned_free(map);
        }
}

/* One step from layers.h, by the formulas there. */
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

static void scale_steps_by_hand(void **state)
{
    (void)state;
    enum { N = 50 };
    for (size_t dim = 2; dim < 40; dim += 3) {
        gess__learned *map = random_map(dim, "s", (uint32_t)dim);
        const gess__layer *layer = &map->layers[0];
        double *y = doubles(N * dim), *w = doubles(N * dim), *scratch = doubles(gess__learned_scratch(map, N)), jac[N];
        normals(6, N * dim, y);
        gess__learned_in(map, N, y, w, jac, scratch);
        for (size_t j = 0; j < N; j++)
            for (size_t p = 0; p < layer->count; p++) {
                double expected = step_by_hand(layer, &layer->steps[p], y + j * dim);
                assert_true(fabs(w[j * dim + layer->steps[p].at] - expected) <= 1e-11 * (1.0 + fabs(expected)));
            }
        free(y);
        free(w);
        free(scratch);
        gess__learned_free(map);
    }
}

static double determinant(const double a[9])
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

typedef void applied(const gess__learned *, size_t, const double *, double *, double *, double *);

static void check_jacobian(applied *apply, const gess__learned *map, const double *x)
{
    enum { DIM = 3 };
    double steps[2 * DIM * DIM], out[2 * DIM * DIM], unused[2 * DIM], at[DIM], value, matrix[DIM * DIM];
    double scratch[512];
    const double h = 1e-5;
    assert_true(gess__learned_scratch(map, 2 * DIM) <= 512);
    for (size_t k = 0; k < DIM; k++)
        for (size_t i = 0; i < DIM; i++) {
            steps[(2 * k) * DIM + i] = x[i] + (i == k ? h : 0.0);
            steps[(2 * k + 1) * DIM + i] = x[i] - (i == k ? h : 0.0);
        }
    apply(map, 1, x, at, &value, scratch);
    apply(map, (size_t)2 * DIM, steps, out, unused, scratch);
    for (size_t k = 0; k < DIM; k++)
        for (size_t i = 0; i < DIM; i++)
            matrix[k * DIM + i] = (out[(2 * k) * DIM + i] - out[(2 * k + 1) * DIM + i]) / (2.0 * h);
    assert_true(fabs(log(fabs(determinant(matrix))) - value) < 1e-5);
}

static void jacobians(void **state)
{
    (void)state;
    for (size_t m = 0; m < MIXTURES; m++)
        for (uint32_t trial = 0; trial < 5; trial++) {
            gess__learned *map = random_map(3, mixtures[m], 100 + trial);
            double x[30];
            normals(trial, 30, x);
            for (size_t j = 0; j < 10; j++) {
                for (size_t i = 0; i < 3; i++) x[3 * j + i] *= 0.5;
                check_jacobian(gess__learned_out, map, x + 3 * j);
                check_jacobian(gess__learned_in, map, x + 3 * j);
            }
            gess__learned_free(map);
        }
}

/* One warp at a time, on a grid that reaches far out and with all the lean there may be: inverse to 1e-10, slopes those
 * of differences. */
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
        if (fabs(v) > 1e-3 * in * (1.0 + fabs(x))) /* differences have digits */
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

/* Without lean: the sinh-arcsinh warp. With it: other powers far out. */
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

static void same_bits_in_any_batch(void **state)
{
    (void)state;
    enum { N = 37 };
    const size_t batches[] = {1, 2, 3, 7, 8, 9, 16, 36};
    for (size_t m = 0; m < MIXTURES; m++)
        for (size_t dim = 2; dim < 20; dim += 5) {
            gess__learned *map = random_map(dim, mixtures[m], 200);
            double *x = doubles(N * dim), *all = doubles(N * dim), *part = doubles(N * dim), j_all[N], j_part[N];
            double *scratch = doubles(gess__learned_scratch(map, N));
            applied *const both[] = {gess__learned_out, gess__learned_in};
            normals(6, N * dim, x);
            for (size_t f = 0; f < 2; f++) {
                both[f](map, N, x, all, j_all, scratch);
                for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
                    for (size_t j = 0; j < N; j += batches[b]) {
                        size_t n = N - j < batches[b] ? N - j : batches[b];
                        both[f](map, n, x + j * dim, part + j * dim, j_part + j, scratch);
                    }
                    assert_memory_equal(all, part, N * dim * sizeof *all);
                    assert_memory_equal(j_all, j_part, sizeof j_all);
                }
            }
            free(x);
            free(all);
            free(part);
            free(scratch);
            gess__learned_free(map);
        }
}

static void extreme_points(void **state)
{
    (void)state;
    const double extremes[] = {1e300, -1e300, 1e155, -1e100, INFINITY, -INFINITY, NAN, 0.0, 1e-310, 1.0};
    enum { DIM = 7, KINDS = sizeof extremes / sizeof *extremes, N = 500 };
    applied *const both[] = {gess__learned_out, gess__learned_in};
    for (size_t m = 0; m < MIXTURES; m++) {
        gess__learned *map = random_map(DIM, mixtures[m], 300);
        double x[N * DIM], y[N * DIM], j[N], normal[N * DIM], *scratch = doubles(gess__learned_scratch(map, N));
        int infinite = 0;
        normals(9, (size_t)N * DIM, normal);
        for (size_t i = 0; i < (size_t)N * DIM; i++) {
            const double *r = normal + i;
            uint32_t which = below(&r, (size_t)2 * KINDS);
            x[i] = which < KINDS ? extremes[which] : normal[i];
        }
        for (size_t f = 0; f < 2; f++) {
            both[f](map, N, x, y, j, scratch);
            for (size_t i = 0; i < (size_t)N * DIM; i++) assert_true(isfinite(y[i]));
            for (size_t i = 0; i < N; i++) assert_true(isfinite(j[i]) || j[i] == -INFINITY);
            for (size_t i = 0; i < N; i++) infinite += j[i] == -INFINITY;
        }
        assert_true(infinite > 0);
        free(scratch);
        gess__learned_free(map);
    }
}

static void identity_leaves_the_bits(void **state)
{
    (void)state;
    gess__learned *map = new_map(5);
    double x[15], y[15], j[3], *scratch = doubles(gess__learned_scratch(map, 3));
    char text[64];
    normals(4, 15, x);
    gess__learned_out(map, 3, x, y, j, scratch);
    assert_memory_equal(x, y, sizeof x);
    for (size_t i = 0; i < 3; i++) assert_true(j[i] == 0.0);
    gess__learned_describe(map, text, sizeof text);
    assert_string_equal(text, "none");
    free(scratch);
    gess__learned_free(map);
}

/* ---- archives ---- */

static void same_map(const gess__learned *a, const gess__learned *b, size_t dim)
{
    enum { N = 9 };
    double *x = doubles(N * dim), *y = doubles(N * dim), *z = doubles(N * dim), ja[N], jb[N];
    double *scratch = doubles(gess__learned_scratch(a, N));
    normals(8, N * dim, x);
    gess__learned_out(a, N, x, y, ja, scratch);
    gess__learned_out(b, N, x, z, jb, scratch);
    assert_memory_equal(y, z, N * dim * sizeof *y);
    assert_memory_equal(ja, jb, sizeof ja);
    free(x);
    free(y);
    free(z);
    free(scratch);
}

static void archived_and_copied(void **state)
{
    (void)state;
    for (size_t m = 0; m < MIXTURES; m++) {
        gess__learned *map = random_map(6, mixtures[m], 400), *read = random_map(6, "k", 401), *copy = new_map(6);
        gess__archive archive = {0};
        char text[128], other[128];
        gess__learned_archive(map, &archive);
        archive.reading = 1;
        gess__learned_archive(read, &archive);
        assert_false(archive.bad);
        assert_int_equal(archive.at, archive.size);
        same_map(map, read, 6);
        gess__learned_copy(copy, map);
        same_map(map, copy, 6);
        gess__learned_describe(map, text, sizeof text);
        gess__learned_describe(read, other, sizeof other);
        assert_string_equal(text, other);
        assert_int_equal(gess__learned_layers(read), strlen(mixtures[m]));
        for (size_t size = 0; size < archive.size; size++) { /* cut short */
            gess__archive cut = archive;
            cut.size = size;
            cut.at = 0;
            gess__learned_archive(read, &cut);
            assert_true(cut.bad);
            assert_int_equal(gess__learned_layers(read), 0);
        }
        gess__archive_free(&archive);
        gess__learned_free(map);
        gess__learned_free(read);
        gess__learned_free(copy);
    }
}

/* Whether what a damaged map writes is refused; sets the map free. */
static void refused(gess__learned *map)
{
    gess__learned *read = new_map(4);
    gess__archive archive = {0};
    gess__learned_archive(map, &archive);
    archive.reading = 1;
    gess__learned_archive(read, &archive);
    assert_true(archive.bad);
    assert_int_equal(gess__learned_layers(read), 0);
    gess__archive_free(&archive);
    gess__learned_free(read);
    gess__learned_free(map);
}

#define REFUSED(kinds, change)                             \
    do {                                                   \
        gess__learned *map = random_map(4, (kinds), 500);  \
        gess__layer *layer = &map->layers[map->count - 1]; \
        change;                                            \
        refused(map);                                      \
    } while (0)

static void damage_is_refused(void **state)
{
    (void)state;
    REFUSED("s", layer->kind = 4);
    REFUSED("s", layer->kind = 0);
    REFUSED("s", layer->count = 0);
    REFUSED("s", layer->centre[2] = NAN);
    REFUSED("ks", layer->steps[1].at = 4);
    REFUSED("s", layer->steps[1].at = layer->steps[0].at);
    REFUSED("s", layer->steps[1].means = 4);
    REFUSED("s", layer->steps[1].scales = 4);
    REFUSED("s", layer->steps[1].bends = 2);
    REFUSED("s", layer->steps[1].spread = 0.0);
    REFUSED("s", layer->steps[1].spread = -1.0);
    REFUSED("s", layer->steps[1].spread = INFINITY);
    REFUSED("s", layer->steps[1].shift = NAN);
    REFUSED("s", (layer->steps[0].scales = 1, layer->steps[0].scale_from[0] = layer->steps[2].at));
    REFUSED("s", (layer->steps[0].means = 1, layer->steps[0].mean_from[0] = layer->steps[0].at));
    REFUSED("s", (layer->steps[0].bends = 1, layer->steps[0].bend_from = layer->steps[1].at));
    REFUSED("s", (layer->steps[0].bends = 1, layer->steps[0].bend_from = 77));
    REFUSED("s", (layer->steps[2].scales = 1, layer->steps[2].scale[0] = INFINITY));
    REFUSED("s", layer->steps[1].saturated = 2);
    REFUSED("s", layer->steps[1].cap = -1.0);
    REFUSED("s", layer->steps[1].cap = NAN);
    REFUSED("s", layer->steps[1].floor = -1.0);
    REFUSED("s", layer->steps[1].floor = INFINITY);
    REFUSED("s", layer->steps[1].pull = NAN);
    REFUSED("s", layer->steps[1].pull_slope[2] = INFINITY);
    REFUSED("k", layer->warps[0].spread = 0.0);
    REFUSED("k", layer->warps[0].power = -1.0);
    REFUSED("k", layer->warps[1].power = NAN);
    REFUSED("k", layer->warps[1].tilt = NAN);
    REFUSED("k", layer->warps[1].lean = NAN);
    REFUSED("k", layer->warps[1].lean = 0.95 * layer->warps[1].power);
    REFUSED("w", layer->warps[1].lean = -0.95 * layer->warps[1].power);
    REFUSED("w", layer->warps[0].spread = -1.0);
    REFUSED("w", layer->warps[1].power = INFINITY);
    REFUSED("w", layer->at[1] = 4);
    REFUSED("w", layer->at[1] = layer->at[0]);
    REFUSED("w", layer->count = 0);
    REFUSED("w", layer->count = 4);
    REFUSED("sw", layer->centre[0] = NAN);
    REFUSED("k", layer->warps[1].shift = INFINITY);
    REFUSED("k", layer->rows[5] = NAN);
    REFUSED("k", layer->rows[5] += 1e-3);
    REFUSED("sk", layer->columns[3] += 1e-3);
}

static void numbers_of_layers_are_refused(void **state)
{
    (void)state;
    gess__learned *map = random_map(4, "s", 600), *read = new_map(4);
    gess__archive archive = {0};
    uint64_t many = GESS__MAX_LAYERS + 1;
    gess__learned_archive(map, &archive);
    memcpy(archive.bytes + sizeof many, &many, sizeof many);
    archive.reading = 1;
    gess__learned_archive(read, &archive);
    assert_true(archive.bad);
    gess__archive_free(&archive);
    gess__learned_free(read);
    gess__learned_free(map);
}

/* ---- learning ---- */

/* Learns a layer from the points: 's', 'k' or 'w'. Returns what learning returned. */
static int learn(gess__learned *map, size_t dim, size_t n, const double *points, char kind)
{
    gess_error err = {0};
    gess__learner *learner;
    int found;
    assert_int_equal(gess__learner_new(&learner, dim, n, NULL, &err), GESS_OK);
    gess__blas_begin();
    if (kind == 's')
        found = gess__learn_scale(learner, n, points, map);
    else
        found = kind == 'w' ? gess__learn_warp(learner, n, points, map) : gess__learn_skew(learner, n, points, map);
    gess__blas_end();
    gess__learner_free(learner);
    assert_int_equal(gess__learned_layers(map), found);
    return found;
}

static const gess__scale_step *step_of(const gess__learned *map, uint32_t i)
{
    const gess__layer *layer = &map->layers[0];
    for (size_t p = 0; p < layer->count; p++)
        if (layer->steps[p].at == i) return &layer->steps[p];
    return NULL;
}

/* v last: x_i ~ N(0, e^v), v ~ N(0, 9). */
static void funnel_points(size_t dim, size_t n, double *x)
{
    normals(20, n * dim, x);
    for (size_t j = 0; j < n; j++) {
        double v = x[j * dim + dim - 1] *= 3.0;
        for (size_t i = 0; i + 1 < dim; i++) x[j * dim + i] *= exp(0.5 * v);
    }
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
        assert_int_equal(learn(map, DIM, n, x, 's'), 1);
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

/* mu, log tau, then theta_j ~ N(mu, tau²): the shape of a centred hierarchical model. */
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
    assert_int_equal(learn(map, DIM, N, x, 's'), 1);
    assert_int_equal(map->layers[0].count, DIM - 2);
    for (uint32_t i = 2; i < DIM; i++) {
        const gess__scale_step *s = step_of(map, i);
        assert_non_null(s);
        assert_int_equal(s->scales, 1);
        assert_int_equal(s->scale_from[0], 1);
        assert_true(fabs(s->scale[0] - 2.0) < 0.1);
        assert_true(s->means >= 1);
        assert_int_equal(s->mean_from[0], 0);
        double slope = 0.0; /* a sum to the mean through other theta is as good */
        for (uint32_t k = 0; k < s->means; k++) slope += s->mean_from[k] == 1 ? 0.0 : s->mean[k];
        assert_true(fabs(slope - 1.0) < 0.05);
    }
    gess__learned_free(map);
    free(x);
}

/* The same with data about d_i of variance v_i: precisions add, means are between. The factors that carry over to
 * tau → 0, where there are no points, are found to the last digit; and the way there stays straight: points of the
 * hierarchy at log tau = −8, 11 standard deviations out, land where those in the middle do. */
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
    assert_int_equal(learn(map, DIM, N, x, 's'), 1);
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

/* A quadratic mean, and not the spread the other way round. */
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
    assert_int_equal(learn(map, DIM, N, x, 's'), 1);
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

/* Correlated Gaussian (nu = 0) or multivariate t: nothing to find, since T has it all. */
static void adds_nothing_to(unsigned nu)
{
    enum { DIM = 8, N = 12000 };
    double *z = doubles((size_t)N * DIM), *x = doubles((size_t)N * DIM), mix[DIM * DIM], *tail = doubles(8 * N);
    gess__learned *map = new_map(DIM);
    normals(23, (size_t)N * DIM, z);
    normals(24, (size_t)8 * N, tail);
    normals(25, sizeof mix / sizeof *mix, mix);
    for (size_t j = 0; j < N; j++) {
        double chi = 0.0, factor = 1.0;
        for (unsigned k = 0; k < nu; k++) chi += tail[8 * j + k] * tail[8 * j + k];
        if (nu > 0) factor = sqrt((double)nu / chi);
        for (size_t i = 0; i < DIM; i++)
            for (size_t k = 0; k < DIM; k++) x[j * DIM + i] += factor * mix[i * DIM + k] * z[j * DIM + k];
    }
    assert_int_equal(learn(map, DIM, N, x, 's'), 0);
    assert_int_equal(learn(map, DIM, N, x, 'k'), 0);
    assert_int_equal(learn(map, DIM, N, x, 'w'), 0);
    assert_int_equal(learn(map, DIM, 1000, x, 's'), 0);
    assert_int_equal(learn(map, DIM, 1000, x, 'k'), 0);
    assert_int_equal(learn(map, DIM, 1000, x, 'w'), 0);
    assert_int_equal(learn(map, DIM, 400, x, 'w'), 0);
    gess__learned_free(map);
    free(x);
    free(z);
    free(tail);
}

static void adds_nothing_without_structure(void **state)
{
    (void)state;
    adds_nothing_to(0);
    adds_nothing_to(8);
    adds_nothing_to(5);
    adds_nothing_to(4);
    adds_nothing_to(3);
}

static double skewness(size_t n, size_t dim, const double *x, const double *along)
{
    double mean = 0.0, second = 0.0, third = 0.0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t j = 0; j < n; j++) {
            double u = 0.0;
            for (size_t i = 0; i < dim; i++) u += along[i] * x[j * dim + i];
            if (pass == 0)
                mean += u / (double)n;
            else {
                second += (u - mean) * (u - mean) / (double)n;
                third += (u - mean) * (u - mean) * (u - mean) / (double)n;
            }
        }
    return third / pow(second, 1.5);
}

/* Three coordinates log-normal before they are mixed: three directions, and no skewness after the map. */
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
    assert_int_equal(learn(map, DIM, N, x, 'k'), 1);
    assert_int_equal(map->layers[0].count, 3);
    scratch = doubles(gess__learned_scratch(map, N));
    gess__learned_in(map, N, x, w, jacobian, scratch);
    for (size_t j = 0; j < 3; j++) {
        memcpy(along, map->layers[0].rows + j * DIM, sizeof along);
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

/* What is there in the points of other chains too is found, skewness in any of two kinds of layer; what is not there,
 * or is skewed the other way, is not. */
static void checks_with_other_chains(void **state)
{
    (void)state;
    enum { DIM = 6, N = 6000 };
    double *x = doubles((size_t)2 * N * DIM), *others = x + (size_t)N * DIM;
    gess_error err = {0};
    gess__learner *learner;
    assert_int_equal(gess__learner_new(&learner, DIM, N, NULL, &err), GESS_OK);
    gess__blas_begin();
    for (int like = -1; like <= 1; like++) {
        gess__learned *skewed = new_map(DIM), *warped = new_map(DIM);
        normals(29, (size_t)2 * N * DIM, x);
        for (size_t j = 0; j < 2 * (size_t)N; j++)
            if (j < N || like != 0) x[j * DIM] = (j < N ? 1.0 : like) * exp(0.4 * x[j * DIM]);
        gess__learner_check(learner, N, others);
        assert_int_equal(gess__learn_skew(learner, N, x, skewed), like > 0);
        assert_int_equal(gess__learn_warp(learner, N, x, warped), like > 0);
        gess__learner_check(learner, 0, NULL);
        if (like <= 0) {
            assert_int_equal(gess__learn_skew(learner, N, x, skewed), 1);
            assert_int_equal(gess__learn_warp(learner, N, x, warped), 1);
        }
        assert_int_equal(skewed->layers[0].count, 1);
        assert_int_equal(warped->layers[0].count, 1);
        gess__learned_free(skewed);
        gess__learned_free(warped);
    }
    gess__blas_end();
    gess__learner_free(learner);
    free(x);
}

/* Mean log-likelihood of x, the mapped points being standard normal. */
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
 * 0.02 nats a coordinate of the true one, −1 − γ for log-exponential ones. */
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
    assert_int_equal(learn(map, DIM, N, x, 'w'), 1);
    gess__learned_describe(map, text, sizeof text);
    assert_string_equal(text, "warp (3 coordinates)");
    for (uint32_t i = 0; i < 3; i++) {
        const gess__warp *warp = &map->layers[0].warps[i];
        assert_int_equal(map->layers[0].at[i], i);
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

static void finds_skewness_in_one_dimension(void **state)
{
    (void)state;
    enum { N = 4000 };
    double *x = doubles(N), *w = doubles(N), *jacobian = doubles(N), *scratch, one = 1.0;
    gess__learned *map = new_map(1);
    normals(27, N, x);
    for (size_t j = 0; j < N; j++) x[j] = exp(0.5 * x[j]);
    assert_int_equal(learn(map, 1, N, x, 's'), 0);
    assert_int_equal(learn(map, 1, N, x, 'k'), 1);
    scratch = doubles(gess__learned_scratch(map, N));
    gess__learned_in(map, N, x, w, jacobian, scratch);
    assert_true(fabs(skewness(N, 1, w, &one)) < fabs(skewness(N, 1, x, &one)) / 3.0); /* tails are left to T */
    gess__learned_free(map);
    free(x);
    free(w);
    free(jacobian);
    free(scratch);
}

/* What cannot be learned from is left alone: few points, one that is not finite, a coordinate without spread. */
static void leaves_bad_points_alone(void **state)
{
    (void)state;
    enum { DIM = 10, N = 2000 };
    double *x = doubles((size_t)N * DIM), kept;
    gess__learned *map = new_map(DIM);
    funnel_points(DIM, N, x);
    assert_int_equal(learn(map, DIM, 30, x, 's'), 0);
    assert_int_equal(learn(map, DIM, 30, x, 'k'), 0);
    kept = x[777];
    const double bad[] = {NAN, INFINITY, 1e200};
    for (size_t k = 0; k < 3; k++) {
        x[777] = bad[k];
        if (k < 2) assert_int_equal(learn(map, DIM, N, x, 's'), 0);
        assert_int_equal(learn(map, DIM, N, x, 'k'), 0);
        assert_int_equal(learn(map, DIM, N, x, 'w'), 0);
    }
    x[777] = kept;
    for (size_t j = 0; j < N; j++) x[j * DIM + 4] = 7.0;
    assert_int_equal(learn(map, DIM, N, x, 's'), 0);
    assert_int_equal(learn(map, DIM, N, x, 'k'), 0);
    assert_int_equal(learn(map, DIM, N, x, 'w'), 0);
    for (size_t j = 0; j < N; j++) x[j * DIM + 4] = x[j * DIM + 3]; /* a copy */
    (void)learn(map, DIM, N, x, 's');
    map->count = 0;
    (void)learn(map, DIM, N, x, 'k');
    map->count = 0;
    (void)learn(map, DIM, N, x, 'w');
    gess__learned_free(map);
    free(x);
}

/* The same points give the same map, also from a learner that has learned before; a full map takes no more. */
static void learning_is_deterministic(void **state)
{
    (void)state;
    enum { DIM = 10, N = 4000 };
    gess_error err = {0};
    double *x = doubles((size_t)N * DIM), *w = doubles((size_t)N * DIM), *jacobian = doubles(N), *scratch;
    gess__learned *maps[2] = {new_map(DIM), new_map(DIM)};
    gess__learner *learner;
    gess__archive archives[2] = {{0}, {0}};
    funnel_points(DIM, N, x);
    for (size_t j = 0; j < N; j++) x[j * DIM + 1] = exp(0.3 * x[j * DIM + 9]) + x[j * DIM + 1];
    scratch = doubles(gess__learned_scratch(maps[0], N));
    assert_int_equal(gess__learner_new(&learner, DIM, N, NULL, &err), GESS_OK);
    gess__blas_begin();
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(gess__learn_scale(learner, N, x, maps[k]), 1);
        gess__learned_in(maps[k], N, x, w, jacobian, scratch);
        (void)gess__learn_warp(learner, N, w, maps[k]);
        (void)gess__learn_skew(learner, N, w, maps[k]);
        gess__learned_archive(maps[k], &archives[k]);
    }
    maps[0]->count = GESS__MAX_LAYERS;
    assert_int_equal(gess__learn_scale(learner, N, x, maps[0]), 0);
    assert_int_equal(gess__learn_warp(learner, N, x, maps[0]), 0);
    assert_int_equal(gess__learn_skew(learner, N, x, maps[0]), 0);
    gess__blas_end();
    assert_int_equal(archives[0].size, archives[1].size);
    assert_memory_equal(archives[0].bytes, archives[1].bytes, archives[0].size);
    gess__archive_free(&archives[0]);
    gess__archive_free(&archives[1]);
    gess__learner_free(learner);
    gess__learned_free(maps[0]);
    gess__learned_free(maps[1]);
    free(x);
    free(w);
    free(jacobian);
    free(scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(scale_steps_by_hand),
        cmocka_unit_test(jacobians),
        cmocka_unit_test(single_warps),
        cmocka_unit_test(powers_of_the_sides),
        cmocka_unit_test(same_bits_in_any_batch),
        cmocka_unit_test(extreme_points),
        cmocka_unit_test(identity_leaves_the_bits),
        cmocka_unit_test(archived_and_copied),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(numbers_of_layers_are_refused),
        cmocka_unit_test(finds_a_funnel),
        cmocka_unit_test(finds_a_hierarchy),
        cmocka_unit_test(finds_what_saturates),
        cmocka_unit_test(finds_a_banana),
        cmocka_unit_test(adds_nothing_without_structure),
        cmocka_unit_test(finds_skewed_directions),
        cmocka_unit_test(checks_with_other_chains),
        cmocka_unit_test(finds_skewness_in_one_dimension),
        cmocka_unit_test(finds_warped_coordinates),
        cmocka_unit_test(leaves_bad_points_alone),
        cmocka_unit_test(learning_is_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
