/* Random maps, points with known structure, and learning from them: shared by test_learned.c and test_layer_*.c. */
#ifndef GESS_TESTS_UNIT_MAPS_H
#define GESS_TESTS_UNIT_MAPS_H

#include "base/rng.h"
#include "transform/learned_map.h"
#include "transform/scale.h"
#include "transform/skew.h"
#include "transform/warp.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SCALE = GESS__LAYER_ROW_scale, WARP = GESS__LAYER_ROW_warp, SKEW = GESS__LAYER_ROW_skew };

static inline double *doubles(size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline void normals(uint32_t chain, size_t n, double *out)
{
    gess__normals((gess__key){.seed = 77, .chain = chain, .purpose = GESS__FOR_TEST}, n, out);
}

static inline gess__learned *new_map(size_t dim)
{
    gess_error err = {0};
    gess__learned *map;
    assert_int_equal(gess__learned_new(&map, dim, &err), GESS_OK);
    return map;
}

static inline const gess__layer_type *layer_row(size_t i)
{
    return gess__layer_type_row(i);
}

/* ---- random layers ---- */

/* An integer below the limit, from the next normal. */
static inline uint32_t below(const double **r, size_t limit)
{
    return (uint32_t)(fabs(*(*r)++) * 1e6) % (uint32_t)limit;
}

/* Coordinates are mapped in a random order, each driven by earlier ones. */
static inline void random_scale(gess__layer *layer, size_t dim, const double *r)
{
    uint32_t order[64];
    for (size_t i = 0; i < dim; i++) order[i] = (uint32_t)i;
    for (size_t i = dim; i-- > 1;) {
        uint32_t k = below(&r, i + 1), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
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
        gess__scale_steps(layer)[p] = s;
    }
}

static inline gess__warp random_warp(const double *r)
{
    gess__warp w = {.shift = 0.3 * r[0], .spread = exp(0.3 * r[1]), .tilt = 0.5 * r[2], .power = exp(0.3 * r[3])};
    w.lean = 0.5 * w.power * tanh(r[4]);
    return w;
}

/* Orthogonal directions, stretched. */
static inline void random_skew(gess__layer *layer, size_t dim, const double *r)
{
    size_t count = dim < 6 ? dim : 5;
    double *rows = gess__skew_rows(layer), *columns = gess__skew_columns(layer);
    layer->count = (uint32_t)count;
    for (size_t i = 0; i < dim; i++) layer->centre[i] = *r++;
    for (size_t j = 0; j < count; j++) {
        double *row = rows + j * dim, *column = columns + j * dim, size = 0.0, factor = exp(*r++);
        memcpy(row, r, dim * sizeof *r);
        r += dim;
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < j; k++) {
                double dot = 0.0, *other = columns + k * dim, norm = 0.0;
                for (size_t i = 0; i < dim; i++) dot += row[i] * other[i];
                for (size_t i = 0; i < dim; i++) norm += other[i] * other[i];
                for (size_t i = 0; i < dim; i++) row[i] -= dot / norm * other[i];
            }
        for (size_t i = 0; i < dim; i++) size += row[i] * row[i];
        for (size_t i = 0; i < dim; i++) column[i] = row[i] / sqrt(size) * factor;
        for (size_t i = 0; i < dim; i++) row[i] /= sqrt(size) * factor;
        gess__skew_warps(layer)[j] = random_warp(r);
        r += 5;
    }
}

/* Every second or third coordinate. */
static inline void random_warps(gess__layer *layer, size_t dim, const double *r)
{
    for (size_t i = 0; i < dim; i++) layer->centre[i] = *r++;
    for (size_t i = 0; i < dim; i += 2 + below(&r, 2)) {
        gess__warp_coordinates(layer)[layer->count] = (uint32_t)i;
        gess__warp_warps(layer)[layer->count++] = random_warp(r);
        r += 5;
    }
}

/* One row per kind of layer: its letter in random_map(), and what fills in a random layer from normals. */
static const struct {
    char letter;
    void (*fill)(gess__layer *, size_t dim, const double *normals);
} random_layers[GESS__LAYER_ROWS] = {
    [SCALE] = {'s', random_scale},
    [WARP] = {'w', random_warps},
    [SKEW] = {'k', random_skew},
};

static inline size_t row_of(char letter)
{
    for (size_t i = 0; i < GESS__LAYER_ROWS; i++)
        if (random_layers[i].letter == letter) return i;
    fail();
    return 0;
}

/* kinds: a letter per layer. */
static inline gess__learned *random_map(size_t dim, const char *kinds, uint32_t seed)
{
    gess__learned *map = new_map(dim);
    double *r = doubles(2000 + 2 * dim * dim);
    for (size_t i = 0; kinds[i] != 0; i++) {
        gess__layer *layer = &map->layers[i];
        size_t kind = row_of(kinds[i]);
        normals(1000 * seed + (uint32_t)i, 2000 + 2 * dim * dim, r);
        gess__layer_begin(layer, layer_row(kind), dim);
        random_layers[kind].fill(layer, dim, r);
        assert_true(gess__layer_finish(layer, dim));
        map->count++;
    }
    free(r);
    return map;
}

/* ---- damaged layers ---- */

/* Checks that what a damaged map writes is refused; frees the map. */
static inline void refused(gess__learned *map)
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

/* Refused: a random map of these kinds whose last layer is changed. */
#define REFUSED(kinds, change)                             \
    do {                                                   \
        gess__learned *map = random_map(4, (kinds), 500);  \
        gess__layer *layer = &map->layers[map->count - 1]; \
        change;                                            \
        refused(map);                                      \
    } while (0)

/* ---- learning ---- */

/* Learns a layer of this kind from the points, into a map without layers. Returns 1 if it found one. */
static inline int learn(gess__learned *map, size_t dim, size_t n, const double *points, size_t kind)
{
    gess_error err = {0};
    gess__learner *learner;
    assert_int_equal(gess__learner_new(&learner, dim, n, NULL, &err), GESS_OK);
    int found = gess__learned_add(map, layer_row(kind), learner, n, points);
    gess__learner_free(learner);
    assert_int_equal(gess__learned_layers(map), found);
    return found;
}

/* A funnel: x_i ~ N(0, e^v), v ~ N(0, 9); v is the last coordinate. */
static inline void funnel_points(size_t dim, size_t n, double *x)
{
    normals(20, n * dim, x);
    for (size_t j = 0; j < n; j++) {
        double v = x[j * dim + dim - 1] *= 3.0;
        for (size_t i = 0; i + 1 < dim; i++) x[j * dim + i] *= exp(0.5 * v);
    }
}

static inline double skewness(size_t n, size_t dim, const double *x, const double *along)
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

#endif
