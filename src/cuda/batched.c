/* Propose, evaluate, consume: launches the kernels of batched.cu in turn with calls of the density. Each call has the
 * points of all chains that wait for one, packed in the order of the chains; a chain that ends an update begins the
 * next one at once, so calls get smaller only when chains have done all iterations of the job. */
#include "cuda/batched.h"

#include <stdint.h>

/* What the memory holds. */
enum piece { WAITING, SLOTS, SUMS, TOTAL, ROOM, POINTS, VALUES };

enum { PACK_THREADS = 1024 };

/* A job under way. */
typedef struct batch {
    const gess__batched *kernels;
    const gess__driver *driver;
    gess__lane_job job;
    unsigned blocks, block;
    CUdeviceptr at[GESS__BATCHED_PIECES];
} batch;

int gess__batched_find(gess__batched *b, const gess__driver *driver, CUmodule module, gess_error *err)
{
    const struct {
        CUfunction *function;
        const char *name;
    } all[] = {{&b->waiting_bytes, "gess__waiting_bytes"},
               {&b->wait, "gess__wait"},
               {&b->step, "gess__step"},
               {&b->pack, "gess__pack"},
               {&b->gather, "gess__gather"},
               {&b->leave, "gess__leave"}};
    b->bytes = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        GESS_TRY(
            gess__driver_check(driver, driver->function(all[i].function, module, all[i].name), "code was loaded", err));
    return GESS_OK;
}

static int launch(const batch *b, CUfunction function, unsigned blocks, unsigned block, void **arguments,
                  gess_error *err)
{
    return gess__driver_check(b->driver,
                              b->driver->launch(function, blocks, 1, 1, block, 1, 1, 0, NULL, arguments, NULL),
                              "a kernel was launched", err);
}

static int make_room(gess__batched_memory *m, gess__backend *backend, const gess__driver *driver, enum piece piece,
                     size_t bytes, gess_error *err)
{
    void *at = NULL;
    if (m->bytes[piece] >= bytes) return GESS_OK;
    if (m->bytes[piece] > 0) driver->unmake(m->at[piece]);
    m->bytes[piece] = 0;
    GESS_TRY(backend->make(backend, bytes, &at, err));
    m->at[piece] = (CUdeviceptr)(uintptr_t)at;
    m->bytes[piece] = bytes;
    return GESS_OK;
}

static int make_all(gess__batched *k, batch *b, gess__batched_memory *m, gess__backend *backend, size_t outer,
                    gess_error *err)
{
    size_t n = b->job.count, room = gess__lane_room(n);
    uint64_t bytes = 0;
    GESS_TRY(make_room(m, backend, b->driver, TOTAL, sizeof(uint64_t), err));
    if (k->bytes == 0) {
        void *arguments[] = {&m->at[TOTAL]};
        GESS_TRY(launch(b, k->waiting_bytes, 1, 1, arguments, err));
        GESS_TRY(backend->get(backend, &bytes, (void *)(uintptr_t)m->at[TOTAL], sizeof bytes, err));
        k->bytes = (size_t)bytes;
    }
    GESS_TRY(make_room(m, backend, b->driver, WAITING, n * k->bytes, err));
    GESS_TRY(make_room(m, backend, b->driver, SLOTS, n * sizeof(uint32_t), err));
    GESS_TRY(make_room(m, backend, b->driver, SUMS, PACK_THREADS * sizeof(uint32_t), err));
    GESS_TRY(make_room(m, backend, b->driver, ROOM, n * outer * sizeof(double), err));
    GESS_TRY(make_room(m, backend, b->driver, POINTS, room * outer * sizeof(double), err));
    GESS_TRY(make_room(m, backend, b->driver, VALUES, room * sizeof(double), err));
    for (size_t i = 0; i < GESS__BATCHED_PIECES; i++) b->at[i] = m->at[i];
    return GESS_OK;
}

