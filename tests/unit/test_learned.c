/* Learned maps: invertible, right Jacobians, the same bits in any batch, archived whole or refused; and that learning
 * adds nothing that is not there. test_layer_*.c test the single kinds of layer. */
#include "unit/maps.h"

/* Every row of layers.def is complete, has a letter in maps.h, and keeps its number in archives. */
static void rows_are_complete(void **state)
{
    (void)state;
    const uint32_t archived[] = {[SCALE] = 1, [SKEW] = 2, [WARP] = 3};
    assert_null(gess__layer_type_row(GESS__LAYER_ROWS));
    assert_null(gess__layer_type_find(0));
    for (size_t i = 0; i < GESS__LAYER_ROWS; i++) {
        const gess__layer_type *type = layer_row(i);
        assert_non_null(random_layers[i].fill);
        assert_true(type->name[0] != 0 && type->unit[0] != 0);
        assert_true(type->max_uses >= 1 && type->max_uses <= GESS__MAX_LAYERS);
        assert_ptr_equal(gess__layer_type_find(type->archived), type);
        if (i < sizeof archived / sizeof *archived) assert_int_equal(type->archived, archived[i]);
    }
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
            for (map->count = 0; map->count <= layers; map->count++) { /* the largest number behind any layer */
                gess__learned_in(map, N, y, w, in, scratch);
                for (size_t i = 0; i < N * dim; i++) size[i / dim] = fmax(size[i / dim], fabs(w[i]));
            }
            map->count = layers;
            gess__learned_out(map, N, w, back, out, scratch);
            for (size_t i = 0; i < N * dim; i++) w[i] *= 1.0 + 1e-12;
            gess__learned_out(map, N, w, near, moved, scratch);
            for (size_t j = 0; j < N; j++) { /* to 1e-10, or as well as 12 digits of w determine it */
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

/* Numbers of kinds that do not exist are refused. */
static void kinds_are_refused(void **state)
{
    (void)state;
    const size_t at = 2 * sizeof(uint64_t); /* behind the dimension and the number of layers */
    for (uint32_t kind = 0; kind <= 4; kind += 4) {
        gess__learned *map = random_map(4, "s", 500), *read = new_map(4);
        gess__archive archive = {0};
        gess__learned_archive(map, &archive);
        assert_memory_equal(archive.bytes + at, &layer_row(SCALE)->archived, sizeof kind);
        memcpy(archive.bytes + at, &kind, sizeof kind);
        archive.reading = 1;
        gess__learned_archive(read, &archive);
        assert_true(archive.bad);
        assert_int_equal(gess__learned_layers(read), 0);
        gess__archive_free(&archive);
        gess__learned_free(read);
        gess__learned_free(map);
    }
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

/* A correlated Gaussian (nu = 0) or a multivariate t has no structure that T does not describe. */
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
    assert_int_equal(learn(map, DIM, N, x, SCALE), 0);
    assert_int_equal(learn(map, DIM, N, x, SKEW), 0);
    assert_int_equal(learn(map, DIM, N, x, WARP), 0);
    assert_int_equal(learn(map, DIM, 1000, x, SCALE), 0);
    assert_int_equal(learn(map, DIM, 1000, x, SKEW), 0);
    assert_int_equal(learn(map, DIM, 1000, x, WARP), 0);
    assert_int_equal(learn(map, DIM, 400, x, WARP), 0);
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

/* Skewness is found if the points of other chains have it too, and not if they have none or the opposite one. */
static void checks_with_other_chains(void **state)
{
    (void)state;
    enum { DIM = 6, N = 6000 };
    double *x = doubles((size_t)2 * N * DIM), *others = x + (size_t)N * DIM;
    gess_error err = {0};
    gess__learner *learner;
    assert_int_equal(gess__learner_new(&learner, DIM, N, NULL, &err), GESS_OK);
    for (int like = -1; like <= 1; like++) {
        gess__learned *skewed = new_map(DIM), *warped = new_map(DIM);
        normals(29, (size_t)2 * N * DIM, x);
        for (size_t j = 0; j < 2 * (size_t)N; j++)
            if (j < N || like != 0) x[j * DIM] = (j < N ? 1.0 : like) * exp(0.4 * x[j * DIM]);
        gess__learner_check(learner, N, others);
        assert_int_equal(gess__learned_add(skewed, layer_row(SKEW), learner, N, x), like > 0);
        assert_int_equal(gess__learned_add(warped, layer_row(WARP), learner, N, x), like > 0);
        gess__learner_check(learner, 0, NULL);
        if (like <= 0) {
            assert_int_equal(gess__learned_add(skewed, layer_row(SKEW), learner, N, x), 1);
            assert_int_equal(gess__learned_add(warped, layer_row(WARP), learner, N, x), 1);
        }
        assert_int_equal(skewed->layers[0].count, 1);
        assert_int_equal(warped->layers[0].count, 1);
        gess__learned_free(skewed);
        gess__learned_free(warped);
    }
    gess__learner_free(learner);
    free(x);
}

/* Nothing is learned from few points, from points that are not finite, or from a coordinate without spread. */
static void ignores_bad_points(void **state)
{
    (void)state;
    enum { DIM = 10, N = 2000 };
    double *x = doubles((size_t)N * DIM), kept;
    gess__learned *map = new_map(DIM);
    funnel_points(DIM, N, x);
    assert_int_equal(learn(map, DIM, 30, x, SCALE), 0);
    assert_int_equal(learn(map, DIM, 30, x, SKEW), 0);
    kept = x[777];
    const double bad[] = {NAN, INFINITY, 1e200};
    for (size_t k = 0; k < 3; k++) {
        x[777] = bad[k];
        if (k < 2) assert_int_equal(learn(map, DIM, N, x, SCALE), 0);
        assert_int_equal(learn(map, DIM, N, x, SKEW), 0);
        assert_int_equal(learn(map, DIM, N, x, WARP), 0);
    }
    x[777] = kept;
    for (size_t j = 0; j < N; j++) x[j * DIM + 4] = 7.0;
    assert_int_equal(learn(map, DIM, N, x, SCALE), 0);
    assert_int_equal(learn(map, DIM, N, x, SKEW), 0);
    assert_int_equal(learn(map, DIM, N, x, WARP), 0);
    for (size_t j = 0; j < N; j++) x[j * DIM + 4] = x[j * DIM + 3]; /* a copy */
    (void)learn(map, DIM, N, x, SCALE);
    map->count = 0;
    (void)learn(map, DIM, N, x, SKEW);
    map->count = 0;
    (void)learn(map, DIM, N, x, WARP);
    gess__learned_free(map);
    free(x);
}

/* The same points give the same map, also from a learner that was used before; a full map takes no further layer. */
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
    for (size_t k = 0; k < 2; k++) {
        assert_int_equal(gess__learned_add(maps[k], layer_row(SCALE), learner, N, x), 1);
        gess__learned_in(maps[k], N, x, w, jacobian, scratch);
        (void)gess__learned_add(maps[k], layer_row(WARP), learner, N, w);
        (void)gess__learned_add(maps[k], layer_row(SKEW), learner, N, w);
        gess__learned_archive(maps[k], &archives[k]);
    }
    maps[0]->count = GESS__MAX_LAYERS;
    assert_int_equal(gess__learned_add(maps[0], layer_row(SCALE), learner, N, x), 0);
    assert_int_equal(gess__learned_add(maps[0], layer_row(WARP), learner, N, x), 0);
    assert_int_equal(gess__learned_add(maps[0], layer_row(SKEW), learner, N, x), 0);
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
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(jacobians),
        cmocka_unit_test(same_bits_in_any_batch),
        cmocka_unit_test(extreme_points),
        cmocka_unit_test(identity_leaves_the_bits),
        cmocka_unit_test(archived_and_copied),
        cmocka_unit_test(kinds_are_refused),
        cmocka_unit_test(numbers_of_layers_are_refused),
        cmocka_unit_test(adds_nothing_without_structure),
        cmocka_unit_test(checks_with_other_chains),
        cmocka_unit_test(ignores_bad_points),
        cmocka_unit_test(learning_is_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
