/* Eight Gaussians with centres in [-10, 10]^8, far apart: with starts spread over the region every mode must be found
 * and have its weight, 1/8. */
#include "base/options.h"
#include "base/rng.h"
#include "statistical/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { DIM = 8, MODES = 8, STARTS = 400, DRAWS = 400 };

static void write_starts(const char *path)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (uint32_t c = 0; c < STARTS; c++)
        for (uint32_t i = 0; i < DIM; i++) {
            gess__key key = {.seed = 5, .chain = c, .purpose = GESS__FOR_TEST};
            fprintf(file, "%.17g%c", 20.0 * gess__uniform(key, i) - 10.0, i + 1 < DIM ? ',' : '\n');
        }
    assert_int_equal(fclose(file), 0);
}

static void read_centres(double centres[MODES][DIM])
{
    FILE *file = fopen(GESS_TESTS "/../data/mixture_means.csv", "r");
    char line[1000];
    size_t found = 0;
    assert_non_null(file);
    while (found < MODES && fgets(line, sizeof line, file) != NULL) {
        char *at = line, *end;
        size_t i = 0;
        for (; i < DIM; i++, at = *end == ',' ? end + 1 : end) {
            centres[found][i] = 5.0 * strtod(at, &end);
            if (end == at) break;
        }
        found += i == DIM; /* skips the header */
    }
    fclose(file);
    assert_int_equal(found, MODES);
}

static size_t nearest(double centres[MODES][DIM], const kept *k, size_t chain, size_t draw)
{
    size_t best = 0;
    double smallest = INFINITY;
    for (size_t m = 0; m < MODES; m++) {
        double square = 0.0;
        for (size_t j = 0; j < DIM; j++) {
            double step = k->values[(j * k->chains + chain) * k->draws + draw] - centres[m][j];
            square += step * step;
        }
        if (square < smallest) {
            smallest = square;
            best = m;
        }
    }
    return best;
}

static void weights(void **state)
{
    (void)state;
    char path[] = "modes-XXXXXX";
    double centres[MODES][DIM], sums[MODES] = {0}, squares[MODES] = {0};
    gess_options o;
    kept k;
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    write_starts(path);
    read_centres(centres);
    gess__options_init(&o);
    o.chains = STARTS;
    o.draws = DRAWS;
    o.init = path;
    sample(&k, "mixture:spread=10", &o);
    unlink(path);
    /* chains are independent given the frozen T, so the spread of their shares gives the standard errors */
    for (size_t c = 0; c < STARTS; c++) {
        double share[MODES] = {0};
        for (size_t i = 0; i < DRAWS; i++) share[nearest(centres, &k, c, i)] += 1.0 / DRAWS;
        for (size_t m = 0; m < MODES; m++) {
            sums[m] += share[m];
            squares[m] += share[m] * share[m];
        }
    }
    for (size_t m = 0; m < MODES; m++) {
        double mean = sums[m] / STARTS, error = sqrt((squares[m] / STARTS - mean * mean) / (STARTS - 1));
        printf("mode %zu: weight %.4f, %.2f standard errors from 1/8\n", m + 1, mean, (mean - 0.125) / error);
        assert_true(fabs(mean - 0.125) < 4.0 * error);
        assert_true(error < 0.004);
    }
    printf("%s; %llu evaluations\n", k.stats.method, (unsigned long long)k.stats.evals);
    kept_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(weights)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
