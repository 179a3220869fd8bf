/* The figures of src/diagnose/coda.h against R's coda 0.19-4: relative 1e-8. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "diagnose/coda.h"
#include "known/diagnose_input.h"

enum { INPUTS = 5, FIGURES = 3 };

static void agrees_with_r(void **state)
{
    (void)state;
    FILE *file = fopen(GESS_TESTS "/known/diagnose_coda.csv", "r");
    assert_non_null(file);
    char names[512], line[512], *name[INPUTS + FIGURES], *field[INPUTS + FIGURES];
    double worst = 0.0;
    size_t cases = 0, wrong = 0;
    assert_non_null(fgets(names, sizeof names, file));
    assert_int_equal(split_line(names, name, INPUTS + FIGURES), INPUTS + FIGURES);
    while (fgets(line, sizeof line, file) != NULL) {
        assert_int_equal(split_line(line, field, INPUTS + FIGURES), INPUTS + FIGURES);
        input_case in;
        read_case(field, &in);
        double *x = calloc(in.chains * in.n, sizeof *x), *scratch = calloc(in.n, sizeof *scratch);
        assert_non_null(x);
        assert_non_null(scratch);
        input_fill(&in, x);
        double figures[FIGURES] = {gess__coda_spectrum0(in.n, x, scratch),
                                   gess__coda_effective_size(in.chains, in.n, x, scratch),
                                   gess__coda_geweke(in.n, x, scratch)};
        for (size_t i = 0; i < FIGURES; i++)
            if (!answer_agrees(field[INPUTS + i], figures[i], &worst)) {
                print_error("%s, %zu chains of %zu, strength %g: %s is %.17g, R says %s\n", in.kind, in.chains, in.n,
                            in.strength, name[INPUTS + i], figures[i], field[INPUTS + i]);
                wrong++;
            }
        free(x);
        free(scratch);
        cases++;
    }
    fclose(file);
    print_message("%zu cases, worst relative deviation %.2g\n", cases, worst);
    assert_true(cases >= 200);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_r)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
