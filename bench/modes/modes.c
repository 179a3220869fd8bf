/* The plug-in: the family that the file of --data names; and functions for run.py, which calls them through ctypes.
 *
 *   gess sample ./modes.so --data FILE
 *
 * If the environment variable GESS_MODES_VISITS names a file, the number of evaluated points that lay in the spike of
 * `spike` is appended to it when the model is closed. */
#include "modes.h"

#include <gess/gess.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the families share ---- */

uint64_t next_word(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double next_uniform(uint64_t *state)
{
    return ((double)(next_word(state) >> 11) + 0.5) * 0x1p-53;
}

double next_normal(uint64_t *state)
{
    double radius = sqrt(-2.0 * log(next_uniform(state)));
    return radius * cos(TWO_PI * next_uniform(state));
}

double log_add(double a, double b)
{
    if (a < b) return log_add(b, a);
    return b == -INFINITY ? a : a + log1p(exp(b - a));
}

void set_box(family *f, double lower, double upper)
{
    for (size_t i = 0; i < f->dim; i++) {
        f->lower[i] = lower;
        f->upper[i] = upper;
    }
}

void set_unbounded(family *f)
{
    set_box(f, -INFINITY, INFINITY);
}

int is_inside(const family *f, const double *x)
{
    for (size_t i = 0; i < f->dim; i++)
        if (!(x[i] >= f->lower[i] && x[i] <= f->upper[i])) return 0;
    return 1;
}

void equal_weights(family *f)
{
    for (size_t k = 0; k < f->modes; k++) f->weights[k] = 1.0 / (double)f->modes;
}

void simulated_weights(family *f)
{
    enum { DRAWS = 4000000 };
    uint64_t state = 1;
    double x[MAX_DIM];
    for (size_t k = 0; k < f->modes; k++) f->weights[k] = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        f->draw(f, &state, x);
        f->weights[f->mode(f, x)] += 1.0 / DRAWS;
    }
}

/* ---- the table ---- */

static family families[] = {
#define FAMILY(name, set, dim, modes, setup, logp, mode, truth, draw) \
    {name, set, dim, modes, setup, logp, mode, truth, draw, 0, 0, {0}, {0}, {0}, {0}, NULL},
#define FAMILY_WITHOUT_DRAW(name, set, dim, modes, setup, logp, mode, truth) \
    FAMILY(name, set, dim, modes, setup, logp, mode, truth, NULL)
#include "families.def"
};

GESS_API family *modes_find(const char *name);
GESS_API family *modes_find(const char *name)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        family *f = &families[i];
        if (strcmp(f->name, name) != 0) continue;
        if (!f->is_set_up) f->setup(f);
        f->is_set_up = 1;
        return f;
    }
    return NULL;
}

/* The name of family i, or NULL past the last. */
GESS_API const char *modes_name(size_t i);
GESS_API const char *modes_name(size_t i)
{
    return i < sizeof families / sizeof *families ? families[i].name : NULL;
}

/* Set, dimension, number of modes and bounds; the pointers are the family's. */
GESS_API void modes_describe(const family *f, const char **set, size_t *dim, size_t *modes, const double **lower,
                             const double **upper);
GESS_API void modes_describe(const family *f, const char **set, size_t *dim, size_t *modes, const double **lower,
                             const double **upper)
{
    *set = f->set;
    *dim = f->dim;
    *modes = f->modes;
    *lower = f->lower;
    *upper = f->upper;
}

/* The true weights. */
GESS_API const double *modes_truth(family *f);
GESS_API const double *modes_truth(family *f)
{
    if (!f->has_truth) f->truth(f);
    f->has_truth = 1;
    return f->weights;
}

/* The modes of n points whose coordinates begin `stride` doubles apart; after modes_truth(). */
GESS_API void modes_assign(const family *f, size_t n, size_t stride, const double *x, unsigned char *mode);
GESS_API void modes_assign(const family *f, size_t n, size_t stride, const double *x, unsigned char *mode)
{
    for (size_t i = 0; i < n; i++) mode[i] = (unsigned char)f->mode(f, x + i * stride);
}

/* Log densities of n points, -INFINITY outside the bounds. */
GESS_API void modes_logp(const family *f, size_t n, const double *x, double *logp);
GESS_API void modes_logp(const family *f, size_t n, const double *x, double *logp)
{
    for (size_t i = 0; i < n; i++) logp[i] = is_inside(f, x + i * f->dim) ? f->logp(f, x + i * f->dim) : -INFINITY;
}

/* n exact draws; returns 0 if the family has none. */
GESS_API int modes_draw(const family *f, uint64_t seed, size_t n, double *x);
GESS_API int modes_draw(const family *f, uint64_t seed, size_t n, double *x)
{
    uint64_t state = seed;
    if (f->draw == NULL) return 0;
    for (size_t i = 0; i < n; i++) f->draw(f, &state, x + i * f->dim);
    return 1;
}

/* ---- the plug-in ---- */

static atomic_ulong visits;

static int evaluate(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    const family *f = user;
    (void)worker;
    for (size_t i = 0; i < n; i++) logp[i] = f->logp(f, x + i * dim);
    return 0;
}

/* The spike is the ball of five standard deviations. */
static int evaluate_spike(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    for (size_t i = 0; i < n; i++)
        if (hypot(x[i * dim] - 0.7, x[i * dim + 1] - 0.7) < 0.05) atomic_fetch_add(&visits, 1);
    return evaluate(user, worker, n, dim, x, logp);
}

GESS_API const unsigned gess_plugin_abi = GESS_ABI;

GESS_API int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    char name[64] = "";
    FILE *file = data != NULL ? fopen(data, "r") : NULL;
    if (file == NULL || fscanf(file, "%63s", name) != 1) name[0] = '\0';
    if (file != NULL) fclose(file);
    family *f = modes_find(name);
    if (f == NULL) {
        snprintf(message, size, "--data needs a file with the name of a family, such as `eggbox`; it has `%s`", name);
        return 1;
    }
    density->name = f->name;
    density->dim = f->dim;
    density->user = f;
    density->logp = strcmp(f->name, "spike") == 0 ? evaluate_spike : evaluate;
    density->lower = f->lower;
    density->upper = f->upper;
    density->periodic = f->periodic;
    return 0;
}

GESS_API void gess_plugin_close(gess_density *density)
{
    (void)density;
    const char *path = getenv("GESS_MODES_VISITS");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file == NULL) return;
    fprintf(file, "%lu\n", atomic_load(&visits));
    fclose(file);
}
