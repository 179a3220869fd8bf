/* A density in two dimensions for the fault tests. The command line replaces its parts: VALUE (the log density of the
 * point x), BEFORE and AFTER (statements around the loop over points), OPEN (a statement in gess_plugin_open). The
 * first number of the data file, 0 without one, is `shift`. If they are defined: GRADIENT (a statement that writes the
 * gradient of x to out), DERIVE and BLOB (a number), LOWER, UPPER and PERIODIC (of alpha). */
#include <gess/gess.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#ifndef VALUE
#define VALUE NORMAL
#endif
#ifndef BEFORE
#define BEFORE
#endif
#ifndef AFTER
#define AFTER
#endif
#ifndef OPEN
#define OPEN
#endif

#define NORMAL (-0.5 * ((x[0] - shift) * (x[0] - shift) + x[1] * x[1]))

static double shift;
static int calls; /* of the density, points together */

/* Waits for a part of a second. */
__attribute__((unused)) static void rest(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&t, NULL);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values)
{
    (void)user, (void)worker;
    int call = __sync_add_and_fetch(&calls, 1);
    (void)call;
    BEFORE;
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * dim;
        (void)x;
        values[i] = VALUE;
    }
    AFTER;
    return 0;
}

#ifdef GRADIENT
static int gradient(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values, double *g)
{
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * dim;
        double *out = g + i * dim;
        GRADIENT;
    }
    return logp(user, worker, n, dim, points, values);
}
#endif

#ifdef DERIVE
static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    out[0] = DERIVE;
    return 0;
}
#endif

#ifdef BLOB
static int logp_blobs(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values,
                      double *blobs)
{
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * dim;
        blobs[i] = BLOB;
    }
    return logp(user, worker, n, dim, points, values);
}
#endif

#ifndef LOWER
#define LOWER -INFINITY
#endif
#ifndef UPPER
#define UPPER INFINITY
#endif
#ifndef PERIODIC
#define PERIODIC 0
#endif

/* Further parts, if they are defined. */
static void fill_in(gess_density *density)
{
    static const double lower[] = {LOWER, -INFINITY}, upper[] = {UPPER, INFINITY};
    static const unsigned char periodic[] = {PERIODIC, 0};
    density->lower = lower;
    density->upper = upper;
    density->periodic = periodic;
#ifdef GRADIENT
    density->gradient = gradient;
#endif
#ifdef DERIVE
    static const char *const derived_names[] = {"sum"};
    density->derived = 1;
    density->derived_names = derived_names;
    density->derive = derive;
#endif
#ifdef BLOB
    static const char *const blob_names[] = {"size"};
    density->blobs = 1;
    density->blob_names = blob_names;
    density->logp_blobs = logp_blobs;
#endif
}

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    static const char *const names[] = {"alpha", "beta"};
    FILE *file = data != NULL ? fopen(data, "r") : NULL;
    (void)message, (void)size;
    if (file != NULL) {
        if (fscanf(file, "%lf", &shift) != 1) shift = 0.0;
        fclose(file);
    }
    OPEN;
    density->dim = 2;
    density->logp = logp;
    density->names = names;
    fill_in(density);
    return 0;
}
