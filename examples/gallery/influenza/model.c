/* Influenza at a boarding school, 1978: 763 boys, the number in bed on 14 days (British Medical Journal, 4 March 1978). A
 * compartment model (susceptible, infected, recovered) with counts that vary more than Poisson's. Model and priors follow
 * L. Grinsztajn et al., "Bayesian workflow for disease transmission modeling in Stan" (2021). */
#include "frame.h"

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

/* A day, by Runge and Kutta's method in steps of a twentieth. */
static void advance(const double *p, double *z)
{
    const double h = 0.05;
    for (int step = 0; step < 20; step++) {
        double k1[2], k2[2], k3[2], k4[2], at[2];
        slope(p, z, k1);
        for (int i = 0; i < 2; i++) at[i] = z[i] + 0.5 * h * k1[i];
        slope(p, at, k2);
        for (int i = 0; i < 2; i++) at[i] = z[i] + 0.5 * h * k2[i];
        slope(p, at, k3);
        for (int i = 0; i < 2; i++) at[i] = z[i] + h * k3[i];
        slope(p, at, k4);
        for (int i = 0; i < 2; i++) z[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
    }
}

static double log_posterior(const struct table *data, const double *p)
{
    double z[2] = {BOYS - 1.0, 1.0}, phi = 1.0 / p[INVERSE_PHI];
    double sum = -0.5 * (p[BETA] - 2.0) * (p[BETA] - 2.0) - 0.5 * (p[GAMMA] - 0.4) * (p[GAMMA] - 0.4) / 0.25 -
                 5.0 * p[INVERSE_PHI];
    for (size_t i = 0; i < data->rows; i++) {
        double count = data->values[COLUMNS * i + 1], mean;
        advance(p, z);
        mean = z[1];
        if (!(mean > 0.0)) return -INFINITY;
        sum += lgamma(count + phi) - lgamma(phi) - lgamma(count + 1.0) + phi * log(phi / (phi + mean)) +
               count * log(mean / (phi + mean));
    }
    return sum;
}

#include "frame.h"
