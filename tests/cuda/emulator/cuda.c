/* The driver of GPUs that are the processor: the functions that src/cuda uses. Every copy is checked: what is said to
 * be in a device's memory must be there, and what is said not to be must not. */
#include <cuda.h>

#include <dlfcn.h>
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_PIECES = 1024, MAX_DEVICES = 16 };

static struct {
    char *at;
    size_t bytes;
    int device;
} pieces[MAX_PIECES];
static size_t used;
static __thread int current = -1; /* the thread's device */

static size_t setting(const char *name, size_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? (size_t)strtoull(text, NULL, 10) : otherwise;
}

static void refuse(const char *what)
{
    fprintf(stderr, "emulated GPU: %s\n", what);
    abort();
}

static int on_device(uintptr_t at, size_t bytes)
{
    for (size_t i = 0; i < MAX_PIECES; i++)
        if (pieces[i].at != NULL && pieces[i].device == current && at >= (uintptr_t)pieces[i].at &&
            at + bytes <= (uintptr_t)pieces[i].at + pieces[i].bytes)
            return 1;
    return 0;
}

static int touches_device(const void *at, size_t bytes)
{
    for (size_t i = 0; i < MAX_PIECES; i++)
        if (pieces[i].at != NULL && (uintptr_t)at < (uintptr_t)pieces[i].at + pieces[i].bytes &&
            (uintptr_t)at + bytes > (uintptr_t)pieces[i].at)
            return 1;
    return 0;
}

CUresult cuInit(unsigned flags)
{
    (void)flags;
    return setting("EMULATED_DEVICES", 1) > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = (int)setting("EMULATED_DRIVER", CUDA_VERSION);
    return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char **text)
{
    *text = result == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : "emulated error";
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = (int)setting("EMULATED_DEVICES", 1);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number)
{
    *device = number;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "emulated");
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR ? 9 : 0;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    *context = (CUcontext)(uintptr_t)(device + 1);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    for (size_t i = 0; i < MAX_PIECES; i++)
        if (pieces[i].at != NULL && pieces[i].device == device) refuse("memory was not released");
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    current = (int)(uintptr_t)context - 1;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    if (setting("EMULATED_FAULT", 0) > 0) return CUDA_ERROR_ILLEGAL_ADDRESS;
    return current >= 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemGetInfo(size_t *left, size_t *all)
{
    *all = setting("EMULATED_MEMORY", 4096) << 20;
    *left = *all - used;
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc(CUdeviceptr *at, size_t bytes)
{
    if (current < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (used + bytes > setting("EMULATED_MEMORY", 4096) << 20) return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < MAX_PIECES; i++) {
        if (pieces[i].at != NULL) continue;
        pieces[i].at = aligned_alloc(256, (bytes + 255) / 256 * 256);
        pieces[i].bytes = bytes;
        pieces[i].device = current;
        memset(pieces[i].at, 0xff, bytes);
        used += bytes;
        *at = (CUdeviceptr)(uintptr_t)pieces[i].at;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree(CUdeviceptr at)
{
    for (size_t i = 0; i < MAX_PIECES; i++) {
        if ((uintptr_t)pieces[i].at != (uintptr_t)at) continue;
        used -= pieces[i].bytes;
        free(pieces[i].at);
        pieces[i].at = NULL;
        return CUDA_SUCCESS;
    }
    refuse("memory was released that is not a device's");
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemsetD8(CUdeviceptr at, unsigned char value, size_t bytes)
{
    if (!on_device((uintptr_t)at, bytes)) refuse("memory was cleared that is not a device's");
    memset((void *)(uintptr_t)at, value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    if (current < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (!on_device((uintptr_t)to, bytes) || touches_device(from, bytes)) refuse("a copy to a device has wrong places");
    memcpy((void *)(uintptr_t)to, from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    if (current < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (!on_device((uintptr_t)from, bytes) || touches_device(to, bytes))
        refuse("a copy from a device has wrong places");
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    if (!on_device((uintptr_t)to, bytes)) refuse("a copy on a device has a wrong place");
    memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
    return CUDA_SUCCESS;
}

/* How long a shared object is: up to the end of its table of sections. */
static size_t length_of(const void *code)
{
    Elf64_Ehdr header;
    memcpy(&header, code, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) refuse("a module is not of the emulated NVRTC");
    return header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
}

CUresult cuModuleLoadData(CUmodule *module, const void *code)
{
    char path[] = "/tmp/emulated-XXXXXX";
    size_t length = length_of(code);
    int file = mkstemp(path);
    if (file < 0 || write(file, code, length) != (ssize_t)length) abort();
    close(file);
    *module = (CUmodule)dlopen(path, RTLD_NOW | RTLD_LOCAL);
    unlink(path);
    if (*module == NULL) refuse(dlerror());
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    dlclose(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    char symbol[100];
    snprintf(symbol, sizeof symbol, "emulated_%s", name);
    *function = (CUfunction)dlsym(module, symbol);
    return *function != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute which, CUfunction function)
{
    (void)which, (void)function;
    *value = 0;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared, CUstream stream, void **arguments,
                        void **extra)
{
    void (*launch)(unsigned, unsigned, void **);
    (void)shared, (void)stream, (void)extra;
    if (current < 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (grid_y * grid_z * block_y * block_z != 1 || block_x > 1024 || grid_x == 0) return CUDA_ERROR_INVALID_VALUE;
    memcpy(&launch, &function, sizeof launch);
    launch(grid_x, block_x, arguments);
    return CUDA_SUCCESS;
}
