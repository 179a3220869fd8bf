/* Checks which memory a density touches: its points lie in memory that cannot be written, and behind (or in front of)
 * points and values lies memory that cannot be touched at all. */
#include "check/check.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* An array between two pages that cannot be touched, at the end or at the beginning of what can. */
struct guarded {
    unsigned char *map;
    size_t bytes, page; /* without the guards; of one guard */
    double *at;
};

static struct {
    struct check *check;
    struct guarded x, logp;
    size_t n;
} now;

static void make_guarded(struct guarded *g, size_t count, int below)
{
    g->page = (size_t)sysconf(_SC_PAGESIZE);
    g->bytes = (count * sizeof(double) + g->page - 1) / g->page * g->page;
    g->map = mmap(NULL, g->bytes + 2 * g->page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->map == MAP_FAILED || mprotect(g->map + g->page, g->bytes, PROT_READ | PROT_WRITE) != 0) abort();
    unsigned char *start = g->map + g->page;
    g->at = (double *)(void *)(below ? start : start + g->bytes - count * sizeof(double));
}

static int is_in(const struct guarded *g, const unsigned char *address, int guard)
{
    if (address < g->map || address >= g->map + g->bytes + 2 * g->page) return 0;
    int inner = address >= g->map + g->page && address < g->map + g->page + g->bytes;
    return guard ? !inner : inner;
}

/* A fault in our own arrays is explained; any other is left to the command, which sees the signal. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    struct check *c = now.check;
    const unsigned char *at = info->si_addr;
    const double *x = now.x.at, *logp = now.logp.at;
    char text[1024];
    const char *point = point_text(c, x, text, sizeof text);
    if (is_in(&now.x, at, 0))
        report(c, FAULT,
               "The density writes to the points that it is given. They are not its to change: runs go on with them. "
               "Copy a point before you change it. The first point of the call: %s",
               point);
    else if (is_in(&now.x, at, 1))
        report(c, FAULT,
               "The density reads %s the points that it is given: x[%td] of a call with %zu point%s of %zu numbers. "
               "The "
               "first point of the call: %s",
               at < (const unsigned char *)x ? "in front of" : "behind", (const double *)(const void *)at - x, now.n,
               now.n == 1 ? "" : "s", c->model->dim, point);
    else if (is_in(&now.logp, at, 1))
        report(c, FAULT,
               "The density writes %s its values: logp[%td] of a call with %zu point%s. The first point of the call: "
               "%s",
               at < (const unsigned char *)logp ? "in front of" : "behind", (const double *)(const void *)at - logp,
               now.n, now.n == 1 ? "" : "s", point);
    else {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    _exit(GESS_OK);
}

static void check_memory(struct check *c, int below)
{
    static const size_t sizes[] = {1, 3, 16};
    size_t dim = c->model->dim, starts = c->shared->starts;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    for (size_t s = 0; s < 3 && starts > 0; s++) {
        size_t n = sizes[s];
        now.check = c;
        now.n = n;
        make_guarded(&now.x, n * dim, below);
        make_guarded(&now.logp, n, below);
        for (size_t first = 0; first < starts && first < 5 * n; first += n) {
            if (mprotect(now.x.map + now.x.page, now.x.bytes, PROT_READ | PROT_WRITE) != 0) abort();
            for (size_t i = 0; i < n; i++)
                memcpy(now.x.at + i * dim, check_x(c) + (first + i) % starts * dim, dim * sizeof(double));
            if (mprotect(now.x.map + now.x.page, now.x.bytes, PROT_READ) != 0) abort();
            for (size_t i = 0; i < n; i++) now.logp.at[i] = NAN; /* what is not written shows as another value */
            if (!evaluate(c, 0, n, now.x.at, now.logp.at)) return;
            for (size_t i = 0; i < n; i++) {
                if (!isnan(now.logp.at[i])) continue;
                report(c, FAULT, "The density did not write logp[%zu] of a call with %zu points.", i, n);
                return;
            }
        }
        munmap(now.x.map, now.x.bytes + 2 * now.x.page);
        munmap(now.logp.map, now.logp.bytes + 2 * now.logp.page);
    }
}

void check_memory_above(struct check *c)
{
    check_memory(c, 0);
}

void check_memory_below(struct check *c)
{
    check_memory(c, 1);
}
