/* Gives NVRTC the kernel and the headers it includes, all of which the library carries, and standard headers that
 * declare what these need. The options keep the arithmetic as written: no multiplication is fused with an addition that
 * the code does not fuse. */
#include "cuda/compile.h"

#include "base/mem.h"
#include "cuda/kernel_files.h"

#include <nvrtc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION = 4200, MAX_OPTIONS = 24, WORDS = 700 };

/* What the code uses of the C library's headers. */
static const char stdint_text[] =
    "typedef unsigned char uint8_t; typedef int int32_t; typedef unsigned uint32_t; typedef long long int64_t;"
    "typedef unsigned long long uint64_t; typedef unsigned long long uintptr_t;\n"
    "#define UINT64_C(x) x##ull\n";
static const char math_text[] = "#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)\n"
                                "#define INFINITY HUGE_VAL\n"
                                "#define NAN __longlong_as_double(0x7ff8000000000000ll)\n"
                                "#define __builtin_fma fma\n#define __builtin_sqrt sqrt\n";
static const char float_text[] = "#define DBL_MAX 1.7976931348623157e308\n#define DBL_MIN 2.2250738585072014e-308\n";
static const char cmath_text[] =
    "#include <math.h>\n"
    "namespace std {\n"
    "using ::exp; using ::exp2; using ::expm1; using ::log; using ::log2; using ::log10; using ::log1p; using ::pow;\n"
    "using ::sqrt; using ::cbrt; using ::hypot; using ::fabs; using ::abs; using ::fma; using ::fmod; using ::fmin;\n"
    "using ::fmax; using ::floor; using ::ceil; using ::round; using ::trunc; using ::sin; using ::cos; using ::tan;\n"
    "using ::asin; using ::acos; using ::atan; using ::atan2; using ::sinh; using ::cosh; using ::tanh; using "
    "::asinh;\n"
    "using ::acosh; using ::atanh; using ::erf; using ::erfc; using ::lgamma; using ::tgamma; using ::isnan;\n"
    "using ::isinf; using ::isfinite;\n"
    "}\n";
static const char cstddef_text[] = "namespace std { using ::size_t; }\n";
static const char assert_text[] = "#define assert(condition) ((void)0)\n";
static const char empty_text[] = "\n";

typedef struct header {
    const char *name, *text;
} header;

static const header headers[] = {{"stdint.h", stdint_text},
                                 {"math.h", math_text},
                                 {"float.h", float_text},
                                 {"stddef.h", empty_text},
                                 {"stdbool.h", empty_text},
                                 {"string.h", empty_text},
                                 {"cmath", cmath_text},
                                 {"cfloat", "#include <float.h>\n"},
                                 {"cstddef", cstddef_text},
                                 {"stdio.h", empty_text}, /* printf() is the compiler's */
                                 {"cstdio", empty_text},
                                 {"stdlib.h", empty_text},
                                 {"cstdlib", empty_text},
                                 {"assert.h", assert_text},
                                 {"cassert", assert_text},
                                 {"cstdint", "#include <stdint.h>\n"},
#define GESS_CUDA_FILE(name, array) {name, (const char *)(array)},
                                 GESS_CUDA_FILES
#undef GESS_CUDA_FILE
};

enum { HEADERS = sizeof headers / sizeof *headers };

typedef struct options {
    char text[MAX_OPTIONS][OPTION];
    const char *list[MAX_OPTIONS];
    int count;
} options;

static void add_text(options *o, const char *format, const char *value)
{
    snprintf(o->text[o->count], OPTION, format, value);
    o->list[o->count] = o->text[o->count];
    o->count++;
}

static void add_count(options *o, const char *name, size_t value)
{
    char text[OPTION];
    snprintf(text, sizeof text, "-DGESS__%s=%zu", name, value);
    add_text(o, "%s", text);
}

/* The folder of a path, for the files that its file includes. */
static void add_folder(options *o, const char *path)
{
    char folder[OPTION - 2] = ".";
    const char *slash = strrchr(path, '/');
    if (slash != NULL) snprintf(folder, sizeof folder, "%.*s/", (int)(slash - path), path);
    add_text(o, "-I%s", folder);
}

