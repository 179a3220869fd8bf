/* Influenza at a boarding school, 1978: 763 boys, the number in bed on 14 days (British Medical Journal, 4 March 1978). A
 * compartment model (susceptible, infected, recovered) with counts that vary more than Poisson's. Model and priors follow
 * L. Grinsztajn et al., "Bayesian workflow for disease transmission modeling in Stan" (2021). */
#include "frame.h"
#include "runge_kutta.h"

#define MODEL "influenza"
enum { COLUMNS = 2 }; /* day, boys in bed */
enum { BETA, GAMMA, INVERSE_PHI, DIM };
static const char *const names[DIM] = {"beta", "gamma", "inverse_phi"};
static const double lower[DIM] = {0.0};
static const double upper[DIM] = {INFINITY, INFINITY, INFINITY};

#define DERIVED 2
static const char *const derived_names[DERIVED] = {"R0", "recovery_days"};

static int derive(void *user, unsigned worker, size_t dim, const double *p, size_t derived, double *out)
{
    (void)user, (void)worker, (void)dim, (void)derived;
    out[0] = p[BETA] / p[GAMMA];
    out[1] = 1.0 / p[GAMMA];
    return 0;
}

static const double BOYS = 763.0;

static void slope(const double *p, const double *z, double *out)
{
    double infections = p[BETA] * z[0] * z[1] / BOYS;
    out[0] = -infections;
    out[1] = infections - p[GAMMA] * z[1];
}

static double log_posterior(const struct table *data, const double *p)
{
    double z[2] = {BOYS - 1.0, 1.0}, phi = 1.0 / p[INVERSE_PHI];
    double sum = -0.5 * (p[BETA] - 2.0) * (p[BETA] - 2.0) - 0.5 * (p[GAMMA] - 0.4) * (p[GAMMA] - 0.4) / 0.25 -
                 5.0 * p[INVERSE_PHI];
    for (size_t i = 0; i < data->rows; i++) {
        double count = data->values[COLUMNS * i + 1], mean;
        runge_kutta(slope, p, z, 20, 0.05); /* a day */
        mean = z[1];
        if (!(mean > 0.0)) return -INFINITY;
        sum += lgamma(count + phi) - lgamma(phi) - lgamma(count + 1.0) + phi * log(phi / (phi + mean)) +
               count * log(mean / (phi + mean));
    }
    return sum;
}

#include "frame.h"
