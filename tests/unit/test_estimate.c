/* Which of the two estimates of an evidence counts, and its error, from levels of one-dimensional draws whose integral
 * is known: stored draws that lack a tail, a T that is far off, a part of the density that T does not reach, and pairs
 * of draws that are not independent. */
#include "base/rng.h"
#include "evidence/part.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SERIES = 40, DRAWS = 50, STORED = SERIES * DRAWS, FRESH = 4000 };

#define LOG_Z 3.0 /* of the density exp(LOG_Z) N(x; 0, 1) */

typedef struct levels {
    double stored[STORED], fresh[FRESH];
} levels;

static double normal(uint64_t number, uint32_t purpose)
{
    double x[2];
    gess__normals((gess__key){.seed = 7, .iteration = number, .chain = purpose, .purpose = GESS__FOR_EVIDENCE}, 2, x);
    return x[0];
}

/* log π − log T at x, for T = N(mean, sd²). */
static double level_at(double x, double mean, double sd)
{
    double z = (x - mean) / sd;
    return LOG_Z - 0.5 * x * x + 0.5 * z * z + log(sd);
}

static gess__evidence_result estimate_of(levels *l)
{
    gess__evidence_result r = {0};
    gess_error err;
    const gess__stored stored = {.series = SERIES, .n = DRAWS, .dim = 1};
    const gess__part part = {.stored = &stored,
                             .step = 1,
                             .series = SERIES,
                             .n1 = STORED,
                             .level1 = l->stored,
                             .n2 = FRESH,
                             .level2 = l->fresh};
    assert_int_equal(gess__parts_estimate(1, &part, &r, &err), GESS_OK);
    r.se = hypot(r.se_draws, r.se_fresh);
    return r;
}

/* Draws of π, those below `lowest` left out, and of T. */
static void fill(levels *l, double lowest, double mean, double sd)
{
    uint64_t number = 0;
    for (size_t i = 0; i < STORED; i++) {
        double x;
        do {
            x = normal(number++, 1);
        } while (x < lowest);
        l->stored[i] = level_at(x, mean, sd);
    }
    for (size_t i = 0; i < FRESH; i++) l->fresh[i] = level_at(mean + sd * normal(i, 2), mean, sd);
}

static void test_missing_tail(void **state)
{
    (void)state;
    levels l;
    fill(&l, -1.0, 0.6, 1.1); /* the chains lack 16 % */
    gess__evidence_result r = estimate_of(&l);
    assert_true(r.importance && r.se_draws == 0.0 && r.se < 0.02);
    assert_true(fabs(r.log_z - LOG_Z) < 4.0 * r.se);
    assert_true(r.second < LOG_Z - 4.0 * r.second_se); /* the bridge trusts them */
    fill(&l, -INFINITY, 0.6, 1.1);
    r = estimate_of(&l);
    assert_true(fabs(r.second - LOG_Z) < 4.0 * r.second_se);
}

static void test_far_off(void **state)
{
    (void)state;
    levels l;
    fill(&l, -INFINITY, 1.5, 1.0); /* relative variance of the weights: e^2.25 − 1 */
    gess__evidence_result r = estimate_of(&l);
    assert_true(!r.importance && r.se_draws > 0.0 && r.se_fresh > 0.0 && r.se < 0.06);
    assert_true(fabs(r.log_z - LOG_Z) < 4.0 * r.se);
    assert_true(fabs(r.second - LOG_Z) < 4.0 * r.second_se);
}

/* A tenth of the stored draws lies where T never is: fresh draws alone would miss it. */
static void test_unseen(void **state)
{
    (void)state;
    levels l;
    fill(&l, -INFINITY, 0.0, 1.0);
    for (size_t i = 0; i < STORED; i += 10) l.stored[i] = LOG_Z + 20.0;
    gess__evidence_result r = estimate_of(&l);
    assert_true(!r.importance && fabs(r.uncovered - 0.1) < 1e-12);
}

/* The same draw twice is worth one. */
static void test_pairs(void **state)
{
    (void)state;
    levels l, twice;
    fill(&l, -INFINITY, 0.3, 1.1);
    twice = l;
    for (size_t i = 0; i < FRESH; i++) twice.fresh[i] = l.fresh[i - i % 2];
    double one = estimate_of(&l).se, other = estimate_of(&twice).se;
    assert_true(other > 1.25 * one && other < 1.6 * one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_missing_tail), cmocka_unit_test(test_far_off),
                                       cmocka_unit_test(test_unseen), cmocka_unit_test(test_pairs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
