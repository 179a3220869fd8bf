/* Nothing is allocated inside the sampling loop, and memory is O(KD + D²).
 *
 * The allocator's functions are replaced in this program by ones that count and pass on. */
#include "base/options.h"
#include "run/run.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernel/kernel.h"

#include <gess/gess.h>

#ifdef GESS_SANITIZED /* sanitizers bring their allocator */

int main(void)
{
    print_message("skipped: a sanitizer is in the way\n");
    return 0;
}

#else

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static atomic_ullong calls;
static atomic_llong live, peak; /* bytes */

static void *(*real_malloc)(size_t);
static void *(*real_calloc)(size_t, size_t);
static void *(*real_realloc)(void *, size_t);
static void *(*real_aligned_alloc)(size_t, size_t);
static int (*real_posix_memalign)(void **, size_t, size_t);
static void (*real_free)(void *);

/* Memory for dlsym() itself, which allocates while it finds the real functions. */
static _Alignas(64) char early[8192];
static size_t early_used;

static int is_early(const void *p)
{
    return (uintptr_t)p >= (uintptr_t)early && (uintptr_t)p < (uintptr_t)early + sizeof early;
}

static void *early_alloc(size_t bytes)
{
    size_t at = early_used;
    early_used += (bytes + 63) / 64 * 64;
    if (early_used > sizeof early) abort();
    return early + at;
}

static void find_real(void *function, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

static void find_functions(void)
{
    static int finding;
    if (finding || real_free != NULL) return;
    finding = 1;
    find_real(&real_calloc, "calloc");
    find_real(&real_realloc, "realloc");
    find_real(&real_aligned_alloc, "aligned_alloc");
    find_real(&real_posix_memalign, "posix_memalign");
    find_real(&real_malloc, "malloc");
    find_real(&real_free, "free");
}

static void *counted(void *p)
{
    if (p == NULL) return NULL;
    atomic_fetch_add(&calls, 1);
    long long now = atomic_fetch_add(&live, (long long)malloc_usable_size(p)) + (long long)malloc_usable_size(p);
    long long highest = atomic_load(&peak);
    while (now > highest && !atomic_compare_exchange_weak(&peak, &highest, now)) {
    }
    return p;
}

/* The C library's headers give these attributes; here they are plain functions with external linkage. */
#define SEEN __attribute__((visibility("default")))

SEEN void *malloc(size_t bytes)
{
    find_functions();
    return real_malloc == NULL ? early_alloc(bytes) : counted(real_malloc(bytes));
}

SEEN void *calloc(size_t count, size_t size)
{
    find_functions();
    return real_calloc == NULL ? early_alloc(count * size) : counted(real_calloc(count, size));
}

SEEN void *realloc(void *p, size_t bytes)
{
    find_functions();
    if (is_early(p) || real_realloc == NULL) {
        void *moved = malloc(bytes);
        if (moved != NULL && p != NULL) memcpy(moved, p, bytes);
        return moved;
    }
    if (p != NULL) atomic_fetch_sub(&live, (long long)malloc_usable_size(p));
    return counted(real_realloc(p, bytes));
}

SEEN void *aligned_alloc(size_t alignment, size_t bytes)
{
    find_functions();
    return counted(real_aligned_alloc(alignment, bytes));
}

SEEN int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    find_functions();
    int code = real_posix_memalign(out, alignment, bytes);
    if (code == 0) counted(*out);
    return code;
}

SEEN void free(void *p)
{
    if (p == NULL || is_early(p)) return;
    find_functions();
    int code = errno;
    atomic_fetch_sub(&live, (long long)malloc_usable_size(p));
    real_free(p);
    errno = code;
}

/* ---- a run whose allocations are counted ---- */

static int normal(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        logp[i] = 0.0;
        for (size_t j = 0; j < dim; j++) logp[i] -= 0.5 * x[i * dim + j] * x[i * dim + j] / (double)(1 + j % 3);
    }
    return 0;
}

static int normal_gradient(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp,
                           double *gradient)
{
    for (size_t i = 0; i < n * dim; i++) gradient[i] = -x[i] / (double)(1 + i % dim % 3);
    return normal(user, worker, n, dim, x, logp);
}

typedef struct counts {
    unsigned long long at_ten, newest;
    uint64_t iterations;
} counts;

static int count_at_progress(void *user, const gess_stats *stats, uint64_t planned)
{
    (void)planned;
    counts *w = user;
    w->newest = atomic_load(&calls);
    if (stats->iterations <= 10) w->at_ten = w->newest;
    w->iterations = stats->iterations;
    return 0;
}

static int ignore(void *user, size_t first_chain, size_t chains, uint64_t first_draw, uint64_t draws, size_t dim,
                  const double *rows)
{
    (void)user, (void)first_chain, (void)chains, (void)first_draw, (void)draws, (void)dim, (void)rows;
    return 0;
}

