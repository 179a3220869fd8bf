/* Four normal distributions in the box [-10, 10]², of unlike widths and weights. `auto` anneals a box. */
#include <gess/gess.h>

#include <math.h>

enum { DIM = 2, MODES = 4 };

static const double centres[MODES][DIM] = {{-6.0, -5.0}, {-4.0, 6.0}, {5.0, 5.5}, {6.0, -6.5}};
static const double sds[MODES] = {1.0, 0.4, 0.7, 0.3}, weights[MODES] = {0.4, 0.3, 0.2, 0.1};
static const double lower[DIM] = {-10.0, -10.0}, upper[DIM] = {10.0, 10.0};

static double log_density(const double *x)
{
    double sum = 0.0;
    for (int m = 0; m < MODES; m++) {
        double a = (x[0] - centres[m][0]) / sds[m], b = (x[1] - centres[m][1]) / sds[m];
        sum += weights[m] / (sds[m] * sds[m]) * exp(-0.5 * (a * a + b * b));
    }
    return log(sum + 1e-300);
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *values)
{
    (void)user, (void)worker;
    for (size_t i = 0; i < n; i++) values[i] = log_density(x + i * dim);
    return 0;
}

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size);
GESS_API void gess_plugin_close(gess_density *density);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    (void)data, (void)message, (void)size;
    density->dim = DIM;
    density->logp = logp;
    density->lower = lower;
    density->upper = upper;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    (void)density;
}
