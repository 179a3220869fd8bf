/* Two dimensions, two normal distributions of equal weight: N(0, I), and the spike N((0.7, 0.7), 0.01² I), whose
 * density is 9.2 nats above that of the first. Chains find the spike late, one at a time, and R-hat of x does not show
 * it. */
#include <gess/gess.h>

#include <math.h>

static double log_density(const double *x)
{
    const double sd = 0.01, centre = 0.7;
    double far[2] = {(x[0] - centre) / sd, (x[1] - centre) / sd};
    double broad = -0.5 * (x[0] * x[0] + x[1] * x[1]);
    double spike = -0.5 * (far[0] * far[0] + far[1] * far[1]) - 2.0 * log(sd);
    double high = broad > spike ? broad : spike, low = broad > spike ? spike : broad;
    return high + log1p(exp(low - high));
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
    density->dim = 2;
    density->logp = logp;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    (void)density;
}
