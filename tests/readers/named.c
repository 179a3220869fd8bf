/* A model with names that need escaping in every file format, and with derived quantities. */
#include <gess/gess.h>

const unsigned gess_plugin_abi = GESS_ABI;

static const char *const names[] = {"alpha", "beta[1]",           "=cmd()",    "\xc3\xa9t\xc3\xa9", "</script><b",
                                    "chain", "with \"q\", comma", "two\nlines"};
static const char *const derived_names[] = {"#sum", "a/b"};
enum { DIM = sizeof names / sizeof *names };

static int log_density(void *user, unsigned worker, size_t n, size_t dim, const double *x, double *logp)
{
    (void)user;
    (void)worker;
    for (size_t i = 0; i < n; i++) {
        logp[i] = 0.0;
        for (size_t j = 0; j < dim; j++) {
            double z = (x[i * dim + j] - (double)j) / (1.0 + (double)j);
            logp[i] -= 0.5 * z * z;
        }
    }
    return 0;
}

static int derive(void *user, unsigned worker, size_t dim, const double *x, size_t derived, double *out)
{
    (void)user;
    (void)worker;
    (void)derived;
    out[0] = 0.0;
    for (size_t j = 0; j < dim; j++) out[0] += x[j];
    out[1] = x[0] * x[1];
    return 0;
}

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size);
void gess_plugin_close(gess_density *density);

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    (void)data;
    (void)message;
    (void)size;
    density->name = "named";
    density->dim = DIM;
    density->names = names;
    density->logp = log_density;
    density->derived = 2;
    density->derived_names = derived_names;
    density->derive = derive;
    return 0;
}

void gess_plugin_close(gess_density *density)
{
    (void)density;
}
