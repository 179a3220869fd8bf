/* The functions of NVIDIA's driver that are used, looked up when a device is opened: a machine without a driver can
 * load the library, and is told what is missing. */
#ifndef GESS_CUDA_DRIVER_H
#define GESS_CUDA_DRIVER_H

#include "base/status.h"

#include <cuda.h>

/* GESS_CUDA_FUNCTION(member, "symbol", type of the function) */
#define GESS_CUDA_FUNCTIONS                                                                                         \
    GESS_CUDA_FUNCTION(init, "cuInit", (unsigned flags))                                                            \
    GESS_CUDA_FUNCTION(version, "cuDriverGetVersion", (int *version))                                               \
    GESS_CUDA_FUNCTION(error_string, "cuGetErrorString", (CUresult result, const char **text))                      \
    GESS_CUDA_FUNCTION(count, "cuDeviceGetCount", (int *count))                                                     \
    GESS_CUDA_FUNCTION(get, "cuDeviceGet", (CUdevice * device, int number))                                         \
    GESS_CUDA_FUNCTION(device_name, "cuDeviceGetName", (char *name, int size, CUdevice device))                     \
    GESS_CUDA_FUNCTION(attribute, "cuDeviceGetAttribute", (int *value, CUdevice_attribute which, CUdevice device))  \
    GESS_CUDA_FUNCTION(retain, "cuDevicePrimaryCtxRetain", (CUcontext * context, CUdevice device))                  \
    GESS_CUDA_FUNCTION(release, "cuDevicePrimaryCtxRelease_v2", (CUdevice device))                                  \
    GESS_CUDA_FUNCTION(use, "cuCtxSetCurrent", (CUcontext context))                                                 \
    GESS_CUDA_FUNCTION(finish, "cuCtxSynchronize", (void))                                                          \
    GESS_CUDA_FUNCTION(memory, "cuMemGetInfo_v2", (size_t * left, size_t * all))                                    \
    GESS_CUDA_FUNCTION(make, "cuMemAlloc_v2", (CUdeviceptr * at, size_t bytes))                                     \
    GESS_CUDA_FUNCTION(clear, "cuMemsetD8_v2", (CUdeviceptr at, unsigned char value, size_t bytes))                 \
    GESS_CUDA_FUNCTION(unmake, "cuMemFree_v2", (CUdeviceptr at))                                                    \
    GESS_CUDA_FUNCTION(put, "cuMemcpyHtoD_v2", (CUdeviceptr to, const void *from, size_t bytes))                    \
    GESS_CUDA_FUNCTION(take, "cuMemcpyDtoH_v2", (void *to, CUdeviceptr from, size_t bytes))                         \
    GESS_CUDA_FUNCTION(load, "cuModuleLoadData", (CUmodule * module, const void *code))                             \
    GESS_CUDA_FUNCTION(unload, "cuModuleUnload", (CUmodule module))                                                 \
    GESS_CUDA_FUNCTION(function, "cuModuleGetFunction", (CUfunction * function, CUmodule module, const char *name)) \
    GESS_CUDA_FUNCTION(function_attribute, "cuFuncGetAttribute",                                                    \
                       (int *value, CUfunction_attribute which, CUfunction function))                               \
    GESS_CUDA_FUNCTION(launch, "cuLaunchKernel",                                                                    \
                       (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,   \
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **arguments,     \
                        void **extra))

typedef struct gess__driver {
#define GESS_CUDA_FUNCTION(member, symbol, parameters) CUresult(*member) parameters;
    GESS_CUDA_FUNCTIONS
#undef GESS_CUDA_FUNCTION
} gess__driver;

/* Loads the driver and makes it ready. */
int gess__driver_open(gess__driver *driver, gess_error *err);

/* GESS_OK, or a message that begins with `doing`. */
int gess__driver_check(const gess__driver *driver, CUresult result, const char *doing, gess_error *err);

#endif