/* Runs every chain to its next proposal, and packs these; *n: how many there are. */
static int propose(batch *b, gess__backend *backend, uint64_t *n, gess_error *err)
{
    CUdeviceptr *at = b->at;
    size_t count = b->job.count;
    void *step[] = {&b->job, &at[WAITING], &at[SLOTS], &at[VALUES], &at[ROOM]};
    void *pack[] = {&count, &at[SLOTS], &at[SUMS], &at[TOTAL]};
    void *gather[] = {&count, &at[WAITING], &at[SLOTS], &at[ROOM], &at[POINTS]};
    GESS_TRY(launch(b, b->kernels->step, b->blocks, b->block, step, err));
    GESS_TRY(launch(b, b->kernels->pack, 1, PACK_THREADS, pack, err));
    GESS_TRY(launch(b, b->kernels->gather, b->blocks, b->block, gather, err));
    return backend->get(backend, n, (void *)(uintptr_t)at[TOTAL], sizeof *n, err);
}

/* Finds the point to blame for a call that failed: the first that fails alone, or the first of all. */
static int blame(const gess__driver *driver, const gess__lane_shape *shape, size_t n, const double *x, double *logp,
                 int code, gess_error *err)
{
    size_t bad = 0, dim = shape->outer, room = sizeof err->point / sizeof *err->point;
    while (n > 1 && bad < n && shape->batch(shape->user, NULL, 1, dim, x + bad * dim, logp) == 0) bad++;
    if (bad == n) bad = 0;
    int status = gess__fail(err, GESS_ERR_MODEL, "the model returned error %d on the GPU", code);
    if (err == NULL) return status;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)(x + bad * dim);
    if (driver->take(err->point, at, (dim < room ? dim : room) * sizeof *x) == CUDA_SUCCESS) err->dim = dim;
    return status;
}

int gess__batched_call(const gess__driver *driver, const gess__lane_shape *shape, size_t n, const double *x,
                       double *logp, gess_error *err)
{
    int code = shape->batch(shape->user, NULL, n, shape->outer, x, logp);
    if (code != 0) return blame(driver, shape, n, x, logp, code, err);
    return gess__driver_check(driver, driver->finish(), "the density was at work", err);
}

static int run(batch *b, gess__backend *backend, const gess__lane_shape *shape, gess_error *err)
{
    uint64_t n = 0;
    void *wait[] = {&b->job, &b->at[WAITING]}, *leave[] = {&b->job, &b->at[WAITING]};
    GESS_TRY(launch(b, b->kernels->wait, b->blocks, b->block, wait, err));
    GESS_TRY(propose(b, backend, &n, err));
    while (n > 0) {
        const double *x = (const double *)(uintptr_t)b->at[POINTS];
        GESS_TRY(gess__batched_call(b->driver, shape, (size_t)n, x, (double *)(uintptr_t)b->at[VALUES], err));
        GESS_TRY(propose(b, backend, &n, err));
    }
    GESS_TRY(launch(b, b->kernels->leave, b->blocks, b->block, leave, err));
    return gess__driver_check(b->driver, b->driver->finish(), "the GPU was at work", err);
}

int gess__batched_run(gess__batched *kernels, gess__batched_memory *memory, gess__backend *backend,
                      const gess__driver *driver, const gess__lane_shape *shape, const gess__lane_job *job,
                      unsigned block, gess_error *err)
{
    batch b = {.kernels = kernels,
               .driver = driver,
               .job = *job,
               .blocks = (unsigned)((job->count + block - 1) / block),
               .block = block};
    GESS_TRY(make_all(kernels, &b, memory, backend, shape->outer, err));
    return run(&b, backend, shape, err);
}

void gess__batched_free(gess__batched_memory *memory, const gess__driver *driver)
{
    for (size_t i = 0; i < GESS__BATCHED_PIECES; i++)
        if (memory->bytes[i] > 0) driver->unmake(memory->at[i]);
}
