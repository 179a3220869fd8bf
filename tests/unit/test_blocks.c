/* parallel/blocks.h: every item once; fits and maps have the same bits with a team and without. */
#include "parallel/blocks.h"

#include "approx/fit.h"
#include "approx/mixture.h"
#include "base/linalg.h"
#include "base/rng.h"
#include "transform/learned_map.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_POINTS = 5 * GESS__BLOCK + 3, DIM = 20, N = 12 * GESS__BLOCK + 100 };

static gess__team *new_team(unsigned size)
{
    gess__team *team;
    gess_error err = {0};
    if (gess__team_new(&team, size, &err) != GESS_OK) fail_msg("%s", err.text);
    return team;
}

typedef struct seen {
    unsigned workers;
    atomic_int bad, times[MAX_POINTS];
} seen;

static void see(void *data, unsigned worker, size_t block, size_t first, size_t count)
{
    seen *s = data;
    if (worker >= s->workers || first != block * GESS__BLOCK || count > GESS__BLOCK) atomic_fetch_add(&s->bad, 1);
    for (size_t i = first; i < first + count; i++) atomic_fetch_add(&s->times[i], 1);
}

static void everything_once(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, GESS__BLOCK - 1, GESS__BLOCK, GESS__BLOCK + 1, MAX_POINTS};
    static seen s;
    for (unsigned team_size = 0; team_size <= 3; team_size++) {
        gess__team *team = team_size > 0 ? new_team(team_size) : NULL;
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            memset(&s, 0, sizeof s);
            s.workers = gess__block_workers(team);
            gess__blocks(team, 1e9, sizes[k], see, &s);
            assert_int_equal(atomic_load(&s.bad), 0);
            for (size_t i = 0; i < MAX_POINTS; i++) assert_int_equal(atomic_load(&s.times[i]), i < sizes[k]);
        }
        gess__team_free(team);
    }
}

/* Two clusters, skewed. */
static double *sample(void)
{
    double *x = malloc((size_t)N * DIM * sizeof *x);
    assert_non_null(x);
    for (size_t j = 0; j < N; j++) {
        gess__key key = {.seed = 31, .iteration = j, .purpose = GESS__FOR_TEST};
        gess__normals(key, DIM, x + j * DIM);
        x[j * DIM] = exp(0.5 * x[j * DIM]);
        for (size_t i = 1; i < DIM && j % 3 == 0; i++) x[j * DIM + i] = 2.0 + 0.6 * x[j * DIM + i];
    }
    return x;
}

typedef struct learned {
    gess__archive map;
    gess__mixture *mixture;
    gess__approx *single;
} learned;

static learned learn(gess__team *team, const double *x)
{
    learned all = {0};
    gess_error err = {0};
    gess__fitter *fitter = NULL;
    gess__mixture_fitter *mixer = NULL;
    gess__learner *learner = NULL;
    gess__learned *map = NULL;
    gess__approx *spare = NULL;
    gess__pool pool = {.half = N / 2, .rest = N - N / 2, .half_new = N / 2, .rest_new = N - N / 2, .points = x};
    gess__pool_report report = {0};
    gess__mixture_report mixed = {0};
    assert_int_equal(gess__fitter_new_pooled(&fitter, DIM, N, team, &err), GESS_OK);
    assert_int_equal(gess__mixture_fitter_new(&mixer, DIM, N, team, &err), GESS_OK);
    assert_int_equal(gess__learner_new(&learner, DIM, N, team, &err), GESS_OK);
    assert_int_equal(gess__learned_new(&map, DIM, &err), GESS_OK);
    assert_int_equal(gess__mixture_new(&all.mixture, DIM, &err), GESS_OK);
    assert_int_equal(gess__approx_new(&all.single, DIM, &err), GESS_OK);
    assert_int_equal(gess__approx_new(&spare, DIM, &err), GESS_OK);
    gess__fit_student_t(fitter, DIM, N, x, (gess__fit_settings){.tolerance = 1e-3, .max_iterations = 30}, all.single,
                        &report.fit);
    gess__fit_pooled(fitter, &pool, NULL, all.single, spare, &report);
    gess__approx_copy(all.mixture->component[0], all.single);
    gess__fit_mixture(mixer, &pool, 0, all.mixture, &mixed);
    assert_int_equal(gess__learned_add(map, gess__layer_type_row(GESS__LAYER_ROW_skew), learner, N, x), 1);
    assert_int_equal(gess__learned_add(map, gess__layer_type_row(GESS__LAYER_ROW_warp), learner, N, x), 1);
    gess__learned_archive(map, &all.map);
    gess__learned_free(map);
    gess__approx_free(spare);
    gess__fitter_free(fitter);
    gess__mixture_fitter_free(mixer);
    gess__learner_free(learner);
    return all;
}

static void same(const gess__approx *a, const gess__approx *b)
{
    assert_memory_equal(a->mu, b->mu, DIM * sizeof *a->mu);
    assert_memory_equal(a->chol, b->chol, (size_t)DIM * DIM * sizeof *a->chol);
    assert_memory_equal(&a->nu, &b->nu, sizeof a->nu);
}

static void drop(learned *l)
{
    gess__archive_free(&l->map);
    gess__mixture_free(l->mixture);
    gess__approx_free(l->single);
}

static void same_bits_with_any_team(void **state)
{
    (void)state;
    double *x = sample();
    learned without = learn(NULL, x);
    assert_true(without.mixture->count > 1);
    for (unsigned size = 1; size <= 3; size++) {
        gess__team *team = new_team(size);
        learned with_team = learn(team, x);
        same(without.single, with_team.single);
        assert_int_equal(without.mixture->count, with_team.mixture->count);
        for (size_t j = 0; j < without.mixture->count; j++)
            same(without.mixture->component[j], with_team.mixture->component[j]);
        assert_int_equal(without.map.size, with_team.map.size);
        assert_memory_equal(without.map.bytes, with_team.map.bytes, without.map.size);
        drop(&with_team);
        gess__team_free(team);
    }
    drop(&without);
    free(x);
}

/* More points than there is room for products: against one product of all points. */
static void products_of_many_points(void **state)
{
    (void)state;
    enum { SMALL = 5, MANY = 70 * GESS__BLOCK + 7 };
    double *x = malloc((size_t)MANY * SMALL * sizeof *x), whole[SMALL * SMALL], first[SMALL * SMALL] = {0};
    gess_error err = {0};
    assert_non_null(x);
    gess__normals((gess__key){.seed = 32, .purpose = GESS__FOR_TEST}, (size_t)MANY * SMALL, x);
    gess__self_product(SMALL, MANY, 0.5, x, whole);
    for (unsigned size = 0; size <= 2; size++) {
        gess__fit_blocks hands = {0};
        gess__team *team = size > 0 ? new_team(size) : NULL;
        double square[SMALL * SMALL] = {0};
        assert_int_equal(gess__fit_blocks_open(&hands, team, SMALL, MANY, &err), GESS_OK);
        gess__fit_blocks_self_product(&hands, SMALL, MANY, 0.5, x, square);
        if (size == 0) memcpy(first, square, sizeof first);
        assert_memory_equal(first, square, sizeof first);
        for (size_t k = 0; k < SMALL; k++)
            for (size_t i = k; i < SMALL; i++)
                assert_true(fabs(square[i + k * SMALL] - whole[i + k * SMALL]) < 1e-12 * MANY);
        gess__fit_blocks_close(&hands);
        gess__team_free(team);
    }
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_once),
        cmocka_unit_test(same_bits_with_any_team),
        cmocka_unit_test(products_of_many_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