static void set_options(options *o, const gess__cuda_shape *shape, int capability)
{
    char architecture[16];
    snprintf(architecture, sizeof architecture, "%d", capability);
    o->count = 0;
    add_text(o, "--gpu-architecture=sm_%s", architecture);
    add_text(o, "%s", "--std=c++17");
    add_text(o, "%s", "--fmad=false");
    add_text(o, "%s", "-default-device");
    add_text(o, "%s", "-DGESS_NO_CLONES");
    add_count(o, "LANE_DIM", shape->dim);
    add_count(o, "LANE_OUTER", shape->outer);
    add_count(o, "LANE_COMPONENTS", shape->components);
    add_count(o, "LANE_MAP", (size_t)shape->map);
    add_count(o, "LANE_BOUNDS", (size_t)shape->bounds);
    add_count(o, "BLOCK", shape->block);
    if (shape->batched) {
        add_text(o, "%s", "-DGESS__BATCHED");
        return;
    }
    add_text(o, "-DGESS__LANE_NAME=gess__lane_%s", shape->density);
    if (shape->file == NULL) {
        add_text(o, "-DGESS__LANE_HEADER=\"model/lane/%s.h\"", shape->density);
    } else {
        add_text(o, "%s", "-DGESS__LANE_HEADER=\"model/cuda_point.h\"");
        add_text(o, "-DGESS__SOURCE=\"%s\"", shape->file);
        add_folder(o, shape->file);
    }
}

/* The compiler's words from the first error on, as much as fits into a message. */
static int fail_to_compile(nvrtcProgram program, nvrtcResult result, const gess__cuda_shape *shape, gess_error *err)
{
    size_t size = 0;
    char *text = NULL;
    const char *name = shape->file != NULL ? shape->file : shape->density;
    if (nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size < 2 || (text = malloc(size)) == NULL)
        return gess__fail(err, GESS_ERR_INTERNAL, "the density %.200s cannot be compiled for the GPU: %s", name,
                          nvrtcGetErrorString(result));
    nvrtcGetProgramLog(program, text);
    const char *from = strstr(text, "error:");
    while (from != NULL && from > text && from[-1] != '\n') from--;
    int status = gess__fail(err, GESS_ERR_MODEL, "the density %.200s cannot be compiled for the GPU:\n%.*s", name,
                            WORDS, from != NULL ? from : text);
    free(text);
    return status;
}

static int take_code(nvrtcProgram program, char **code, size_t *size, gess_error *err)
{
    if (nvrtcGetCUBINSize(program, size) != NVRTC_SUCCESS)
        return gess__fail(err, GESS_ERR_INTERNAL, "NVRTC gave no code");
    GESS_ALLOC(code, *size, err);
    if (nvrtcGetCUBIN(program, *code) == NVRTC_SUCCESS) return GESS_OK;
    free(*code);
    return gess__fail(err, GESS_ERR_INTERNAL, "NVRTC gave no code");
}

static int compile(const gess__cuda_shape *shape, int capability, options *o, char **code, size_t *size,
                   gess_error *err)
{
    const char *names[HEADERS + 1], *texts[HEADERS + 1];
    nvrtcProgram program;
    int count = HEADERS;
    for (int i = 0; i < HEADERS; i++) {
        names[i] = headers[i].name;
        texts[i] = headers[i].text;
    }
    if (shape->file != NULL) {
        names[count] = shape->file;
        texts[count++] = shape->text;
    }
    set_options(o, shape, capability);
    const char *source = shape->batched ? "#include \"cuda/batched.cu\"\n" : "#include \"cuda/run.cu\"\n";
    nvrtcResult result = nvrtcCreateProgram(&program, source, "gess", count, texts, names);
    if (result != NVRTC_SUCCESS) return gess__fail(err, GESS_ERR_INTERNAL, "NVRTC: %s", nvrtcGetErrorString(result));
    result = nvrtcCompileProgram(program, o->count, o->list);
    int status =
        result == NVRTC_SUCCESS ? take_code(program, code, size, err) : fail_to_compile(program, result, shape, err);
    nvrtcDestroyProgram(&program);
    return status;
}

int gess__cuda_compile(const gess__cuda_shape *shape, int capability, char **code, size_t *size, gess_error *err)
{
    options *o = NULL;
    GESS_ALLOC(&o, 1, err);
    int status = compile(shape, capability, o, code, size, err);
    free(o);
    return status;
}
