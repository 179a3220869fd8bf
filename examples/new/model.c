/* @NAME@: a straight line through points with noise of unknown size,
 *
 *   y = intercept + slope x + noise,   noise ~ N(0, sigma²),   sigma > 0.
 *
 * A model for gess is a shared object with the three symbols at the end of this file. What to change
 * for a density of your own: `struct data` and read_data(), the names and bounds, log_posterior(),
 * and derive(). README.md has the commands. <gess/gess.h> says what else a model can have: gradients,
 * starting points, periodic parameters. */
#include <gess/gess.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the data ---- */

struct data {
    size_t n;
    double *x, *y;
};

static void free_data(struct data *data)
{
    if (data == NULL) return;
    free(data->x);
    free(data->y);
    free(data);
}

/* Adds a point, in new memory where the old is full. Returns 0, or -1 without memory. */
static int add_point(struct data *data, double x, double y)
{
    if ((data->n & (data->n - 1)) == 0) { /* 0 or a power of 2: full */
        size_t room = data->n > 0 ? 2 * data->n : 1;
        double *more_x = realloc(data->x, room * sizeof *more_x);
        if (more_x != NULL) data->x = more_x;
        double *more_y = realloc(data->y, room * sizeof *more_y);
        if (more_y != NULL) data->y = more_y;
        if (more_x == NULL || more_y == NULL) return -1;
    }
    data->x[data->n] = x;
    data->y[data->n] = y;
    data->n++;
    return 0;
}

/* Reads lines `x,y` after a header. Returns NULL and writes a message where that fails. */
static struct data *read_data(const char *path, char *message, size_t size)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        snprintf(message, size, "cannot open %s: %s", path, strerror(errno));
        return NULL;
    }
    struct data *data = calloc(1, sizeof *data);
    int good = data != NULL;
    char line[256];
    for (int number = 1; good && fgets(line, sizeof line, file) != NULL; number++) {
        double x, y;
        if (number == 1 || line[0] == '\n') continue;
        if (sscanf(line, "%lf ,%lf", &x, &y) != 2) {
            snprintf(message, size, "%s, line %d: two numbers `x,y` are needed", path, number);
            good = 0;
        } else if (add_point(data, x, y) != 0) {
            snprintf(message, size, "out of memory");
            good = 0;
        }
    }
    if (good && data->n < 3) {
        snprintf(message, size, "%s: %zu points; at least 3 are needed", path, data->n);
        good = 0;
    }
    fclose(file);
    if (good) return data;
    free_data(data);
    return NULL;
}

/* ---- the parameters and quantities derived from them ---- */

enum { INTERCEPT, SLOPE, SIGMA, DIM };
static const char *const names[DIM] = {"intercept", "slope", "sigma"};
static const double lower[DIM] = {-INFINITY, -INFINITY, 0.0};

enum { MEAN_AT_20, DERIVED };
static const char *const derived_names[DERIVED] = {"mean_at_20"};

/* What the line says about x = 20; stored with each draw. */
static int derive(void *user, unsigned worker, size_t dim, const double *p, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    out[MEAN_AT_20] = p[INTERCEPT] + p[SLOPE] * 20.0;
    return 0;
}

/* ---- the log density ---- */

/* Log prior plus log likelihood, up to a constant. No Jacobian: gess adds its own where it samples
 * sigma on a log scale. */
static double log_posterior(const struct data *data, const double *p)
{
    double intercept = p[INTERCEPT], slope = p[SLOPE], sigma = p[SIGMA], squares = 0.0;
    if (!(sigma > 0.0)) return -INFINITY;
    for (size_t i = 0; i < data->n; i++) {
        double residual = data->y[i] - intercept - slope * data->x[i];
        squares += residual * residual;
    }
    double likelihood = -(double)data->n * log(sigma) - 0.5 * squares / (sigma * sigma);
    double prior = -0.5 * (intercept * intercept + slope * slope) / (10.0 * 10.0) /* N(0, 10²) each */
                   - sigma;                                                       /* exponential of mean 1 */
    return likelihood + prior;
}

/* n points at once. Several threads call this at the same time: it must not write to `user`. */
static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = log_posterior(user, x + i * dim);
    return 0;
}

/* ---- what gess looks for ---- */

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size);
GESS_API void gess_plugin_close(gess_density *density);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *path, gess_density *density, char *message, size_t size)
{
    if (path == NULL) {
        snprintf(message, size, "it needs a data file; give it with --data FILE");
        return 1;
    }
    struct data *data = read_data(path, message, size);
    if (data == NULL) return 1;
    density->name = "@NAME@";
    density->dim = DIM;
    density->names = names;
    density->lower = lower;
    density->logp = logp;
    density->derived = DERIVED;
    density->derived_names = derived_names;
    density->derive = derive;
    density->user = data;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    free_data(density->user);
}
