/* NVRTC compiles the kernel for every built-in density and every shape that a frozen state may have, without a GPU; and
 * its words about a density that is wrong reach the caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cuda/compile.h"
#include "model/model.h"
#include "transform/target.h"

#include <stdlib.h>
#include <string.h>

static void compile(gess__cuda_shape shape)
{
    gess_error err = {0};
    char *code = NULL;
    size_t size = 0;
    shape.block = 128;
    int status = gess__cuda_compile(&shape, 90, &code, &size, &err);
    if (status != GESS_OK) fail_msg("%s: %s", shape.density, err.text);
    assert_true(size > 1000 && memcmp(code, "\177ELF", 4) == 0);
    free(code);
}

/* Every built-in model, in the shape that its first launch has. */
static void test_models(void **state)
{
    (void)state;
    size_t compiled = 0;
    for (size_t i = 0; gess__builtin_row(i) != NULL; i++) {
        gess_error err = {0};
        gess_model *model = NULL;
        gess__target target = {0};
        if (gess_model_open(&model, gess__builtin_row(i)->name, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
        assert_int_equal(gess__target_init(&target, model, 1, &err), GESS_OK);
        if (model->lane.name != NULL) {
            compile((gess__cuda_shape){.density = model->lane.name,
                                       .dim = target.dim,
                                       .outer = model->dim,
                                       .bounds = !target.bounds.trivial,
                                       .components = 1});
            compiled++;
        }
        gess__target_free(&target);
        gess_model_free(model);
    }
    assert_true(compiled >= 12);
}

static void test_shapes(void **state)
{
    (void)state;
    compile((gess__cuda_shape){.density = "gaussian", .dim = 7, .outer = 6, .map = 1, .bounds = 1, .components = 1});
    compile((gess__cuda_shape){.density = "gaussian", .dim = 1, .outer = 1, .map = 1, .components = 32});
    compile((gess__cuda_shape){.density = "gaussian", .dim = 100, .outer = 100, .bounds = 1, .components = 32});
}

static void test_words_of_the_compiler(void **state)
{
    (void)state;
    gess_error err = {0};
    char *code = NULL;
    size_t size = 0;
    const gess__cuda_shape shape = {.density = "nothing", .dim = 2, .outer = 2, .components = 1, .block = 128};
    assert_int_equal(gess__cuda_compile(&shape, 90, &code, &size, &err), GESS_ERR_MODEL);
    assert_non_null(strstr(err.text, "model/lane/nothing.h"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_words_of_the_compiler),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
