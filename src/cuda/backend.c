/* A GPU as a backend: memory, copies and launches by the driver, code by NVRTC, compiled once per shape. */
#include "base/clock.h"
#include "base/mem.h"
#include "cuda/batched.h"
#include "cuda/compile.h"
#include "cuda/driver.h"
#include "lane/cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 128, MAX_KERNELS = 16 };

/* Code for one shape. */
typedef struct kernel {
    gess__cuda_shape shape;
    char density[64];
    char *text; /* of the user's file */
    CUmodule module;
    CUfunction run, densities;
    gess__batched batched; /* in its place, if the density is a function of many points */
} kernel;

typedef struct cuda {
    gess__backend backend; /* first */
    gess__driver driver;
    CUdevice device;
    CUcontext context;
    int capability;
    char name[160];
    kernel kernels[MAX_KERNELS];
    size_t kernel_count;
    gess__batched_memory memory;
} cuda;

static cuda *of(gess__backend *b)
{
    return (cuda *)(void *)b;
}

/* The driver's calls belong to the thread that makes them. */
static int use(cuda *c, gess_error *err)
{
    return gess__driver_check(&c->driver, c->driver.use(c->context), "it was called", err);
}

static int make(gess__backend *b, size_t bytes, void **memory, gess_error *err)
{
    cuda *c = of(b);
    CUdeviceptr at = 0;
    GESS_TRY(use(c, err));
    CUresult result = c->driver.make(&at, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t left = 0, all = 0;
        c->driver.memory(&left, &all);
        return gess__fail(err, GESS_ERR_INTERNAL,
                          "the GPU is out of memory: %zu MiB more were asked for, and %zu of its %zu MiB are free; use "
                          "fewer chains",
                          bytes >> 20, left >> 20, all >> 20);
    }
    GESS_TRY(gess__driver_check(&c->driver, result, "memory was set aside", err));
    *memory = (void *)(uintptr_t)at;
    return gess__driver_check(&c->driver, c->driver.clear(at, 0, bytes), "memory was cleared", err);
}

static int put(gess__backend *b, void *to, const void *from, size_t bytes, gess_error *err)
{
    const gess__driver *d = &of(b)->driver;
    GESS_TRY(use(of(b), err));
    return gess__driver_check(d, d->put((CUdeviceptr)(uintptr_t)to, from, bytes), "data were copied to the GPU", err);
}

static int get(gess__backend *b, void *to, const void *from, size_t bytes, gess_error *err)
{
    const gess__driver *d = &of(b)->driver;
    GESS_TRY(use(of(b), err));
    return gess__driver_check(d, d->take(to, (CUdeviceptr)(uintptr_t)from, bytes), "the GPU was at work", err);
}

static void release(gess__backend *b, void *memory)
{
    if (use(of(b), NULL) != GESS_OK) return;
    of(b)->driver.unmake((CUdeviceptr)(uintptr_t)memory);
}

static bool same(const gess__cuda_shape *a, const gess__cuda_shape *b)
{
    if ((a->text == NULL) != (b->text == NULL) || (a->text != NULL && strcmp(a->text, b->text) != 0)) return false;
    return strcmp(a->density, b->density) == 0 && a->batched == b->batched && a->dim == b->dim &&
           a->outer == b->outer && a->map == b->map && a->bounds == b->bounds && a->components == b->components;
}

static int find_functions(cuda *c, kernel *k, gess_error *err)
{
    const gess__driver *d = &c->driver;
    GESS_TRY(gess__driver_check(d, d->function(&k->run, k->module, "gess__run"), "code was loaded", err));
    return gess__driver_check(d, d->function(&k->densities, k->module, "gess__densities"), "code was loaded", err);
}

static int build(cuda *c, kernel *k, gess_error *err)
{
    char *code = NULL;
    size_t size;
    GESS_TRY(gess__cuda_compile(&k->shape, c->capability, &code, &size, err));
    int status = gess__driver_check(&c->driver, c->driver.load(&k->module, code), "code was loaded", err);
    free(code);
    GESS_TRY(status);
    status = k->shape.batched ? gess__batched_find(&k->batched, &c->driver, k->module, err) : find_functions(c, k, err);
    if (status != GESS_OK) c->driver.unload(k->module);
    return status;
}

static void drop(cuda *c, kernel *k)
{
    c->driver.unload(k->module);
    free(k->text);
}

/* The code for a shape, compiled if there is none yet. */
static int find(cuda *c, const gess__cuda_shape *shape, kernel **found, gess_error *err)
{
    c->backend.compiling_seconds = 0.0;
    for (size_t i = 0; i < c->kernel_count; i++) {
        *found = &c->kernels[i];
        if (same(&c->kernels[i].shape, shape)) return GESS_OK;
    }
    if (c->kernel_count == MAX_KERNELS) drop(c, &c->kernels[--c->kernel_count]);
    kernel *k = &c->kernels[c->kernel_count];
    *k = (kernel){.shape = *shape};
    snprintf(k->density, sizeof k->density, "%s", shape->density);
    k->shape.density = k->density;
    if (shape->text != NULL) GESS_TRY(gess__copy_text(&k->text, shape->text, err));
    double before = gess__seconds();
    int status = build(c, k, err);
    c->backend.compiling_seconds = gess__seconds() - before;
    if (status != GESS_OK) {
        free(k->text);
        return status;
    }
    k->shape.text = k->text;
    k->shape.file = NULL; /* the model's, which may be gone */
    c->kernel_count++;
    *found = k;
    return GESS_OK;
}

