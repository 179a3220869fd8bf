/* A plug-in with a density for devices, which the emulated GPU runs on the processor. The name of its file says what it
 * has: batch_both.so (both densities), batch_only.so (that for devices only), batch_fails.so (which fails after some
 * calls). */
#include <gess/gess.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIM = 3 };
static const double lower[DIM] = {-INFINITY, 0.0, -1.0}, upper[DIM] = {INFINITY, INFINITY, 1.0};
static size_t calls, largest;

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++, x += dim) values[i] = -0.5 * (x[0] - x[1]) * (x[0] - x[1]) - x[1] - x[2] * x[2];
    return 0;
}

static int device_logp(void *user, void *stream, size_t n, size_t dim, const double *x, double *values)
{
    (void)stream;
    calls++;
    if (n > largest) largest = n;
#ifdef FAILS
    if (calls > 40) return 7;
#endif
    return logp(user, 0, n, dim, x, values);
}

static void message(void *user, unsigned worker, char *text, size_t size)
{
    (void)user, (void)worker;
    snprintf(text, size, "the table is not loaded");
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    out[0] = x[0] - x[1];
    return 0;
}

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *path, gess_density *density, char *text, size_t size);
GESS_API void gess_plugin_close(gess_density *density);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *path, gess_density *density, char *text, size_t size)
{
    static const char *const names[] = {"difference"};
    (void)path, (void)text, (void)size;
    density->dim = DIM;
    density->lower = lower;
    density->upper = upper;
    density->derived = 1;
    density->derived_names = names;
    density->derive = derive;
    density->device_logp = device_logp;
    density->message = message;
#ifndef ONLY
    density->logp = logp;
#endif
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    (void)density;
    fprintf(stderr, "%zu calls, at most %zu points\n", calls, largest);
}
