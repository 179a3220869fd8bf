/* Looks the driver's functions up in libcuda, and puts its errors into words. */
#include "cuda/driver.h"

#include <dlfcn.h>
#include <string.h>

/* The oldest driver that runs code of this toolkit: of its major version. */
enum { OLDEST = CUDA_VERSION / 1000 * 1000 };

int gess__driver_check(const gess__driver *driver, CUresult result, const char *doing, gess_error *err)
{
    const char *text = NULL;
    if (result == CUDA_SUCCESS) return GESS_OK;
    if (driver->error_string != NULL) driver->error_string(result, &text);
    return gess__fail(err, GESS_ERR_INTERNAL, "the GPU's driver failed while %s: %s (error %d)", doing,
                      text != NULL ? text : "it does not say why", (int)result);
}

static int look_up(gess__driver *driver, void *library, gess_error *err)
{
#define GESS_CUDA_FUNCTION(member, symbol, parameters)                                                                \
    do {                                                                                                              \
        void *address = dlsym(library, symbol);                                                                       \
        if (address == NULL)                                                                                          \
            return gess__fail(err, GESS_ERR_MODEL, "the NVIDIA driver is too old: it has no %s; install a newer one", \
                              symbol);                                                                                \
        memcpy(&driver->member, &address, sizeof address);                                                            \
    } while (0);
    GESS_CUDA_FUNCTIONS
#undef GESS_CUDA_FUNCTION
    return GESS_OK;
}

int gess__driver_open(gess__driver *driver, gess_error *err)
{
    int version = 0;
    *driver = (gess__driver){0};
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return gess__fail(err, GESS_ERR_MODEL,
                          "there is no NVIDIA driver on this machine (libcuda.so.1 is not found); --device cpu uses "
                          "the processor");
    GESS_TRY(look_up(driver, library, err));
    CUresult result = driver->init(0);
    if (result == CUDA_ERROR_NO_DEVICE)
        return gess__fail(err, GESS_ERR_MODEL,
                          "there is no NVIDIA GPU on this machine; --device cpu uses the processor");
    GESS_TRY(gess__driver_check(driver, result, "it was started", err));
    GESS_TRY(gess__driver_check(driver, driver->version(&version), "it was asked for its version", err));
    if (version < OLDEST)
        return gess__fail(err, GESS_ERR_MODEL,
                          "the NVIDIA driver is too old: it is for CUDA %d.%d, and gess was built with CUDA %d.%d; "
                          "install a newer driver",
                          version / 1000, version % 1000 / 10, CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
    return GESS_OK;
}