static gess_run *new_run(const gess_model *model, const char *kernel, uint64_t chains, uint64_t warmup, uint64_t draws)
{
    gess_options o;
    gess_run *run;
    gess_error err = {0};
    gess__options_init(&o);
    o.kernel = kernel;
    o.schedule = gess__kernel_find(kernel)->needs & GESS__NEEDS_APPROX ? "two-group" : "auto";
    o.chains = chains;
    o.warmup = warmup;
    o.draws = draws;
    o.threads = 2;
    if (gess_run_new(&run, model, &o, NULL, &err) != GESS_OK) fail_msg("%s", err.text);
    gess_run_on_draw(run, ignore, NULL, NULL);
    return run;
}

/* There must be no allocation between iteration 10 and the end. */
static void assert_no_allocation(const char *kernel, size_t dim, uint64_t chains, uint64_t draws)
{
    gess_model model = {.name = "normal", .dim = dim, .logp = normal, .gradient = normal_gradient};
    gess_run *run = new_run(&model, kernel, chains, 15, draws);
    gess_error err = {0};
    counts w = {0};
    gess_run_on_progress(run, count_at_progress, &w, NULL);
    run->monitor.wanted = 0; /* the monitor holds the draws so far, and grows with them */
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    assert_int_equal(w.iterations, 15 + draws);
    assert_true(w.at_ten > 0);
    if (w.newest != w.at_ten)
        fail_msg("%s, dimension %zu, %llu chains: %llu allocations after iteration 10", kernel, dim,
                 (unsigned long long)chains, w.newest - w.at_ten);
    gess_run_free(run);
}

static void counter_counts(void **state)
{
    (void)state;
    unsigned long long before = atomic_load(&calls);
    long long bytes = atomic_load(&live);
    void *volatile a = malloc(1000), *volatile b = calloc(3, 1000), *volatile c = aligned_alloc(64, 6400);
    a = realloc(a, 100000);
    assert_int_equal(atomic_load(&calls), before + 4);
    assert_true(atomic_load(&live) - bytes >= 109400 && atomic_load(&live) - bytes < 120000);
    free(a);
    free(b);
    free(c);
    assert_true(atomic_load(&live) == bytes);
}

static void full_fit(void **state)
{
    (void)state;
    assert_no_allocation("gess", 10, 40, 100);
    assert_no_allocation("ess", 10, 40, 100);
    assert_no_allocation("gess", 1, 5, 100);
}

static void projected_fit(void **state)
{
    (void)state;
    assert_no_allocation("gess", 30, 20, 100);
    assert_no_allocation("ess", 30, 20, 100);
}

static void without_approximation(void **state)
{
    (void)state;
    for (size_t k = 0; gess__kernel_row(k) != NULL; k++)
        if (!(gess__kernel_row(k)->needs & GESS__NEEDS_APPROX))
            assert_no_allocation(gess__kernel_row(k)->name, 10, 20, 100);
}

/* More than 128 principal axes. */
static void large_projected_fit(void **state)
{
    (void)state;
    assert_no_allocation("gess", 140, 540, 5);
}

/* The peak memory, in bytes, of a run with D = 1000 and 64 chains; all of it is released. */
static double peak_of(uint64_t warmup)
{
    gess_model model = {.name = "normal", .dim = 1000, .logp = normal};
    long long before = atomic_load(&live);
    atomic_store(&peak, before);
    gess_run *run = new_run(&model, "gess", 64, warmup, 1);
    gess_error err = {0};
    assert_int_equal(gess_run_go(run, &err), GESS_OK);
    gess_run_free(run);
    /* everything is released except what the C library keeps per thread */
    assert_true(llabs(atomic_load(&live) - before) < 4096);
    return (double)(atomic_load(&peak) - before);
}

/* Three D × D matrices (T, its predecessor and the scatter), less than sixteen K × D arrays with all
 * scratch, and the buffer of draws, 4 MiB; with a warm-up, also its window, at most twice 64 MiB. */
static void peak_memory(void **state)
{
    (void)state;
    double bound = 8.0 * (3.0 * 1000 * 1000 + 16.0 * 64 * 1000) + 4.0 * 1024 * 1024 + 65536,
           window = 128.0 * 1024 * 1024;
    double cold = peak_of(0), warm = peak_of(1);
    print_message("peak %.1f MB without warm-up (bound %.1f), %.1f with (bound %.1f)\n", cold / 1e6, bound / 1e6,
                  warm / 1e6, (bound + window) / 1e6);
    assert_true(cold < bound);
    assert_true(warm < bound + window);
}

/* Memory does not grow with the number of draws. */
static void draws_cost_nothing(void **state)
{
    (void)state;
    gess_model model = {.name = "normal", .dim = 2, .logp = normal};
    long long bytes[2];
    for (size_t i = 0; i < 2; i++) {
        long long before = atomic_load(&live);
        gess_error err = {0};
        atomic_store(&peak, before);
        gess_run *run = new_run(&model, "gess", 8, 10, i == 0 ? 100 : 20000);
        assert_int_equal(gess_run_go(run, &err), GESS_OK);
        gess_run_free(run);
        bytes[i] = atomic_load(&peak) - before;
    }
    assert_true(llabs(bytes[1] - bytes[0]) < 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counter_counts),      cmocka_unit_test(full_fit),
        cmocka_unit_test(projected_fit),       cmocka_unit_test(without_approximation),
        cmocka_unit_test(large_projected_fit), cmocka_unit_test(peak_memory),
        cmocka_unit_test(draws_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
