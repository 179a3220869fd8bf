/* A density that sleeps, so that many ranks can be measured on a machine with few cores: a correlated Gaussian in 4
 * dimensions. Environment variables:
 *   SLEEPING_SECONDS   sleep per point (default: 0)
 *   SLEEPING_SHELL     a shell of this thickness around the origin instead of the Gaussian: updates take more angles
 *   SLEEPING_SLOW      the rank that sleeps ten times as long
 *   SLEEPING_FAULT     RANK:KIND:CALL: this rank fails at its call number CALL; KIND is error, infinity, crash, exit,
 * thread (it ends its thread) or hang
 */
#include <gess/gess.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DIM = 4 };
static double seconds, shell;
static char fault[16];
static long fault_call;
static atomic_long calls;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    if (atomic_fetch_add(&calls, 1) + 1 == fault_call) {
        if (strcmp(fault, "error") == 0) return 7;
        if (strcmp(fault, "crash") == 0) abort();
        if (strcmp(fault, "exit") == 0) _exit(0);
        if (strcmp(fault, "thread") == 0) pthread_exit(NULL);
        if (strcmp(fault, "hang") == 0)
            for (;;) pause();
        if (strcmp(fault, "infinity") == 0) {
            for (size_t i = 0; i < n; i++) values[i] = INFINITY;
            return 0;
        }
    }
    if (seconds > 0.0) {
        double all = seconds * (double)n;
        struct timespec wait = {(time_t)all, (long)(1e9 * (all - floor(all)))};
        nanosleep(&wait, NULL);
    }
    for (size_t i = 0; i < n; i++) {
        const double *p = x + i * dim;
        if (shell > 0.0) {
            double off = (sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]) - sqrt(DIM)) / shell;
            values[i] = -0.5 * off * off;
            continue;
        }
        double sum = p[0] * p[0];
        for (size_t k = 1; k < dim; k++) sum += (p[k] - 0.8 * p[k - 1]) * (p[k] - 0.8 * p[k - 1]);
        values[i] = -0.5 * sum;
    }
    return 0;
}

static long rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL) return strtol(getenv(names[i]), NULL, 10);
    return 0;
}

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size);
GESS_API void gess_plugin_close(gess_density *density);
const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    (void)data, (void)message, (void)size;
    const char *time = getenv("SLEEPING_SECONDS"), *slow = getenv("SLEEPING_SLOW"), *bad = getenv("SLEEPING_FAULT");
    const char *thickness = getenv("SLEEPING_SHELL");
    if (time != NULL) seconds = strtod(time, NULL);
    if (thickness != NULL) shell = strtod(thickness, NULL);
    if (slow != NULL && strtol(slow, NULL, 10) == rank()) seconds *= 10.0;
    long where = -1, call = 0;
    char kind[16] = "";
    if (bad != NULL && sscanf(bad, "%ld:%15[a-z]:%ld", &where, kind, &call) == 3 && where == rank()) {
        memcpy(fault, kind, sizeof fault);
        fault_call = call;
    }
    density->dim = DIM;
    density->name = "sleeping";
    density->logp = logp;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    (void)density;
}
