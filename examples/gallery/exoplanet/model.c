/* Radial velocities of a star with a planet: v(t) = offset + K (cos(true anomaly + omega) + e cos omega), with jitter. Few
 * nights, so several periods fit: the posterior has separate modes. Every parameter lies between two bounds, so gess anneals. */
#include "frame.h"

#define MODEL "exoplanet"
#define TURN 6.283185307179586
enum { COLUMNS = 3 }; /* days, m/s, its error */
enum { PERIOD, AMPLITUDE, ECCENTRICITY, OMEGA, PHASE, OFFSET, JITTER, DIM };
static const char *const names[DIM] = {"period", "K", "e", "omega", "phase", "offset", "jitter"};
static const double lower[DIM] = {2.0, 0.0, 0.0, 0.0, 0.0, -100.0, 0.1};
static const double upper[DIM] = {60.0, 100.0, 0.9, TURN, TURN, 100.0, 20.0};
#define PERIODIC {0, 0, 0, 1, 1, 0, 0}

/* The eccentric anomaly of a mean anomaly, by Newton's method. */
static double eccentric_anomaly(double mean, double e)
{
    double x = mean + e * sin(mean);
    for (int i = 0; i < 30; i++) {
        double step = (x - e * sin(x) - mean) / (1.0 - e * cos(x));
        x -= step;
        if (fabs(step) < 1e-13) break;
    }
    return x;
}

static double log_posterior(const struct table *data, const double *p)
{
    double e = p[ECCENTRICITY];
    /* uniform in log period and log jitter; Beta(1, 3) for the eccentricity */
    double sum = -log(p[PERIOD]) - log(p[JITTER]) + 2.0 * log(1.0 - e);
    for (size_t i = 0; i < data->rows; i++) {
        const double *row = data->values + COLUMNS * i;
        double mean = fmod(TURN * row[0] / p[PERIOD] + p[PHASE], TURN);
        double half = 0.5 * eccentric_anomaly(mean, e);
        double anomaly = 2.0 * atan2(sqrt(1.0 + e) * sin(half), sqrt(1.0 - e) * cos(half));
        double v = p[OFFSET] + p[AMPLITUDE] * (cos(anomaly + p[OMEGA]) + e * cos(p[OMEGA]));
        double variance = row[2] * row[2] + p[JITTER] * p[JITTER];
        sum -= 0.5 * (row[1] - v) * (row[1] - v) / variance + 0.5 * log(variance);
    }
    return sum;
}

#include "frame.h"
