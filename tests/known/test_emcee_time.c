/* src/diagnose/emcee.h against emcee 3.1.6: relative 1e-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diagnose/emcee.h"
#include "known/diagnose_input.h"

enum { INPUTS = 5 };

static void agrees_with_emcee(void **state)
{
    (void)state;
    FILE *file = fopen(GESS_TESTS "/known/diagnose_emcee.csv", "r");
    assert_non_null(file);
    char line[512], *field[INPUTS + 1];
    double worst = 0.0;
    size_t cases = 0, wrong = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        assert_int_equal(split_line(line, field, INPUTS + 1), INPUTS + 1);
        input_case in;
        gess__fft fft;
        read_case(field, &in);
        double *x = calloc(in.chains * in.n, sizeof *x), *scratch = calloc(in.n, sizeof *scratch);
        assert_non_null(x);
        assert_non_null(scratch);
        assert_int_equal(gess__fft_init(&fft, in.n, NULL), GESS_OK);
        input_fill(&in, x);
        double time = gess__emcee_time(&fft, in.chains, in.n, x, scratch);
        int zero = strcmp(field[INPUTS], "0") == 0 && fabs(time) < 1e-12; /* rounding error of a sum that cancels */
        if (!zero && !answer_agrees(field[INPUTS], time, &worst)) {
            print_error("%s, %zu chains of %zu, strength %g: %.17g, emcee says %s\n", in.kind, in.chains, in.n,
                        in.strength, time, field[INPUTS]);
            wrong++;
        }
        gess__fft_free(&fft);
        free(x);
        free(scratch);
        cases++;
    }
    fclose(file);
    print_message("%zu cases, worst relative deviation %.2g\n", cases, worst);
    assert_true(cases >= 150);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_emcee)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
