/* Levels of chains: their medians and spreads, and which are at the highest level or far below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diagnose/levels.h"

#include <math.h>

enum { MAX = 64 };

static void one_chain(void **state)
{
    (void)state;
    gess__level level;
    double odd[] = {5, 1, 3, 2, 4}, even[] = {4, 1, 2, 3}, one[] = {7}, infinite[] = {1, -INFINITY, 2};
    gess__level_of(5, odd, &level);
    assert_true(level.median == 3.0 && fabs(level.spread - 2.0 / 1.349) < 1e-15);
    gess__level_of(4, even, &level);
    assert_true(level.median == 2.5 && fabs(level.spread - 1.5 / 1.349) < 1e-15);
    gess__level_of(1, one, &level);
    assert_true(level.median == 7.0 && level.spread == 0.0);
    gess__level_of(3, infinite, &level);
    assert_true(isnan(level.median) && isnan(level.spread));
}

/* Compares chains, and counts those at the highest level and those far below. */
static gess__levels compare(size_t count, const gess__level *level, size_t high, size_t far)
{
    double scratch[2 * MAX];
    gess__levels levels = {0};
    assert_true(gess__levels_compare(count, level, scratch, &levels));
    for (size_t c = 0; c < count; c++) {
        high -= gess__level_is_high(&levels, &level[c]);
        far -= gess__level_is_far(&levels, &level[c]);
    }
    assert_int_equal(high, 0);
    assert_int_equal(far, 0);
    return levels;
}

static void thresholds(void **state)
{
    (void)state;
    /* narrow spreads: 10 and 100 nats */
    gess__levels l = compare(5, (gess__level[]){{0, 2}, {-9.9, 2}, {-10.1, 2}, {-99.9, 2}, {-100.1, 2}}, 2, 1);
    assert_true(l.highest == 0.0 && l.near == 10.0 && l.far == 100.0);
    /* wide spreads: 3 and 10 of them */
    l = compare(5, (gess__level[]){{7, 50}, {-142, 50}, {-144, 50}, {-492, 50}, {-494, 50}}, 2, 1);
    assert_true(l.highest == 7.0 && l.near == 150.0 && l.far == 500.0);
    compare(2, (gess__level[]){{-1000, 1}, {-1101, 1}}, 1, 1);
}

/* Most chains still climb and have wide spreads: those of the few that have arrived count. */
static void climbing_chains(void **state)
{
    (void)state;
    gess__level level[MAX];
    for (size_t c = 0; c < MAX; c++) level[c] = (gess__level){-5000.0 - 100.0 * (double)c, 800.0};
    for (size_t c = 10; c < 18; c++) level[c] = (gess__level){-20.0, 3.0};
    compare(MAX, level, 8, MAX - 8);
    /* a chain that is stuck at the top does not make the others' spread vanish */
    for (size_t c = 0; c < MAX; c++) level[c] = (gess__level){-5000.0 - 3.0 * (double)c, 70.0};
    level[5] = (gess__level){-4800.0, 0.0};
    gess__levels l = compare(MAX, level, 5, 0);
    assert_true(l.near == 210.0);
}

static void not_comparable(void **state)
{
    (void)state;
    double scratch[4];
    gess__levels levels;
    assert_false(gess__levels_compare(1, (gess__level[]){{0, 1}}, scratch, &levels));
    assert_false(gess__levels_compare(2, (gess__level[]){{0, 1}, {NAN, NAN}}, scratch, &levels));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_chain),
        cmocka_unit_test(thresholds),
        cmocka_unit_test(climbing_chains),
        cmocka_unit_test(not_comparable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
