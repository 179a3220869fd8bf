// The words of CUDA for a C++ compiler, and the launch of a kernel: the threads of a block are contexts of one thread,
// which go on in turns where they wait for each other.
#include <cmath>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <type_traits>
#include <ucontext.h>
#include <utility>

#define __CUDACC__
#define __device__
#define __host__
#define __global__ __attribute__((visibility("default")))
#define __constant__
#define __shared__ static
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __grid_constant__
#define __launch_bounds__(...)

struct emulated_index {
    unsigned x;
};
static emulated_index threadIdx, blockIdx, blockDim, gridDim;

namespace emulated
{

enum { MAX_THREADS = 1024, STACK = 1 << 19 };

struct thread {
    ucontext_t context;
    void *stack;
    bool done;
};

static thread threads[MAX_THREADS];
static ucontext_t scheduler;
static unsigned long long shuffled[MAX_THREADS];
static void (*body)(void **);
static void **arguments;

// Lets the other threads of the block come here, too.
static void wait()
{
    unsigned mine = threadIdx.x;
    swapcontext(&threads[mine].context, &scheduler);
    threadIdx.x = mine;
}

static void begin()
{
    unsigned mine = threadIdx.x;
    body(arguments);
    threads[mine].done = true;
    swapcontext(&threads[mine].context, &scheduler);
}

static void run_block(unsigned count)
{
    for (unsigned t = 0; t < count; t++) {
        if (threads[t].stack == nullptr)
            threads[t].stack = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        getcontext(&threads[t].context);
        threads[t].context.uc_stack.ss_sp = threads[t].stack;
        threads[t].context.uc_stack.ss_size = STACK;
        threads[t].done = false;
        makecontext(&threads[t].context, begin, 0);
    }
    for (unsigned left = count; left > 0;)
        for (unsigned t = 0; t < count; t++) {
            if (threads[t].done) continue;
            threadIdx.x = t;
            swapcontext(&scheduler, &threads[t].context);
            left -= threads[t].done;
        }
}

template <class... A, size_t... I> static void call(void (*kernel)(A...), void **from, std::index_sequence<I...>)
{
    kernel(*(typename std::decay<A>::type *)from[I]...);
}

template <class... A> static void unpack(void (*kernel)(A...), void **from)
{
    call(kernel, from, std::index_sequence_for<A...>{});
}

static void launch(void (*kernel)(void **), unsigned blocks, unsigned count, void **from)
{
    body = kernel;
    arguments = from;
    blockDim.x = count;
    gridDim.x = blocks;
    for (blockIdx.x = 0; blockIdx.x < blocks; blockIdx.x++) run_block(count);
}

} // namespace emulated

static inline void __syncthreads()
{
    emulated::wait();
}

template <class T> static T __shfl_down_sync(unsigned, T value, int step)
{
    unsigned from = threadIdx.x + (unsigned)step;
    emulated::shuffled[threadIdx.x] = (unsigned long long)value;
    emulated::wait();
    T result = from / 32 == threadIdx.x / 32 ? (T)emulated::shuffled[from] : value;
    emulated::wait();
    return result;
}

static inline unsigned long long atomicAdd(unsigned long long *at, unsigned long long more)
{
    unsigned long long before = *at;
    *at += more;
    return before;
}

// Behind the program: what libcuda calls.
#define EMULATED_KERNEL(name)                                                                                     \
    extern "C"                                                                                                    \
        __attribute__((visibility("default"))) void emulated_##name(unsigned blocks, unsigned count, void **from) \
    {                                                                                                             \
        emulated::launch([](void **a) { emulated::unpack(name, a); }, blocks, count, from);                       \
    }
