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

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void compile(gess__cuda_shape shape)
{
    gess_error err = {0};
    char *code = NULL;
    size_t size = 0;
    shape.block = 128;
    int status = gess__cuda_compile(&shape, 90, &code, &size, &err);
    if (status != GESS_OK) fail_msg("%s: %s", shape.file != NULL ? shape.file : shape.density, err.text);
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

static void test_batched(void **state)
{
    (void)state;
    compile((gess__cuda_shape){.density = "batch",
                               .batched = 1,
                               .dim = 7,
                               .outer = 6,
                               .map = 1,
                               .bounds = 1,
                               .components = 32});
    compile((gess__cuda_shape){.density = "batch", .batched = 1, .dim = 50, .outer = 50, .components = 1});
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

/* ---- models in files of the user's ---- */

static const char line_of_users[] =
    "// gess: parameter a\n"
    "#include <gess/gess_cuda.h>\n"
    "#include <cmath>\n#include <cstdio>\n#include <cassert>\n"
    "#include \"tables.cuh\"\n"
    "#define count 3\n" /* names and macros that the sampler has, too */
    "#define job nothing\n"
    "struct gess { double chain; };\n"
    "__constant__ double weights[count] = {0.5, 0.25, 0.25};\n"
    "__device__ double logp(size_t dim, const double *x, const gess_data *data)\n"
    "{\n"
    "    double sum = 0.0, sine, cosine;\n"
    "    assert(dim > 0);\n    if (x[0] > 1e300) printf(\"%g\\n\", x[0]);\n"
    "    gess_sincos_turns(x[0], &sine, &cosine);\n"
    "    for (size_t i = 0; i < data->rows; i++) sum += weights[i % count] * lgamma(x[0]);\n"
    "    return sum + TABLE - gess_exp(x[0]) + std::log(sine * sine) + gess_log1p(0.5);\n"
    "}\n";

/* A folder with a file that the model includes. */
static void make_folder(char *folder, size_t size)
{
    char path[128];
    snprintf(folder, size, "/tmp/gess-compile-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/tables.cuh", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("#define TABLE 1.0\n", file);
    fclose(file);
}

static void test_file_of_users(void **state)
{
    (void)state;
    char folder[64], path[128];
    make_folder(folder, sizeof folder);
    snprintf(path, sizeof path, "%s/my model.cu", folder);
    const gess__cuda_shape shape = {.density = "source", .file = path, .text = line_of_users, .dim = 3, .outer = 3};
    for (int map = 0; map < 2; map++) {
        gess__cuda_shape one = shape;
        one.map = one.bounds = map;
        one.components = map ? 32 : 1;
        compile(one);
    }
    snprintf(path, sizeof path, "%s/tables.cuh", folder);
    remove(path);
    remove(folder);
}

/* The message has the user's own file and line. */
static void test_mistakes_of_users(void **state)
{
    (void)state;
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"#include <gess/gess_cuda.h>\n\n__device__ double logp(size_t dim, const double *x, const gess_data *data)\n"
         "{\n    return undefined_here * x[0];\n}\n",
         "\nfolder/wrong.cu(5): error: identifier \"undefined_here\" is undefined"},
        {"#include <gess/gess_cuda.h>\n__device__ double logp(const double *x)\n{\n    return x[0];\n}\n",
         "double logp(size_t dim, const double *x, const gess_data *data)"},
        {"#include \"nothing.cuh\"\n", "nothing.cuh"},
        {"__device__ double density(double x) { return x; }\n", "logp"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gess_error err = {0};
        char *code = NULL;
        size_t size = 0;
        const gess__cuda_shape shape = {.density = "source",
                                        .file = "folder/wrong.cu",
                                        .text = cases[i].text,
                                        .dim = 2,
                                        .outer = 2,
                                        .components = 1,
                                        .block = 128};
        assert_int_equal(gess__cuda_compile(&shape, 90, &code, &size, &err), GESS_ERR_MODEL);
        if (strstr(err.text, cases[i].words) == NULL || strstr(err.text, "folder/wrong.cu") == NULL)
            fail_msg("no \"%s\" in: %s", cases[i].words, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_batched),       cmocka_unit_test(test_words_of_the_compiler),
        cmocka_unit_test(test_file_of_users), cmocka_unit_test(test_mistakes_of_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
