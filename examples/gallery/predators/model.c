/* Hares and lynxes, 1900 to 1920: the equations of Lotka and Volterra, solved by Runge and Kutta's method, and lognormal
 * noise. Model and priors follow B. Carpenter, "Predator-prey population dynamics" (Stan case studies, 2018); data: pelts
 * in thousands (Hudson's Bay Company). */
#include "frame.h"
#include "runge_kutta.h"

#define MODEL "predators"
enum { COLUMNS = 3 }; /* year, hares, lynxes */
enum { ALPHA, BETA, GAMMA, DELTA, HARES, LYNXES, SD_HARES, SD_LYNXES, DIM };
static const char *const names[DIM] = {"alpha", "beta", "gamma", "delta", "hares_1900", "lynxes_1900", "sd_hares", "sd_lynxes"};
static const double lower[DIM] = {0.0};
static const double upper[DIM] = {INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY, INFINITY};

static void slope(const double *p, const double *z, double *out)
{
    out[0] = (p[ALPHA] - p[BETA] * z[1]) * z[0];
    out[1] = (-p[GAMMA] + p[DELTA] * z[0]) * z[1];
}

static double square(double x)
{
    return x * x;
}

/* Log density of a lognormal. */
static double lognormal(double x, double mean, double sd)
{
    return -0.5 * square((log(x) - mean) / sd) - log(sd) - log(x);
}

static double log_posterior(const struct table *data, const double *p)
{
    double z[2] = {p[HARES], p[LYNXES]};
    double sum = -0.5 * (square((p[ALPHA] - 1.0) / 0.5) + square((p[GAMMA] - 1.0) / 0.5) +
                         square((p[BETA] - 0.05) / 0.05) + square((p[DELTA] - 0.05) / 0.05)) +
                 lognormal(p[HARES], log(10.0), 1.0) + lognormal(p[LYNXES], log(10.0), 1.0) +
                 lognormal(p[SD_HARES], -1.0, 1.0) + lognormal(p[SD_LYNXES], -1.0, 1.0);
    for (size_t i = 0; i < data->rows; i++) {
        const double *row = data->values + COLUMNS * i;
        if (i > 0) runge_kutta(slope, p, z, 50, 0.02); /* a year */
        if (!(z[0] > 0.0 && z[1] > 0.0 && z[0] < 1e6 && z[1] < 1e6)) return -INFINITY;
        sum += lognormal(row[1], log(z[0]), p[SD_HARES]) + lognormal(row[2], log(z[1]), p[SD_LYNXES]);
    }
    return sum;
}

#include "frame.h"
