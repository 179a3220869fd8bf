/* Reads the name of a device and loads libgess_cuda. */
#include "lane/open.h"

#include "base/library.h"
#include "base/options.h"
#include "lane/cuda.h"
#include "model/model.h"

#include <stdio.h>
#include <string.h>

static const char library_file[] = "libgess_cuda.so";

/* The number of a GPU in "cuda" or "cuda:N"; false if it is something else. */
static bool read_number(const char *name, int *number)
{
    uint64_t n = 0;
    if (strncmp(name, "cuda", 4) != 0) return false;
    if (name[4] != '\0' && (name[4] != ':' || !gess__parse_count(name + 5, &n) || n > 1000)) return false;
    *number = (int)n;
    return true;
}

static int load(gess__cuda_open_fn **open, gess_error *err)
{
    gess__library library;
    if (!gess__library_open(&library, library_file, false)) {
        if (library.path[0] == '\0')
            return gess__fail(err, GESS_ERR_MODEL,
                              "this gess was built without the CUDA toolkit, which --device cuda needs; install the "
                              "toolkit and build gess again, or leave --device out");
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

static int open_cuda(gess__accelerator **device, int number, gess_error *err)
{
    gess__cuda_open_fn *open;
    gess__backend *backend;
    GESS_TRY(load(&open, err));
    GESS_TRY(open(&backend, number, err));
    return gess__device_new(device, backend, err);
}

int gess__device_open(gess__accelerator **device, const char *name, char *why, size_t size, gess_error *err)
{
    int number = 0;
    *device = NULL;
    why[0] = '\0';
    if (strcmp(name, "cpu") == 0) return GESS_OK;
    if (strcmp(name, "auto") == 0) {
        gess_error reason = {0};
        if (open_cuda(device, 0, &reason) != GESS_OK) snprintf(why, size, "%s", reason.text);
        return GESS_OK;
    }
    if (!read_number(name, &number))
        return gess__fail(err, GESS_ERR_USAGE, "--device %s: it must be cpu, cuda, cuda:N or auto", name);
    return open_cuda(device, number, err);
}

int gess__device_check(const gess_model *model, const gess_options *options, gess_error *err)
{
    if (model->lane.name == NULL)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--device %s: this model has no code for a GPU; the built-in models have (`gess models`), "
                          "and so has a "
                          "model in CUDA (`gess new NAME --lang cuda`)",
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
