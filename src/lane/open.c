/* Reads the name of a device and loads libgess_cuda. */
#include "lane/open.h"

#include "base/library.h"
#include "base/options.h"
#include "lane/cuda.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const char library_file[] = "libgess_cuda.so";

/* The numbers of GPUs in "cuda" (the first) or "cuda:N,N,…"; false if it is something else. */
static bool read_numbers(const char *name, int numbers[GESS__MAX_DEVICES], size_t *count)
{
    char text[256];
    numbers[0] = 0;
    *count = 1;
    if (strncmp(name, "cuda", 4) != 0 || strlen(name) >= sizeof text) return false;
    if (name[4] == '\0') return true;
    if (name[4] != ':') return false;
    strcpy(text, name + 5);
    *count = 0;
    for (char *word = text, *next; word != NULL; word = next) {
        uint64_t n = 0;
        next = strchr(word, ',');
        if (next != NULL) *next++ = '\0';
        if (*count == GESS__MAX_DEVICES || !gess__parse_count(word, &n) || n > 1000) return false;
        for (size_t i = 0; i < *count; i++)
            if (numbers[i] == (int)n) return false;
        numbers[(*count)++] = (int)n;
    }
    return true;
}

static int load(gess__cuda_open_fn **open, gess_error *err)
{
    gess__library library;
    if (!gess__library_open(&library, library_file, false)) {
        if (library.path[0] == '\0')
            return gess__fail(err, GESS_ERR_MODEL,
                              "this gess was built without the CUDA toolkit, which --device cuda needs; install the "
                              "toolkit and build gess again, or use --device cpu");
        return gess__fail(err, GESS_ERR_MODEL, "--device cuda needs %s, which cannot be loaded: %.300s", library.path,
                          library.why);
    }
    const char *build = gess__library_symbol(&library, "gess__cuda_build");
    void *symbol = gess__library_symbol(&library, "gess__cuda_open");
    if (build == NULL || symbol == NULL || strcmp(build, GESS_VERSION_TEXT) != 0)
        return gess__fail(err, GESS_ERR_MODEL,
                          "%s is of another version of gess (%s) than this one (%s); install both from one build",
                          library.path, build != NULL ? build : "unknown", GESS_VERSION_TEXT);
    memcpy(open, &symbol, sizeof symbol);
    return GESS_OK;
}

static int open_cuda(gess__accelerator **device, size_t count, const int *numbers, gess_error *err)
{
    gess__cuda_open_fn *open;
    gess__backend *backends[GESS__MAX_DEVICES];
    size_t opened = 0;
    int status = load(&open, err);
    while (status == GESS_OK && opened < count) {
        status = open(&backends[opened], numbers[opened], err);
        opened += status == GESS_OK;
    }
    if (status == GESS_OK) return gess__device_new(device, count, backends, err);
    for (size_t i = 0; i < opened; i++) backends[i]->close(backends[i]);
    return status;
}

int gess__device_open(gess__accelerator **device, const char *name, char *why, size_t size, gess_error *err)
{
    int numbers[GESS__MAX_DEVICES] = {0};
    size_t count = 1;
    *device = NULL;
    why[0] = '\0';
    if (strcmp(name, "cpu") == 0) return GESS_OK;
    if (strcmp(name, "auto") == 0) {
        gess_error reason = {0};
        if (open_cuda(device, 1, numbers, &reason) != GESS_OK) snprintf(why, size, "%s", reason.text);
        return GESS_OK;
    }
    if (!read_numbers(name, numbers, &count))
        return gess__fail(err, GESS_ERR_USAGE,
                          "--device %s: it must be cpu, cuda, cuda:N, cuda:N,N,... (several GPUs, at most %d, each "
                          "once) or "
                          "auto",
                          name, GESS__MAX_DEVICES);
    return open_cuda(device, count, numbers, err);
}

int gess__device_check(const gess_model *model, const gess_options *options, gess_error *err)
{
    if (model->lane.name == NULL)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--device %s: this model has no code for a GPU; the built-in models have (`gess models`), "
                          "and so has a "
                          "model in CUDA (`gess new NAME --lang cuda`)",
                          options->device);
    if (model->lane.batch != NULL && strchr(options->device, ',') != NULL)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--device %s: this model's function of points on a GPU works on one; name one GPU",
                          options->device);
    if (strcmp(options->kernel, "gess") != 0)
        return gess__fail(err, GESS_ERR_USAGE, "--device %s: only the kernel gess runs there, not %s", options->device,
                          options->kernel);
    if (strcmp(options->schedule, "tempering") == 0)
        return gess__fail(err, GESS_ERR_USAGE, "--device %s: the schedule tempering runs on the processor only",
                          options->device);
    if (options->isolate)
        return gess__fail(err, GESS_ERR_USAGE, "--device %s and --isolate exclude each other", options->device);
    return GESS_OK;
}
