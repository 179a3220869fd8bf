/* @NAME@: a straight line through points with noise of unknown size,
 *
 *   y = intercept + slope x + noise,   noise ~ N(0, sigma²),   sigma > 0.
 *
 * A model for gess is a shared object with the three symbols at the end of this file. What to change
 * for a density of your own: the data, the names and bounds, log_posterior(), and derive(). README.md
 * has the commands. <gess/gess.h> says what else a model can have: gradients, starting points,
 * periodic parameters. */
#include <gess/draws.h>
#include <gess/gess.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the data: two columns, x and y ---- */

struct data {
    size_t n;
    double *rows; /* n × 2 */
};

static void free_data(struct data *data)
{
    if (data == NULL) return;
    gess_values_free(data->rows);
    free(data);
}

/* Returns NULL and writes a message where that fails. */
static struct data *read_data(const char *path, char *message, size_t size)
{
    size_t columns = 0;
    gess_error err = {0};
    struct data *data = calloc(1, sizeof *data);
    if (path == NULL)
        snprintf(message, size, "it needs a data file; give it with --data FILE");
    else if (data == NULL)
        snprintf(message, size, "out of memory");
    else if (gess_csv_read(path, &data->n, &columns, &data->rows, &err) != GESS_OK)
        snprintf(message, size, "%s", err.text);
    else if (columns != 2 || data->n < 3)
        snprintf(message, size, "%s: %zu rows of %zu columns; 3 points or more, x and y, are needed", path, data->n,
                 columns);
    else
        return data;
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
        const double *row = data->rows + 2 * i;
        double residual = row[1] - intercept - slope * row[0];
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
