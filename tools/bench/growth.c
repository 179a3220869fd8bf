/* Growth of the time of sampling: of an update with the dimension (10 to 1,000), and of an iteration of all chains with
 * their number (4 to 100,000), on a Gaussian with T = t(30, 0, I), one thread, without the density. Exponents are
 * least-squares slopes on logarithmic scales. Times are medians of short pieces. */
#include "bench/warmed.h"

#include <math.h>

enum { PIECES = 15 };

static int time_update(size_t dim, size_t chains, double *seconds, gess_error *err)
{
    char name[64];
    double seconds_per_update[PIECES];
    gess__warmed f;
    uint64_t iterations;
    snprintf(name, sizeof name, "gaussian:dim=%zu", dim);
    int status = gess__warmed_open(&f, name, NULL, 1, chains, 0, err);
    if (status == GESS_OK) status = gess__warmed_pace(&f, 0.01, &iterations, err);
    for (size_t i = 0; status == GESS_OK && i < PIECES; i++) {
        gess__lap lap = {0};
        status = gess__warmed_run(&f, iterations, &lap, err);
        seconds_per_update[i] = (lap.seconds - lap.inside) / (double)lap.updates;
    }
    if (status == GESS_OK) *seconds = gess__bench_median(PIECES, seconds_per_update);
    if (status == GESS_OK) status = gess__warmed_verify(&f, err);
    gess__warmed_close(&f);
    return status;
}

/* The slope of log y over log x. */
static double exponent(size_t n, const size_t *x, const double *y)
{
    double mx = 0.0, my = 0.0, xx = 0.0, xy = 0.0;
    for (size_t i = 0; i < n; i++) {
        mx += log((double)x[i]) / (double)n;
        my += log(y[i]) / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        xx += (log((double)x[i]) - mx) * (log((double)x[i]) - mx);
        xy += (log((double)x[i]) - mx) * (log(y[i]) - my);
    }
    return xy / xx;
}

static int run(const gess__bench_options *options, gess__bench_result *result, gess_error *err)
{
    static const size_t dims[] = {10, 30, 100, 300, 1000}, chains[] = {4, 40, 400, 4000, 40000, 100000};
    enum { DIMS = sizeof dims / sizeof *dims, CHAINS = sizeof chains / sizeof *chains };
    size_t some_dims = options->quick ? 3 : DIMS, some_chains = options->quick ? 3 : CHAINS;
    double seconds[DIMS], sweeps[CHAINS];
    for (size_t i = 0; i < some_dims; i++) {
        GESS_TRY(time_update(dims[i], 64, &seconds[i], err));
        gess__bench_figure(result, 1e9 * seconds[i], NAN, 0, "ns per update, D = %zu, 64 chains", dims[i]);
    }
    for (size_t i = 0; i < some_chains; i++) {
        double update = 0.0;
        GESS_TRY(time_update(10, chains[i], &update, err));
        sweeps[i] = update * (double)chains[i];
        gess__bench_figure(result, 1e6 * sweeps[i], NAN, 0, "us per iteration of %zu chains, D = 10", chains[i]);
    }
    gess__bench_figure(result, exponent(some_dims, dims, seconds), 2.0, 0, "exponent of an update's time in D");
    gess__bench_figure(result, exponent(2, dims + some_dims - 2, seconds + some_dims - 2), 2.0, 0,
                       "the same from D = %zu to %zu", dims[some_dims - 2], dims[some_dims - 1]);
    gess__bench_figure(result, exponent(some_chains, chains, sweeps), 1.0, 0,
                       "exponent of an iteration's time in the number of chains");
    return GESS_OK;
}

const gess__bench gess__bench_growth = {
    .name = "growth",
    .help = "time of an update by dimensions, and of an iteration by chains",
    .run = run,
};