/* Waits for the GPU. A density that reads or writes memory that is not its own ends the context, which does not say at
 * which point it was. */
static int finish(cuda *c, const gess__lane_shape *shape, gess_error *err)
{
    const char *text = NULL;
    CUresult result = c->driver.finish();
    if (result < CUDA_ERROR_ILLEGAL_ADDRESS || result > CUDA_ERROR_LAUNCH_FAILED || shape->file == NULL)
        return gess__driver_check(&c->driver, result, "the GPU was at work", err);
    c->driver.error_string(result, &text);
    return gess__fail(
        err, GESS_ERR_MODEL,
        "the density %.300s failed on the GPU: %s; the driver does not say at which point: look for an index "
        "beyond the parameters or the data (`gess check` tries the density on the processor, point by point)",
        shape->file, text != NULL ? text : "no reason given");
}

static int launch(gess__backend *b, const gess__lane_shape *shape, const gess__lane_job *job, gess_error *err)
{
    cuda *c = of(b);
    kernel *k;
    const gess__cuda_shape wanted = {.density = shape->density,
                                     .file = shape->file,
                                     .text = shape->text,
                                     .batched = shape->batch != NULL,
                                     .dim = shape->dim,
                                     .outer = shape->outer,
                                     .map = job->frozen.layers > 0,
                                     .bounds = job->frozen.bounded,
                                     .components = shape->components > 1 ? GESS__LANE_MAX_COMPONENTS : 1,
                                     .block = BLOCK};
    GESS_TRY(use(c, err));
    GESS_TRY(find(c, &wanted, &k, err));
    if (shape->batch != NULL) return gess__batched_run(&k->batched, &c->memory, b, &c->driver, shape, job, BLOCK, err);
    gess__lane_job copy = *job;
    void *arguments[] = {&copy};
    unsigned blocks = (unsigned)((job->count + BLOCK - 1) / BLOCK);
    GESS_TRY(gess__driver_check(&c->driver,
                                c->driver.launch(k->run, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL),
                                "a kernel was launched", err));
    return finish(c, shape, err);
}

/* Densities of points: by the model's function of many, or by the kernel of its function of one. */
static int call(gess__backend *b, const gess__lane_shape *shape, size_t n, const double *x, double *logp,
                gess_error *err)
{
    cuda *c = of(b);
    kernel *k;
    const gess__cuda_shape wanted = {.density = shape->density,
                                     .file = shape->file,
                                     .text = shape->text,
                                     .dim = shape->outer,
                                     .outer = shape->outer,
                                     .components = 1,
                                     .block = BLOCK};
    GESS_TRY(use(c, err));
    if (shape->batch != NULL) return gess__batched_call(&c->driver, shape, n, x, logp, err);
    GESS_TRY(find(c, &wanted, &k, err));
    const double *numbers = shape->numbers;
    void *arguments[] = {&n, &numbers, &x, &logp};
    unsigned blocks = (unsigned)((n + BLOCK - 1) / BLOCK);
    GESS_TRY(gess__driver_check(&c->driver,
                                c->driver.launch(k->densities, blocks, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL),
                                "a kernel was launched", err));
    return finish(c, shape, err);
}

static void close_cuda(gess__backend *b)
{
    cuda *c = of(b);
    if (c->context != NULL && use(c, NULL) == GESS_OK) gess__batched_free(&c->memory, &c->driver);
    for (size_t i = 0; i < c->kernel_count; i++) drop(c, &c->kernels[i]);
    if (c->context != NULL) c->driver.release(c->device);
    free(c);
}

static int open_device(cuda *c, int number, gess_error *err)
{
    const gess__driver *d = &c->driver;
    int count = 0, major = 0, minor = 0;
    char name[128] = "";
    GESS_TRY(gess__driver_check(d, d->count(&count), "devices were counted", err));
    if (number >= count)
        return gess__fail(err, GESS_ERR_USAGE,
                          "--device cuda:%d: there is no such GPU; this machine has %d, counted from 0", number, count);
    GESS_TRY(gess__driver_check(d, d->get(&c->device, number), "a device was opened", err));
    GESS_TRY(gess__driver_check(d, d->device_name(name, sizeof name, c->device), "a device was opened", err));
    GESS_TRY(gess__driver_check(d, d->attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, c->device),
                                "a device was opened", err));
    GESS_TRY(gess__driver_check(d, d->attribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, c->device),
                                "a device was opened", err));
    GESS_TRY(gess__driver_check(d, d->retain(&c->context, c->device), "a device was opened", err));
    c->capability = 10 * major + minor;
    snprintf(c->name, sizeof c->name, "cuda:%d (%s)", number, name);
    return gess__driver_check(d, d->use(c->context), "a device was opened", err);
}

int gess__cuda_open(gess__backend **backend, int number, gess_error *err)
{
    cuda *c = NULL;
    GESS_ALLOC(&c, 1, err);
    c->backend = (gess__backend){.name = c->name,
                                 .make = make,
                                 .put = put,
                                 .get = get,
                                 .launch = launch,
                                 .call = call,
                                 .release = release,
                                 .close = close_cuda};
    int status = gess__driver_open(&c->driver, err);
    if (status == GESS_OK) status = open_device(c, number, err);
    if (status == GESS_OK)
        *backend = &c->backend;
    else
        close_cuda(&c->backend);
    return status;
}
