/* A density for the soak test: a correlated normal in four dimensions. The environment variable SOAK makes it
 * misbehave: `slow:MS` waits that many milliseconds per call; `crash:N`, `exit:N`, `hang:N` and `error:N` do so at call
 * N. */
#include <gess/gess.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char what;
static long number;
static long calls;

static int misbehave(void)
{
    long call = __sync_add_and_fetch(&calls, 1);
    struct timespec pause = {.tv_sec = number / 1000, .tv_nsec = number % 1000 * 1000000};
    if (what == 's') nanosleep(&pause, NULL);
    if (what == 's' || call != number) return 0;
    if (what == 'c') abort();
    if (what == 'x') _exit(0);
    while (what == 'h') sleep(1000);
    return what == 'e';
}

static int logp(void *user, unsigned worker, size_t n, size_t dim, const double *points, double *values)
{
    (void)user, (void)worker;
    if (what != 0 && misbehave()) return 1;
    for (size_t i = 0; i < n; i++) {
        const double *x = points + i * dim;
        double sum = x[0] * x[0];
        for (size_t k = 1; k < dim; k++) sum += 4.0 * (x[k] - 0.8 * x[k - 1]) * (x[k] - 0.8 * x[k - 1]);
        values[i] = -0.5 * sum;
    }
    return 0;
}

GESS_API extern const unsigned gess_plugin_abi;
GESS_API int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size);

const unsigned gess_plugin_abi = GESS_ABI;

int gess_plugin_open(const char *data, gess_density *density, char *message, size_t size)
{
    const char *text = getenv("SOAK"), *colon = text != NULL ? strchr(text, ':') : NULL;
    (void)data, (void)message, (void)size;
    if (colon != NULL) {
        what = strncmp(text, "exit", 4) == 0 ? 'x' : text[0];
        number = strtol(colon + 1, NULL, 10);
    }
    density->dim = 4;
    density->logp = logp;
    return 0;
}
