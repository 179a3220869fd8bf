/* The list of the first ten points at which a density was NaN, ordered by iteration, chain and angle, for any order of
 * arrival. */
#include "kernel/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { DIM = 2, MANY = 60 };

/* Point k in the right order: an iteration has 12 points, 4 angles of each of 3 chains. */
static void note(gess__nans *nans, uint64_t k)
{
    double point[DIM] = {(double)k, -(double)k};
    gess__nans_note(nans, DIM, k / 12, k % 12 / 4, k % 4, point);
}

static void any_order(void **state)
{
    (void)state;
    /* steps that visit all of 0 .. MANY - 1 */
    static const uint64_t steps[] = {1, 7, 11, 13, 17, 23, 29, 59};
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        double points[GESS__NANS_KEPT * DIM];
        gess__nans nans = {.points = points};
        for (uint64_t i = 0; i < MANY; i++) {
            note(&nans, (i + 5) * steps[s] % MANY);
            assert_int_equal(nans.count, i + 1 < GESS__NANS_KEPT ? i + 1 : GESS__NANS_KEPT);
        }
        for (uint64_t k = 0; k < GESS__NANS_KEPT; k++) {
            assert_int_equal(nans.keys[k].iteration, k / 12);
            assert_int_equal(nans.keys[k].chain, k % 12 / 4);
            assert_int_equal(nans.keys[k].angle, k % 4);
            assert_true(nans.points[k * DIM] == (double)k && nans.points[k * DIM + 1] == -(double)k);
        }
    }
    assert_int_equal(GESS__NANS_KEPT, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(any_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
